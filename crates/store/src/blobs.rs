//! Files that are named by their content: configurations, plans, logs, states, reports.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read, Write as _};
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
        blocking(move || blobs.put(Cursor::new(bytes), Path::new("bytes in memory"))).await
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
            let unusable = |error: io::Error| Error::blob(&path, &error);
            // opening a FIFO would wait for somebody to write into it
            if !fs::metadata(&path).map_err(unusable)?.is_file() {
                return Err(unusable(io::Error::other("not a regular file")));
            }
            blobs.put(File::open(&path).map_err(unusable)?, &path)
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

    fn put(&self, source: impl Read, name: &Path) -> Result<PutBlob, Error> {
        let unfinished = Unfinished::create(&self.dir)?;
        let blob = unfinished.fill(source, name)?;
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
                if Digest::of(&fs::read(path)?) != digest {
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
    fn fill(&self, mut source: impl Read, name: &Path) -> Result<PutBlob, Error> {
        let mut file = &self.file;
        let mut hasher = Sha256::new();
        let mut size = 0;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => &buffer[..read],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::blob(name, &error)),
            };
            hasher.update(read);
            size += read.len() as u64;
            file.write_all(read).map_err(|error| Error::blob(&self.path, &error))?;
        }
        file.sync_all().map_err(|error| Error::blob(&self.path, &error))?;
        Ok(PutBlob { digest: Digest::finish(hasher), size })
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // after a replacement it is not there any more, and what can't be removed now is at the next start
        let _ = fs::remove_file(&self.path);
    }
}
