//! Files of a run. What runs in it may have put anything in their place: a link is not followed, and a pipe is not
//! waited for.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// What is at a path.
#[derive(Debug)]
pub(crate) enum Found {
    /// A regular file, open for reading.
    File(File),
    /// Nothing.
    Nothing,
    /// Anything else.
    Other,
}

/// Opens what is there. Blocks for no longer than the disk does.
pub(crate) fn open(path: &Path) -> io::Result<Found> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::Nothing),
        // a link, or a socket
        Err(error)
            if [Errno::LOOP, Errno::NXIO]
                .map(Errno::raw_os_error)
                .map(Some)
                .contains(&error.raw_os_error()) =>
        {
            return Ok(Found::Other);
        }
        Err(error) => return Err(error),
    };
    Ok(if file.metadata()?.is_file() { Found::File(file) } else { Found::Other })
}

/// [`open`], on a thread that may block.
pub(crate) async fn opened(path: &Path) -> io::Result<Found> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || open(&path)).await.map_err(io::Error::other)?
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
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        assert!(matches!(open(&path("file")).unwrap(), Found::File(_)));
        assert!(matches!(open(&path("nothing")).unwrap(), Found::Nothing));
        for other in ["link", "socket", "pipe", "."] {
            assert!(matches!(open(&path(other)).unwrap(), Found::Other), "{other}");
        }
    }
}
