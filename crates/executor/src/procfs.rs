//! What `/proc` says about processes.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process that cannot be mistaken for a later one with the same pid (within one boot of the machine).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Identity {
    pub(crate) pid: u32,
    /// Clock ticks between the boot of the machine and the start of the process: field 22 of `/proc/PID/stat`.
    pub(crate) start_time: u64,
}

/// The part of `/proc/PID/stat` that is of interest here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) identity: Identity,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    /// Has ended (and may still wait to be reaped).
    pub(crate) ended: bool,
}

impl Process {
    pub(crate) fn pid(&self) -> u32 {
        self.identity.pid
    }

    /// The process with this pid; `None` when there is none.
    pub(crate) fn read(pid: u32) -> Option<Self> {
        parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
    }
}

impl Identity {
    pub(crate) fn own() -> io::Result<Self> {
        Process::read(std::process::id()).map(|process| process.identity).ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "/proc/self/stat cannot be read: is /proc mounted?")
        })
    }

    /// Whether it still runs; a zombie does not.
    pub(crate) fn is_alive(self) -> bool {
        Process::read(self.pid).is_some_and(|process| process.identity == self && !process.ended)
    }

    /// A handle that stays with this process; `None` when it is gone.
    pub(crate) fn open(self) -> io::Result<Option<rustix::fd::OwnedFd>> {
        let Some(pid) = raw_pid(self.pid) else { return Ok(None) };
        match pidfd_open(pid, PidfdFlags::empty()) {
            // looked at only now, since the pid may have changed hands before the handle existed
            Ok(handle) => Ok(self.is_alive().then_some(handle)),
            Err(rustix::io::Errno::SRCH) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills it, and says whether it was alive.
    pub(crate) fn kill(self) -> bool {
        matches!(self.open(), Ok(Some(handle)) if pidfd_send_signal(&handle, Signal::KILL).is_ok())
    }
}

pub(crate) fn raw_pid(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Every process that can be seen.
pub(crate) fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(Process::read)
        .collect()
}

/// All that descend from one of `roots`, without the roots themselves.
pub(crate) fn descendants(processes: &[Process], roots: impl IntoIterator<Item = u32>) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut unvisited: Vec<u32> = roots.into_iter().collect();
    let mut seen: HashSet<u32> = unvisited.iter().copied().collect();
    let mut found = Vec::new();
    while let Some(pid) = unvisited.pop() {
        for child in children.get(&pid).into_iter().flatten() {
            if seen.insert(child.pid()) {
                found.push(*child);
                unvisited.push(child.pid());
            }
        }
    }
    found
}

/// Whether the process was started with `NAME=VALUE` in its environment.
pub(crate) fn has_environment(pid: u32, assignment: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environment| {
        environment.split(|byte| *byte == 0).any(|entry| entry == assignment.as_bytes())
    })
}

/// Whether the process writes its standard output or standard error into this file.
pub(crate) fn writes_to(pid: u32, file: &Path) -> bool {
    [1, 2].iter().any(|fd| fs::read_link(format!("/proc/{pid}/fd/{fd}")).is_ok_and(|target| target == file))
}

/// Whether the process works in `directory` or below it.
pub(crate) fn works_in(pid: u32, directory: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|target| target.starts_with(directory))
}

/// Differs after every boot: pids and start times of another boot mean nothing.
pub(crate) fn boot_id() -> io::Result<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned())
}

/// Bytes of address space that this process has mapped.
pub(crate) fn own_address_space() -> io::Result<u64> {
    let statm = fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = statm.split(' ').next().and_then(|pages| pages.parse().ok()).unwrap_or_default();
    Ok(pages.saturating_mul(rustix::param::page_size() as u64))
}

fn parse_stat(stat: &[u8]) -> Option<Process> {
    let stat = String::from_utf8_lossy(stat);
    let (pid, rest) = stat.split_once(" (")?;
    // the name may hold anything, parentheses too; what follows the last one is numbers
    let fields: Vec<&str> = rest.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(Process {
        identity: Identity { pid: pid.parse().ok()?, start_time: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        ended: matches!(*fields.first()?, "Z" | "X" | "x"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_cannot_disguise_its_process() {
        let stat = b"42 (evil) R 1 (x) S 7 8 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 777 0 0 0";
        let process = parse_stat(stat).unwrap();
        assert_eq!(process.identity, Identity { pid: 42, start_time: 777 });
        assert_eq!((process.parent, process.session, process.ended), (7, 9, false));
    }

    #[test]
    fn a_zombie_has_ended() {
        let stat = b"42 (true) Z 7 8 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 777 0 0 0";
        assert!(parse_stat(stat).unwrap().ended);
    }

    #[test]
    fn nonsense_is_no_process() {
        for nonsense in ["", "42", "42 (", "42 (true) R", "x (true) R 1 2 3"] {
            assert_eq!(parse_stat(nonsense.as_bytes()), None, "{nonsense:?}");
        }
    }

    #[test]
    fn descendants_are_found_through_every_generation_and_cycles_end() {
        let process = |pid, parent| Process {
            identity: Identity { pid, start_time: 1 },
            parent,
            session: 1,
            ended: false,
        };
        let all = [process(4, 3), process(3, 2), process(2, 1), process(9, 8), process(8, 9), process(1, 0)];
        let mut pids: Vec<u32> = descendants(&all, [2]).iter().map(Process::pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [3, 4]);
        assert_eq!(descendants(&all, [9]).len(), 1);
    }

    #[test]
    fn this_process_is_alive_and_the_same_pid_with_another_start_is_not() {
        let own = Identity::own().unwrap();
        assert!(own.is_alive());
        assert!(!Identity { start_time: own.start_time + 1, ..own }.is_alive());
        assert!(own_address_space().unwrap() > 0);
        assert!(!boot_id().unwrap().is_empty());
    }
}
