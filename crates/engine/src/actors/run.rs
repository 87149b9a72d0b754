use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use executor::{Delivery, Observation, Running};
use lifecycle::id::RunId;
use lifecycle::slots::Urgency;
use lifecycle::{Effect, Event, Execution, Stage, State, Work, due};
use ractor::{Actor, ActorProcessingErr, ActorRef, MessagingErr};
use store::{Change, RunUpdate};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;

use crate::RunDir;
use crate::context::Context;
use crate::fault;
use crate::feed::{Fed, FeedError, feed};
use crate::log;
use crate::stage::{self, Conclusion, Ended, StageError};

/// Drives one run: reads it, sees what is due, does it, records what came of it, until nothing is due.
pub(crate) struct Run;

pub(crate) struct RunState {
    context: Arc<Context>,
    run: RunId,
    watch: Option<Watch>,
    /// How often in a row looking has failed.
    failures: u32,
    /// The next try after a failure.
    retry: Option<Retry>,
}

/// A look to come. There is at most one: others have the run looked at as well, and each failure would bring one more.
struct Retry(JoinHandle<Result<(), MessagingErr<RunMessage>>>);

impl Drop for Retry {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The pause before a failed look is tried again: from a quarter of a second to half a minute.
fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(250).saturating_mul(1 << failures.min(7)).min(Duration::from_secs(30))
}

pub(crate) enum RunMessage {
    /// Read the run, and do what is due.
    Look,
}

/// A task that waits for the end of an execution, and then has the actor look.
struct Watch {
    stage: Stage,
    task: JoinHandle<()>,
}

impl Drop for Watch {
    fn drop(&mut self) {
        // stops the waiting; the execution has an owner of its own
        self.task.abort();
    }
}

