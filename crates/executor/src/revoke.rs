//! Taking back an execution that nobody has claimed, so that no launch that is still under way can start it.

use std::fs;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};

use crate::directory::{Directory, lock_file, write_atomically};
use crate::error::Error;
use crate::result::{ExecutionResult, Outcome};
use crate::spec::FORMAT;

/// Gives the execution the result of one that was interrupted before its first step, if it was never claimed.
/// False: it is claimed, or about to be; observe it.
///
/// An executor claims under the same lock, and counts a directory with a result as claimed.
pub(crate) fn revoke(directory: &Directory) -> Result<bool, Error> {
    directory.create()?;
    let path = directory.lock();
    let lock = lock_file(&path).map_err(Error::io("open", &path))?;
    match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(rustix::io::Errno::WOULDBLOCK) => return Ok(false),
        Err(error) => return Err(Error::io("lock", &path)(error.into())),
    }
    if directory.is_claimed()? {
        return Ok(false);
    }
    let now = Timestamp::now();
    let result = ExecutionResult {
        format: FORMAT,
        label: String::new(),
        outcome: Outcome::Interrupted,
        exit_code: None,
        steps: Vec::new(),
        interrupted: true,
        killed: false,
        swept: 0,
        salvaged: Vec::new(),
        started_at: now,
        ended_at: now,
    };
    write_atomically(&directory.result(), &result).map_err(Error::io("write", directory.result()))?;
    // it holds secrets, and nobody will read it any more
    let _ = fs::remove_file(directory.spec());
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observation::Observation;
    use crate::observe::{Seen, observe};

    #[test]
    fn what_was_revoked_is_over_and_was_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let directory = Directory::new(&dir.path().join("execution")).unwrap();
        assert!(revoke(&directory).unwrap());
        let Seen::AtRest(Observation::Finished(result)) = observe(&directory).unwrap() else {
            panic!("it is not over");
        };
        assert_eq!(result.outcome, Outcome::Interrupted);
        assert!(!revoke(&directory).unwrap(), "only once");
    }
}
