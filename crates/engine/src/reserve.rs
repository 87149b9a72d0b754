//! Space on the disk that is kept for what applies must not lose: a state that terraform could not write is lost, while
//! the objects in it are there.
//!
//! One file for all applies, that only takes up space. The executor of an apply removes it when the disk is nearly full
//! ([`executor::Reserve`]), also when no daemon is alive; before the next apply it is made again, if there is space for it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use executor::Reserve;
use rustix::fs::{FallocateFlags, fallocate};

/// Bytes of the file. The state of a thousand resources is a few MiB, and terraform writes it twice.
const SIZE: u64 = 32 << 20;

/// Bytes in the file system below which the file goes. It is looked at every second: a disk that fills faster than
/// this in a second gets full for a moment.
const WHEN_BELOW: u64 = 16 << 20;

/// Bytes that the log of an apply gets in advance, and which nobody else can use up.
const LOG: u64 = 4 << 20;

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join("reserve")
}

/// What the executor of an apply has to know. Sets the space aside if that has to be done; an apply without it is
/// better than none.
pub(crate) fn of_apply(data_dir: &Path) -> Reserve {
    match set_aside(data_dir) {
        Ok(true) => {}
        Ok(false) => {
            tracing::warn!("the disk is nearly full: an apply goes on without a reserve for its state")
        }
        Err(error) => tracing::warn!(%error, "no space can be set aside for the state of an apply"),
    }
    Reserve { path: path(data_dir), when_below: WHEN_BELOW, log: LOG }
}

/// Sees that the space is set aside. False: there is not enough to do that and have some left.
pub(crate) fn set_aside(data_dir: &Path) -> io::Result<bool> {
    let path = path(data_dir);
    // in units of 512 bytes, whatever the file system's own
    if fs::metadata(&path).is_ok_and(|file| file.blocks().saturating_mul(512) >= SIZE) {
        return Ok(true);
    }
    if executor::space_left(data_dir)? < SIZE + 2 * WHEN_BELOW {
        return Ok(false);
    }
    let file = files::create_private(&path)?;
    fallocate(&file, FallocateFlags::empty(), 0, SIZE).inspect_err(|_| {
        // half a reserve is none
        let _ = fs::remove_file(&path);
    })?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_blocks_are_really_taken_and_taken_again_after_a_release() {
        let dir = tempfile::tempdir().unwrap();
        for _ in 0..2 {
            assert!(set_aside(dir.path()).unwrap());
            let file = fs::metadata(path(dir.path())).unwrap();
            assert!(file.blocks() * 512 >= SIZE && file.mode() & 0o777 == 0o600);
            assert!(set_aside(dir.path()).unwrap());
            fs::remove_file(path(dir.path())).unwrap();
        }
    }
}
