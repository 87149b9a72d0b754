//! Confines the process of a step before its program starts.
//!
//! What confines is a matter of the thread: as root a thread of its own confines itself, starts the program, which inherits
//! that, and ends. So there is no code between fork and exec, and the executor itself stays as free as it was. Any other user
//! gets the right to hide directories only in a user namespace, which takes a process with one thread: this program once
//! more ([`confine`]), which then becomes the program of the step.
//!
//! Three things of the kernel work together:
//!
//! - A mount namespace hides directories: an empty file system lies over each, in which what is visible is bound.
//! - Landlock says what may be opened and written, and keeps the program from signalling and inspecting what is outside of it.
//!   Where there may be no mount namespace it hides as well. It knows what may be done below a directory and not what may not,
//!   so what is hidden is left out by naming all that lies beside it, up to the root; of the directories above it no list
//!   can be read then, and nothing new made in them.
//! - What only root may do to the machine (load modules, mount, read raw memory …) is given up.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change, mount_remount};
use rustix::thread::{CapabilitySet, CapabilitySets};

use crate::confinement::Confinement;

/// The newest that is made use of; the crate leaves out what the kernel does not know.
const KNOWN: ABI = ABI::V5;

/// Devices that do no harm.
const DEVICES: [&str; 7] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"];

/// Below /dev, and harmless as well.
const DEVICE_DIRECTORIES: [&str; 3] = ["/dev/pts", "/dev/shm", "/dev/fd"];

/// What root keeps: what scripts need to change files, users and addresses, and nothing that changes the machine.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::SYS_CHROOT)
    .union(CapabilitySet::AUDIT_WRITE)
    .union(CapabilitySet::SETFCAP);

/// The hidden subcommand of [`confine`].
pub(crate) const CONFINE: &str = "confine";

/// Starts a program confined, with the arguments, environment and directory that `prepare` gives to a command.
pub(crate) fn spawn(
    program: &Path,
    confinement: &Confinement,
    prepare: impl Fn(&mut Command) -> io::Result<()> + Sync,
) -> io::Result<Child> {
    if !may_mount()? {
        let mut command = Command::new("/proc/self/exe");
        command.arg(CONFINE).arg(serde_json::to_string(confinement)?).arg(program);
        prepare(&mut command)?;
        return command.spawn();
    }
    std::thread::scope(|scope| {
        let confined = scope.spawn(|| {
            enter(confinement)?;
            let mut command = Command::new(program);
            prepare(&mut command)?;
            command.spawn()
        });
        confined.join().unwrap_or_else(|_| Err(io::Error::other("the thread that starts it panicked")))
    })
}

/// Confines this process, which has one thread, and becomes a program: the hidden subcommand `confine CONFINEMENT PROGRAM
/// ARGUMENT…`. Returns only if that fails: 126, as shells say of what can't be executed.
pub fn confine(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    use std::os::unix::process::CommandExt as _;
    let mut become_program = || -> io::Result<std::convert::Infallible> {
        let missing =
            || io::Error::other("confine CONFINEMENT PROGRAM ARGUMENT… is not to be started by hand");
        let confinement = arguments.next().ok_or_else(missing)?;
        let confinement: Confinement = serde_json::from_slice(confinement.as_encoded_bytes())?;
        let program = arguments.next().ok_or_else(missing)?;
        let directory = std::env::current_dir()?;
        // where that is not allowed Landlock hides what it can
        let _ = take_user_namespace();
        enter(&confinement)?;
        // the same path, in what is seen now
        std::env::set_current_dir(directory)?;
        Err(Command::new(program).args(&mut arguments).exec())
    };
    let Err(error) = become_program();
    eprintln!("cannot start confined: {error}");
    std::process::ExitCode::from(126)
}

