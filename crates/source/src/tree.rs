//! The configuration as it is written below the work directory.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::link::stays_inside;
use crate::request::Limits;

/// How deep directories may be nested: each open level costs the copying process a file descriptor.
pub(crate) const MAX_DEPTH: usize = 100;

/// What a configuration holds, by path relative to it; parents come before what is in them.
pub(crate) type Entries = BTreeMap<PathBuf, Entry>;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Directory,
    File { mode: u32, size: u64 },
    Link { target: PathBuf },
}

/// A configuration in the making.
///
/// Its symbolic links are written last, when all are known to stay inside: nothing is ever written through one.
#[derive(Debug)]
pub(crate) struct Tree {
    work: PathBuf,
    entries: Entries,
    limits: Limits,
    bytes: u64,
}

/// A configuration all of which lies below the work directory.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) work: PathBuf,
    pub(crate) entries: Entries,
    pub(crate) bytes: u64,
}

impl Tree {
    /// `work` exists and is empty.
    pub(crate) fn new(work: PathBuf, limits: Limits) -> Self {
        Self { work, entries: Entries::new(), limits, bytes: 0 }
    }

    /// A directory, with those it lies in; one that is there already is well.
    pub(crate) fn directory(&mut self, path: &Path) -> Result<(), Error> {
        if path.as_os_str().is_empty() || self.entries.get(path) == Some(&Entry::Directory) {
            return Ok(());
        }
        self.admit(path, Entry::Directory)?;
        let place = self.work.join(path);
        DirBuilder::new().mode(0o755).create(&place).map_err(|cause| Error::Unwritable { path: place, cause })
    }

    /// A file with what `content` gives, which should be `size` bytes. Returns how many it was. Of `mode` the nine bits of
    /// rights are kept, and whoever runs terraform may read it.
    pub(crate) fn file(
        &mut self,
        path: &Path,
        mode: u32,
        size: u64,
        content: &mut impl Read,
    ) -> Result<u64, Error> {
        let room = self.limits.max_bytes - self.bytes;
        let too_large = || Error::TooLarge { limit: self.limits.max_bytes, path: path.to_owned() };
        if size > room {
            return Err(too_large());
        }
        let mode = mode & 0o777 | 0o400;
        self.admit(path, Entry::File { mode, size })?;
        let place = self.work.join(path);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&place)
            .map_err(|cause| Error::Unwritable { path: place.clone(), cause })?;
        // a file may grow while it is copied: one byte more than fits shows it
        let copied = io::copy(&mut content.take(room.saturating_add(1)), &mut file)
            .map_err(|cause| Error::Copy { path: path.to_owned(), cause })?;
        if copied > room {
            return Err(Error::TooLarge { limit: self.limits.max_bytes, path: path.to_owned() });
        }
        // whatever the umask is
        file.set_permissions(Permissions::from_mode(mode))
            .map_err(|cause| Error::Unwritable { path: place, cause })?;
        self.bytes += copied;
        self.entries.insert(path.to_owned(), Entry::File { mode, size: copied });
        Ok(copied)
    }

    /// A symbolic link, made by [`Tree::finish`].
    pub(crate) fn link(&mut self, path: &Path, target: PathBuf) -> Result<(), Error> {
        self.admit(path, Entry::Link { target })
    }

    /// Makes the symbolic links, or refuses the first that leaves the configuration.
    pub(crate) fn finish(self) -> Result<Taken, Error> {
        let links = || {
            self.entries.iter().filter_map(|(path, entry)| match entry {
                Entry::Link { target } => Some((path, target)),
                Entry::Directory | Entry::File { .. } => None,
            })
        };
        if let Some((path, target)) =
            links().find(|(path, target)| !stays_inside(&self.entries, path, target))
        {
            return Err(Error::LinkLeaves { path: path.clone(), target: target.clone() });
        }
        for (path, target) in links() {
            let place = self.work.join(path);
            symlink(target, &place).map_err(|cause| Error::Unwritable { path: place, cause })?;
        }
        Ok(Taken { work: self.work, entries: self.entries, bytes: self.bytes })
    }

    /// Writes down that `path` is to be there, if it may.
    fn admit(&mut self, path: &Path, entry: Entry) -> Result<(), Error> {
        if path.components().count() > MAX_DEPTH {
            return Err(Error::TooDeep { limit: MAX_DEPTH, path: path.to_owned() });
        }
        if let Some(parent) = path.parent() {
            self.directory(parent)?;
        }
        if self.entries.contains_key(path) {
            return Err(Error::Twice { path: path.to_owned() });
        }
        if self.entries.len() as u64 >= self.limits.max_files {
            return Err(Error::TooMany { limit: self.limits.max_files, path: path.to_owned() });
        }
        self.entries.insert(path.to_owned(), entry);
        Ok(())
    }
}

impl Taken {
    /// How many files it has.
    pub(crate) fn files(&self) -> usize {
        self.entries.values().filter(|entry| matches!(entry, Entry::File { .. })).count()
    }

    /// The directories that hold terraform files, as a person would name them.
    pub(crate) fn directories_with_terraform_files(&self) -> Vec<String> {
        let mut directories: Vec<String> = self
            .entries
            .iter()
            .filter(|(_, entry)| !matches!(entry, Entry::Directory))
            .filter(|(path, _)| path.file_name().is_some_and(crate::backend::is_terraform_file))
            .filter_map(|(path, _)| path.parent().map(crate::words::shown))
            .collect();
        directories.sort();
        directories.dedup();
        directories
    }
}
