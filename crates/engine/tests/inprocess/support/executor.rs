//! An executor in memory, whose executions do what their scripts say and outlive every daemon.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use executor::{BoxFuture, Delivery, Error, Executor, Launched, Lost, Observation, Running, Spec};
use lifecycle::Stage;
use lifecycle::id::RunId;
use tokio::sync::watch;

use super::script::{self, End, Interrupted, Script};
use super::trap::{Action, Point, Sprung, Trap, owner};

/// What every life of the daemon works with: executions by directory, as the contract of [`Executor`] has them.
#[derive(Debug)]
pub struct Scripted {
    inner: Mutex<Inner>,
    changed: watch::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    executions: BTreeMap<PathBuf, Execution>,
    scripts: HashMap<Stage, Script>,
    own_scripts: HashMap<(RunId, Stage), Script>,
    traps: Vec<Trap>,
    /// This call from now on is held.
    hold_in: Option<usize>,
    /// Every call, in order.
    calls: Vec<(Point, Stage)>,
    /// How many are held by a trap.
    held: usize,
    /// What really started, in order.
    started: Vec<(RunId, Stage)>,
    most_at_once: usize,
}

#[derive(Debug, Default)]
struct Execution {
    /// Of the last launch, claimed or not.
    spec: Option<Spec>,
    script: Option<Script>,
    starts: u32,
    interrupts: u32,
    kills: u32,
    phase: Phase,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Unclaimed,
    Running,
    Over(Observation),
}

/// How an execution comes to its end.
enum How {
    AsScripted,
    Stopped { killed: bool },
}

impl Scripted {
    pub fn new() -> Self {
        Self { inner: Mutex::default(), changed: watch::Sender::new(()) }
    }

    /// How the executions of a stage go that have no script of their own; without one all goes well.
    pub fn script(&self, stage: Stage, script: Script) {
        self.inner().scripts.insert(stage, script);
    }

    /// How this one goes.
    pub fn script_of(&self, run: RunId, stage: Stage, script: Script) {
        self.inner().own_scripts.insert((run, stage), script);
    }

    /// Sets a trap.
    pub fn at(&self, stage: Stage, point: Point, action: Action) {
        self.inner().traps.push(Trap { point, stage, action });
    }

    /// Holds one call: as many as that pass before it.
    pub fn hold_call(&self, after: usize) {
        self.inner().hold_in = Some(after);
    }

    /// Takes all traps away.
    pub fn disarm(&self) {
        let mut inner = self.inner();
        inner.traps.clear();
        inner.hold_in = None;
        inner.held = 0;
    }

    /// A call that was held goes no further, and its caller is dead: what it was to start is claimed all the same.
    pub fn late_claim(&self, run: RunId, stage: Stage) {
        let mut inner = self.inner();
        let directory = inner.directory_of(run, stage);
        let spec = inner.executions[&directory].spec.clone().expect("it was launched");
        inner.claim(&directory, &spec);
        drop(inner);
        self.changed.send_replace(());
    }

    /// Ends an execution as its script says.
    pub fn end(&self, run: RunId, stage: Stage) {
        self.finish(run, stage, &How::AsScripted);
    }

    /// Ends an execution in another way than its script says.
    pub fn end_as(&self, run: RunId, stage: Stage, end: End) {
        let mut inner = self.inner();
        let directory = inner.directory_of(run, stage);
        inner.execution(&directory).script = Some(Script::ends(end));
        drop(inner);
        self.end(run, stage);
    }

    /// The grace period of an interrupt is over.
    pub fn grace_is_over(&self, run: RunId, stage: Stage) {
        self.finish(run, stage, &How::Stopped { killed: true });
    }

    /// Ends whatever runs, as its script says.
    pub fn end_all(&self) {
        for (run, stage) in self.running() {
            self.end(run, stage);
        }
    }

    fn finish(&self, run: RunId, stage: Stage, how: &How) {
        let mut inner = self.inner();
        let directory = inner.directory_of(run, stage);
        inner.finish(&directory, how);
        drop(inner);
        self.changed.send_replace(());
    }

    /// What runs now.
    pub fn running(&self) -> Vec<(RunId, Stage)> {
        let inner = self.inner();
        let running = inner.executions.iter().filter(|(_, execution)| execution.is_running());
        running.map(|(directory, _)| owner(directory)).collect()
    }

    pub fn is_running(&self, run: RunId, stage: Stage) -> bool {
        self.running().contains(&(run, stage))
    }

    /// The stages of the run that really started, in order; a stage that started twice is there twice.
    pub fn started(&self, run: RunId) -> Vec<Stage> {
        self.inner().started.iter().filter(|(of, _)| *of == run).map(|(_, stage)| *stage).collect()
    }

    /// Whatever started, in order.
    pub fn all_started(&self) -> Vec<(RunId, Stage)> {
        self.inner().started.clone()
    }

    /// The most executions that ever ran at the same time.
    pub fn most_at_once(&self) -> usize {
        self.inner().most_at_once
    }

