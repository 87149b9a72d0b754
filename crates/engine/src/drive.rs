//! Driving one run: see what is due in its state, do it, record what came of it, until it is over.
//!
//! A [`Driver`] is a level-triggered loop. It remembers nothing of the run: each turn reads the record, and does what that
//! asks for. So it makes no difference whether it is the first that drives this run, or goes on where another died, in
//! this daemon or the last one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use executor::{Delivery, Observation, Running};
use lifecycle::id::RunId;
use lifecycle::{Due, Event, Execution, Stage, WorkspaceRights, due};
use store::{RecordError, Run, RunUpdate};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

use crate::context::Context;
use crate::run_files::StageError;
use crate::stage::{self, Conclusion, Ended, Job};
use crate::trouble::{Past, Trouble, Verdict, pause_after, verdict};
use crate::{RunDir, fault, log};

/// How a run is driven.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    /// As it should be.
    Ordinary,
    /// To its end, since its driver failed again and again: nothing more is launched, a plan or a policy check is killed, and
    /// the run ends errored. An apply is never killed for a fault of ours: it goes on to its own end, which decides,
    /// unless somebody cancels it.
    LastResort {
        /// Why, in words.
        reason: String,
    },
}

/// Drives one run.
pub(crate) struct Driver {
    context: Arc<Context>,
    run: RunId,
    mode: Mode,
    /// Somebody asks to look again.
    wake: Arc<Notify>,
    /// What the run's execution was wished for when it was looked at last.
    wish: Option<Execution>,
    /// Since when an execution that runs on is told to end at once.
    killed_at: Option<Instant>,
}

/// What comes after a turn.
enum Next {
    /// There may be more to do at once.
    Again,
    /// A person is waited for, or the run's turn.
    Wait,
    /// The run is over, and nothing is left to do.
    Over,
}

/// The least time between two turns of which the first failed.
const LEAST_PAUSE: Duration = Duration::from_millis(250);

/// How long an executor may leave a kill without an answer.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);

/// How long an execution may take to end that was told to end at once: the kernel has to take its processes apart.
const KILL_PATIENCE: Duration = Duration::from_secs(30);

/// How long an executor may take to end after its result is there: a disk that is full keeps it for two minutes.
const SETTLE_PATIENCE: Duration = Duration::from_secs(180);

/// How long an executor is given that is about to claim its execution.
const CLAIM_PAUSE: Duration = Duration::from_millis(50);

impl Driver {
    pub(crate) fn new(context: Arc<Context>, run: RunId, mode: Mode, wake: Arc<Notify>) -> Self {
        Self { context, run, mode, wake, wish: None, killed_at: None }
    }

    /// Drives the run until it is over and cleaned up after.
    #[tracing::instrument(name = "run", parent = None, skip_all, fields(run = %self.run))]
    pub(crate) async fn drive(mut self) {
        let mut past = Past::default();
        loop {
            match self.turn().await {
                Ok(Next::Again) => {}
                Ok(Next::Wait) => {
                    past = Past::default();
                    self.wake.notified().await;
                }
                Ok(Next::Over) => return,
                Err(trouble) => {
                    let forced = self.wish == Some(Execution::ForceCanceling);
                    let (failures, lasts) = past.failed(Instant::now().into_std());
                    let pause = match verdict(&trouble, failures, lasts, forced) {
                        Verdict::GiveUp if self.mode == Mode::Ordinary => {
                            tracing::error!(error = %trouble, "the run can't go on, and ends");
                            self.mode = Mode::LastResort { reason: trouble.to_string() };
                            past = Past::default();
                            continue;
                        }
                        // a full disk, a busy database: the run waits until it is better, and its terraform runs on
                        Verdict::Again(pause) => pause,
                        // there is no end without a record of it
                        Verdict::GiveUp => pause_after(failures),
                    };
                    tracing::error!(error = %trouble, ?pause, "can't go on with the run; trying again");
                    // whoever wakes it may have caused the failure, and must not make it spin
                    sleep(LEAST_PAUSE).await;
                    tokio::select! {
                        () = sleep(pause.saturating_sub(LEAST_PAUSE)) => {}
                        () = self.wake.notified() => {}
                    }
                }
            }
        }
    }

    async fn turn(&mut self) -> Result<Next, Trouble> {
        fault::point(&self.context.data_dir, "run-actor");
        let run = self.context.store.run(self.run).await?;
        if let (Some(words), Mode::Ordinary) = (&run.damaged, &self.mode) {
            self.mode = Mode::LastResort { reason: words.clone() };
        }
        let facts = match self.mode {
            Mode::Ordinary => self.context.facts_now(&run).await?,
            // nothing is applied any more that was not approved already
            Mode::LastResort { .. } => run.facts.held_by(WorkspaceRights::NONE),
        };
        match due(run.state, facts) {
            // its workspace's actor lets it go
            None | Some(Due::Turn) => Ok(Next::Wait),
            Some(Due::AutoApply) => self.record(&run, Event::AutoApply, None, RunUpdate::default()).await,
            Some(Due::Execute(stage, wish)) => self.execute(&run, stage, wish).await,
            Some(Due::CleanUp) => {
                let logs = run.logs.into_keys().collect();
                self.context.clean_up(run.id, logs).await;
                Ok(Next::Over)
            }
        }
    }

