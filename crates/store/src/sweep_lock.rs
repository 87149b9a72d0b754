//! Who removes what nothing refers to, and who copies what is there, keep out of each other's way.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::Error;

/// A lock below the data directory, held by processes. Gone when this is.
#[derive(Debug)]
pub struct SweepLock(#[expect(dead_code, reason = "it is held")] File);

impl SweepLock {
    fn open(data_dir: &Path) -> Result<(File, std::path::PathBuf), Error> {
        let path = data_dir.join("sweep.lock");
        let mut options = File::options();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        Ok((file.map_err(|error| Error::data_dir(&path, &error))?, path))
    }

    /// For who removes. `None` while anybody copies or removes.
    ///
    /// # Errors
    /// [`Error::DataDir`].
    pub fn try_alone(data_dir: &Path) -> Result<Option<Self>, Error> {
        let (file, path) = Self::open(data_dir)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::data_dir(&path, &error)),
        }
    }

    /// For who copies: waits until nobody removes any more. Blocks.
    ///
    /// # Errors
    /// [`Error::DataDir`].
    pub fn shared(data_dir: &Path) -> Result<Self, Error> {
        let (file, path) = Self::open(data_dir)?;
        file.lock_shared().map_err(|error| Error::data_dir(&path, &error))?;
        Ok(Self(file))
    }
}
