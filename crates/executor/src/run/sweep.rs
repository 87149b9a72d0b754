//! Finds and ends the descendants of the executor.

use std::collections::HashSet;

use rustix::process::{WaitId, WaitIdOptions, waitid};
use wait4::{ResourceUsage, try_wait4_pid};

use crate::procfs::{self, Identity, Process};

/// Whether this process has children at all, dead or alive. As a subreaper it inherits every orphan below it, so
/// that none means that no descendant is left.
pub(crate) fn has_children() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(waitid(WaitId::All, peek), Err(rustix::io::Errno::CHILD))
}

/// Reaps the dead children, except the one whose end somebody else waits for. Says what they had used.
pub(crate) fn reap(except: Option<u32>) -> Vec<ResourceUsage> {
    let own = std::process::id();
    procfs::processes()
        .iter()
        .filter(|process| process.parent == own && process.ended && Some(process.pid()) != except)
        .filter_map(|orphan| try_wait4_pid(orphan.pid()).ok().flatten())
        .map(|used| used.rusage)
        .collect()
}

/// Kills every living descendant of this process, once, and adds them to `killed`.
pub(crate) fn kill_descendants(killed: &mut HashSet<Identity>) {
    for descendant in procfs::descendants(&procfs::processes(), [std::process::id()]) {
        if !descendant.ended && descendant.identity.kill() {
            killed.insert(descendant.identity);
        }
    }
}

/// The living descendants of this process, for a person.
pub(crate) fn describe_descendants() -> String {
    let alive: Vec<String> = procfs::descendants(&procfs::processes(), [std::process::id()])
        .iter()
        .filter(|process| !process.ended)
        .map(Process::pid)
        .map(|pid| pid.to_string())
        .collect();
    alive.join(", ")
}
