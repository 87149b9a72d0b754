//! Looks at an execution directory from outside. Blocking; decides nothing that it has not proven.

use std::fs::{self, File};
use std::io;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use crate::directory::{Directory, read_versioned};
use crate::error::Error;
use crate::leftovers;
use crate::observation::{Lost, Observation, Running};
use crate::procfs::Identity;
use crate::record::{Claim, State};
use crate::result::ExecutionResult;
use crate::salvage::salvage_durably;

/// How often and how long a lock without a visible owner is looked at again before it is given up.
const LOCK_LOOKS: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// An observation, and whom to wait for if it can change.
pub(crate) enum Seen {
    Running(Running, Identity),
    AtRest(Observation),
}

/// Says what is behind the directory. If its executor is dead, kills what it left and salvages its files.
pub(crate) fn observe(directory: &Directory) -> Result<Seen, Error> {
    for _ in 0..LOCK_LOOKS {
        let claim = match read_versioned::<Claim>(&directory.claim())? {
            Some(claim) => claim,
            None => {
                let result = directory.unclaimed_result()?;
                return Ok(Seen::AtRest(result.map_or(Observation::NotStarted, finished)));
            }
        };
        let this_boot = claim.is_of_this_boot()?;
        // in this order: an executor that ends in between has left its result, which is then found
        let alive = this_boot && claim.executor.is_alive();
        match result(directory) {
            Ok(Some(finished)) => return Ok(Seen::AtRest(finished)),
            // it is being written, or cannot be
            Ok(None) | Err(Error::Damaged { .. } | Error::Io { .. }) => {}
            Err(error) => return Err(error),
        }
        if alive {
            return Ok(Seen::Running(running(directory, &claim), claim.executor));
        }
        // asked only now: before the claim, a probing lock would stand in the way of a starting executor
        if is_locked(directory)? {
            std::thread::sleep(LOCK_PAUSE);
            continue;
        }
        // the lock is released by the end of the executor, and a result written just before it counts
        return match result(directory) {
            Ok(Some(finished)) => Ok(Seen::AtRest(finished)),
            Ok(None) => lost(directory, &claim, this_boot, None).map(Seen::AtRest),
            Err(Error::Damaged { why, .. }) => {
                lost(directory, &claim, this_boot, Some(&why)).map(Seen::AtRest)
            }
            Err(error) => Err(error),
        };
    }
    Err(Error::HeldElsewhere { directory: directory.path().to_owned() })
}

fn result(directory: &Directory) -> Result<Option<Observation>, Error> {
    Ok(read_versioned(&directory.result())?.map(finished))
}

fn finished(result: ExecutionResult) -> Observation {
    Observation::Finished(Box::new(result))
}

fn running(directory: &Directory, claim: &Claim) -> Running {
    // what cannot be read takes nothing from the certainty that it runs
    let state = read_versioned::<State>(&directory.state()).ok().flatten().unwrap_or_default();
    let child_pid = state.step.as_ref().and_then(|step| step.child).map(|child| child.pid);
    Running {
        executor_pid: claim.executor.pid,
        step: state.step.map(|step| step.name),
        child_pid,
        interrupted: state.interrupted,
    }
}

fn is_locked(directory: &Directory) -> Result<bool, Error> {
    let path = directory.lock();
    let lock = match File::open(&path) {
        Ok(lock) => lock,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io("open", path)(error)),
    };
    match flock(lock, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(false),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(true),
        Err(error) => Err(Error::io("lock", path)(error.into())),
    }
}

fn lost(
    directory: &Directory,
    claim: &Claim,
    this_boot: bool,
    damage: Option<&str>,
) -> Result<Observation, Error> {
    // a state that cannot be read takes nothing from the certainty that the executor is gone
    let state = read_versioned::<State>(&directory.state()).ok().flatten().unwrap_or_default();
    let swept = if this_boot { leftovers::sweep(directory, claim, state.step.as_ref())? } else { 0 };
    // an executor that died right after its claim has left the spec, with its secrets
    let _ = fs::remove_file(directory.spec());
    let step = state.step.map(|step| step.name);
    let during = match &step {
        Some(step) => format!("while {step} was running"),
        None => "before its first step".to_owned(),
    };
    let how = if this_boot {
        format!("it was killed or crashed (see {})", directory.diagnostics().display())
    } else {
        "the machine was restarted".to_owned()
    };
    let without = match damage {
        None => "without a result".to_owned(),
        Some(why) => format!("with a result that is damaged ({why})"),
    };
    let killed = match swept {
        0 => String::new(),
        1 => "; 1 process that it had left was killed".to_owned(),
        more => format!("; {more} processes that it had left were killed"),
    };
    Ok(Observation::Lost(Lost {
        reason: format!(
            "the executor (process {}) ended {without} {during}: {how}{killed}",
            claim.executor.pid
        ),
        step,
        interrupted: state.interrupted,
        swept,
        salvaged: salvage_durably(&claim.working_dir, &claim.salvage),
    }))
}
