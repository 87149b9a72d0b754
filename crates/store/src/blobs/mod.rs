//! Files that are named by their content: configurations, plans, logs, states, reports.

mod blob;
mod keys_in_use;
mod reseal;
mod scratch;
mod sink;
mod sweep;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{self, Read};
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use files::{Hashed, Replacement, sync_directory};
use seal::Keyring;

pub use self::blob::Blob;
pub(crate) use self::keys_in_use::{KeysInUse, Lies};
pub use self::reseal::{Resealed, reseal};
pub use self::scratch::Scratch;
pub use self::sink::BlobSink;
pub use self::sweep::Swept;
use crate::state_file::state_output_names;
use crate::{Digest, Error, ReadStateError, StateMeta, StateOutput, blocking, state_outputs};

/// Where blobs are written before they have their name. Emptied when the data directory is opened.
pub(crate) const UNFINISHED: &str = "unfinished";

/// What stands behind the name of a blob that is sealed.
pub(crate) const SEALED: &str = "sealed";

/// The blobs of a data directory, for reading: `blobs/<first two digits>/<digest>`, for this user alone (0600), with
/// `.sealed` behind it where it is encrypted.
///
/// A blob that was acknowledged is there as a whole, also after a power cut, and never changes.
#[derive(Debug, Clone)]
pub struct Blobs {
    dir: Arc<Path>,
    keys: Keyring,
}

/// The blobs of a data directory, for reading and writing. Putting the same content twice is fine. What no record refers to
/// goes a day after it was put last.
#[derive(Debug, Clone)]
pub struct BlobStore {
    blobs: Blobs,
    /// Held by who gives a blob its name, and alone by who takes one away.
    publishing: Arc<RwLock<()>>,
}

impl Deref for BlobStore {
    type Target = Blobs;

    fn deref(&self) -> &Blobs {
        &self.blobs
    }
}

/// A blob that was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PutBlob {
    /// Its name.
    pub digest: Digest,
    /// The bytes of its content.
    pub size: u64,
}

impl Blobs {
    /// The keys that it reads and writes with.
    pub const fn keys(&self) -> &Keyring {
        &self.keys
    }

    /// Where the blob with this digest is, or would be, when it lies in clear.
    fn clear_path(&self, digest: Digest) -> PathBuf {
        let name = digest.to_string();
        self.dir.join(&name[..2]).join(name)
    }

    /// The same when it is sealed.
    fn sealed_path(&self, digest: Digest) -> PathBuf {
        self.clear_path(digest).with_extension(SEALED)
    }

    /// The file of the blob with this digest, as a blob that is put now would have it.
    pub fn path(&self, digest: Digest) -> PathBuf {
        match self.keys.current() {
            Some(_) => self.sealed_path(digest),
            None => self.clear_path(digest),
        }
    }

    /// Opens a blob for reading. Its content is not verified.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Blob`]; [`Error::NoKey`], [`Error::BlobDamaged`] of one that is sealed.
    pub async fn open(&self, digest: Digest) -> Result<Blob, Error> {
        let blobs = self.clone();
        blocking(move || blobs.open_now(digest)).await
    }

    fn open_now(&self, digest: Digest) -> Result<Blob, Error> {
        let (sealed, clear) = (self.sealed_path(digest), self.clear_path(digest));
        // Either may be made, and the other removed then, while this looks. So each is asked for again.
        for path in [&sealed, &clear, &sealed] {
            match File::open(path) {
                Ok(file) if *path == sealed => return Blob::sealed(file, path, &self.keys),
                Ok(file) => return Blob::clear(file).map_err(|error| Error::blob(path, &error)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::blob(path, &error)),
            }
        }
        Err(Error::NotFound(format!("blob {digest}")))
    }

