//! Runs the steps of a claimed execution, one after the other.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Signal, kill_process};
use wait4::{ResourceUsage, try_wait4_pid};

use crate::control::{Reply, Request, Status};
use crate::directory::{Directory, lock_file, replace};
use crate::procfs::{self, Process};
use crate::record::{Claim, CurrentStep, State};
use crate::result::{ExecutionResult, Outcome, StepEnd, StepResult};
use crate::run::Over;
use crate::run::child::{self, Started};
use crate::run::diagnostics::complain;
use crate::run::events::{Answer, Events, Woken};
use crate::run::log::Log;
use crate::run::space::Space;
use crate::run::stop::StopRequest;
use crate::run::{messages, sweep};
use crate::salvage::salvage;
use crate::spec::{FORMAT, Spec, Step, to_milliseconds};

/// The grace period when the executor itself is asked to terminate, which a shutdown of the machine does: it leaves
/// less than two minutes as a rule.
const TERMINATION_GRACE: Duration = Duration::from_secs(60);

/// Pauses between two looks at descendants that have been killed and are not gone yet.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

/// Between two looks whether it is a step's turn.
const TURN_PAUSE: Duration = Duration::from_millis(50);

/// After so long, descendants that do not go away are mentioned.
const STUBBORN: Duration = Duration::from_secs(10);

/// An execution in the hands of its executor.
pub(crate) struct Execution {
    pub(crate) directory: Directory,
    pub(crate) spec: Spec,
    pub(crate) claim: Claim,
    pub(crate) events: Events,
    pub(crate) log: Log,
    pub(crate) space: Space,
    pub(crate) wishes: StopRequest,
    pub(crate) state: State,
    /// Processes that outlived their step.
    pub(crate) swept: HashSet<procfs::Identity>,
    /// Who wants to be told when it is over.
    pub(crate) waiting: Vec<Answer>,
}

/// How a step ended, and what that means for the execution.
struct StepOutcome {
    result: StepResult,
    /// `None` if the next step may start.
    failure: Option<Failure>,
}

struct Failure {
    why: String,
    /// Somebody had asked to stop before the step ended.
    asked: bool,
}

impl Execution {
    /// Runs all steps to the end, whatever it is; nothing that they started is alive when this returns.
    pub(crate) fn run(&mut self) -> Over {
        self.log.write(&self.spec.preamble.clone());
        let mut results = Vec::new();
        let mut outcome = Outcome::Succeeded;
        for step in self.spec.steps.clone() {
            self.heed_until(Instant::now());
            if outcome == Outcome::Succeeded && self.wishes.stopping() {
                self.log.say(&format!("{} was not started: the execution was asked to stop", step.name));
                outcome = Outcome::Interrupted;
            }
            if outcome != Outcome::Succeeded {
                results.push(StepResult::not_started(&step.name, "the execution ended before it"));
                continue;
            }
            let StepOutcome { result, failure } = self.run_step(&step);
            if let Some(Failure { why, asked }) = failure {
                self.log.say(&why);
                outcome = if asked { Outcome::Interrupted } else { Outcome::Failed { step: step.name, why } };
            }
            results.push(result);
        }
        self.conclude(results, outcome)
    }

    /// Salvages, and says how it all ended.
    pub(crate) fn conclude(&self, steps: Vec<StepResult>, outcome: Outcome) -> Over {
        let (salvaged, mut to_sync) = salvage(&self.spec.working_dir, &self.spec.salvage);
        if self.spec.reserve.is_some() {
            self.log.give_back();
        }
        // one that can't be flushed for want of a descriptor is still written by the kernel
        to_sync.extend(self.log.file().try_clone());
        let result = ExecutionResult {
            format: FORMAT,
            label: self.spec.label.clone(),
            outcome,
            exit_code: steps.iter().rev().find_map(StepResult::exit_code),
            steps,
            interrupted: self.wishes.asked(),
            killed: self.state.killed,
            swept: u32::try_from(self.swept.len()).unwrap_or(u32::MAX),
            salvaged,
            started_at: self.claim.claimed_at,
            ended_at: Timestamp::now(),
        };
        Over { result, to_sync: (!self.spec.repeatable).then_some(to_sync) }
    }

