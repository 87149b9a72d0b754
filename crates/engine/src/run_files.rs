//! The files by which the stages of a run hand on to each other. What ran in between may have removed or replaced them.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use files::{Found, Replacement};
use serde::Serialize;
use serde::de::DeserializeOwned;
use store::Blobs;

/// Why a stage could not be prepared or concluded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// It can never be: the stage has failed, for this reason.
    #[error("{0}")]
    Impossible(String),
    /// It could not be now, and is tried again.
    #[error("{0}")]
    NotNow(String),
}

impl StageError {
    /// What the operating system says of a file; whether it can pass is decided by [`files::can_pass`].
    pub(crate) fn file(what: &str, path: &Path, error: &io::Error) -> Self {
        let words = format!("can't {what} {}: {error}", path.display());
        if files::can_pass(error) { Self::NotNow(words) } else { Self::Impossible(words) }
    }

    /// Work on another thread that broke off.
    pub(crate) fn broken_off(error: &tokio::task::JoinError) -> Self {
        Self::NotNow(error.to_string())
    }
}

impl From<store::Error> for StageError {
    fn from(error: store::Error) -> Self {
        if error.can_pass() { Self::NotNow(error.to_string()) } else { Self::Impossible(error.to_string()) }
    }
}

/// Writes a file that only this user may read, whole or not at all.
///
/// It is not flushed to the disk, since every run would wait for that. What an apply needs after a power cut is among
/// the files that the executor of the plan makes durable when it ends.
pub(crate) fn write_private(path: &Path, content: &impl Serialize) -> Result<(), StageError> {
    try_write_private(path, content).map_err(|error| StageError::file("write", path, &error))
}

fn try_write_private(path: &Path, content: &impl Serialize) -> io::Result<()> {
    replace(path, &serde_json::to_vec_pretty(content)?)
}

/// The same of what nobody but the daemon reads: sealed where blobs are.
pub(crate) fn write_sealed(blobs: &Blobs, path: &Path, content: &impl Serialize) -> io::Result<()> {
    replace(path, &blobs.seal(serde_json::to_vec_pretty(content)?)?)
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    let mut new = Replacement::begin(path)?;
    new.file().write_all(bytes)?;
    new.commit()
}

/// Opens a file that an earlier stage wrote; `None` if there is none.
pub(crate) fn open_own(path: &Path) -> Result<Option<File>, StageError> {
    match files::open(path) {
        Ok(Found::File(file)) => Ok(Some(file)),
        Ok(Found::Nothing) => Ok(None),
        Ok(Found::Other(_)) => Err(StageError::Impossible(format!(
            "{} is not a regular file: what ran here has replaced it",
            path.display()
        ))),
        Err(error) => Err(StageError::file("read", path, &error)),
    }
}

/// Opens a file that an earlier stage wrote, and without which the run can't go on.
pub(crate) fn open_needed(path: &Path) -> Result<File, StageError> {
    open_own(path)?.ok_or_else(|| {
        StageError::Impossible(format!("{} is gone: what ran here has removed it", path.display()))
    })
}

/// Reads a file that an earlier stage wrote.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, StageError> {
    read_bytes(path)?.map(|bytes| parsed(path, &bytes)).transpose()
}

/// Reads what [`write_sealed`] wrote.
pub(crate) fn read_sealed<T: DeserializeOwned>(blobs: &Blobs, path: &Path) -> Result<Option<T>, StageError> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    parsed(path, &blobs.unseal(bytes, path)?).map(Some)
}

fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>, StageError> {
    let Some(mut file) = open_own(path)? else { return Ok(None) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|error| StageError::file("read", path, &error))?;
    Ok(Some(bytes))
}

fn parsed<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, StageError> {
    serde_json::from_slice(bytes)
        .map_err(|error| StageError::Impossible(format!("{} is damaged: {error}", path.display())))
}
