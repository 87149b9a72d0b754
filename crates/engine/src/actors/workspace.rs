use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lifecycle::access::Action;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::slots::Urgency;
use lifecycle::{Event, State, queue};
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use store::RunUpdate;
use tracing::Instrument as _;

use super::STOP_GRACE;
use super::run::{Run, RunMessage, give_up};
use crate::context::Context;
use crate::fault;
use crate::feed::{Fed, FeedError, feed};
use crate::supervise::{Children, Decision, Ended, Exhausted, Policy, jitter};

/// Owns the queue of one workspace: lets runs go (T1) and has an actor drive each that is under way.
pub(crate) struct Workspace;

pub(crate) struct WorkspaceState {
    context: Arc<Context>,
    workspace: WorkspaceId,
    runs: Children<RunId>,
    /// Runs that are being given up, which get no actor until that is done.
    given_up: HashSet<RunId>,
}

pub(crate) enum WorkspaceMessage {
    /// Read the queue, and do what is due.
    Look,
    Restart {
        run: RunId,
        generation: u64,
    },
    /// The giving up of a run has ended, well or not.
    GivenUp(RunId),
}

const POLICY: Policy = Policy {
    most: 5,
    window: Duration::from_secs(120),
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(30),
    // a run that always crashes its actor ends errored, and the workspace goes on
    exhausted: Exhausted::GiveUp,
};

