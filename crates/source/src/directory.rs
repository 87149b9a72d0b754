//! A directory of this machine as a source.
//!
//! It is someone else's and may change while it is read. So it is walked by descriptors that never follow a symbolic
//! link, and nothing is opened that is not known to be a file or a directory: opening a named pipe could take for ever.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use files::Found;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};

use crate::error::{Error, Kind};
use crate::estate::{Content, FoundState};
use crate::ignore::{self, IgnoreRules};
use crate::selection::{Selection, Verdict};
use crate::tree::Tree;

const FOR_THE_SOURCE: &str = "let `source` name a directory that the user signalbox runs as can read";
const FOR_AN_ENTRY: &str =
    "make it readable for the user signalbox runs as, or leave it out with .terraformignore";

/// Opens the directory, which itself may be named through a symbolic link.
pub(crate) fn open(path: &Path) -> Result<OwnedFd, Error> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|cause| Error::Unreadable {
        path: path.to_owned(),
        cause: cause.into(),
        advice: FOR_THE_SOURCE,
    })
}

/// Its `.terraformignore`.
pub(crate) fn ignore_rules(directory: &OwnedFd) -> Result<IgnoreRules, Error> {
    let name = Path::new(ignore::FILE_NAME);
    let Ok(status) = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
        return Ok(IgnoreRules::default());
    };
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(ignore::must_be_a_file(&read_link(directory, name, name)?)),
        _ => return Ok(IgnoreRules::default()),
    }
    let (file, _) = open_file(directory, name, name)?;
    ignore::read(file)
}

/// Copies what the selection takes.
pub(crate) fn copy(
    source: &OwnedFd,
    selection: &Selection,
    tree: &mut Tree,
    left: &mut Vec<FoundState>,
) -> Result<(), Error> {
    Walk { selection, tree, left }.directory(source, Path::new(""))
}

struct Walk<'a> {
    selection: &'a Selection,
    tree: &'a mut Tree,
    left: &'a mut Vec<FoundState>,
}

impl Walk<'_> {
    fn directory(&mut self, directory: &OwnedFd, path: &Path) -> Result<(), Error> {
        for name in names(directory).map_err(|cause| unreadable(path, cause))? {
            self.entry(directory, &name, &path.join(&name))?;
        }
        Ok(())
    }

    fn entry(&mut self, directory: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), Error> {
        let status = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|cause| unreadable(path, cause))?;
        let kind = FileType::from_raw_mode(status.st_mode);
        let verdict = self.selection.verdict(path, kind == FileType::Directory);
        if verdict == Verdict::Leave {
            if self.selection.is_state(path) {
                // what is in it is looked at where it lies
                self.left.push(FoundState { path: path.to_owned(), content: Content::Nothing });
            }
            return Ok(());
        }
        match kind {
            FileType::Directory => {
                if path.components().count() > crate::tree::MAX_DEPTH {
                    return Err(Error::TooDeep { limit: crate::tree::MAX_DEPTH, path: path.to_owned() });
                }
                let flags = OFlags::RDONLY
                    | OFlags::DIRECTORY
                    | OFlags::NOFOLLOW
                    | OFlags::NONBLOCK
                    | OFlags::CLOEXEC;
                let inner = rustix::fs::openat(directory, name, flags, Mode::empty())
                    .map_err(|cause| unreadable(path, cause))?;
                if verdict == Verdict::Take {
                    self.tree.directory(path)?;
                }
                self.directory(&inner, path)
            }
            FileType::RegularFile => {
                let (mut file, size) = open_file(directory, Path::new(name), path)?;
                self.tree.file(path, status.st_mode, size, &mut file)?;
                Ok(())
            }
            FileType::Symlink => {
                let target = read_link(directory, Path::new(name), path)?;
                self.tree.link(path, target)
            }
            FileType::Fifo => Err(Error::Kind { path: path.to_owned(), kind: Kind::Fifo }),
            FileType::Socket => Err(Error::Kind { path: path.to_owned(), kind: Kind::Socket }),
            FileType::CharacterDevice | FileType::BlockDevice => {
                Err(Error::Kind { path: path.to_owned(), kind: Kind::Device })
            }
            FileType::Unknown => Err(Error::Kind { path: path.to_owned(), kind: Kind::Special }),
        }
    }
}

/// Sorted, so that the first mistake is the same one each time.
fn names(directory: &OwnedFd) -> rustix::io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// A file and its size. What has become something else since it was looked at is refused, and not waited for.
fn open_file(directory: impl AsFd, name: &Path, path: &Path) -> Result<(File, u64), Error> {
    let unreadable = |cause| Error::Unreadable { path: path.to_owned(), cause, advice: FOR_AN_ENTRY };
    match files::open_at(directory, name).map_err(unreadable)? {
        Found::File(file) => {
            let size = file.metadata().map_err(unreadable)?.len();
            Ok((file, size))
        }
        Found::Nothing => Err(unreadable(io::ErrorKind::NotFound.into())),
        Found::Other(_) => Err(Error::Kind { path: path.to_owned(), kind: Kind::Special }),
    }
}

/// A file of this machine, named in the request.
pub(crate) fn open_named(path: &Path, advice: &'static str) -> Result<File, Error> {
    match open_file(CWD, path, path) {
        Ok((file, _)) => Ok(file),
        Err(Error::Unreadable { path, cause, .. }) => Err(Error::Unreadable { path, cause, advice }),
        Err(_) => {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "it is not a file");
            Err(Error::Unreadable { path: path.to_owned(), cause, advice })
        }
    }
}

fn read_link(directory: &OwnedFd, name: &Path, path: &Path) -> Result<PathBuf, Error> {
    let target =
        rustix::fs::readlinkat(directory, name, Vec::new()).map_err(|cause| unreadable(path, cause))?;
    Ok(OsString::from_vec(target.into_bytes()).into())
}

fn unreadable(path: &Path, cause: rustix::io::Errno) -> Error {
    Error::Unreadable { path: path.to_owned(), cause: cause.into(), advice: FOR_AN_ENTRY }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It may have become one after it was looked at. That this test ends is part of it.
    #[test]
    fn a_named_pipe_is_not_waited_for() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("x.tf");
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let directory = open(place.path()).unwrap();
        let opened = open_file(&directory, Path::new("x.tf"), Path::new("x.tf"));
        assert!(matches!(opened, Err(Error::Kind { kind: Kind::Special, .. })), "{opened:?}");
    }

    #[test]
    fn a_link_is_not_opened() {
        let place = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/etc/passwd", place.path().join("x.tf")).unwrap();
        let directory = open(place.path()).unwrap();
        let opened = open_file(&directory, Path::new("x.tf"), Path::new("x.tf"));
        assert!(matches!(opened, Err(Error::Kind { kind: Kind::Special, .. })), "{opened:?}");
    }
}
