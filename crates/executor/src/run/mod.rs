//! The executor process: from its start to its result.

mod child;
mod confine;
mod diagnostics;
mod events;
mod execution;
mod log;
mod messages;
mod program;
mod space;
mod stop;
mod sweep;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::process::{DumpableBehavior, getpid, set_child_subreaper, set_dumpable_behavior, setsid};

use crate::directory::{Directory, create, create_durably, lock_file, read_versioned, sync_together};
use crate::error::Error;
use crate::handshake::Handshake;
use crate::procfs::{Identity, boot_id};
use crate::record::{Claim, State};
use crate::result::{ExecutionResult, Outcome, StepResult};
use crate::salvage::salvage;
use crate::spec::{FORMAT, Spec};

pub use confine::confine;
pub use space::space_left;

use diagnostics::complain;
use events::Events;
use execution::Execution;
use log::Log;
use space::Space;
use stop::StopRequest;

/// How long a second executor waits to see what the first one, which holds the lock, makes of it.
const CLAIM_PATIENCE: Duration = Duration::from_secs(20);

/// How long an executor whose result cannot be written (a full disk) tries again, before it gives up.
const RESULT_PATIENCE: Duration = Duration::from_secs(120);
const RESULT_PAUSE: Duration = Duration::from_millis(500);

/// Space for the result that is set aside before the first step, in case the steps fill the disk.
const RESULT_SPACE: u64 = 64 * 1024;

/// Stands in place of the directory of an executor that is told later which it is.
pub(crate) const STAND_BY: &str = "-";

