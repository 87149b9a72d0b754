//! Files that are whole, or not there.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::Error;

/// Replaces `path` (0600) with what `fill` writes.
///
/// Nothing is flushed to the disk here: every run waits for this, and until its plan is made it has nothing that a
/// power cut could not take. Whoever keeps what was taken makes it durable.
pub(crate) fn replace<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T, Error>) -> Result<T, Error> {
    let unwritable = |cause| Error::Unwritable { path: path.to_owned(), cause };
    let parent = path.parent().ok_or_else(|| unwritable(io::ErrorKind::IsADirectory.into()))?;
    let mut file = tempfile::Builder::new().prefix(".signalbox-").tempfile_in(parent).map_err(unwritable)?;
    let filled = fill(file.as_file_mut())?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(filled)
}
