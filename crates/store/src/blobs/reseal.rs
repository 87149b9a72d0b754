//! A new key for what lies there already, or the first, or none any more.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use files::{Replacement, sync_directory};
use seal::Keyring;

use super::keys_in_use::{KeysInUse, Lies};
use super::{Blob, BlobStore, SEALED, UNFINISHED, copy};
use crate::data_dir::DataDir;
use crate::{Digest, Error};

/// What was done, as far as it got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Files that were written anew.
    pub rewritten: u64,
    /// The bytes of their content.
    pub bytes: u64,
    /// Files that lay as they should.
    pub unchanged: u64,
    /// Files that stay as they were, each with the reason.
    pub failed: Vec<String>,
}

/// Has all that is kept in a data directory lie as these keys write: blobs, and these small files beside them. A daemon may
/// run meanwhile, if it was started with the same key: files are replaced as a whole, by the same content.
///
/// What can't be read stays as it is and is told; then the old keys have to be kept. Calling again goes on.
///
/// # Errors
/// [`Error::NoKey`] when something is there for which no key is given, before anything is done; [`Error::Refused`] when a
/// daemon runs that writes with another key; [`Error::DataDir`].
pub fn reseal(
    data_dir: &Path,
    keys: &Keyring,
    beside: &[PathBuf],
    mut progress: impl FnMut(&Resealed),
) -> Result<Resealed, Error> {
    let mut in_use = KeysInUse::read(data_dir)?;
    in_use.check(keys)?;
    let way = Lies::written_with(keys);
    let _claim = match DataDir::claim(data_dir) {
        Ok(claim) => {
            in_use.add(way)?;
            Some(claim)
        }
        Err(Error::DataDirInUse { .. }) if in_use.has(way) => None,
        Err(Error::DataDirInUse { .. }) => {
            return Err(Error::Refused(
                "the daemon that runs there does not write with this key yet: restart it first".to_owned(),
            ));
        }
        Err(error) => return Err(error),
    };
    let blobs = BlobStore::new(data_dir.join("blobs"), keys.clone());
    let mut done = Resealed::default();
    for path in beside {
        done.count(path, reseal_small(&blobs, path));
        progress(&done);
    }
    let listed = |dir: &Path| {
        let entries = fs::read_dir(dir).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
        entries.map_err(|error| Error::data_dir(dir, &error))
    };
    let shards: Vec<PathBuf> = listed(&blobs.dir)?;
    for shard in shards.iter().filter(|shard| !shard.ends_with(UNFINISHED)) {
        let files: Vec<PathBuf> = listed(shard)?;
        for path in &files {
            done.count(path, blobs.reseal(path));
            progress(&done);
        }
    }
    if done.failed.is_empty() {
        in_use.only(way)?;
    }
    Ok(done)
}

impl Resealed {
    /// `None` of a file that lay as it should, or is not there any more.
    fn count(&mut self, path: &Path, resealed: Result<Option<u64>, Error>) {
        match resealed {
            Ok(Some(bytes)) => {
                self.rewritten += 1;
                self.bytes += bytes;
            }
            Ok(None) => self.unchanged += 1,
            Err(error) => {
                let (path, error) = (path.display().to_string(), error.to_string());
                self.failed.push(if error.contains(&path) { error } else { format!("{path}: {error}") });
            }
        }
    }
}

impl BlobStore {
    /// Has one file lie as this writes. Gives the bytes of its content if it was written anew.
    fn reseal(&self, path: &Path) -> Result<Option<u64>, Error> {
        let sealed = path.extension().is_some_and(|extension| extension == SEALED);
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let digest: Digest = name.parse().map_err(|_| Error::damaged(path.display(), "it is not a blob"))?;
        let cannot = |error: &io::Error| Error::blob(path, error);
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(|error| cannot(&error))?,
        };
        let blob = if sealed {
            Blob::sealed(file, path, &self.keys)?
        } else {
            Blob::clear(file).map_err(|error| cannot(&error))?
        };
        if blob.key() == self.keys.writes_with() {
            return Ok(None);
        }
        let mut sink = self.sink()?;
        let into = sink.path().to_owned();
        copy(blob.reader(), path, &mut sink, &into)?;
        let bytes = blob.len();
        let place = self.path(digest);
        if !sink.replace(digest, &place)? {
            return Err(Error::BlobDamaged { path: path.to_owned() });
        }
        if place != path {
            fs::remove_file(path).map_err(|error| cannot(&error))?;
            sync_directory(path.parent().unwrap_or(&self.dir)).map_err(|error| cannot(&error))?;
        }
        Ok(Some(bytes))
    }
}

/// The same of a small file that is sealed as a whole.
fn reseal_small(blobs: &BlobStore, path: &Path) -> Result<Option<u64>, Error> {
    let cannot = |error: &io::Error| Error::blob(path, error);
    let mut bytes = Vec::new();
    match File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| cannot(&error))?,
    };
    if seal::sealed_with(&bytes) == blobs.keys.writes_with() {
        return Ok(None);
    }
    let content = blobs.unseal(bytes, path)?;
    let length = content.len() as u64;
    let write = || {
        let sealed = blobs.seal(content)?;
        let mut file = Replacement::begin(path)?;
        file.file().write_all(&sealed)?;
        if !path.exists() {
            // its run is over, and nothing of it comes back
            return Ok(());
        }
        file.commit_durably()
    };
    write().map_err(|error| cannot(&error))?;
    Ok(Some(length))
}
