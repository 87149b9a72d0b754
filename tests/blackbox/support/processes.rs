//! Who is alive, as the kernel tells it.

use std::path::Path;

/// A process that belongs to a test, by its working directory, its command line or its environment.
#[derive(Debug)]
pub struct Process {
    pub pid: u32,
    pub command: String,
}

/// Every living process that mentions this directory, but for `except`. Zombies don't count: they are
/// dead, and their parent is another's.
pub fn alive_below(directory: &Path, except: Option<u32>) -> Vec<Process> {
    let needle = directory.as_os_str().as_encoded_bytes();
    let mention = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc is there").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if Some(pid) == except || pid == std::process::id() {
            continue;
        }
        let read = |name: &str| std::fs::read(entry.path().join(name)).unwrap_or_default();
        let command = read("cmdline");
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        // a zombie has neither
        if cwd.starts_with(directory) || mention(&command) || mention(&read("environ")) {
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            found.push(Process { pid, command });
        }
    }
    found
}

/// The processes below the directory whose command line has this in it.
pub fn with_command(directory: &Path, text: &str) -> Vec<Process> {
    alive_below(directory, None).into_iter().filter(|process| process.command.contains(text)).collect()
}

/// `kill -9`.
pub fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process has a positive id");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is alive");
}
