//! What is done about a disk that gets full while the steps run.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::statvfs;

use crate::run::diagnostics::complain;
use crate::spec::Reserve;

/// How often the space that is left is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Watches over the space on a disk, and releases the reserve.
pub(crate) struct Space {
    reserve: Option<Reserve>,
    look_at: Instant,
}

impl Space {
    pub(crate) fn new(reserve: Option<Reserve>) -> Self {
        Self { reserve, look_at: Instant::now() }
    }

    /// When to look again.
    pub(crate) fn look_at(&self) -> Option<Instant> {
        self.reserve.is_some().then_some(self.look_at)
    }

    /// Looks, if it is time to, and releases the reserve if it has to be. What is to be said about that, for the log.
    ///
    /// It goes on looking: somebody else may have released it, and it may have been set aside anew.
    pub(crate) fn look(&mut self, now: Instant, directory: &Path) -> Option<String> {
        let reserve = self.reserve.as_ref().filter(|_| self.look_at <= now)?;
        self.look_at = now + LOOK;
        let left = space_left(directory)
            .inspect_err(|error| complain(format_args!("cannot tell what space is left: {error}")));
        if left.ok()? >= reserve.when_below {
            return None;
        }
        let size = fs::metadata(&reserve.path).ok()?.len();
        match fs::remove_file(&reserve.path) {
            Ok(()) => Some(format!(
                "the disk is nearly full: {} that were kept in reserve are free now, so that the state can be written",
                text::bytes(size)
            )),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    complain(format_args!("cannot release the reserve: {error}"));
                }
                None
            }
        }
    }
}

/// Bytes that may still be written to the file system of this directory.
///
/// # Errors
/// When the system does not say so.
pub fn space_left(directory: &Path) -> io::Result<u64> {
    let space = statvfs(directory)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_released_once_and_only_when_space_is_short() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("reserve");
        let reserve = |when_below| Some(Reserve { path: path.clone(), when_below, log: 0 });
        fs::write(&path, [0; 2048]).unwrap();
        let now = Instant::now();
        assert_eq!(Space::new(None).look_at(), None);
        assert_eq!(Space::new(reserve(0)).look(now, directory.path()), None);
        assert!(path.exists());

        let mut space = Space::new(reserve(u64::MAX));
        let words = space.look(now + LOOK, directory.path()).unwrap();
        assert!(words.contains("2 KiB"), "{words}");
        assert!(!path.exists());
        // set aside anew: not looked at before its time, and then released again
        fs::write(&path, [0; 1]).unwrap();
        assert_eq!(space.look(now + LOOK, directory.path()), None);
        assert!(path.exists() && space.look_at() == Some(now + LOOK * 2));
        assert!(space.look(now + LOOK * 2, directory.path()).is_some());
        assert_eq!(space.look(now + LOOK * 3, directory.path()), None);
    }
}
