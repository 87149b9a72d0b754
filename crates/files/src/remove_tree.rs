use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

/// Removes what is at a path, with all that lies in it, if there is anything.
///
/// It goes on past what it can't remove, and removes all the rest. A directory that its owner may not write to is no
/// obstacle, and neither is one that is nested deeper than a path may be long: what lies in a directory is moved up
/// until nothing is nested. Links are not followed. Nobody else may be at work in it.
///
/// # Errors
/// What could not be removed first, by its name, and how many more there are; calling again tries again.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    empty_directory(path)?;
    match fs::remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes all that lies in a directory, as [`remove_tree`] does. The directory itself stays, and its owner may do
/// everything in it.
///
/// # Errors
/// As those of [`remove_tree`].
pub fn empty_directory(path: &Path) -> io::Result<()> {
    let directory = open_directory(CWD, path.as_os_str())?;
    let mut left = Left::default();
    loop {
        let before = left.skip.len();
        let mut nested = false;
        for (name, is_directory) in entries(&directory)? {
            if left.skip.contains(&name) {
                continue;
            }
            let removed = if is_directory {
                nested = true;
                flatten(&directory, &name, &mut left)
            } else {
                unlink(&directory, &name, AtFlags::empty())
            };
            if let Err(error) = removed {
                left.note(&name, error);
                left.skip.insert(name);
            }
        }
        // what was moved up is new here
        if !nested && left.skip.len() == before {
            return left.into_result();
        }
    }
}

/// What can't be removed.
#[derive(Default)]
struct Left {
    /// Names in the directory that is emptied.
    skip: BTreeSet<CString>,
    first: Option<(CString, io::Error)>,
    count: usize,
    /// For names of what is moved up.
    moved: u64,
}

impl Left {
    fn note(&mut self, name: &CString, error: io::Error) {
        self.count += 1;
        self.first.get_or_insert_with(|| (name.clone(), error));
    }

    fn into_result(self) -> io::Result<()> {
        let Some((name, error)) = self.first else { return Ok(()) };
        let name = OsStr::from_bytes(name.to_bytes()).display().to_string();
        let more = match self.count {
            0 | 1 => String::new(),
            count => format!(" (and {} more can't)", count - 1),
        };
        Err(io::Error::new(error.kind(), format!("{name} can't be removed: {error}{more}")))
    }
}

/// Removes a directory in `above`, after all in it was removed, or moved to `above` if it is a directory that is not empty.
fn flatten(above: &OwnedFd, name: &CString, left: &mut Left) -> io::Result<()> {
    if unlink(above, name, AtFlags::REMOVEDIR).is_ok() {
        return Ok(());
    }
    let directory = open_directory(above, OsStr::from_bytes(name.to_bytes()))?;
    for (inner, is_directory) in entries(&directory)? {
        let removed = if is_directory {
            unlink(&directory, &inner, AtFlags::REMOVEDIR)
                .or_else(|_| move_up(above, &directory, &inner, left))
        } else {
            unlink(&directory, &inner, AtFlags::empty())
        };
        if let Err(error) = removed {
            left.note(&inner, error);
        }
    }
    unlink(above, name, AtFlags::REMOVEDIR)
}

fn move_up(above: &OwnedFd, directory: &OwnedFd, name: &CString, left: &mut Left) -> io::Result<()> {
    // its entry `..` changes, which takes the right to write to it
    drop(open_directory(directory, OsStr::from_bytes(name.to_bytes()))?);
    left.moved += 1;
    let to = format!(".signalbox-removes-{}-{}", std::process::id(), left.moved);
    Ok(rustix::fs::renameat(directory, name, above, to)?)
}

/// Opens a directory, and takes the right to do everything in it where that is missing.
fn open_directory(at: impl AsFd, name: &OsStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || rustix::fs::openat(&at, name, flags, Mode::empty());
    let directory = match open() {
        Err(Errno::ACCESS) => {
            rustix::fs::chmodat(&at, name, Mode::RWXU, AtFlags::empty())?;
            open()?
        }
        opened => opened?,
    };
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&directory)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // root needs none, and the owner is told by what follows if it fails
        let _ = rustix::fs::fchmod(&directory, Mode::RWXU);
    }
    Ok(directory)
}

/// The names in a directory, and whether each is a directory.
fn entries(directory: &OwnedFd) -> io::Result<Vec<(CString, bool)>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let metadata = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(metadata.st_mode)
            }
            kind => kind,
        };
        found.push((name.to_owned(), kind == FileType::Directory));
    }
    Ok(found)
}

fn unlink(directory: &OwnedFd, name: &CString, flags: AtFlags) -> io::Result<()> {
    match rustix::fs::unlinkat(directory, name, flags) {
        Err(Errno::NOENT) => Ok(()),
        removed => Ok(removed?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn lock(path: &Path) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }

    /// As root nothing is refused: the same test as an ordinary user is what shows it.
    #[test]
    fn directories_without_rights_are_removed_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (tree, outside) = (dir.path().join("tree"), dir.path().join("outside"));
        fs::create_dir_all(tree.join("a/b/c")).unwrap();
        fs::write(&outside, "kept").unwrap();
        fs::write(tree.join("a/b/c/file"), "x").unwrap();
        fs::write(tree.join("a/file"), "x").unwrap();
        symlink(&outside, tree.join("a/link")).unwrap();
        symlink(dir.path(), tree.join("a/b/up")).unwrap();
        lock(&tree.join("a/b/c"));
        lock(&tree.join("a/b"));
        lock(&tree.join("a"));
        lock(&tree);
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept");
        remove_tree(&tree).unwrap();
        remove_tree(&outside).unwrap();
        assert!(!outside.exists());
    }

    #[test]
    fn a_tree_deeper_than_any_path_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir(&tree).unwrap();
        let mut at: OwnedFd = fs::File::open(&tree).unwrap().into();
        for _ in 0..3000 {
            rustix::fs::mkdirat(&at, "deep", Mode::RWXU).unwrap();
            rustix::fs::openat(&at, "file", OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
            at = rustix::fs::openat(&at, "deep", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        drop(at);
        remove_tree(&tree).unwrap();
        assert!(!tree.exists());
    }

    #[test]
    fn an_emptied_directory_stays_and_can_be_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("x/y")).unwrap();
        lock(&tree);
        empty_directory(&tree).unwrap();
        assert_eq!(fs::read_dir(&tree).unwrap().count(), 0);
        fs::write(tree.join("new"), "x").unwrap();
    }
}