    /// How many interrupts and kills reached the execution.
    pub fn stops(&self, run: RunId, stage: Stage) -> (u32, u32) {
        let inner = self.inner();
        let execution = inner.executions.iter().find(|(directory, _)| owner(directory) == (run, stage));
        execution.map_or((0, 0), |(_, execution)| (execution.interrupts, execution.kills))
    }

    /// What the execution was asked to do.
    pub fn spec(&self, run: RunId, stage: Stage) -> Spec {
        let inner = self.inner();
        inner.executions[&inner.directory_of(run, stage)].spec.clone().expect("it was launched")
    }

    /// What is behind the execution; not started if nobody ever asked for it.
    pub fn observed(&self, run: RunId, stage: Stage) -> Observation {
        let inner = self.inner();
        let execution = inner.executions.iter().find(|(directory, _)| owner(directory) == (run, stage));
        execution.map_or(Observation::NotStarted, |(_, execution)| execution.observation())
    }

    /// How many calls there were, of each kind.
    pub fn calls(&self) -> usize {
        self.inner().calls.len()
    }

    /// How often a point was passed.
    pub fn passed(&self, stage: Stage, point: Point) -> usize {
        self.inner().calls.iter().filter(|call| **call == (point, stage)).count()
    }

    /// Whether a call is held.
    pub fn holds(&self) -> bool {
        self.inner().held > 0
    }

    /// Whether a trap is left.
    pub fn is_armed(&self) -> bool {
        let inner = self.inner();
        !inner.traps.is_empty() || inner.hold_in.is_some()
    }

    /// Is told of every call and every end.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Where every call comes by.
    async fn pass(&self, point: Point, directory: &Path) -> Result<(), Error> {
        let sprung = self.inner().pass(point, directory);
        self.changed.send_replace(());
        match sprung {
            None => Ok(()),
            Some(Sprung::Hold) => std::future::pending().await,
            Some(Sprung::Fail) => {
                Err(Error::Control { directory: directory.to_owned(), why: "as scripted".to_owned() })
            }
            Some(Sprung::FailForGood) => {
                Err(Error::Damaged { path: directory.join("claim.json"), why: "as scripted".to_owned() })
            }
            // without the message and the backtrace, which nobody wants to see
            Some(Sprung::Panic) => std::panic::resume_unwind(Box::new(format!("a fault at {point:?}"))),
            Some(Sprung::First(act)) => {
                act(self);
                Ok(())
            }
        }
    }
}

impl Execution {
    fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running)
    }

    fn observation(&self) -> Observation {
        match &self.phase {
            Phase::Unclaimed => Observation::NotStarted,
            Phase::Running => Observation::Running(Running {
                executor_pid: 1,
                step: None,
                child_pid: None,
                interrupted: self.interrupts + self.kills > 0,
            }),
            Phase::Over(observation) => observation.clone(),
        }
    }
}

impl Inner {
    fn directory_of(&self, run: RunId, stage: Stage) -> PathBuf {
        let known = self.executions.keys().find(|directory| owner(directory) == (run, stage));
        known.expect("nobody asked for it yet").clone()
    }

    fn execution(&mut self, directory: &Path) -> &mut Execution {
        self.executions.entry(directory.to_owned()).or_default()
    }

    fn pass(&mut self, point: Point, directory: &Path) -> Option<Sprung> {
        let (_, stage) = owner(directory);
        self.calls.push((point, stage));
        match self.hold_in {
            Some(0) => {
                self.hold_in = None;
                self.held += 1;
                return Some(Sprung::Hold);
            }
            Some(more) => self.hold_in = Some(more - 1),
            None => {}
        }
        let at = self.traps.iter().position(|trap| (trap.point, trap.stage) == (point, stage))?;
        let (sprung, used_up) = self.traps[at].spring();
        if used_up {
            self.traps.remove(at);
        }
        if matches!(sprung, Sprung::Hold) {
            self.held += 1;
        }
        Some(sprung)
    }

    /// Starts it, unless it was ever claimed.
    fn claim(&mut self, directory: &Path, spec: &Spec) -> Launched {
        let (run, stage) = owner(directory);
        let own = self.own_scripts.get(&(run, stage)).or_else(|| self.scripts.get(&stage)).cloned();
        let execution = self.execution(directory);
        if !matches!(execution.phase, Phase::Unclaimed) {
            return Launched::Before;
        }
        execution.script = Some(own.unwrap_or_else(|| Script::ends(End::Well)));
        execution.starts += 1;
        execution.phase = Phase::Running;
        fs::create_dir_all(directory).unwrap();
        for (file, content) in [("claim.json", "{}"), ("state.json", "{}"), ("lock", "")] {
            fs::write(directory.join(file), content).unwrap();
        }
        let log = spec.log.clone().unwrap_or_else(|| directory.join("log"));
        fs::write(log, &spec.preamble).unwrap();
        self.started.push((run, stage));
        let running = self.executions.values().filter(|execution| execution.is_running()).count();
        self.most_at_once = self.most_at_once.max(running);
        Launched::Now
    }