    /// Sees that the stage's execution is as the run's state wants it, and concludes it when it is over.
    #[tracing::instrument(name = "stage", skip_all, fields(%stage))]
    async fn execute(&mut self, run: &Run, stage: Stage, wish: Execution) -> Result<Next, Trouble> {
        let job = Job::of(run, stage);
        let directory = job.directory(&RunDir::new(&self.context.data_dir, run.id));
        let last_resort = self.mode != Mode::Ordinary;
        let wish = if last_resort && stage != Stage::Apply { Execution::ForceCanceling } else { wish };
        self.wish = Some(wish);
        let ended = match self.context.executor.attach(&directory).await {
            Ok(Observation::NotStarted) if wish == Execution::Running && !last_resort => {
                // it is woken when it has one
                let has = |pool| self.context.slots.borrow().has(run.id, pool);
                return if job.needs(run).is_none_or(has) {
                    self.launch(run, job, &directory).await
                } else {
                    Ok(Next::Wait)
                };
            }
            // a launch whose caller died may still be under way: from here on it can't start anything
            Ok(Observation::NotStarted) => match self.revoke(&directory).await {
                Ok(_) => return Ok(Next::Again),
                Err(error) if last_resort => Ended::Unknown(error.to_string()),
                Err(error) => return Err(error.into()),
            },
            Ok(Observation::Running(running)) => {
                self.steer(&directory, &running, wish).await?;
                return Ok(Next::Again);
            }
            Ok(Observation::Finished(result)) => Ended::Finished(result),
            Ok(Observation::Lost(lost)) => Ended::Lost(lost),
            Err(error) if last_resort => {
                if wish == Execution::ForceCanceling {
                    let destroyed = self.context.executor.destroy(&directory).await;
                    let _ = destroyed.inspect_err(|error| tracing::error!(%error, "it can't be ended"));
                }
                Ended::Unknown(error.to_string())
            }
            Err(error) => return Err(error.into()),
        };
        self.killed_at = None;
        self.conclude(run, stage, job, &directory, &ended).await
    }

