use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use seal::{Keyring, OpenError, Opened};

use crate::Error;

/// Bytes that don't change any more, in clear for whoever has this, wherever and however they lie.
#[derive(Debug)]
pub struct Blob(Kind);

#[derive(Debug)]
enum Kind {
    Memory(Vec<u8>),
    Clear { file: File, length: u64 },
    Sealed(Opened<File>),
}

impl Blob {
    pub(super) const fn in_memory(bytes: Vec<u8>) -> Self {
        Self(Kind::Memory(bytes))
    }

    /// A file that is what it holds now.
    pub(super) fn clear(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self(Kind::Clear { file, length }))
    }

    /// A sealed file.
    pub(super) fn sealed(file: File, path: &Path, keys: &Keyring) -> Result<Self, Error> {
        let length = file.metadata().map_err(|error| Error::blob(path, &error))?.len();
        let opened = Opened::new(file, length, keys).map_err(|error| Error::sealed(path, error))?;
        Ok(Self(Kind::Sealed(opened)))
    }

    /// Its bytes, if they are in memory.
    ///
    /// # Errors
    /// Itself, if they are in a file.
    pub fn into_memory(self) -> Result<Vec<u8>, Self> {
        match self.0 {
            Kind::Memory(bytes) => Ok(bytes),
            other => Err(Self(other)),
        }
    }

    /// Its bytes.
    pub const fn len(&self) -> u64 {
        match &self.0 {
            Kind::Memory(bytes) => bytes.len() as u64,
            Kind::Clear { length, .. } => *length,
            Kind::Sealed(opened) => opened.len(),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The key that it is sealed with; `None` if it lies in clear.
    pub fn key(&self) -> Option<seal::KeyId> {
        match &self.0 {
            Kind::Memory(_) | Kind::Clear { .. } => None,
            Kind::Sealed(opened) => Some(opened.key()),
        }
    }

    /// Reads bytes from this offset on; none at the end. Blocks.
    ///
    /// # Errors
    /// When the file can't be read, or is not what was sealed.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.0 {
            Kind::Memory(bytes) => {
                let from = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[from..]).read(buffer)
            }
            Kind::Clear { file, .. } => file.read_at(buffer, offset),
            Kind::Sealed(opened) => opened.read_at(buffer, offset).map_err(|error| match error {
                OpenError::Io(error) => error,
                other => io::Error::new(io::ErrorKind::InvalidData, other),
            }),
        }
    }

    /// Fills the buffer from this offset on.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at); [`io::ErrorKind::UnexpectedEof`] when there are fewer bytes.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buffer = &mut buffer[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Reads it from its beginning to its end. Blocks.
    pub const fn reader(&self) -> impl Read {
        Reader { blob: self, offset: 0 }
    }
}

struct Reader<'a> {
    blob: &'a Blob,
    offset: u64,
}

impl Read for Reader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.blob.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}
