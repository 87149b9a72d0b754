//! Files that survive a power cut, or are as they were before.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::Error;

/// Replaces `path` (0600) with what `fill` writes. That it is there survives once its directory is [kept](keep) too.
pub(crate) fn replace<T>(path: &Path, fill: impl FnOnce(&mut File) -> Result<T, Error>) -> Result<T, Error> {
    let unwritable = |cause| Error::Unwritable { path: path.to_owned(), cause };
    let parent = path.parent().ok_or_else(|| unwritable(io::ErrorKind::IsADirectory.into()))?;
    let mut file = tempfile::Builder::new().prefix(".signalbox-").tempfile_in(parent).map_err(unwritable)?;
    let filled = fill(file.as_file_mut())?;
    file.as_file().sync_all().map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(filled)
}

/// Makes the names in a directory survive.
pub(crate) fn keep(directory: &Path) -> Result<(), Error> {
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .map_err(|cause| Error::Unwritable { path: directory.to_owned(), cause })
}
