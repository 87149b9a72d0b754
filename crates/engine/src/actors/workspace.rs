use std::sync::Arc;
use std::time::Duration;

use lifecycle::access::Action;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Event, State, Work, queue, slots};
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use store::{RecordError, RunUpdate};

use super::STOP_GRACE;
use super::run::{Run, RunMessage};
use super::workspaces::WorkspacesMessage;
use crate::context::Context;
use crate::drive::Mode;
use crate::fault;
use crate::supervise::{Children, Exhausted, Policy, Restart};

/// Owns the queue of one workspace: lets runs go (T1) and has an actor drive each that is under way. It is there as long
/// as its workspace has a run that is not over.
pub(crate) struct Workspace;

pub(crate) struct WorkspaceArguments {
    pub(crate) context: Arc<Context>,
    pub(crate) workspace: WorkspaceId,
    /// Is told which slots the runs need, each time that the queue was read.
    pub(crate) supervisor: ActorRef<WorkspacesMessage>,
}

pub(crate) struct WorkspaceState {
    context: Arc<Context>,
    workspace: WorkspaceId,
    supervisor: ActorRef<WorkspacesMessage>,
    runs: Children<RunId, Run>,
}

pub(crate) enum WorkspaceMessage {
    /// Read the queue, and do what is due.
    Reconcile,
    /// These runs have a slot and do not use it yet.
    Granted(Vec<RunId>),
    Restart(Restart<RunId>),
}

impl From<Restart<RunId>> for WorkspaceMessage {
    fn from(restart: Restart<RunId>) -> Self {
        Self::Restart(restart)
    }
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
    type Arguments = WorkspaceArguments;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        arguments: Self::Arguments,
    ) -> Result<WorkspaceState, ActorProcessingErr> {
        let WorkspaceArguments { context, workspace, supervisor } = arguments;
        myself.send_message(WorkspaceMessage::Reconcile)?;
        let of_runs = context.clone();
        let runs = Children::new("run actor", POLICY, move |run: &RunId, given_up: Option<&str>| {
            let last_resort = |reason: &str| Mode::LastResort { reason: reason.to_owned() };
            (Run, (of_runs.clone(), *run, given_up.map_or(Mode::Ordinary, last_resort)))
        });
        Ok(WorkspaceState { context, workspace, supervisor, runs })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: WorkspaceMessage,
        state: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            WorkspaceMessage::Reconcile => state.reconcile(&myself).await,
            WorkspaceMessage::Granted(runs) => state.go(&myself, &runs).await,
            WorkspaceMessage::Restart(restart) => state.runs.restart(&myself, restart).await,
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        if state.runs.ended(&myself, &event)?.is_some() {
            // it is over: the next one's turn
            myself.send_message(WorkspaceMessage::Reconcile)?;
        }
        Ok(())
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        _: &mut WorkspaceState,
    ) -> Result<(), ActorProcessingErr> {
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}

impl WorkspaceState {
    // not within the request that changed something, or whoever else sent the message
    #[tracing::instrument(name = "workspace", parent = None, skip_all, fields(workspace = %self.workspace))]
    async fn reconcile(&mut self, myself: &ActorRef<WorkspaceMessage>) -> Result<(), ActorProcessingErr> {
        fault::point(&self.context.data_dir, "workspace-actor");
        let entries = self.context.store.queue(self.workspace).await?;
        for entry in entries.iter().filter(|entry| entry.state != State::Pending) {
            self.wake(myself, entry.run).await?;
        }
        // a run that a person ended is no longer in the queue, and its actor has to clean up after it
        for (_, ended) in self.runs.alive().filter(|(run, _)| entries.iter().all(|entry| entry.run != **run))
        {
            let _ = ended.send_message(RunMessage::Reconcile);
        }
        let workspace = self.context.store.workspace(self.workspace).await?;
        let startable = match workspace.removed_at {
            Some(_) => Vec::new(),
            None => queue::startable(
                &entries,
                workspace.lock.is_some() || self.context.low_space.borrow().is_some(),
            ),
        };
        let demands = slots::demands(&entries, &startable);
        self.supervisor.send_message(WorkspacesMessage::Demand { workspace: self.workspace, demands })?;
        if workspace.removed_at.is_some() {
            self.cancel_stranded(&workspace, &entries).await;
        }
        if entries.is_empty() && self.runs.is_empty() {
            if workspace.removed_at.is_some() {
                tracing::info!(workspace = %workspace.name, "nothing is left to do in the removed workspace");
            }
            myself.stop(None);
        }
        Ok(())
    }

    /// Lets runs go that have a slot: T1, and out of the queue of their stage.
    #[tracing::instrument(name = "workspace", parent = None, skip_all, fields(workspace = %self.workspace))]
    async fn go(
        &mut self,
        myself: &ActorRef<WorkspaceMessage>,
        runs: &[RunId],
    ) -> Result<(), ActorProcessingErr> {
        for run in runs {
            match self.launch(*run).await {
                Ok(true) => self.wake(myself, *run).await?,
                Ok(false) => {}
                // the other runs of the workspace go on; the reconciler has this one tried again
                Err(error) => tracing::error!(%run, %error, "can't start the run; trying again"),
            }
        }
        Ok(())
    }

    /// Whether it needs an actor now, which has to clean up if the run has ended meanwhile. False: it is not its turn after
    /// all.
    async fn launch(&self, run: RunId) -> Result<bool, RecordError> {
        let mut run = self.context.store.run(run).await?;
        loop {
            let event = match run.state {
                State::Pending => Event::Start,
                State::Planning(Work::Queued) | State::Applying(Work::Queued) => Event::Launch,
                state => return Ok(state.execution().is_some()),
            };
            let by = store::Actor::System;
            run = match self.context.record(&run, event, by, None, RunUpdate::default()).await {
                Ok(run) => run,
                // others are ahead of it again
                Err(RecordError::NotItsTurn(_)) => return Ok(false),
                Err(RecordError::Illegal(moved)) => return Ok(moved.state.is_final()),
                Err(error) => return Err(error),
            };
        }
    }

    /// Ends what nothing and nobody can take on in a workspace that is no longer configured: what has not started can
    /// never start, and what waits for a person waits in vain if none is left who may decide.
    async fn cancel_stranded(&self, workspace: &store::Workspace, entries: &[queue::Entry]) {
        let config = self.context.config();
        let decides = |user: &String| self.context.access(user, workspace).allows(Action::Discard);
        let abandoned = !config.users.keys().any(decides);
        for entry in entries {
            let why = match entry.state {
                State::Pending => "the workspace was removed from the configuration",
                state if abandoned && state.waits_for_person() => {
                    "the workspace was removed from the configuration, and nobody is left who may confirm or discard the run"
                }
                _ => continue,
            };
            if let Err(error) = self.cancel(entry.run, why).await {
                tracing::error!(run = %entry.run, %error, "can't cancel the run; trying again");
            }
        }
    }

    async fn cancel(&self, run: RunId, why: &str) -> Result<(), RecordError> {
        let run = self.context.store.run(run).await?;
        let (by, why) = (store::Actor::System, Some(why.to_owned()));
        match self.context.record(&run, Event::Cancel, by, why, RunUpdate::default()).await {
            // one that somebody else ended first is as good
            Ok(_) | Err(RecordError::Illegal(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sees that the run has an actor, and wakes it.
    async fn wake(
        &mut self,
        myself: &ActorRef<WorkspaceMessage>,
        run: RunId,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(actor) = self.runs.ensure(myself, &run).await? {
            let _ = actor.send_message(RunMessage::Reconcile);
        }
        Ok(())
    }
}
