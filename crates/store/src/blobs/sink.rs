use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use files::{Hashed, sync_directory};
use seal::Sealer;

use super::{BlobStore, PutBlob, unfinished_name};
use crate::{Digest, Error};

/// A blob that is being written. Without [`finish`](Self::finish) nothing is kept. Blocks.
pub struct BlobSink {
    blobs: BlobStore,
    unfinished: Unfinished,
    into: Hashed<Into>,
}

enum Into {
    Clear(File),
    Sealed(Box<Sealer<File>>),
}

impl BlobStore {
    /// Begins a blob.
    ///
    /// # Errors
    /// [`Error::Blob`].
    pub fn sink(&self) -> Result<BlobSink, Error> {
        let path = unfinished_name(&self.dir);
        let begin = || {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            let unfinished = Unfinished { path: path.clone() };
            let into = match self.keys.current() {
                Some(key) => Into::Sealed(Box::new(Sealer::new(key, file)?)),
                None => Into::Clear(file),
            };
            Ok((unfinished, into))
        };
        let (unfinished, into) = begin().map_err(|error| Error::blob(&path, &error))?;
        Ok(BlobSink { blobs: self.clone(), unfinished, into: Hashed::new(into) })
    }
}

impl BlobSink {
    /// The file that is written to, for words.
    pub(super) fn path(&self) -> &Path {
        &self.unfinished.path
    }

    /// Keeps what was written.
    ///
    /// # Errors
    /// [`Error::Blob`]: nothing was kept.
    pub fn finish(self) -> Result<PutBlob, Error> {
        let blobs = self.blobs.clone();
        let (unfinished, _, blob) = self.end()?;
        blobs.publish(&unfinished.path, blob.digest)?;
        Ok(blob)
    }

    /// Puts what was written in the place of a file, if it has this digest.
    pub(super) fn replace(self, digest: Digest, path: &Path) -> Result<bool, Error> {
        let (unfinished, file, blob) = self.end()?;
        if blob.digest != digest {
            return Ok(false);
        }
        let replace = || {
            file.sync_all()?;
            fs::rename(&unfinished.path, path)?;
            path.parent().map_or(Ok(()), sync_directory)
        };
        replace().map_err(|error| Error::blob(path, &error))?;
        Ok(true)
    }

    fn end(self) -> Result<(Unfinished, File, PutBlob), Error> {
        let Self { blobs: _, unfinished, into } = self;
        let (into, sha256, size) = into.into_parts();
        let finished = match into {
            Into::Clear(file) => Ok(file),
            Into::Sealed(sealer) => sealer.finish(),
        };
        let file = finished.map_err(|error| Error::blob(&unfinished.path, &error))?;
        Ok((unfinished, file, PutBlob { digest: Digest::new(sha256), size }))
    }
}

impl Write for Into {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Clear(file) => file.write(bytes),
            Self::Sealed(sealer) => sealer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Clear(file) => file.flush(),
            Self::Sealed(sealer) => sealer.flush(),
        }
    }
}

impl Write for BlobSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.into.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// A file without its name yet; gone when this is.
struct Unfinished {
    path: PathBuf,
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // after a replacement it is not there any more, and what can't be removed now is at the next start
        let _ = fs::remove_file(&self.path);
    }
}