    /// Tells a running execution what is wanted of it, and waits until there is something new. One that does not end
    /// although it must is ended without its help.
    async fn steer(
        &mut self,
        directory: &Path,
        running: &Running,
        wish: Execution,
    ) -> Result<(), executor::Error> {
        let executor = self.context.executor.clone();
        let forced = wish == Execution::ForceCanceling;
        if !forced {
            self.killed_at = None;
        }
        let killed_at = *self.killed_at.get_or_insert_with(Instant::now);
        match self.deliver(directory, running, wish).await {
            Ok(Delivery::Accepted) => {}
            Ok(Delivery::NotRunning) => return Ok(()),
            Err(error) if forced && killed_at.elapsed() >= ANSWER_PATIENCE => {
                tracing::warn!(%error, "the executor does not take the kill, and is killed itself");
                return executor.destroy(directory).await;
            }
            Err(error) => return Err(error),
        }
        let give_up_at = forced.then(|| killed_at + KILL_PATIENCE);
        let gives_up = async {
            match give_up_at {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            over = executor.wait(directory) => drop(over?),
            () = self.wake.notified() => {}
            () = gives_up => {
                tracing::warn!("the executor has not ended although it was told to, and is killed itself");
                executor.destroy(directory).await?;
            }
        }
        Ok(())
    }

    async fn launch(&self, run: &Run, job: Job, directory: &Path) -> Result<Next, Trouble> {
        let workspace = self.context.store.workspace(run.workspace).await?;
        match stage::prepare(&self.context, run, &workspace, job).await {
            Ok(spec) => {
                fault::point(&self.context.data_dir, "run-actor-launch");
                let launch = self.context.executor.launch(directory, &spec);
                // a launch may take long, and a cancel does not wait for it
                if self.unless_changed(run, launch).await?.transpose()?.is_some() {
                    tracing::info!("launched");
                }
                Ok(Next::Again)
            }
            Err(StageError::Impossible(why)) => {
                // a launch whose caller died may still be under way
                if self.revoke(directory).await? {
                    let Conclusion { event, why, update } = stage::failed(run.state.stage(), why);
                    self.record(run, event, why, update).await
                } else {
                    Ok(Next::Again)
                }
            }
            Err(error @ StageError::NotNow(_)) => Err(error.into()),
        }
    }

    async fn conclude(
        &self,
        run: &Run,
        stage: Stage,
        job: Job,
        directory: &Path,
        ended: &Ended,
    ) -> Result<Next, Trouble> {
        let context = &self.context;
        fault::point(&context.data_dir, "run-actor-conclude");
        let conclude = async {
            match &self.mode {
                // an apply that was never started has no end of its own that could decide
                Mode::LastResort { reason } if stage != Stage::Apply || ended.never_ran() => {
                    Ok(stage::failed(stage, format!("signalbox could not go on with this run: {reason}")))
                }
                _ => stage::conclude(context, run, job, ended).await,
            }
        };
        // side by side, since all wait for the disk; when the end is recorded, no process of the execution is alive
        let settle = self.unless_changed(run, self.settle(directory));
        let keep_log = async {
            match job {
                // it goes on in the plan, unless there is none
                Job::Fetch => Ok(None),
                Job::Stage(stage) => log::keep(context, run, stage).await,
            }
        };
        let (conclusion, log, settled) = tokio::join!(conclude, keep_log, settle);
        match settled? {
            // somebody may not want to wait any longer
            None => return Ok(Next::Again),
            Some(Err(trouble)) if self.mode == Mode::Ordinary => return Err(trouble),
            Some(_) => {}
        }
        // a stage that could have written state is over only when that is kept
        let Conclusion { event, why, update } = conclusion?;
        let log = if job == Job::Fetch && event != Event::Fetched {
            log::keep(context, run, stage).await
        } else {
            log
        };
        let log = match log {
            Err(StageError::NotNow(why)) if self.mode == Mode::Ordinary => {
                return Err(StageError::NotNow(why).into());
            }
            // it stays where it is
            Err(error) => {
                tracing::error!(%error, "the log of the stage can't be kept");
                None
            }
            Ok(log) => log,
        };
        let took = context.now().duration_since(run.state_changed_at);
        crate::measure::stage(job.name(), Duration::try_from(took).unwrap_or_default());
        fault::point(&context.data_dir, "run-actor-record");
        self.record(run, event, why, RunUpdate { log, ..update }).await
    }

    /// Waits until the executor of an execution that is over is gone. It has nothing to do any more but to have its result
    /// made durable.
    async fn settle(&self, directory: &Path) -> Result<(), Trouble> {
        let executor = &self.context.executor;
        let forced = self.wish == Some(Execution::ForceCanceling);
        let patience = if forced { KILL_PATIENCE } else { SETTLE_PATIENCE };
        match tokio::time::timeout(patience, executor.settle(directory)).await {
            Ok(settled) => Ok(settled?),
            Err(_) if forced => Ok(executor.destroy(directory).await?),
            Err(_) => {
                Err(StageError::NotNow("its result is there, and its executor has not ended".to_owned())
                    .into())
            }
        }
    }

    /// Records an event that happened by itself. A run that has moved meanwhile is simply looked at again.
    async fn record(
        &self,
        run: &Run,
        event: Event,
        why: Option<String>,
        update: RunUpdate,
    ) -> Result<Next, Trouble> {
        let by = store::Actor::System;
        let recorded = match self.mode {
            Mode::Ordinary => self.context.record(run, event, by, why, update).await,
            // what else would have to be read may be what is broken
            Mode::LastResort { .. } => {
                self.context.record_with(run, event, by, why, update, WorkspaceRights::NONE).await
            }
        };
        match recorded {
            Ok(_) => Ok(Next::Again),
            Err(RecordError::Illegal(illegal)) if illegal.state != run.state => Ok(Next::Again),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells a running execution what is wanted of it. Telling it again changes nothing.
    async fn deliver(
        &self,
        directory: &Path,
        running: &Running,
        wish: Execution,
    ) -> Result<Delivery, executor::Error> {
        let executor = &self.context.executor;
        match wish {
            Execution::Running => Ok(Delivery::Accepted),
            Execution::Canceling if running.interrupted => Ok(Delivery::Accepted),
            Execution::Canceling => {
                executor.interrupt(directory, self.context.config().server.cancel_grace).await
            }
            Execution::ForceCanceling => executor.kill(directory).await,
        }
    }

    /// Sees that an execution which was not started can't be any more; false: it was, or is about to be.
    async fn revoke(&self, directory: &Path) -> Result<bool, executor::Error> {
        let revoked = self.context.executor.revoke(directory).await?;
        if !revoked {
            sleep(CLAIM_PAUSE).await;
        }
        Ok(revoked)
    }

    /// Does the work, unless the run's record changes before it is done: then it is dropped.
    async fn unless_changed<T>(
        &self,
        run: &Run,
        work: impl Future<Output = T>,
    ) -> Result<Option<T>, store::Error> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(Some(done)),
                () = self.wake.notified() => {
                    if self.context.store.run(run.id).await?.version != run.version {
                        return Ok(None);
                    }
                }
            }
        }
    }
}
