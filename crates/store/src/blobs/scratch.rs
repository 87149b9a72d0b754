use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;

use seal::{Key, Keyring, Sealer};

use super::Blobs;
use super::blob::Blob;
use super::unfinished_name;
use crate::Error;

/// Up to here it stays in memory.
const IN_MEMORY: usize = 64 * 1024;

/// A place for bytes that nobody keeps: an answer until it is read, a request until it is understood. A few stay in memory,
/// more go into a file without a name. Where blobs are sealed, that file is sealed as well, with a key that nobody keeps.
pub struct Scratch {
    blobs: Blobs,
    memory: Vec<u8>,
    file: Option<Spilled>,
}

enum Spilled {
    Clear(File),
    Sealed { sealer: Sealer<File>, key: Key },
}

impl Blobs {
    /// A place for bytes that nobody keeps.
    pub fn scratch(&self) -> Scratch {
        Scratch { blobs: self.clone(), memory: Vec::new(), file: None }
    }
}

impl Scratch {
    /// What was written. Blocks.
    ///
    /// # Errors
    /// [`Error::Blob`].
    pub fn finish(self) -> Result<Blob, Error> {
        let dir = self.blobs.dir.clone();
        let done = match self.file {
            None => Ok(Blob::in_memory(self.memory)),
            Some(Spilled::Clear(file)) => Blob::clear(file),
            Some(Spilled::Sealed { sealer, key }) => match sealer.finish() {
                Ok(file) => return Blob::sealed(file, &dir, &Keyring::new(Some(key), [])),
                Err(error) => Err(error),
            },
        };
        done.map_err(|error| Error::blob(&dir, &error))
    }

    fn spill(&mut self) -> io::Result<&mut Spilled> {
        if self.file.is_none() {
            let path = unfinished_name(&self.blobs.dir);
            let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
            fs::remove_file(&path)?;
            let file = if self.blobs.keys.current().is_some() {
                let key = Key::ephemeral()?;
                Spilled::Sealed { sealer: Sealer::new(&key, file)?, key }
            } else {
                Spilled::Clear(file)
            };
            let file = self.file.insert(file);
            file.write_all(&std::mem::take(&mut self.memory))?;
        }
        self.file.as_mut().ok_or_else(|| io::Error::other("there is no file"))
    }
}

impl Spilled {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Clear(file) => file.write_all(bytes),
            Self::Sealed { sealer, .. } => sealer.write_all(bytes),
        }
    }
}

impl Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_none() && self.memory.len() + bytes.len() <= IN_MEMORY {
            self.memory.extend_from_slice(bytes);
        } else {
            self.spill()?.write_all(bytes)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
