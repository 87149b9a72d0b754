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
use lifecycle::{Due, Event, Execution, Stage, due};
use store::{RecordError, Run, RunUpdate};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::context::Context;
use crate::run_files::StageError;
use crate::stage::{self, Conclusion, Ended};
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
}

/// Why a turn could not be finished. It is tried again, and whatever executes goes on meanwhile.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Executor(#[from] executor::Error),
    #[error(transparent)]
    Stage(#[from] StageError),
    #[error("can't clean up after the run: {0}")]
    CleanUp(std::io::Error),
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

/// How long an executor is given that is about to claim its execution.
const CLAIM_PAUSE: Duration = Duration::from_millis(50);

/// The longest pause before a failed turn is tried again. The driver is woken by everything that changes, and by the
/// reconciler every few seconds.
fn pause_after(failures: u32) -> Duration {
    LEAST_PAUSE.saturating_mul(1 << failures.min(7)).min(Duration::from_secs(30))
}

/// Whether the execution was taken back before its first step.
fn never_ran(ended: &Ended) -> bool {
    matches!(ended, Ended::Finished(result) if result.steps.is_empty())
}

impl Driver {
    pub(crate) fn new(context: Arc<Context>, run: RunId, mode: Mode, wake: Arc<Notify>) -> Self {
        Self { context, run, mode, wake }
    }

    /// Drives the run until it is over and cleaned up after.
    #[tracing::instrument(name = "run", parent = None, skip_all, fields(run = %self.run))]
    pub(crate) async fn drive(self) {
        let mut failures = 0;
        loop {
            match self.turn().await {
                Ok(Next::Again) => failures = 0,
                Ok(Next::Wait) => {
                    failures = 0;
                    self.wake.notified().await;
                }
                Ok(Next::Over) => return,
                // a full disk, a busy database: the run waits until it is better, and its terraform runs on
                Err(error) => {
                    let pause = pause_after(failures);
                    failures = failures.saturating_add(1);
                    tracing::error!(%error, ?pause, "can't go on with the run; trying again");
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

    async fn turn(&self) -> Result<Next, Trouble> {
        fault::point(&self.context.data_dir, "run-actor");
        let run = self.context.store.run(self.run).await?;
        match due(run.state, self.context.facts_now(&run).await?) {
            // its workspace's actor lets it go
            None | Some(Due::Turn) => Ok(Next::Wait),
            Some(Due::AutoApply) => self.record(&run, Event::AutoApply, None, RunUpdate::default()).await,
            Some(Due::Execute(stage, wish)) => self.execute(&run, stage, wish).await,
            Some(Due::CleanUp) => {
                let logs = run.logs.into_keys().collect();
                let run_dir = RunDir::new(&self.context.data_dir, run.id);
                run_dir.clean_up_in_background(logs).await.map_err(Trouble::CleanUp)?;
                Ok(Next::Over)
            }
        }
    }

    /// Sees that the stage's execution is as the run's state wants it, and concludes it when it is over.
    #[tracing::instrument(name = "stage", skip_all, fields(%stage))]
    async fn execute(&self, run: &Run, stage: Stage, wish: Execution) -> Result<Next, Trouble> {
        let directory = RunDir::new(&self.context.data_dir, run.id).execution(stage);
        let wish = match self.mode {
            Mode::LastResort { .. } if stage != Stage::Apply => Execution::ForceCanceling,
            _ => wish,
        };
        let ended = match self.context.executor.attach(&directory).await? {
            Observation::NotStarted if wish == Execution::Running && self.mode == Mode::Ordinary => {
                return self.launch(run, stage, &directory).await;
            }
            // a launch whose caller died may still be under way: from here on it can't start anything
            Observation::NotStarted => {
                self.revoke(&directory).await?;
                return Ok(Next::Again);
            }
            Observation::Running(running) => {
                if self.deliver(&directory, &running, wish).await? == Delivery::Accepted {
                    tokio::select! {
                        over = self.context.executor.wait(&directory) => drop(over?),
                        () = self.wake.notified() => {}
                    }
                }
                return Ok(Next::Again);
            }
            Observation::Finished(result) => Ended::Finished(result),
            Observation::Lost(lost) => Ended::Lost(lost),
        };
        self.conclude(run, stage, &directory, &ended).await
    }

    async fn launch(&self, run: &Run, stage: Stage, directory: &Path) -> Result<Next, Trouble> {
        let workspace = self.context.store.workspace(run.workspace).await?;
        match stage::prepare(&self.context, run, &workspace, stage).await {
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
                    let Conclusion { event, why, update } = stage::failed(stage, why);
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
        directory: &Path,
        ended: &Ended,
    ) -> Result<Next, Trouble> {
        let context = &self.context;
        fault::point(&context.data_dir, "run-actor-conclude");
        let workspace = context.store.workspace(run.workspace).await?;
        let conclude = async {
            match &self.mode {
                // an apply that was never started has no end of its own that could decide
                Mode::LastResort { reason } if stage != Stage::Apply || never_ran(ended) => {
                    Ok(stage::failed(stage, format!("signalbox could not go on with this run: {reason}")))
                }
                _ => stage::conclude(context, run, &workspace, stage, ended).await,
            }
        };
        // side by side, since all wait for the disk; when the end is recorded, no process of the execution is alive
        let (conclusion, log, settled) =
            tokio::join!(conclude, log::keep(context, run, stage), context.executor.settle(directory));
        settled?;
        // a stage that could have written state is over only when that is kept
        let Conclusion { event, why, update } = conclusion?;
        let log = log?;
        fault::point(&context.data_dir, "run-actor-record");
        self.record(run, event, why, RunUpdate { log, ..update }).await
    }

    /// Records an event that happened by itself. A run that has moved meanwhile is simply looked at again.
    async fn record(
        &self,
        run: &Run,
        event: Event,
        why: Option<String>,
        update: RunUpdate,
    ) -> Result<Next, Trouble> {
        match self.context.record(run, event, store::Actor::System, why, update).await {
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