    /// The whole content of a blob, verified.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::BlobDamaged`] when it is not what was put.
    pub async fn read(&self, digest: Digest) -> Result<Vec<u8>, Error> {
        let blobs = self.clone();
        blocking(move || {
            let path = blobs.path(digest);
            let mut bytes = Vec::new();
            let blob = blobs.open_now(digest)?;
            blob.reader().read_to_end(&mut bytes).map_err(|error| Error::blob(&path, &error))?;
            if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(Error::BlobDamaged { path }) }
        })
        .await
    }

    /// Reads a blob to its end, and holds it against its name.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub async fn verify(&self, digest: Digest) -> Result<(), Error> {
        let blobs = self.clone();
        blocking(move || {
            let path = blobs.path(digest);
            let blob = blobs.open_now(digest)?;
            let mut sum = Hashed::new(io::sink());
            copy(&mut blob.reader(), &path, &mut sum, &path)?;
            let (_, sha256, _) = sum.into_parts();
            if Digest::new(sha256) == digest { Ok(()) } else { Err(Error::BlobDamaged { path }) }
        })
        .await
    }

    /// What the state file in this blob says of itself.
    ///
    /// # Errors
    /// [`ReadStateError`].
    pub async fn state_meta(&self, digest: Digest) -> Result<StateMeta, ReadStateError> {
        self.read_state(digest, |blob, path| StateMeta::read(blob.reader(), path)).await
    }

    /// The outputs of the state file in this blob, by name. They are all of it that is in memory.
    ///
    /// # Errors
    /// [`ReadStateError`].
    pub async fn state_outputs(&self, digest: Digest) -> Result<Vec<StateOutput>, ReadStateError> {
        self.read_state(digest, |blob, path| state_outputs(blob.reader(), path)).await
    }

    /// The names of the outputs of the state file in this blob.
    ///
    /// # Errors
    /// [`ReadStateError`].
    pub async fn state_output_names(&self, digest: Digest) -> Result<Vec<String>, ReadStateError> {
        self.read_state(digest, |blob, path| state_output_names(blob.reader(), path)).await
    }

    async fn read_state<T: Send + 'static>(
        &self,
        digest: Digest,
        read: impl FnOnce(&Blob, &Path) -> Result<T, ReadStateError> + Send + 'static,
    ) -> Result<T, ReadStateError> {
        let blobs = self.clone();
        // its errors are those of the blob and those of what is in it
        blocking(move || Ok(read(&blobs.open_now(digest)?, &blobs.path(digest)))).await?
    }

    /// A file in which other processes can read the content: that of the blob if it lies in clear, or else `copy`, which is
    /// made for it, for this user alone.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Blob`] when the copy can't be written.
    pub async fn in_clear(&self, digest: Digest, copy: PathBuf) -> Result<PathBuf, Error> {
        let blobs = self.clone();
        blocking(move || {
            let blob = blobs.open_now(digest)?;
            if blob.key().is_none() {
                return Ok(blobs.clear_path(digest));
            }
            let cannot = |error: io::Error| Error::blob(&copy, &error);
            if let Some(parent) = copy.parent() {
                DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(cannot)?;
            }
            let mut file = Replacement::begin(&copy).map_err(cannot)?;
            io::copy(&mut blob.reader(), file.file()).map_err(cannot)?;
            file.commit().map_err(cannot)?;
            Ok(copy)
        })
        .await
    }

    /// Bytes as they lie on the disk: sealed if this seals.
    ///
    /// # Errors
    /// When the operating system has no random bytes.
    pub fn seal(&self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        match self.keys.current() {
            Some(key) => seal::seal(key, &bytes),
            None => Ok(bytes),
        }
    }

    /// What [`seal`](Self::seal) was given. `path` is what words call it.
    ///
    /// # Errors
    /// [`Error::NoKey`], [`Error::BlobDamaged`].
    pub fn unseal(&self, bytes: Vec<u8>, path: &Path) -> Result<Vec<u8>, Error> {
        if seal::sealed_with(&bytes).is_none() {
            return Ok(bytes);
        }
        seal::open(&self.keys, &bytes).map_err(|error| Error::sealed(path, error))
    }
}

impl BlobStore {
    pub(crate) fn new(dir: PathBuf, keys: Keyring) -> Self {
        Self { blobs: Blobs { dir: dir.into(), keys }, publishing: Arc::default() }
    }

    /// The same, for who only reads.
    pub(crate) const fn reader(&self) -> &Blobs {
        &self.blobs
    }

    /// Keeps these bytes.
    ///
    /// # Errors
    /// [`Error::Blob`]: nothing was kept.
    pub async fn put_bytes(&self, bytes: impl Into<Vec<u8>>) -> Result<PutBlob, Error> {
        let (blobs, bytes) = (self.clone(), bytes.into());
        blocking(move || blobs.put(bytes.as_slice(), Path::new("bytes in memory"))).await
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

    /// The same of a file that is open. `path` is what words call it.
    ///
    /// # Errors
    /// [`Error::Blob`]: nothing was kept.
    pub async fn put_opened(&self, file: File, path: impl AsRef<Path>) -> Result<PutBlob, Error> {
        let (blobs, path) = (self.clone(), path.as_ref().to_owned());
        blocking(move || blobs.put(file, &path)).await
    }

    /// Keeps what was written elsewhere first, as a request is.
    ///
    /// # Errors
    /// [`Error::Blob`]: nothing was kept.
    pub async fn put_blob(&self, blob: Blob) -> Result<PutBlob, Error> {
        let blobs = self.clone();
        blocking(move || blobs.put(blob.reader(), Path::new("what was sent"))).await
    }

    /// Keeps a file without writing it again: the blob is a second name of it (or a copy, where the file system
    /// can't do that, or blobs are sealed), and it is this user's alone from now on.
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
        let mut sink = self.sink()?;
        let into = sink.path().to_owned();
        copy(source, name, &mut sink, &into)?;
        sink.finish()
    }

