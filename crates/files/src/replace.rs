use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A new content of a file, which takes the old one's place when it is whole. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct Replacement<'p> {
    path: &'p Path,
    temporary: PathBuf,
    file: File,
}

impl<'p> Replacement<'p> {
    /// Begins one, in the directory of `path`, which has to be there.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn begin(path: &'p Path) -> io::Result<Self> {
        static SERIAL: AtomicU64 = AtomicU64::new(0);
        let mut name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
        name.push(format!(".{}.{}.tmp", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed)));
        let temporary = path.with_file_name(name);
        Ok(Self { path, file: create_private(&temporary)?, temporary })
    }

    /// Where the content goes.
    pub const fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Shows it to all who open the file from now on. After a power cut it may be the old one, or empty.
    ///
    /// # Errors
    /// When it can't have its name: the old one stays.
    pub fn commit(self) -> io::Result<()> {
        fs::rename(&self.temporary, self.path)
    }

    /// The same, and durable when this returns.
    ///
    /// # Errors
    /// When the disk can't keep it, or its name.
    pub fn commit_durably(self) -> io::Result<()> {
        self.file.sync_all()?;
        let path = self.path;
        self.commit()?;
        sync_directory(directory_of(path))
    }
}

impl Drop for Replacement<'_> {
    fn drop(&mut self) {
        // after a commit it is not there any more
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Creates a file that only its owner may read, or empties one that is there.
///
/// # Errors
/// When it can't be written.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)
}

/// Removes a file, if it is there.
///
/// # Errors
/// When it can't be removed.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Makes what was created, renamed or removed in a directory survive a power cut.
///
/// # Errors
/// When the disk does not keep it.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A name without a directory is one in the working directory.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn the_old_content_stays_until_the_new_one_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, "old").unwrap();
        for commit in [Replacement::commit, Replacement::commit_durably] {
            let mut replacement = Replacement::begin(&path).unwrap();
            replacement.file().write_all(b"new").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            commit(replacement).unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new");
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(names(dir.path()), ["file"]);
            fs::write(&path, "old").unwrap();
        }
    }

    #[test]
    fn a_replacement_that_is_given_up_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let mut replacement = Replacement::begin(&path).unwrap();
        replacement.file().write_all(b"half").unwrap();
        drop(replacement);
        assert!(names(dir.path()).is_empty());
        // what is in the way stays, and nothing beside it
        fs::create_dir(&path).unwrap();
        Replacement::begin(&path).unwrap().commit().unwrap_err();
        assert_eq!(names(dir.path()), ["file"]);
        Replacement::begin(Path::new("/")).unwrap_err();
    }

    #[test]
    fn what_is_not_there_is_removed_already() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        create_private(&path).unwrap();
        remove(&path).unwrap();
        remove(&path).unwrap();
        remove(dir.path()).unwrap_err();
    }
}