    fn run_step(&mut self, step: &Step) -> StepOutcome {
        let _turn = match self.wait_for_turn(step) {
            Ok(turn) => turn,
            Err(why) => {
                let result = StepResult::not_started(&step.name, &why);
                return StepOutcome { result, failure: Some(Failure { why, asked: self.wishes.asked() }) };
            }
        };
        let started_at = Timestamp::now();
        let clock = Instant::now();
        self.state.step = Some(CurrentStep { name: step.name.clone(), child: None });
        self.record();
        let started = match child::start(&self.spec, &self.claim, &self.log, step) {
            Ok(started) => started,
            Err(why) => {
                self.state.step = None;
                let result = StepResult::not_started(&step.name, &why);
                return StepOutcome { result, failure: Some(Failure { why, asked: self.wishes.asked() }) };
            }
        };
        let child = Process::read(started.pid).map(|process| process.identity);
        self.state.step = Some(CurrentStep { name: step.name.clone(), child });
        self.record();
        let (status, rusage, timed_out) = self.watch(step, started.pid, clock);
        let duration = clock.elapsed();
        let asked = self.wishes.asked();
        let mut used = vec![rusage];
        self.sweep(&mut used);
        self.state.step = None;

        let ended = if timed_out { StepEnd::TimeLimit } else { end_of(status) };
        let peak_memory_bytes = used.iter().map(|used| used.maxrss).max().unwrap_or_default();
        let failure = messages::failure(step, &ended, self.state.killed, peak_memory_bytes)
            .or_else(|| self.complete(step, &started));
        StepOutcome {
            failure: failure.map(|why| Failure { why, asked }),
            result: StepResult {
                name: step.name.clone(),
                ended,
                started_at: Some(started_at),
                duration_ms: to_milliseconds(duration),
                user_cpu_ms: to_milliseconds(used.iter().map(|used| used.utime).sum()),
                system_cpu_ms: to_milliseconds(used.iter().map(|used| used.stime).sum()),
                peak_memory_bytes,
            },
        }
    }