/// Runs the execution in `directory` in this process, and returns when it is over.
///
/// To be called first thing in `main`, while the process has one thread and no runtime, no open file of its own and
/// no child: it closes every descriptor that it inherited except the standard ones, leaves the session, becomes a
/// subreaper, and takes over signals. [`LocalExecutor`](crate::LocalExecutor) starts such a process.
///
/// The exit code is 0 when the execution has a result, or belongs to another executor; 1 when it could not be
/// claimed, or its result could not be written.
///
/// With `-` in place of a directory it waits until it is told one, or until its launcher is gone.
pub fn run(directory: &Path) -> ExitCode {
    close_inherited_descriptors();
    // its memory holds the environment of its steps; that it can't be kept is no reason not to work
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    // fails only for the leader of a group, which leads a session or was started by hand
    let _ = setsid();
    let told = if directory == Path::new(STAND_BY) { told_directory() } else { Some(directory.to_owned()) };
    let Some(directory) = told else { return ExitCode::SUCCESS };
    let prepared = Directory::new(&directory).map_err(|error| error.to_string()).and_then(|directory| {
        detach(&directory)
            .map_err(|error| format!("cannot prepare the executor in {directory:?}: {error}"))?;
        Ok((take(&directory)?, directory))
    });
    match prepared {
        Ok((Some((lock, subject)), directory)) => {
            let result = execute(&directory, subject);
            let written = result.is_ok();
            if let Err(why) = result {
                complain(format_args!("{why}"));
            }
            drop(lock);
            if written { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Ok((None, _)) => {
            shake_hands(&Handshake::Before);
            ExitCode::SUCCESS
        }
        Err(why) => {
            complain(format_args!("{why}"));
            shake_hands(&Handshake::Failed { why });
            ExitCode::FAILURE
        }
    }
}

/// What was inherited without being meant for this process would be held open for the life of the execution.
fn close_inherited_descriptors() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let inherited: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in inherited {
        // the one that listed the others is among them and closed by now
        let _ = nix::unistd::close(descriptor);
    }
}

/// The directory, from the standard input; `None` if the launcher is gone before it has told all of it.
fn told_directory() -> Option<PathBuf> {
    let mut told = Vec::new();
    io::stdin().read_to_end(&mut told).ok()?;
    let path = told.strip_suffix(b"\n")?;
    Some(PathBuf::from(OsStr::from_bytes(path)))
}

/// Cuts the ties to whoever started this process, except for the handshake.
fn detach(directory: &Directory) -> io::Result<()> {
    set_child_subreaper(Some(getpid()))?;
    let diagnostics =
        OpenOptions::new().append(true).create(true).mode(0o600).open(directory.diagnostics())?;
    rustix::stdio::dup2_stderr(&diagnostics)?;
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    // for people who look at processes: one that stood by does not name the directory in its arguments
    rustix::process::chdir(directory.path())?;
    Ok(())
}

/// Says it once, and closes standard output, by which the launcher knows that no more will come.
fn shake_hands(handshake: &Handshake) {
    let mut line = serde_json::to_vec(handshake).unwrap_or_default();
    line.push(b'\n');
    let mut stdout = io::stdout();
    // the launcher may have died by now, which concerns nobody here
    let _ = stdout.write_all(&line).and_then(|()| stdout.flush());
    if let Err(error) = OpenOptions::new()
        .write(true)
        .open("/dev/null")
        .and_then(|null| Ok(rustix::stdio::dup2_stdout(null)?))
    {
        complain(format_args!("cannot close standard output: {error}"));
    }
}

/// What an executor has claimed: the spec, or the reason why it cannot be used.
struct Subject {
    claim: Claim,
    spec: Result<Spec, Error>,
}

/// Takes the lock and claims the execution; `None` if somebody did before.
fn take(directory: &Directory) -> Result<Option<(File, Subject)>, String> {
    let path = directory.lock();
    let lock = lock_file(&path).map_err(|error| format!("cannot open {path:?}: {error}"))?;
    let claimed = || directory.is_claimed().map_err(|error| error.to_string());
    let started = Instant::now();
    while let Err(error) = flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        if error != rustix::io::Errno::WOULDBLOCK {
            return Err(format!("cannot lock {path:?}: {error}"));
        }
        if claimed()? {
            remove_late_spec(directory);
            return Ok(None);
        }
        if started.elapsed() > CLAIM_PATIENCE {
            return Err(format!("{path:?} is locked by another process, which does not claim the execution"));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    if claimed()? {
        remove_late_spec(directory);
        return Ok(None);
    }
    let spec = match read_versioned::<Spec>(&directory.spec()) {
        Ok(Some(spec)) => spec.validate().map(|()| spec),
        Ok(None) => {
            return Err(format!("{:?} does not exist: launch the execution with one", directory.spec()));
        }
        Err(error) => Err(error),
    };
    let claim =
        claim(directory, spec.as_ref().ok()).map_err(|error| format!("cannot claim {path:?}: {error}"))?;
    if let Err(error) = fs::remove_file(directory.spec()) {
        complain(format_args!("cannot remove the spec, which holds secrets: {error}"));
    }
    Ok(Some((lock, Subject { claim, spec })))
}

/// A spec that was written by a launch that came too late: the executor that claimed has read its own before.
fn remove_late_spec(directory: &Directory) {
    let _ = fs::remove_file(directory.spec());
}

/// Nothing is claimed when it fails. Durable when it returns, unless to run again is harmless: no power cut may make
/// anybody believe that an apply never started.
fn claim(directory: &Directory, spec: Option<&Spec>) -> io::Result<Claim> {
    let executor = Identity::own()?;
    let claim = Claim {
        format: FORMAT,
        label: spec.map(|spec| spec.label.clone()).unwrap_or_default(),
        executor,
        boot_id: boot_id()?,
        token: fs::read_to_string("/proc/sys/kernel/random/uuid")?.trim().to_owned(),
        working_dir: spec.map(|spec| spec.working_dir.clone()).unwrap_or_default(),
        salvage: spec.map(|spec| spec.salvage.clone()).unwrap_or_default(),
        log: spec.and_then(|spec| spec.log.clone()),
        claimed_at: Timestamp::now(),
    };
    if spec.is_some_and(|spec| spec.repeatable) {
        create(&directory.claim(), &claim)?;
    } else {
        create_durably(&directory.claim(), &claim)?;
    }
    Ok(claim)
}

/// An execution of which nothing is alive any more.
pub(crate) struct Over {
    result: ExecutionResult,
    /// What has to be flushed together with the result; `None` if nothing has.
    to_sync: Option<Vec<File>>,
}

fn open_log(directory: &Directory, spec: Option<&Spec>) -> io::Result<Log> {
    match spec.and_then(|spec| spec.log.as_deref()) {
        Some(shared) => Log::go_on(shared),
        None => Log::open(&directory.log()),
    }
}

/// Runs a claimed execution to its result, which is durable when this returns `Ok`, unless the execution is repeatable.
fn execute(directory: &Directory, subject: Subject) -> Result<(), String> {
    let reserved = ResultFile::reserve(directory).inspect_err(|error| {
        complain(format_args!("cannot set space aside for the result: {error}"));
    });
    let Subject { claim, spec } = subject;
    let opened = Events::open(directory)
        .and_then(|events| Ok((events, open_log(directory, spec.as_ref().ok())?)))
        .map_err(|error| format!("the executor cannot work in {:?}: {error}", directory.path()));
    let (mut execution, over) = match (spec, opened) {
        (Ok(spec), Ok((events, log))) => {
            if let Some(reserve) = &spec.reserve {
                log.reserve(reserve.log);
            }
            let mut execution = Execution {
                directory: directory.clone(),
                space: Space::new(spec.reserve.clone()),
                spec,
                claim,
                events,
                log,
                wishes: StopRequest::default(),
                state: State { format: FORMAT, ..State::default() },
                swept: HashSet::new(),
                waiting: Vec::new(),
            };
            shake_hands(&Handshake::Claimed);
            let over = execution.run();
            (Some(execution), over)
        }
        (Ok(spec), Err(why)) => {
            shake_hands(&Handshake::Claimed);
            (None, unable(&claim, Some(&spec), why))
        }
        (Err(error), opened) => {
            let why = error.to_string();
            if let Ok((_, mut log)) = opened {
                log.say(&why);
            }
            shake_hands(&Handshake::Claimed);
            (None, unable(&claim, None, why))
        }
    };
    let file = reserved.ok();
    let started = Instant::now();
    loop {
        let written = ResultFile::publish(file.as_ref(), directory, &over).and_then(|()| {
            if let Some(execution) = &mut execution {
                execution.tell_end();
            }
            ResultFile::flush(file.as_ref(), directory, &over)
        });
        match written {
            Ok(()) => return Ok(()),
            Err(error) if started.elapsed() > RESULT_PATIENCE => {
                return Err(format!("the result cannot be written: {error}; it is {:?}", over.result));
            }
            Err(error) => complain(format_args!("cannot write the result, trying again: {error}")),
        }
        match &mut execution {
            // still there for those who ask
            Some(execution) => {
                let pause = Instant::now() + RESULT_PAUSE;
                while Instant::now() < pause {
                    execution.heed_until(pause);
                }
            }
            None => std::thread::sleep(RESULT_PAUSE),
        }
    }
}

/// The result of an execution none of whose steps could be started.
fn unable(claim: &Claim, spec: Option<&Spec>, why: String) -> Over {
    let (salvaged, to_sync) = salvage(&claim.working_dir, &claim.salvage);
    let result = ExecutionResult {
        format: FORMAT,
        label: claim.label.clone(),
        steps: spec
            .iter()
            .flat_map(|spec| &spec.steps)
            .map(|step| StepResult::not_started(&step.name, &why))
            .collect(),
        outcome: Outcome::Failed { step: String::new(), why },
        exit_code: None,
        interrupted: false,
        killed: false,
        swept: 0,
        salvaged,
        started_at: claim.claimed_at,
        ended_at: Timestamp::now(),
    };
    Over { result, to_sync: Some(to_sync) }
}

/// The result's file before it is one: with space on the disk, and under another name.
struct ResultFile {
    file: File,
}

impl ResultFile {
    fn reserve(directory: &Directory) -> io::Result<Self> {
        let file = files::create_private(&temporary(directory))?;
        fallocate(&file, FallocateFlags::empty(), 0, RESULT_SPACE)?;
        Ok(Self { file })
    }

    /// Gives the result its name.
    fn publish(reserved: Option<&Self>, directory: &Directory, over: &Over) -> io::Result<()> {
        let Over { result, to_sync } = over;
        let Some(Self { file }) = reserved else {
            sync_together(to_sync.iter().flatten())?;
            return crate::directory::write_atomically(&directory.result(), result);
        };
        let content = serde_json::to_vec(result)?;
        file.write_all_at(&content, 0)?;
        file.set_len(content.len() as u64)?;
        match fs::rename(temporary(directory), directory.result()) {
            // an attempt before this one got as far as here
            Err(error) if error.kind() == io::ErrorKind::NotFound && directory.result().is_file() => Ok(()),
            renamed => renamed,
        }
    }

    /// Has the disk keep it.
    fn flush(reserved: Option<&Self>, directory: &Directory, over: &Over) -> io::Result<()> {
        // one for which no space was reserved is durable since it has its name
        let (Some(Self { file }), Some(to_sync)) = (reserved, &over.to_sync) else { return Ok(()) };
        // For the state that an apply wrote, in case that no daemon is there to take it, for the log, and for the result
        // and its name: without it an apply that ended well before a power cut would be one that was lost. All in one
        // turn; if the power goes before that, an incomplete result is none.
        let folder = File::open(directory.path())?;
        sync_together(to_sync.iter().chain([file, &folder]))
    }
}

fn temporary(directory: &Directory) -> std::path::PathBuf {
    directory.path().join("result.json.reserved")
}