    fn adopt(&self, source: &Path) -> Result<PutBlob, Error> {
        let file = open_regular(source)?;
        if self.keys.current().is_some() {
            return self.put(file, source);
        }
        let mut hashed = Hashed::new(io::sink());
        copy(&file, source, &mut hashed, source)?;
        let (_, sha256, size) = hashed.into_parts();
        let digest = Digest::new(sha256);
        let owned = || {
            if fs::symlink_metadata(source)?.is_symlink() {
                // it would be the link that gets the other name
                return Err(io::ErrorKind::CrossesDevices.into());
            }
            file.set_permissions(Permissions::from_mode(0o600))
        };
        let published = owned()
            .map_err(PublishError::Io)
            .and_then(|()| self.try_publish(source, &self.path(digest), digest));
        match published {
            Ok(()) => Ok(PutBlob { digest, size }),
            Err(PublishError::Io(error)) if can_be_copied(&error) => self.put(open_regular(source)?, source),
            Err(error) => Err(error.of(&self.path(digest))),
        }
    }

    /// Gives a file the name of its content, and has the disk keep both.
    fn publish(&self, file: &Path, digest: Digest) -> Result<(), Error> {
        let path = self.path(digest);
        self.try_publish(file, &path, digest).map_err(|error| error.of(&path))?;
        if self.keys.current().is_some() {
            // what lay in clear is there a second time
            match fs::remove_file(self.clear_path(digest)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::blob(&path, &error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn try_publish(&self, file: &Path, path: &Path, digest: Digest) -> Result<(), PublishError> {
        let shard = path.parent().unwrap_or(&self.dir);
        match DirBuilder::new().mode(0o700).create(shard) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let _no_sweep = self.publishing.read().unwrap_or_else(PoisonError::into_inner);
        // a link never replaces what is there, as a rename would
        match fs::hard_link(file, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !self.holds(path, digest)? {
                    tracing::warn!(path = %path.display(), "a damaged blob is replaced by its true content");
                    let other = unfinished_name(&self.dir);
                    fs::hard_link(file, &other)?;
                    fs::rename(&other, path)?;
                }
                // so that a sweep sees that it was put again
                fs::set_permissions(path, Permissions::from_mode(0o600))?;
            }
            done => done?,
        }
        // The content, its name, and the directory's: without any of them the blob is lost in a power cut, also one
        // that was there, since who put it may not have got so far. The content after its name, and not before: the
        // file system writes all that has changed in its directories at once, so that the last two find nothing to
        // do. A name whose content never came is not a blob that anybody was told of, and is replaced if it comes again.
        File::open(path)?.sync_all()?;
        sync_directory(shard)?;
        sync_directory(&self.dir)?;
        Ok(())
    }

    /// Whether a file of ours has this content.
    fn holds(&self, path: &Path, digest: Digest) -> Result<bool, PublishError> {
        let file = File::open(path)?;
        let blob = if path.extension().is_some_and(|extension| extension == SEALED) {
            match Blob::sealed(file, path, &self.keys) {
                Ok(blob) => blob,
                Err(Error::BlobDamaged { .. }) => return Ok(false),
                Err(error) => return Err(PublishError::Store(error)),
            }
        } else {
            Blob::clear(file)?
        };
        let mut present = Hashed::new(io::sink());
        match io::copy(&mut blob.reader(), &mut present) {
            Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(false),
            copied => copied?,
        };
        Ok(Digest::new(present.finish()?.0) == digest)
    }
}

/// Why a file did not get the name of its content.
enum PublishError {
    Io(io::Error),
    Store(Error),
}

impl From<io::Error> for PublishError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl PublishError {
    fn of(self, path: &Path) -> Error {
        match self {
            Self::Io(error) => Error::blob(path, &error),
            Self::Store(error) => error,
        }
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

/// Writes all of the source.
fn copy(
    mut source: impl Read,
    name: &Path,
    into: &mut impl io::Write,
    into_name: &Path,
) -> Result<(), Error> {
    let mut buffer = vec![0; seal::PIECE];
    loop {
        let read = match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => &buffer[..read],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::blob(name, &error)),
        };
        into.write_all(read).map_err(|error| Error::blob(into_name, &error))?;
    }
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