impl Actor for Run {
    type Msg = RunMessage;
    type State = RunState;
    type Arguments = (Arc<Context>, RunId);

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        (context, run): Self::Arguments,
    ) -> Result<RunState, ActorProcessingErr> {
        myself.send_message(RunMessage::Look)?;
        Ok(RunState { context, run, watch: None, failures: 0, retry: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        RunMessage::Look: RunMessage,
        state: &mut RunState,
    ) -> Result<(), ActorProcessingErr> {
        loop {
            match look(&myself, state).await {
                Ok(Next::Again) => {}
                Ok(Next::Wait) => {
                    state.failures = 0;
                    return Ok(());
                }
                // a full disk, a busy database: the run waits until it is better, and its terraform runs on
                Err(error) => {
                    let pause = pause_after(state.failures);
                    state.failures = state.failures.saturating_add(1);
                    tracing::error!(run = %state.run, %error, ?pause, "can't go on with the run; trying again");
                    state.retry = Some(Retry(myself.send_after(pause, || RunMessage::Look)));
                    return Ok(());
                }
            }
        }
    }
}

/// Whether there may be more to do at once.
enum Next {
    Again,
    Wait,
}

#[tracing::instrument(name = "run", parent = None, skip_all, fields(run = %state.run))]
async fn look(myself: &ActorRef<RunMessage>, state: &mut RunState) -> Result<Next, ActorProcessingErr> {
    fault::point(&state.context.data_dir, "run-actor");
    let context = state.context.clone();
    let run = context.store.run(state.run).await?;
    // what is due in a state is one thing at a time; nothing due means that a person is waited for
    match due(run.state, context.facts_now(&run).await?).first() {
        None => {
            context.release_slot(run.id);
            Ok(Next::Wait)
        }
        Some(Effect::AskQueue) => Ok(Next::Wait),
        Some(Effect::AskSlot(stage)) => {
            if !context.request_slot(run.id, run.workspace, urgency(&run, *stage)) {
                return Ok(Next::Wait);
            }
            record(&context, &run, Event::Launch, None, RunUpdate::default()).await?;
            Ok(Next::Again)
        }
        Some(Effect::AutoApply) => {
            record(&context, &run, Event::AutoApply, None, RunUpdate::default()).await?;
            Ok(Next::Again)
        }
        Some(Effect::Execute(stage)) => execute(myself, state, &run, *stage, Execution::Running).await,
        Some(Effect::Interrupt(stage)) => execute(myself, state, &run, *stage, Execution::Canceling).await,
        Some(Effect::Kill(stage)) => execute(myself, state, &run, *stage, Execution::ForceCanceling).await,
        Some(Effect::Release) => {
            state.watch = None;
            context.release_slot(run.id);
            // the next run does not wait for the cleaning up
            context.hint(run.workspace);
            RunDir::clean_up_after(&context.data_dir, run).await?;
            myself.stop(None);
            Ok(Next::Wait)
        }
    }
}

/// Sees that the stage's execution is as the run's state wants it, and concludes it when it is over.
#[tracing::instrument(name = "stage", skip_all, fields(%stage))]
async fn execute(
    myself: &ActorRef<RunMessage>,
    state: &mut RunState,
    run: &store::Run,
    stage: Stage,
    wish: Execution,
) -> Result<Next, ActorProcessingErr> {
    let context = state.context.clone();
    let directory = RunDir::new(&context.data_dir, run.id).execution(stage);
    context.occupy_slot(run.id, run.workspace, urgency(run, stage));
    let ended = match context.executor.attach(&directory).await? {
        Observation::NotStarted if wish == Execution::Running => return launch(&context, run, stage).await,
        // a launch whose caller died may still be under way: from here on it can't start anything
        Observation::NotStarted => {
            revoke(&context, &directory).await?;
            return Ok(Next::Again);
        }
        Observation::Running(running) => {
            return Ok(match deliver(&context, &directory, &running, wish).await? {
                Delivery::Accepted => {
                    watch(myself, state, stage);
                    Next::Wait
                }
                Delivery::NotRunning => Next::Again,
            });
        }
        Observation::Finished(result) => Ended::Finished(result),
        Observation::Lost(lost) => Ended::Lost(lost),
    };
    fault::point(&context.data_dir, "run-actor-conclude");
    let workspace = context.store.workspace(run.workspace).await?;
    // side by side, since all wait for the disk; when the end is recorded, no process of the execution is alive
    let (conclusion, log, settled) = tokio::join!(
        stage::conclude(&context, run, &workspace, stage, &ended),
        log::keep(&context, run, stage),
        context.executor.settle(&directory)
    );
    settled?;
    // a stage that could have written state is over only when that is kept
    let Conclusion { event, why, update } = conclusion?;
    let log = log?;
    state.watch = None;
    fault::point(&context.data_dir, "run-actor-record");
    record(&context, run, event, why, RunUpdate { log, ..update }).await?;
    Ok(Next::Again)
}

async fn launch(context: &Context, run: &store::Run, stage: Stage) -> Result<Next, ActorProcessingErr> {
    let workspace = context.store.workspace(run.workspace).await?;
    match stage::prepare(context, run, &workspace, stage).await {
        Ok(spec) => {
            fault::point(&context.data_dir, "run-actor-launch");
            let directory = RunDir::new(&context.data_dir, run.id).execution(stage);
            context.executor.launch(&directory, &spec).await?;
            tracing::info!("launched");
        }
        Err(StageError::Impossible(why)) => {
            // a launch whose caller died may still be under way
            if revoke(context, &RunDir::new(&context.data_dir, run.id).execution(stage)).await? {
                let Conclusion { event, why, update } = stage::failed(stage, why);
                record(context, run, event, why, update).await?;
            }
        }
        Err(error @ StageError::NotNow(_)) => return Err(error.into()),
    }
    Ok(Next::Again)
}

/// Sees that an execution which was not started can't be any more; false: it was, or is about to be.
async fn revoke(context: &Context, directory: &Path) -> Result<bool, ActorProcessingErr> {
    let revoked = context.executor.revoke(directory).await?;
    if !revoked {
        // an executor is about to claim it
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Ok(revoked)
}

/// Tells a running execution what is wanted of it. Telling it again changes nothing.
async fn deliver(
    context: &Context,
    directory: &Path,
    running: &Running,
    wish: Execution,
) -> Result<Delivery, executor::Error> {
    match wish {
        Execution::Running => Ok(Delivery::Accepted),
        Execution::Canceling if running.interrupted => Ok(Delivery::Accepted),
        Execution::Canceling => {
            context.executor.interrupt(directory, context.config().server.cancel_grace).await
        }
        Execution::ForceCanceling => context.executor.kill(directory).await,
    }
}

/// Has the actor look again when the execution ends.
fn watch(myself: &ActorRef<RunMessage>, state: &mut RunState, stage: Stage) {
    let waits = |watch: &Watch| watch.stage == stage && !watch.task.is_finished();
    if state.watch.as_ref().is_some_and(waits) {
        return;
    }
    let directory = RunDir::new(&state.context.data_dir, state.run).execution(stage);
    let (context, run, myself) = (state.context.clone(), state.run, myself.clone());
    let task = tokio::spawn(async move {
        if let Err(error) = context.executor.wait(&directory).await {
            // the reconciler looks again in a moment
            tracing::warn!(%run, %stage, %error, "can't wait for the execution");
            return;
        }
        let _ = myself.send_message(RunMessage::Look);
    });
    state.watch = Some(Watch { stage, task });
}

pub(crate) fn urgency(run: &store::Run, stage: Stage) -> Urgency {
    match (stage, run.facts.plan_only) {
        (_, true) => Urgency::PlanOnly,
        (Stage::Apply, false) => Urgency::Apply,
        (_, false) => Urgency::Plan,
    }
}

/// Records an event that happened by itself. A run that has moved meanwhile is simply looked at again.
async fn record(
    context: &Context,
    run: &store::Run,
    event: Event,
    why: Option<String>,
    update: RunUpdate,
) -> Result<(), ActorProcessingErr> {
    match feed(context, run, event, store::Actor::System, why, update).await {
        Ok(Fed::Recorded(_) | Fed::Moved) => Ok(()),
        Err(FeedError::Illegal(illegal)) => Err(illegal.into()),
        Err(FeedError::Store(error)) => Err(error.into()),
    }
}

/// Ends a run whose actor keeps failing, without it. A plan or a check is killed and the run ends errored. An apply is
/// never killed for a fault of ours: it goes on to its own end, which decides, unless somebody cancels it.
pub(crate) async fn give_up(context: &Context, id: RunId, reason: &str) -> Result<(), ActorProcessingErr> {
    let why = format!("signalbox could not go on with this run: {reason}");
    // from before the run is read, so that no wish of a person is missed
    let mut changes = context.store.changes();
    loop {
        let run = context.store.run(id).await?;
        let conclusion = match run.state {
            State::Planning(Work::Queued) | State::Applying(Work::Queued) => {
                Conclusion { event: Event::Launch, why: None, update: RunUpdate::default() }
            }
            State::PolicyChecked if context.facts_now(&run).await?.can_be_auto_applied() => {
                Conclusion { event: Event::AutoApply, why: None, update: RunUpdate::default() }
            }
            state => match state.execution() {
                Some((stage, wish)) => match end_of_execution(context, &run, stage, wish).await? {
                    Some(ended) => {
                        let mut conclusion = conclude_given_up(context, &run, stage, ended, &why).await?;
                        conclusion.update.log = log::keep(context, &run, stage).await?;
                        conclusion
                    }
                    None => {
                        let directory = RunDir::new(&context.data_dir, id).execution(stage);
                        tokio::select! {
                            over = context.executor.wait(&directory) => drop(over?),
                            () = changed(&mut changes, id) => {}
                        }
                        continue;
                    }
                },
                // waits for a person, for its turn, or is over: nothing is stuck
                None if state.is_final() => {
                    RunDir::clean_up_after(&context.data_dir, run).await?;
                    break;
                }
                None => break,
            },
        };
        record(context, &run, conclusion.event, conclusion.why, conclusion.update).await?;
    }
    context.release_slot(id);
    Ok(())
}

/// What the end of an execution means for a run that is given up: an apply's own end decides, and what it left is kept.
async fn conclude_given_up(
    context: &Context,
    run: &store::Run,
    stage: Stage,
    ended: Ended,
    why: &str,
) -> Result<Conclusion, ActorProcessingErr> {
    if stage != Stage::Apply {
        return Ok(stage::failed(stage, why.to_owned()));
    }
    let workspace = context.store.workspace(run.workspace).await?;
    Ok(stage::conclude(context, run, &workspace, stage, &ended).await?)
}

/// Waits until the run may be another than it was.
async fn changed(changes: &mut broadcast::Receiver<Change>, id: RunId) {
    // one that fell behind may have missed it
    while let Ok(change) = changes.recv().await {
        if matches!(change, Change::Run { run, .. } if run == id) {
            return;
        }
    }
}

/// The end of the execution of a run that is given up; `None` while it goes on, told what is wanted of it. Nothing of
/// it can start any more.
async fn end_of_execution(
    context: &Context,
    run: &store::Run,
    stage: Stage,
    wish: Execution,
) -> Result<Option<Ended>, ActorProcessingErr> {
    let directory = RunDir::new(&context.data_dir, run.id).execution(stage);
    // only an apply goes on to its own end
    let wish = if stage == Stage::Apply { wish } else { Execution::ForceCanceling };
    loop {
        match context.executor.attach(&directory).await? {
            Observation::NotStarted => {
                revoke(context, &directory).await?;
            }
            Observation::Running(running) => match deliver(context, &directory, &running, wish).await? {
                Delivery::Accepted => return Ok(None),
                Delivery::NotRunning => {}
            },
            Observation::Finished(result) => {
                // its executor may be about to flush that
                context.executor.settle(&directory).await?;
                return Ok(Some(Ended::Finished(result)));
            }
            Observation::Lost(lost) => return Ok(Some(Ended::Lost(lost))),
        }
    }
}