    /// Waits until no other step holds the file that this one wants for itself. It is held until the value is dropped.
    fn wait_for_turn(&mut self, step: &Step) -> Result<Option<File>, String> {
        let Some(path) = &step.exclusive else { return Ok(None) };
        let path = self.spec.resolve(path);
        let cannot = |what: &str, error: io::Error| format!("{} cannot {what} {path:?}: {error}", step.name);
        let file = lock_file(&path).map_err(|error| cannot("open", error))?;
        let mut mentioned = false;
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(file)),
                Err(rustix::io::Errno::WOULDBLOCK) => {}
                Err(error) => return Err(cannot("lock", error.into())),
            }
            if self.wishes.stopping() {
                return Err(format!("{} was not started: the execution was asked to stop", step.name));
            }
            if !mentioned {
                mentioned = true;
                self.log.say(&format!("{} waits for its turn: another one is at work", step.name));
            }
            self.heed_until(Instant::now() + TURN_PAUSE);
        }
    }

    /// Waits for the end of the step's process, and makes it end when that is wanted.
    fn watch(&mut self, step: &Step, pid: u32, started: Instant) -> (ExitStatus, ResourceUsage, bool) {
        let time_limit = step.time_limit.and_then(|limit| started.checked_add(limit));
        let mut timed_out = false;
        let mut tree_killed = false;
        loop {
            match try_wait4_pid(pid) {
                Ok(Some(end)) => return (end.status, end.rusage, timed_out),
                Ok(None) => {}
                // cannot happen to a child that nobody else reaps
                Err(error) => {
                    complain(format_args!("cannot learn the end of process {pid}: {error}"));
                    let unknown = ResourceUsage { utime: Duration::ZERO, stime: Duration::ZERO, maxrss: 0 };
                    return (ExitStatus::from_raw(255 << 8), unknown, timed_out);
                }
            }
            let now = Instant::now();
            if !timed_out && time_limit.is_some_and(|limit| limit <= now) {
                timed_out = true;
                self.wishes.time_is_over(now, step.time_limit_grace);
            }
            if self.wishes.take_interrupt(now) {
                self.interrupt(pid);
            }
            if !tree_killed && self.wishes.kill_is_due(now) {
                tree_killed = true;
                self.kill_tree();
            }
            if let Some(words) = self.space.look(now, &self.spec.working_dir) {
                self.log.say(&words);
            }
            let limit = time_limit.filter(|_| !timed_out);
            let kill = self.wishes.kill_at().filter(|_| !tree_killed);
            let woken = self.wait(limit.into_iter().chain(kill).chain(self.space.look_at()).min());
            if woken.child_ended {
                sweep::reap(Some(pid));
            }
            self.heed(woken);
        }
    }

    /// The one SIGINT, to this process alone: others in its group (providers) must live on until it has ended.
    fn interrupt(&mut self, pid: u32) {
        self.state.interrupt_sent = self.wishes.interrupt_sent();
        self.record();
        if let Some(pid) = procfs::raw_pid(pid) {
            // it was not reaped yet, so the pid is still its own
            let _ = kill_process(pid, Signal::INT);
        }
    }

    fn kill_tree(&mut self) {
        self.state.killed = true;
        self.record();
        sweep::kill_descendants(&mut HashSet::new());
    }

    /// Ends every process that the step left behind, also those that left its group or its session.
    fn sweep(&mut self, used: &mut Vec<ResourceUsage>) {
        let started = Instant::now();
        let mut pause = SHORTEST_PAUSE;
        let mut mentioned = false;
        while sweep::has_children() {
            if self.state.killed {
                sweep::kill_descendants(&mut HashSet::new());
            } else {
                sweep::kill_descendants(&mut self.swept);
            }
            used.extend(sweep::reap(None));
            if !mentioned && started.elapsed() > STUBBORN {
                mentioned = true;
                let alive = sweep::describe_descendants();
                self.log
                    .say(&format!("waiting for processes that were killed and have not ended yet: {alive}"));
            }
            let woken = self.wait(Instant::now().checked_add(pause));
            self.heed(woken);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn wait(&mut self, deadline: Option<Instant>) -> Woken {
        self.events.wait(deadline).unwrap_or_else(|error| {
            complain(format_args!("cannot wait for events: {error}"));
            std::thread::sleep(LONGEST_PAUSE);
            Woken { child_ended: true, ..Woken::default() }
        })
    }

    /// Acts on what happens until `deadline`, and at once on what has happened already; may return early.
    pub(crate) fn heed_until(&mut self, deadline: Instant) {
        let woken = self.wait(Some(deadline));
        self.heed(woken);
    }

    fn heed(&mut self, woken: Woken) {
        let now = Instant::now();
        let before = (self.wishes.asked(), self.wishes.kill_is_due(now));
        if woken.terminate {
            self.wishes.interrupt(now, TERMINATION_GRACE);
        }
        let mut answers = Vec::new();
        for (request, answer) in woken.requests {
            match &request {
                Ok(Request::Wait) => {
                    self.waiting.push(answer);
                    continue;
                }
                Ok(Request::Interrupt { grace_ms }) => {
                    self.wishes.interrupt(now, Duration::from_millis(*grace_ms))
                }
                Ok(Request::Kill) => self.wishes.kill(),
                Ok(Request::Status) | Err(_) => {}
            }
            answers.push((request.err(), answer));
        }
        if before != (self.wishes.asked(), self.wishes.kill_is_due(now)) {
            self.state.interrupted = self.wishes.asked();
            self.record();
        }
        for (refused, answer) in answers {
            answer.send(&match refused {
                None => Reply::Accepted(self.status()),
                Some(why) => Reply::Refused { why },
            });
        }
    }

    /// Tells those who wait that the result can be read.
    pub(crate) fn tell_end(&mut self) {
        // those who have asked since the last look
        self.heed_until(Instant::now());
        for answer in std::mem::take(&mut self.waiting) {
            answer.send(&Reply::Accepted(self.status()));
        }
    }

    fn status(&self) -> Status {
        Status {
            format: FORMAT,
            label: self.spec.label.clone(),
            executor_pid: self.claim.executor.pid,
            step: self.state.step.as_ref().map(|step| step.name.clone()),
            child_pid: self.state.step.as_ref().and_then(|step| step.child).map(|child| child.pid),
            interrupted: self.wishes.asked(),
            killed: self.state.killed,
        }
    }

    /// Writes down what runs and what is wished, for those who look from outside; that it cannot be written (a full
    /// disk) must not stop the work. Not flushed: nobody needs it after the machine has stopped.
    fn record(&self) {
        if let Err(error) = replace(&self.directory.state(), &self.state) {
            complain(format_args!("cannot write the state: {error}"));
        }
    }

    /// What a step that ended well should have left and did not.
    fn complete(&self, step: &Step, started: &Started) -> Option<String> {
        // whoever launched a repeatable execution flushes what it keeps of it
        let output = started.output.as_ref().filter(|_| !self.spec.repeatable);
        if let Some(error) = output.and_then(|output| output.sync_all().err()) {
            return Some(format!("the output of {} cannot be made durable: {error}", step.name));
        }
        started.unwritten().map(|what| messages::with_limits(step, format!("{} {what}", step.name)))
    }
}

fn end_of(status: ExitStatus) -> StepEnd {
    match (status.code(), status.signal()) {
        (Some(code), _) => StepEnd::Exited { code },
        (None, signal) => StepEnd::Signaled { signal: signal.unwrap_or_default() },
    }
}
