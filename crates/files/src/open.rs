use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// What is at a path.
#[derive(Debug)]
pub enum Found {
    /// A regular file, open for reading.
    File(File),
    /// Nothing.
    Nothing,
    /// Anything else: what, as in "it is a symbolic link".
    Other(&'static str),
}

impl Found {
    /// The file.
    ///
    /// # Errors
    /// When it is none.
    pub fn file(self) -> io::Result<File> {
        match self {
            Self::File(file) => Ok(file),
            Self::Nothing => Err(io::ErrorKind::NotFound.into()),
            Self::Other(what) => Err(io::Error::other(format!("it is {what}"))),
        }
    }
}

/// Opens what is there. A link is not followed, and a pipe or a device is not waited for.
///
/// # Errors
/// When something is there that can't be opened.
pub fn open(path: &Path) -> io::Result<Found> {
    open_at(CWD, path)
}

/// The same for a path that is relative to an open directory. Links are followed in all but its last part.
///
/// # Errors
/// When something is there that can't be opened.
pub fn open_at(directory: impl AsFd, path: &Path) -> io::Result<Found> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(directory, path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(Found::Nothing),
        Err(Errno::LOOP) => return Ok(Found::Other("a symbolic link")),
        // a socket
        Err(Errno::NXIO) => return Ok(Found::Other("not a regular file")),
        Err(error) => return Err(error.into()),
    };
    Ok(if file.metadata()?.is_file() { Found::File(file) } else { Found::Other("not a regular file") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("file"), "x").unwrap();
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        rustix::fs::mknodat(CWD, path("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0).unwrap();
        assert!(matches!(open(&path("file")).unwrap(), Found::File(_)));
        assert!(matches!(open(&path("nothing")).unwrap(), Found::Nothing));
        let what = |name: &str| open(&path(name)).unwrap().file().unwrap_err().to_string();
        assert_eq!(what("link"), "it is a symbolic link");
        for other in ["socket", "pipe", "."] {
            assert_eq!(what(other), "it is not a regular file", "{other}");
        }
        assert!(matches!(
            open_at(File::open(dir.path()).unwrap(), Path::new("file")).unwrap(),
            Found::File(_)
        ));
    }
}