impl Actor for Workspace {
    type Msg = WorkspaceMessage;
    type State = WorkspaceState;
    type Arguments = (Arc<Context>, WorkspaceId);

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        (context, workspace): Self::Arguments,
    ) -> Result<WorkspaceState, ActorProcessingErr> {
        context.register(workspace, myself.clone());
        myself.send_message(WorkspaceMessage::Look)?;
        Ok(WorkspaceState { context, workspace, runs: Children::new(POLICY), given_up: HashSet::new() })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: WorkspaceMessage,
        state: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkspaceMessage::Look => look(&myself, state).await,
            WorkspaceMessage::GivenUp(run) => {
                state.given_up.remove(&run);
                look(&myself, state).await
            }
            WorkspaceMessage::Restart { run, generation } => {
                if state.runs.restart_stands(&run, generation) {
                    start(&myself, state, run).await;
                }
                Ok(())
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(ended) = state.runs.ended(&event, Instant::now(), jitter()) {
            decide(&myself, state, ended);
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        state: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        state.context.unregister(state.workspace, myself.get_id());
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}

// not within the request that hinted, or whoever else sent the message
#[tracing::instrument(name = "workspace", parent = None, skip_all, fields(workspace = %state.workspace))]
async fn look(
    myself: &ActorRef<WorkspaceMessage>,
    state: &mut WorkspaceState,
) -> Result<(), ActorProcessingErr> {
    fault::point(&state.context.data_dir, "workspace-actor");
    let context = state.context.clone();
    let entries = context.store.queue(state.workspace).await?;
    for entry in entries.iter().filter(|entry| entry.state != State::Pending) {
        ensure(myself, state, entry.run).await;
    }
    // a run that a person ended is no longer in the queue, and its actor has to clean up after it
    for (_, ended) in state.runs.alive().filter(|(run, _)| entries.iter().all(|entry| entry.run != **run)) {
        let _ = ended.send_message(RunMessage::Look);
    }
    let workspace = context.store.workspace(state.workspace).await?;
    let startable = match workspace.removed_at {
        Some(_) => Vec::new(),
        None => queue::startable(&entries, workspace.lock.is_some()),
    };
    let started = entries.iter().filter(|entry| entry.state != State::Pending).map(|entry| entry.run);
    context.retain_slots(state.workspace, &started.chain(startable.iter().copied()).collect());
    if workspace.removed_at.is_some() {
        if cancel_stranded(&context, &workspace, &entries).await {
            myself.send_message(WorkspaceMessage::Look)?;
        }
        if entries.is_empty() && state.runs.is_empty() && state.given_up.is_empty() {
            tracing::info!(workspace = %workspace.name, "nothing is left to do in the removed workspace");
            myself.stop(None);
            return Ok(());
        }
    }
    let plan_only: HashMap<RunId, bool> = entries.iter().map(|entry| (entry.run, entry.plan_only)).collect();
    for run in startable {
        let urgency = if plan_only.get(&run) == Some(&true) { Urgency::PlanOnly } else { Urgency::Plan };
        if context.request_slot(run, state.workspace, urgency) {
            match let_go(&context, run).await {
                Ok(true) => ensure(myself, state, run).await,
                Ok(false) => context.release_slot(run),
                Err(error) => {
                    // the other runs of the workspace go on; the reconciler has this one tried again
                    tracing::error!(%run, %error, "can't start the run; trying again");
                    context.release_slot(run);
                }
            }
        }
    }
    Ok(())
}

/// T1. False: it is not its turn after all.
async fn let_go(context: &Context, run: RunId) -> Result<bool, ActorProcessingErr> {
    let run = context.store.run(run).await?;
    match feed(context, &run, Event::Start, store::Actor::System, None, RunUpdate::default()).await {
        Ok(Fed::Recorded(_)) => Ok(true),
        Ok(Fed::Moved) | Err(FeedError::Illegal(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Ends what nothing and nobody can take on in a workspace that is no longer configured: what has not started can never
/// start, and what waits for a person waits in vain if none is left who may decide. Whether there was such a run.
async fn cancel_stranded(context: &Context, workspace: &store::Workspace, entries: &[queue::Entry]) -> bool {
    let mut canceled = false;
    let config = context.config();
    let decides = |user: &String| context.access(user, workspace).allows(Action::Discard);
    let abandoned = !config.users.keys().any(decides);
    for entry in entries {
        let why = match entry.state {
            State::Pending => "the workspace was removed from the configuration",
            state if abandoned && state.waits_for_person() => {
                "the workspace was removed from the configuration, and nobody is left who may confirm or discard the run"
            }
            _ => continue,
        };
        match cancel(context, entry.run, why).await {
            Ok(()) => canceled = true,
            Err(error) => tracing::error!(run = %entry.run, %error, "can't cancel the run; trying again"),
        }
    }
    canceled
}

async fn cancel(context: &Context, run: RunId, why: &str) -> Result<(), FeedError> {
    let run = context.store.run(run).await?;
    // one that somebody else ended first is as good
    feed(context, &run, Event::Cancel, store::Actor::System, Some(why.to_owned()), RunUpdate::default())
        .await
        .map(drop)
}

/// Sees that the run has an actor, and tells it to look.
async fn ensure(myself: &ActorRef<WorkspaceMessage>, state: &mut WorkspaceState, run: RunId) {
    match state.runs.cell(&run) {
        Some(cell) => {
            let _ = cell.send_message(RunMessage::Look);
        }
        None if state.runs.contains(&run) || state.given_up.contains(&run) => {} // about to be restarted, or never
        None => start(myself, state, run).await,
    }
}

async fn start(myself: &ActorRef<WorkspaceMessage>, state: &mut WorkspaceState, run: RunId) {
    match Run::spawn_linked(None, Run, (state.context.clone(), run), myself.get_cell()).await {
        Ok((actor, _)) => state.runs.started(run, actor.get_cell()),
        Err(error) => {
            let ended = state.runs.spawn_failed(run, Instant::now(), jitter(), error.to_string());
            decide(myself, state, ended);
        }
    }
}

fn decide(myself: &ActorRef<WorkspaceMessage>, state: &mut WorkspaceState, ended: Ended<RunId>) {
    let Ended { key: run, decision, generation, reason } = ended;
    match decision {
        Decision::Restart { after } => {
            tracing::error!(%run, %reason, ?after, "run actor failed, it is restarted");
            myself.send_after(after, move || WorkspaceMessage::Restart { run, generation });
        }
        Decision::Forget => {
            // it is over: the next one's turn
            let _ = myself.send_message(WorkspaceMessage::Look);
        }
        Decision::GiveUp | Decision::Escalate => {
            tracing::error!(%run, %reason, "run actor failed again and again, the run is ended without it");
            state.given_up.insert(run);
            let (context, myself) = (state.context.clone(), myself.clone());
            // beside the actor, since it waits for processes to be gone; if it fails, or panics as the actor
            // did, the reconciler brings the run here again
            let span = tracing::info_span!(parent: None, "run", %run);
            let giving_up =
                tokio::spawn(async move { give_up(&context, run, &reason).await }.instrument(span));
            tokio::spawn(async move {
                match giving_up.await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::error!(%run, %error, "can't give the run up; trying again"),
                    Err(panic) => tracing::error!(%run, %panic, "can't give the run up; trying again"),
                }
                let _ = myself.send_message(WorkspaceMessage::GivenUp(run));
            });
        }
    }
}
