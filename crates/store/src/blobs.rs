//! Files that are named by their content: configurations, plans, logs, states, reports.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Cursor, Read, Write as _};
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use files::{Hashed, sync_directory};

use crate::{Digest, Error, blocking};

/// Where blobs are written before they have their name. Emptied when the data directory is opened.
pub(crate) const UNFINISHED: &str = "unfinished";

/// The blobs of a data directory, for reading: `blobs/<first two digits>/<digest>`, for this user alone (0600).
///
/// A blob that was acknowledged is there as a whole, also after a power cut, and never changes.
#[derive(Debug, Clone)]
pub struct Blobs {
    dir: Arc<Path>,
}

/// The blobs of a data directory, for reading and writing. Putting the same content twice is fine. Nothing is ever
/// deleted.
#[derive(Debug, Clone)]
pub struct BlobStore(Blobs);

impl Deref for BlobStore {
    type Target = Blobs;

    fn deref(&self) -> &Blobs {
        &self.0
    }
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
    /// Where the blob with this digest is, or would be.
    pub fn path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        self.dir.join(&name[..2]).join(name)
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
}

impl BlobStore {
    pub(crate) fn new(dir: PathBuf) -> Self {
        Self(Blobs { dir: dir.into() })
    }

    /// The same, for who only reads.
    pub(crate) const fn reader(&self) -> &Blobs {
        &self.0
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
        blocking(move || blobs.put(open_regular(&path)?, &path)).await
    }

    /// Keeps a file without writing it again: the blob is a second name of it (or a copy, where the file system
    /// can't do that), and it is this user's alone from now on.
    ///
    /// For what nobody writes to any more: the log and the files of an execution that is over.
    ///
    /// # Errors
    /// As for [`BlobStore::put_file`].
    pub async fn adopt_file(&self, path: impl AsRef<Path>) -> Result<PutBlob, Error> {
        let (blobs, path) = (self.clone(), path.as_ref().to_owned());
        blocking(move || blobs.adopt(&path)).await
    }

    fn put(&self, source: impl Read, name: &Path) -> Result<PutBlob, Error> {
        let unfinished = Unfinished::create(&self.dir)?;
        let blob = unfinished.fill(source, name)?;
        let path = self.path(blob.digest);
        self.publish(&unfinished.path, &path, blob.digest).map_err(|error| Error::blob(&path, &error))?;
        Ok(blob)
    }

    fn adopt(&self, source: &Path) -> Result<PutBlob, Error> {
        let file = open_regular(source)?;
        let blob = copy(&file, source, io::sink(), source)?;
        let path = self.path(blob.digest);
        let adopt = || {
            if fs::symlink_metadata(source)?.is_symlink() {
                // it would be the link that gets the other name
                return Err(io::ErrorKind::CrossesDevices.into());
            }
            file.set_permissions(Permissions::from_mode(0o600))?;
            self.publish(source, &path, blob.digest)
        };
        match adopt() {
            Err(error) if can_be_copied(&error) => self.put(open_regular(source)?, source),
            done => done.map(|()| blob).map_err(|error| Error::blob(&path, &error)),
        }
    }

    /// Gives a file the name of its content, and has the disk keep both.
    fn publish(&self, file: &Path, path: &Path, digest: Digest) -> io::Result<()> {
        let shard = path.parent().unwrap_or(&self.dir);
        match DirBuilder::new().mode(0o700).create(shard) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        // a link never replaces what is there, as a rename would
        match fs::hard_link(file, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut present = Hashed::new(io::sink());
                io::copy(&mut File::open(path)?, &mut present)?;
                if Digest::new(present.finish()?.0) != digest {
                    tracing::warn!(path = %path.display(), "a damaged blob is replaced by its true content");
                    let other = unfinished_name(&self.dir);
                    fs::hard_link(file, &other)?;
                    fs::rename(&other, path)?;
                }
            }
            done => done?,
        }
        // The content, its name, and the directory's: without any of them the blob is lost in a power cut, also one
        // that was there, since who put it may not have got so far. The content after its name, and not before: the
        // file system writes all that has changed in its directories at once, so that the last two find nothing to
        // do. A name whose content never came is not a blob that anybody was told of, and is replaced if it comes again.
        File::open(path)?.sync_all()?;
        sync_directory(shard)?;
        sync_directory(&self.dir)
    }
}

/// Whether a file can't be given another name, which does not keep anybody from copying it: another file system below,
/// more names than this one gives to a file, or none at all, or the file of another user.
fn can_be_copied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::CrossesDevices
            | io::ErrorKind::TooManyLinks
            | io::ErrorKind::Unsupported
            | io::ErrorKind::PermissionDenied
    )
}

/// Opens a file of which all can be read.
fn open_regular(path: &Path) -> Result<File, Error> {
    let unusable = |error: io::Error| Error::blob(path, &error);
    // opening a FIFO would wait for somebody to write into it
    if !fs::metadata(path).map_err(unusable)?.is_file() {
        return Err(unusable(io::Error::other("not a regular file")));
    }
    File::open(path).map_err(unusable)
}

/// Reads all of the source into a file, or into nothing.
fn copy(
    mut source: impl Read,
    name: &Path,
    into: impl io::Write,
    into_name: &Path,
) -> Result<PutBlob, Error> {
    let mut hashed = Hashed::new(into);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::blob(name, &error)),
        };
        hashed.write_all(read).map_err(|error| Error::blob(into_name, &error))?;
    }
    let (sha256, size) = hashed.finish().map_err(|error| Error::blob(into_name, &error))?;
    Ok(PutBlob { digest: Digest::new(sha256), size })
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

/// A name that nobody else uses.
fn unfinished_name(blobs: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    blobs.join(UNFINISHED).join(name)
}

/// A file without its name yet; gone when this is.
struct Unfinished {
    path: PathBuf,
    file: File,
}

impl Unfinished {
    fn create(blobs: &Path) -> Result<Self, Error> {
        let path = unfinished_name(blobs);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err(Error::blob(&path, &error)),
        }
    }

    /// Writes all of the source.
    fn fill(&self, source: impl Read, name: &Path) -> Result<PutBlob, Error> {
        copy(source, name, &self.file, &self.path)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // after a replacement it is not there any more, and what can't be removed now is at the next start
        let _ = fs::remove_file(&self.path);
    }
}
