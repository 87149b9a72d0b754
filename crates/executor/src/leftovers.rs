//! Finds and kills what an execution left running when its executor died and could not do it itself.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::directory::Directory;
use crate::error::Error;
use crate::procfs::{self, Process};
use crate::record::{Claim, CurrentStep};

const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// Kills all that belongs to the execution, and says how many there were. When it returns `Ok`, none is alive.
///
/// A process belongs to it if it is the recorded child, carries the execution's mark in its environment, writes to
/// its log, is of the executor's session and works in its directory, or descends from one of these. Each of
/// these is proof; a process that sheds all of them (a new session, an empty environment, other output, another
/// directory and no parent left) cannot be told from a stranger and is not found.
pub(crate) fn sweep(directory: &Directory, claim: &Claim, step: Option<&CurrentStep>) -> Result<u32, Error> {
    let started = Instant::now();
    let mut killed = HashSet::new();
    loop {
        let alive = belonging(directory, claim, step);
        if alive.is_empty() {
            return Ok(u32::try_from(killed.len()).unwrap_or(u32::MAX));
        }
        if started.elapsed() > PATIENCE {
            let pids = alive.iter().map(|process| process.pid().to_string()).collect::<Vec<_>>().join(", ");
            return Err(Error::Leftovers { directory: directory.path().to_owned(), pids });
        }
        for process in alive {
            if process.identity.kill() {
                killed.insert(process.identity);
            }
        }
        std::thread::sleep(PAUSE);
    }
}

fn belonging(directory: &Directory, claim: &Claim, step: Option<&CurrentStep>) -> Vec<Process> {
    let processes = procfs::processes();
    let own = std::process::id();
    let mark = claim.mark();
    let log = claim.log.clone().unwrap_or_else(|| directory.log());
    let log = log.canonicalize().unwrap_or(log);
    let working_dir = claim.working_dir.canonicalize().unwrap_or_else(|_| claim.working_dir.clone());
    // a session outlives its leader, and its number is not given to another process as long as it does
    let session_is_its_own = |process: &Process| {
        process.session == claim.executor.pid && process.identity.start_time >= claim.executor.start_time
    };
    let marked: Vec<Process> = processes
        .iter()
        .filter(|process| {
            step.and_then(|step| step.child) == Some(process.identity)
                || procfs::has_environment(process.pid(), &mark)
                || procfs::writes_to(process.pid(), &log)
                || (session_is_its_own(process) && procfs::works_in(process.pid(), &working_dir))
        })
        .copied()
        .collect();
    let descendants = procfs::descendants(&processes, marked.iter().map(Process::pid));
    marked.into_iter().chain(descendants).filter(|process| !process.ended && process.pid() != own).collect()
}
