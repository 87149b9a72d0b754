//! A copy of all that is kept, in one file, and the way back (docs/years.md, "Backups").
//!
//! The copy is of one moment: the database is copied first, as a whole, and then each blob that it refers to. Blobs never change,
//! and nobody removes any meanwhile ([`SweepLock`]). What runs work on is no part of it: of a run that is not over nobody can say
//! later what became of it.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::blobs::SEALED;
use crate::data_dir::private_dir;
use crate::sql::retention::In;
use crate::{Digest, Error, SweepLock, blocking, sql};

/// Of the archive. One that is greater was written by a newer release.
const FORMAT: u32 = 1;

const MANIFEST: &str = "manifest.json";
const DATABASE: &str = "signalbox.db";
const KEYS: &str = "keys";
const BLOBS: &str = "blobs";

/// What stands first in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: u32,
    /// The release that wrote it.
    pub release: String,
    /// The moment that it is of.
    pub taken_at: Timestamp,
    /// How many blobs follow.
    pub blobs: u64,
}

/// What a backup has in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackedUp {
    /// What it says of itself.
    pub manifest: Manifest,
    /// The bytes of all blobs, as they lie.
    pub bytes: u64,
}

/// Copies what is kept below `data_dir` into `into`, which has to be new. A daemon may work on it meanwhile. `scratch` is a
/// directory with space for a copy of the database.
///
/// # Errors
/// [`Error::DataDir`], [`Error::Database`], [`Error::Blob`]: what was written by then is of no use.
pub async fn back_up(data_dir: &Path, into: File, scratch: &Path, release: &str) -> Result<BackedUp, Error> {
    let database = data_dir.join(DATABASE);
    if !database.is_file() {
        return Err(Error::data_dir(data_dir, &io::Error::other("there is no database in it")));
    }
    let lock = {
        let data_dir = data_dir.to_owned();
        blocking(move || SweepLock::shared(&data_dir)).await?
    };
    let copy = scratch.join(DATABASE);
    let mut db = sql::to_copy(&database).await?;
    let taken_at = Timestamp::now();
    let name = copy.display().to_string().replace('\'', "''");
    db.execute(AssertSqlSafe(format!("VACUUM INTO '{name}'"))).await?;
    db.close().await?;
    let mut db = sql::to_copy(&copy).await?;
    let referred_to = sql::retention::referred_to(&mut db, In::Everything).await?;
    db.close().await?;
    let (data_dir, release) = (data_dir.to_owned(), release.to_owned());
    blocking(move || {
        let done = write(&data_dir, &copy, &referred_to, into, &release, taken_at);
        drop(lock);
        done
    })
    .await
}

/// Where the blob lies, if it does. A digest may be that of something that is none.
pub(crate) fn blob_path(data_dir: &Path, digest: Digest) -> Option<(PathBuf, PathBuf)> {
    let name = digest.to_string();
    let clear = Path::new(BLOBS).join(&name[..2]).join(&name);
    let paths = [clear.with_extension(SEALED), clear];
    paths.into_iter().map(|path| (data_dir.join(&path), path)).find(|(full, _)| full.is_file())
}

