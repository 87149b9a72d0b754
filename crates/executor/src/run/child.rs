//! Starts the program of one step.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getrlimit, prlimit, setrlimit};

use crate::procfs;
use crate::record::{Claim, MARK};
use crate::run::confine;
use crate::run::diagnostics::complain;
use crate::run::log::Log;
use crate::run::program;
use crate::salvage;
use crate::spec::{Spec, Stdout, Step};

/// Address space that this process may need on top of what it has while it starts a child under a memory limit.
const HEADROOM: u64 = 16 << 20;

/// A step whose program is running.
pub(crate) struct Started {
    pub(crate) pid: u32,
    /// The file that takes its standard output, unless that is the log.
    pub(crate) output: Option<File>,
    /// The files of `must_write` as they were before it started.
    before: BTreeMap<PathBuf, Option<Version>>,
}

/// Changes whenever a file is written.
type Version = (u64, i64, i64);

/// Starts the step's program, or says in words why that was not possible or not allowed.
pub(crate) fn start(spec: &Spec, claim: &Claim, log: &Log, step: &Step) -> Result<Started, String> {
    let working_dir = step.working_dir.as_deref().unwrap_or(&spec.working_dir);
    if !working_dir.is_dir() {
        return Err(format!(
            "{} cannot start: its directory {} does not exist",
            step.name,
            working_dir.display()
        ));
    }
    for required in &step.require {
        if let Some(why) = salvage::mismatch(&spec.resolve(&required.path), &required.sha256) {
            return Err(format!("{} was not started: {why}", step.name));
        }
    }
    let cannot = |why: String| format!("{} cannot start: {why}", step.name);
    let program = program::resolve(spec, &step.program).map_err(cannot)?;
    if spec.repeatable {
        clear(spec, step)
            .map_err(|error| cannot(format!("what was made before cannot be removed: {error}")))?;
    }
    let output = match &step.stdout {
        Stdout::Log => None,
        Stdout::File(path) => {
            let path = spec.resolve(path);
            let opened = files::create_private(&path);
            Some(opened.map_err(|error| cannot(format!("{} cannot be created: {error}", path.display())))?)
        }
    };
    let before =
        step.must_write.iter().map(|path| spec.resolve(path)).map(|path| (path.clone(), version(&path)));
    let before = before.collect();

    let prepare = |command: &mut Command| -> io::Result<()> {
        let stdout = match &output {
            Some(file) => Stdio::from(file.try_clone()?),
            None => log.stdio()?,
        };
        command
            .args(&step.arguments)
            .env_clear()
            .envs(&spec.environment)
            .env(MARK, &claim.token)
            .current_dir(working_dir)
            // a group of its own: nothing that is sent to the executor's reaches it
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(log.stdio()?);
        Ok(())
    };
    let spawn = || match &step.confinement {
        None => {
            let mut command = Command::new(&program);
            prepare(&mut command)?;
            command.spawn()
        }
        Some(confinement) => confine::spawn(&program, confinement, prepare),
    };
    let spawned = match step.memory_limit {
        None => spawn().map_err(|error| error.to_string()),
        Some(limit) => spawn_limited(spawn, limit),
    };
    // dropping the handle neither ends the child nor reaps it
    let child = spawned.map_err(|why| cannot(format!("{} {why}", program.display())))?;
    Ok(Started { pid: child.id(), output, before })
}

/// Removes what the step made when it ran before, in an execution whose claim was lost in a power cut: its files may
/// have got other names since, under which they must stay as they are.
fn clear(spec: &Spec, step: &Step) -> io::Result<()> {
    let output = match &step.stdout {
        Stdout::Log => None,
        Stdout::File(path) => Some(path),
    };
    step.must_write.iter().chain(output).try_for_each(|path| files::remove(&spec.resolve(path)))
}

impl Started {
    /// The first file that the step should have written and did not, in words.
    pub(crate) fn unwritten(&self) -> Option<String> {
        let (path, _) = self.before.iter().find(|(path, before)| {
            let after = version(path);
            after.is_none() || after == **before
        })?;
        Some(format!("did not write {}", path.display()))
    }
}

fn version(path: &std::path::Path) -> Option<Version> {
    let metadata = path.metadata().ok()?;
    Some((metadata.ino(), metadata.ctime(), metadata.ctime_nsec()))
}

/// A limit set on the child after its start would come too late for what it did until then; and a hook between fork
/// and exec is neither safe nor cheap. So the executor, which has one thread, lowers its own soft limit for the
/// moment of the start, which the child inherits, and then fixes the child's hard limit as well.
fn spawn_limited(
    spawn: impl FnOnce() -> io::Result<std::process::Child>,
    limit: u64,
) -> Result<std::process::Child, String> {
    let words = |error: io::Error| format!("cannot be started with a memory limit: {error}");
    let needed = procfs::own_address_space().map_err(words)?.saturating_add(HEADROOM);
    if limit < needed {
        return Err(format!(
            "cannot be started with a memory limit of {}: it needs {} at least",
            text::bytes(limit),
            text::bytes(needed)
        ));
    }
    let own = getrlimit(Resource::As);
    let limit = own.maximum.map_or(limit, |maximum| maximum.min(limit));
    let lowered = Rlimit { current: Some(limit), maximum: own.maximum };
    setrlimit(Resource::As, lowered).map_err(|error| words(error.into()))?;
    let spawned = spawn();
    let restored = setrlimit(Resource::As, own);
    let child = spawned.map_err(words)?;
    if let Err(error) = restored {
        complain(format_args!("cannot restore the executor's own memory limit: {error}"));
    }
    let fixed = Rlimit { current: Some(limit), maximum: Some(limit) };
    if let Err(error) = prlimit(procfs::raw_pid(child.id()), Resource::As, fixed) {
        // it runs under the soft limit all the same
        complain(format_args!("cannot fix the memory limit of process {}: {error}", child.id()));
    }
    Ok(child)
}