fn may_mount() -> io::Result<bool> {
    Ok(rustix::thread::capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// A user namespace in which this user is who it is, and may mount.
fn take_user_namespace() -> io::Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Confines the calling thread, for good.
fn enter(confinement: &Confinement) -> io::Result<()> {
    // in a container root may not be allowed to
    let hidden = may_mount()? && hide(confinement).is_ok();
    rustix::thread::set_no_new_privs(true)?;
    restrict(confinement, hidden)?;
    give_up_capabilities(rustix::thread::capabilities(None)?)
}

/// Covers what is hidden in a mount namespace of the thread's own.
fn hide(confinement: &Confinement) -> io::Result<()> {
    nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    for hidden in &confinement.hidden {
        let is_directory = match fs::metadata(hidden) {
            Ok(found) => found.is_dir(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if !is_directory {
            mount_bind("/dev/null", hidden)?;
            continue;
        }
        // opened before they are covered
        let visible: Vec<(&Path, bool, rustix::fd::OwnedFd)> = visible(confinement)
            .filter(|path| path.starts_with(hidden))
            .filter_map(|path| {
                let handle =
                    rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
                Some((path, fs::metadata(path).ok()?.is_dir(), handle))
            })
            .collect();
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("none", hidden, "tmpfs", flags, Some(c"mode=0755,size=64k"))?;
        for (path, is_directory, handle) in visible {
            if is_directory {
                fs::create_dir_all(path)?;
            } else {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                File::create(path)?;
            }
            mount_bind(format!("/proc/thread-self/fd/{}", handle.as_raw_fd()), path)?;
        }
        mount_remount(hidden, MountFlags::BIND | MountFlags::RDONLY | flags, "")?;
    }
    Ok(())
}

fn visible(confinement: &Confinement) -> impl Iterator<Item = &Path> {
    confinement.visible.iter().chain(&confinement.writable).map(PathBuf::as_path)
}

/// `hidden`: what is hidden is covered already.
fn restrict(confinement: &Confinement, hidden: bool) -> io::Result<()> {
    let refused = |error: &dyn std::fmt::Display| io::Error::other(format!("can't be confined: {error}"));
    let (read, all) = (AccessFs::from_read(KNOWN), AccessFs::from_all(KNOWN));
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)
        .and_then(|rules| rules.scope(Scope::Signal | Scope::AbstractUnixSocket))
        .and_then(Ruleset::create)
        .map_err(|error| refused(&error))?;
    for (path, access) in allowed(confinement, hidden, read, all) {
        // what has gone meanwhile needs no rule
        let Ok(handle) = PathFd::new(&path) else { continue };
        let of_file = AccessFs::from_file(KNOWN);
        let access = if path.is_dir() { access } else { access & of_file };
        rules = rules.add_rule(PathBeneath::new(handle, access)).map_err(|error| refused(&error))?;
    }
    rules.restrict_self().map(drop).map_err(|error| refused(&error))
}

/// Each path with what may be done below it.
fn allowed(
    confinement: &Confinement,
    hidden: bool,
    read: BitFlags<AccessFs>,
    all: BitFlags<AccessFs>,
) -> Vec<(PathBuf, BitFlags<AccessFs>)> {
    // covered, or left out by naming what lies beside it
    let mut left_out: Vec<&Path> = vec![Path::new("/dev")];
    if !hidden {
        left_out.extend(confinement.hidden.iter().map(PathBuf::as_path));
    }
    let mut rules = Vec::new();
    let mut allow = |path: &Path, access| {
        for beside in around(path, &left_out) {
            rules.push((beside, access));
        }
    };
    allow(Path::new("/"), read);
    confinement.writable.iter().for_each(|path| allow(path, all));
    // what is named of a hidden directory is named again below it
    for path in &confinement.writable {
        rules.push((
            path.clone(),
            if left_out.iter().any(|left| left.starts_with(path)) { read } else { all },
        ));
    }
    rules.retain(|(path, _)| !left_out.iter().any(|left| left.starts_with(path) && *left != path.as_path()));
    rules.extend(confinement.visible.iter().map(|path| (path.clone(), read)));
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::Truncate;
    rules.extend(DEVICES.map(|path| (PathBuf::from(path), device)));
    rules.extend(DEVICE_DIRECTORIES.map(|path| (PathBuf::from(path), all)));
    rules
}

/// The directory itself, if nothing of it is left out; or else all that lies beside what is, on each level.
fn around(directory: &Path, left_out: &[&Path]) -> Vec<PathBuf> {
    if left_out.iter().any(|left| directory.starts_with(left)) {
        return Vec::new();
    }
    let inside: BTreeSet<&Path> =
        left_out.iter().copied().filter(|left| left.starts_with(directory)).collect();
    if inside.is_empty() {
        return vec![directory.to_owned()];
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.flat_map(|entry| around(&entry.path(), left_out)).collect()
}

/// Gives up what is not kept, also for programs that it starts. Without the right to anything there is nothing to give up.
fn give_up_capabilities(own: CapabilitySets) -> io::Result<()> {
    if own.permitted.is_empty() {
        return Ok(());
    }
    if own.effective.contains(CapabilitySet::SETPCAP) {
        for capability in CapabilitySet::all().difference(KEPT).iter() {
            // one that this kernel does not know
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    let kept = own.permitted.intersection(KEPT);
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    Ok(rustix::thread::set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_surrounded() {
        let directory = tempfile::tempdir().unwrap();
        let at = |path: &str| directory.path().join(path);
        for path in ["a/data/x", "a/b", "c"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("file"), "").unwrap();
        let hidden = at("a/data");
        let mut found = around(directory.path(), &[&hidden]);
        found.sort();
        assert_eq!(found, [at("a/b"), at("c"), at("file")]);
        assert_eq!(around(&at("c"), &[&hidden]), [at("c")]);
        assert!(around(&at("a/data/x"), &[&hidden]).is_empty());
    }
}
