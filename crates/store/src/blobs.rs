//! Files that are named by their content: configurations, plans, logs, states, reports.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sha2::{Digest as _, Sha256};

use crate::data_dir::{private_dir, sync_dir};
use crate::{Digest, Error, blocking};

/// Where blobs are written before they have their name. Emptied when the data directory is opened.
pub(crate) const UNFINISHED: &str = "unfinished";

/// The blobs of a data directory: `blobs/<first two digits>/<digest>`, for this user alone (0600).
///
/// A blob is there as a whole or not at all, also after a power cut, and never changes. Putting the same
/// content twice is fine. Nothing is ever deleted.
#[derive(Debug, Clone)]
pub struct Blobs {
    dir: Arc<Path>,
}

/// A blob that was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PutBlob {
    /// Its name.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
}

impl Blobs {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self { dir: dir.into() }
    }

    /// Where the blob with this digest is, or would be.
    pub fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        self.dir.join(&name[..2]).join(name)
    }

    /// Keeps these bytes.
    ///
    /// # Errors
    /// [`Error::Blob`]: nothing was kept.
    pub async fn put_bytes(&self, bytes: impl Into<Vec<u8>>) -> Result<PutBlob, Error> {
        let (blobs, bytes) = (self.clone(), bytes.into());
        blocking(move || blobs.put(Cursor::new(bytes))).await
    }

    /// Keeps a copy of what a file holds now.
    ///
    /// A copy and never a hard link: terraform writes its state file in place, and would write into the
    /// blob. The digest is that of the bytes that were copied, even if the file changes meanwhile.
    ///
    /// # Errors
    /// [`Error::Blob`], also when the file can't be read or is none: nothing was kept.
    pub async fn put_file(&self, path: impl AsRef<Path>) -> Result<PutBlob, Error> {
        let (blobs, path) = (self.clone(), path.as_ref().to_owned());
        blocking(move || {
            let source = File::open(&path).map_err(|error| Error::blob(&path, &error))?;
            blobs.put(Source { path: &path, source })
        })
        .await
    }

    /// Opens a blob for reading. Its content is not verified.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Blob`].
    pub async fn open(&self, digest: Digest) -> Result<tokio::fs::File, Error> {
        let path = self.path(digest);
        blocking(move || open(&path, digest)).await.map(tokio::fs::File::from_std)
    }

    /// The whole content of a blob, verified.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Blob`]; [`Error::BlobDamaged`] when it is not what was put.
    pub async fn read(&self, digest: Digest) -> Result<Vec<u8>, Error> {
        let path = self.path(digest);
        blocking(move || {
            let mut bytes = Vec::new();
            open(&path, digest)?.read_to_end(&mut bytes).map_err(|error| Error::blob(&path, &error))?;
            if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(Error::BlobDamaged { path }) }
        })
        .await
    }

    fn put(&self, mut source: impl Read) -> Result<PutBlob, Error> {
        let unfinished = Unfinished::create(&self.dir)?;
        let blob = unfinished.fill(&mut source)?;
        let path = self.path(blob.digest);
        self.publish(&unfinished, &path, blob.digest).map_err(|error| Error::blob(&path, &error))?;
        Ok(blob)
    }

    fn publish(&self, unfinished: &Unfinished, path: &Path, digest: Digest) -> io::Result<()> {
        let shard = path.parent().unwrap_or(&self.dir);
        private_dir(shard)?;
        // a link never replaces what is there, as a rename would
        match fs::hard_link(&unfinished.path, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut hasher = Hasher::default();
                io::copy(&mut File::open(path)?, &mut hasher)?;
                if Digest::finish(hasher.0) != digest {
                    tracing::warn!(path = %path.display(), "a damaged blob is replaced by its true content");
                    fs::rename(&unfinished.path, path)?;
                }
            }
            done => done?,
        }
        // also for one that was there: who put it may not have got so far
        sync_dir(shard)
    }
}

fn open(path: &Path, digest: Digest) -> Result<File, Error> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::NotFound(format!("blob {digest}")),
        _ => Error::blob(path, &error),
    })
}

/// Removes what a process left behind that died while it put a blob.
pub(crate) fn remove_unfinished(blobs: &Path) -> Result<(), Error> {
    let dir = blobs.join(UNFINISHED);
    let remove = || fs::read_dir(&dir)?.try_for_each(|entry| fs::remove_file(entry?.path()));
    remove().map_err(|error| Error::data_dir(&dir, &error))
}

/// A file without its name yet; gone when this is.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn create(blobs: &Path) -> Result<Self, Error> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = blobs.join(UNFINISHED).join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(Error::blob(&path, &error)),
        }
    }

    /// Writes all of the source, so that it survives a power cut.
    fn fill(&self, source: &mut impl Read) -> Result<PutBlob, Error> {
        let mut tee = Tee { file: &self.file, hasher: Hasher::default() };
        let copy = || {
            let size = io::copy(source, &mut tee)?;
            self.file.sync_all()?;
            Ok(PutBlob { digest: Digest::finish(tee.hasher.0), size })
        };
        copy().map_err(|error| Error::blob(&self.path, &error))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // after a replacement it is not there any more, and what can't be removed now is at the next start
        let _ = fs::remove_file(&self.path);
    }
}

/// Says which file could not be read.
struct Source<'a> {
    path: &'a Path,
    source: File,
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display()));
        self.source.read(buffer).map_err(named)
    }
}

#[derive(Default)]
struct Hasher(Sha256);

impl io::Write for Hasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Tee<'a> {
    file: &'a File,
    hasher: Hasher,
}

impl io::Write for Tee<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.0.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