    fn destroy(&mut self, directory: &Path) {
        let execution = self.execution(directory);
        let (true, Some(spec)) = (execution.is_running(), &execution.spec) else { return };
        let salvaged = script::salvaged(spec);
        execution.phase = Phase::Over(Observation::Lost(Lost {
            reason: "the executor was destroyed".to_owned(),
            step: None,
            interrupted: true,
            swept: 1,
            salvaged,
        }));
    }

    fn finish(&mut self, directory: &Path, how: &How) {
        let execution = self.execution(directory);
        let (Phase::Running, Some(spec), Some(script)) =
            (&execution.phase, &execution.spec, &execution.script)
        else {
            return;
        };
        let interrupted = execution.interrupts + execution.kills > 0;
        let over = match (how, &script.end) {
            (How::Stopped { killed }, _) => Observation::Finished(Box::new(script::break_off(spec, *killed))),
            (How::AsScripted, End::Lost) => {
                script::carry_out(spec, &End::Well);
                Observation::Lost(Lost {
                    reason: "the executor was lost, as scripted".to_owned(),
                    step: None,
                    interrupted,
                    swept: 0,
                    salvaged: script::salvaged(spec),
                })
            }
            (How::AsScripted, end) => {
                let mut result = script::carry_out(spec, end);
                result.interrupted = interrupted;
                Observation::Finished(Box::new(result))
            }
        };
        execution.phase = Phase::Over(over);
        fs::write(directory.join("result.json"), "{}").unwrap();
    }
}

impl Executor for Scripted {
    fn launch<'a>(&'a self, directory: &'a Path, spec: &'a Spec) -> BoxFuture<'a, Result<Launched, Error>> {
        Box::pin(async move {
            spec.validate()?;
            {
                let mut inner = self.inner();
                let execution = inner.execution(directory);
                if matches!(execution.phase, Phase::Unclaimed) {
                    execution.spec = Some(spec.clone());
                }
            }
            self.pass(Point::Launch, directory).await?;
            let launched = self.inner().claim(directory, spec);
            self.pass(Point::Claimed, directory).await?;
            Ok(launched)
        })
    }

    fn attach<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        Box::pin(async move {
            self.pass(Point::Attach, directory).await?;
            Ok(self.inner().execution(directory).observation())
        })
    }

    fn interrupt<'a>(
        &'a self,
        directory: &'a Path,
        _grace: Duration,
    ) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(async move {
            self.pass(Point::Interrupt, directory).await?;
            {
                let mut inner = self.inner();
                let execution = inner.execution(directory);
                if !execution.is_running() {
                    return Ok(Delivery::NotRunning);
                }
                execution.interrupts += 1;
                match execution.script.as_ref().map(|script| script.interrupted) {
                    Some(Interrupted::Ends) => inner.finish(directory, &How::Stopped { killed: false }),
                    Some(Interrupted::Finishes) => inner.finish(directory, &How::AsScripted),
                    Some(Interrupted::Ignores | Interrupted::Survives) | None => {}
                }
            }
            self.pass(Point::Interrupted, directory).await?;
            Ok(Delivery::Accepted)
        })
    }

    fn kill<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(async move {
            self.pass(Point::Kill, directory).await?;
            {
                let mut inner = self.inner();
                let execution = inner.execution(directory);
                if !execution.is_running() {
                    return Ok(Delivery::NotRunning);
                }
                execution.kills += 1;
                let survives = |script: &Script| script.interrupted == Interrupted::Survives;
                if !execution.script.as_ref().is_some_and(survives) {
                    inner.finish(directory, &How::Stopped { killed: true });
                }
            }
            self.pass(Point::Killed, directory).await?;
            Ok(Delivery::Accepted)
        })
    }

    fn destroy<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.pass(Point::Destroy, directory).await?;
            self.inner().destroy(directory);
            self.changed.send_replace(());
            Ok(())
        })
    }

    fn revoke<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            self.pass(Point::Revoke, directory).await?;
            let mut inner = self.inner();
            let execution = inner.execution(directory);
            let revoked = matches!(execution.phase, Phase::Unclaimed);
            if revoked {
                execution.phase = Phase::Over(Observation::Finished(Box::new(script::revoked())));
            }
            Ok(revoked)
        })
    }

    fn wait<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        Box::pin(async move {
            let mut changes = self.changes();
            self.pass(Point::Wait, directory).await?;
            loop {
                {
                    let mut inner = self.inner();
                    let by_itself = |script: &Script| !script.gated;
                    if inner.execution(directory).script.as_ref().is_some_and(by_itself) {
                        inner.finish(directory, &How::AsScripted);
                    }
                    let execution = inner.execution(directory);
                    if !execution.is_running() {
                        return Ok(execution.observation());
                    }
                }
                // the sender lives as long as this executor
                let _ = changes.changed().await;
            }
        })
    }

    fn settle<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(self.pass(Point::Settle, directory))
    }
}