fn write(
    data_dir: &Path,
    database: &Path,
    referred_to: &HashSet<Digest>,
    into: File,
    release: &str,
    taken_at: Timestamp,
) -> Result<BackedUp, Error> {
    let mut digests: Vec<Digest> = referred_to.iter().copied().collect();
    digests.sort_unstable();
    let blobs: Vec<(PathBuf, PathBuf)> =
        digests.into_iter().filter_map(|digest| blob_path(data_dir, digest)).collect();
    let manifest =
        Manifest { format: FORMAT, release: release.to_owned(), taken_at, blobs: blobs.len() as u64 };
    let mut bytes = 0;
    let archive = || -> io::Result<()> {
        let gzip = GzEncoder::new(io::BufWriter::new(into), Compression::fast());
        let mut archive = tar::Builder::new(gzip);
        let text = serde_json::to_vec(&manifest)?;
        append(&mut archive, Path::new(MANIFEST), text.len() as u64, &*text)?;
        append_file(&mut archive, Path::new(DATABASE), database)?;
        let keys = data_dir.join(KEYS);
        if keys.is_file() {
            append_file(&mut archive, Path::new(KEYS), &keys)?;
        }
        for (full, path) in &blobs {
            bytes += append_file(&mut archive, path, full)?;
        }
        let buffered = archive.into_inner()?.finish()?;
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    archive().map_err(|error| Error::data_dir(data_dir, &error))?;
    Ok(BackedUp { manifest, bytes })
}

fn append_file(archive: &mut tar::Builder<impl Write>, path: &Path, from: &Path) -> io::Result<u64> {
    let file = File::open(from)?;
    let length = file.metadata()?.len();
    // one that grows or shrinks meanwhile would spoil what comes after it
    append(archive, path, length, file.take(length))?;
    Ok(length)
}

fn append(
    archive: &mut tar::Builder<impl Write>,
    path: &Path,
    length: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(length);
    header.set_mode(0o600);
    archive.append_data(&mut header, path, content)
}

/// Brings a backup back as `data_dir`, which has to be empty or not there. It is there as a whole or not at all: until then it lies
/// beside, with `.restoring` behind its name. What is read is held against its name.
///
/// # Errors
/// [`Error::Refused`] when the directory holds something, or the file is no backup, or a broken one; [`Error::DataDir`].
pub fn restore(from: impl Read, data_dir: &Path) -> Result<Manifest, Error> {
    let of = |path: &Path| {
        let path = path.to_owned();
        move |error: io::Error| Error::data_dir(&path, &error)
    };
    if fs::read_dir(data_dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Refused(format!(
            "{} holds something already: move it away, or restore to another place",
            data_dir.display()
        )));
    }
    let mut name = data_dir.file_name().unwrap_or_default().to_owned();
    name.push(".restoring");
    let beside = data_dir.with_file_name(name);
    // what one left that did not get to its end
    match fs::remove_dir_all(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(of(&beside)(error)),
        _ => {}
    }
    private_dir(&beside).map_err(of(&beside))?;
    let manifest = unpack(from, &beside)?;
    match fs::remove_dir(data_dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(of(data_dir)(error)),
        _ => {}
    }
    fs::rename(&beside, data_dir).map_err(of(data_dir))?;
    let parent = data_dir.parent().filter(|parent| !parent.as_os_str().is_empty());
    files::sync_directory(parent.unwrap_or(Path::new("."))).map_err(of(data_dir))?;
    Ok(manifest)
}

fn unpack(from: impl Read, into: &Path) -> Result<Manifest, Error> {
    let broken = |why: &dyn std::fmt::Display| Error::Refused(format!("this is no whole backup: {why}"));
    let mut archive = tar::Archive::new(GzDecoder::new(io::BufReader::new(from)));
    let mut manifest: Option<Manifest> = None;
    let mut blobs = 0;
    let mut has_database = false;
    for entry in archive.entries().map_err(|error| broken(&error))? {
        let mut entry = entry.map_err(|error| broken(&error))?;
        let path = entry.path().map_err(|error| broken(&error))?.into_owned();
        if manifest.is_none() {
            if path != Path::new(MANIFEST) {
                return Err(broken(&"it does not begin with what it is"));
            }
            let read: Manifest = serde_json::from_reader(&mut entry).map_err(|error| broken(&error))?;
            if read.format > FORMAT {
                return Err(Error::Refused(format!(
                    "this backup was written by a newer release ({})",
                    read.release
                )));
            }
            manifest = Some(read);
            continue;
        }
        if !path.components().all(|part| matches!(part, Component::Normal(_)))
            || !entry.header().entry_type().is_file()
        {
            return Err(broken(&format_args!("{} does not belong there", path.display())));
        }
        let to = into.join(&path);
        if let Some(parent) = to.parent() {
            private_dir(parent).map_err(|error| Error::data_dir(parent, &error))?;
        }
        let mut file = files::create_private(&to).map_err(|error| Error::data_dir(&to, &error))?;
        let mut sum = Sha256::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = entry.read(&mut buffer).map_err(|error| broken(&error))?;
            if read == 0 {
                break;
            }
            sum.update(&buffer[..read]);
            file.write_all(&buffer[..read]).map_err(|error| Error::data_dir(&to, &error))?;
        }
        file.sync_all().map_err(|error| Error::data_dir(&to, &error))?;
        if path.starts_with(BLOBS) {
            blobs += 1;
            let named =
                path.extension().is_none().then(|| path.file_name().and_then(|name| name.to_str())).flatten();
            if named.is_some_and(|name| name != text::hex(&sum.finalize())) {
                return Err(broken(&format_args!("{} is damaged", path.display())));
            }
        } else if path == Path::new(DATABASE) {
            has_database = true;
        }
    }
    match manifest {
        Some(manifest) if has_database && blobs == manifest.blobs => Ok(manifest),
        Some(_) if has_database => Err(broken(&"some of it is missing at its end")),
        _ => Err(broken(&"there is no database in it")),
    }
}
