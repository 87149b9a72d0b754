use std::collections::hash_map;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use lifecycle::id::WorkspaceId;
use lifecycle::queue::Entry;
use lifecycle::slots::{self, Demand, Slots};
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use store::Change;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{broadcast, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::STOP_GRACE;
use super::workspace::{Workspace, WorkspaceArguments, WorkspaceMessage};
use crate::clean_up::{clean_up_after_final_runs, clean_up_again};
use crate::context::{Context, slot_limits};
use crate::fault;
use crate::retention::sweep;
use crate::supervise::{Children, Exhausted, Policy, Restart};
use crate::sync_workspaces::sync_workspaces;

/// Supervises the actors of the workspaces: one for each that has a run which is not over, from the moment at which it has
/// one. Owns the execution slots.
///
/// Also the reconciler: every few seconds it has each non-final run looked at, so that a lost message or a crashed actor
/// costs seconds and nothing else.
pub(crate) struct Workspaces;

pub(crate) struct WorkspacesState {
    context: Arc<Context>,
    children: Children<WorkspaceId, Workspace>,
    /// Who was asked to reconcile and has not done so yet, and whether it has to once more after that.
    asked: HashMap<WorkspaceId, bool>,
    /// The configuration has changed, and the workspaces are not in line with it yet.
    sync_due: bool,
    /// When it was last tried to remove what could not be removed.
    cleaned_up_at: Instant,
    started_at: Instant,
    /// When it was last begun to remove what is not kept any more.
    swept_at: Option<Instant>,
    /// Brings the messages of [`listen`] and [`watch_configuration`].
    listeners: [AbortHandle; 2],
}

pub(crate) enum WorkspacesMessage {
    /// Workspaces or their runs have changed. Who sends it waits until it is handled.
    Changed(Changes, oneshot::Sender<()>),
    /// Read the configuration again.
    ConfigurationChanged,
    /// Look at every run that is not over.
    Reconcile,
    /// The slots that the runs of a workspace need now.
    Demand {
        workspace: WorkspaceId,
        demands: Vec<Demand>,
    },
    Restart(Restart<WorkspaceId>),
}

/// What has changed since the last message about it.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Runs of these have changed.
    runs: BTreeSet<WorkspaceId>,
    /// These have changed themselves.
    workspaces: BTreeSet<WorkspaceId>,
    /// Some changes were missed.
    missed: bool,
}

impl From<Restart<WorkspaceId>> for WorkspacesMessage {
    fn from(restart: Restart<WorkspaceId>) -> Self {
        Self::Restart(restart)
    }
}

const POLICY: Policy = Policy {
    most: 5,
    window: Duration::from_secs(60),
    first_pause: Duration::from_millis(100),
    longest_pause: Duration::from_secs(30),
    // one workspace that can't be helped must not take the others down
    exhausted: Exhausted::KeepTrying,
};

const RECONCILE_EVERY: Duration = Duration::from_secs(2);

/// How often it is tried to remove what could not be removed.
const CLEAN_UP_EVERY: Duration = Duration::from_secs(5 * 60);

/// How often what is not kept any more is removed, and how long after the start that begins: there is more to do then.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);
const SWEEP_AFTER: Duration = Duration::from_secs(5 * 60);

impl Actor for Workspaces {
    type Msg = WorkspacesMessage;
    type State = WorkspacesState;
    type Arguments = Arc<Context>;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        context: Self::Arguments,
    ) -> Result<WorkspacesState, ActorProcessingErr> {
        // before anything is read, so that no change falls between
        let (changes, configuration) = (context.store.changes(), context.config.subscribe());
        let occupied = occupied(&context).await?;
        context.slots.send_replace(occupied);
        let listeners = [
            tokio::spawn(listen(changes, myself.clone())).abort_handle(),
            tokio::spawn(watch_configuration(configuration, myself.clone())).abort_handle(),
        ];
        let of_workspaces = context.clone();
        let children = Children::new("workspace actor", POLICY, move |workspace: &WorkspaceId, _| {
            let (context, supervisor) = (of_workspaces.clone(), myself.clone());
            (Workspace, WorkspaceArguments { context, workspace: *workspace, supervisor })
        });
        let (asked, now) = (HashMap::new(), Instant::now());
        Ok(WorkspacesState {
            context,
            children,
            asked,
            sync_due: true,
            cleaned_up_at: now,
            started_at: now,
            swept_at: None,
            listeners,
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<Self::Msg>,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        state.reconcile(&myself).await?;
        tokio::spawn(clean_up_after_final_runs(state.context.clone()));
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: WorkspacesMessage,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        fault::point(&state.context.data_dir, "workspaces-actor");
        match message {
            WorkspacesMessage::Changed(changes, handled) => {
                state.route(&myself, changes).await?;
                // whoever waited for it may be gone with its supervisor
                let _ = handled.send(());
                Ok(())
            }
            WorkspacesMessage::ConfigurationChanged => {
                state.sync_due = true;
                state.sync().await;
                let limits = slot_limits(&state.context.config());
                let granted = state.change_slots(|slots| slots.set_limits(limits));
                state.grant(granted);
                // what is decided about a run follows the configuration: who has the right to apply again, for one
                state.wake_all(&myself).await
            }
            WorkspacesMessage::Reconcile => state.reconcile(&myself).await,
            WorkspacesMessage::Demand { workspace, demands } => {
                let mut granted = state.change_slots(|slots| slots.set(workspace, &demands));
                // again, should it have missed it the first time
                granted.insert(workspace);
                state.grant(granted);
                if state.asked.remove(&workspace) == Some(true) {
                    state.request(workspace);
                }
                Ok(())
            }
            WorkspacesMessage::Restart(restart) => {
                // the actors of its runs went with it, and one of them may have had to clean up
                tokio::spawn(clean_up_after_final_runs(state.context.clone()));
                state.children.restart(&myself, restart).await
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        state: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        let Some(idle) = state.children.ended(&myself, &event)? else { return Ok(()) };
        state.asked.remove(&idle);
        // what came while it was about to end was for nobody
        match state.context.store.queue(idle).await {
            Ok(entries) if entries.is_empty() => Ok(()),
            Ok(_) => state.wake(&myself, idle).await,
            Err(error) => {
                tracing::error!(workspace = %idle, %error, "the queue can't be read; trying again");
                Ok(())
            }
        }
    }

    async fn post_stop(
        &self,
        myself: ActorRef<Self::Msg>,
        _: &mut WorkspacesState,
    ) -> Result<(), ActorProcessingErr> {
        myself.get_cell().stop_children_and_wait(None, Some(STOP_GRACE)).await;
        Ok(())
    }
}

impl Drop for WorkspacesState {
    fn drop(&mut self) {
        self.listeners.iter().for_each(AbortHandle::abort);
    }
}

impl WorkspacesState {
    async fn reconcile(&mut self, myself: &ActorRef<WorkspacesMessage>) -> Result<(), ActorProcessingErr> {
        if self.sync_due {
            self.sync().await;
        }
        self.context.look_at_space();
        self.wake_all(myself).await?;
        if self.cleaned_up_at.elapsed() >= CLEAN_UP_EVERY {
            self.cleaned_up_at = Instant::now();
            if !self.context.unclean.is_empty() {
                tokio::spawn(clean_up_again(self.context.clone()));
            }
        }
        if self.context.sweeps
            && self.swept_at.is_none_or(|at| at.elapsed() >= SWEEP_EVERY)
            && self.started_at.elapsed() >= SWEEP_AFTER
        {
            self.swept_at = Some(Instant::now());
            let context = self.context.clone();
            tokio::spawn(async move {
                if let Err(error) = sweep(context).await {
                    tracing::error!(%error, "what is not kept any more can't be removed; trying again in an hour");
                }
            });
        }
        myself.send_after(RECONCILE_EVERY, || WorkspacesMessage::Reconcile);
        Ok(())
    }

    /// Has every workspace looked at that has a run which is not over, or an actor: its last run may have ended, and nobody
    /// has cleaned up after it yet.
    async fn wake_all(&mut self, myself: &ActorRef<WorkspacesMessage>) -> Result<(), ActorProcessingErr> {
        let mut workspaces: BTreeSet<_> = self.children.alive().map(|(workspace, _)| *workspace).collect();
        match self.context.store.busy_workspaces().await {
            Ok(busy) => workspaces.extend(busy),
            Err(error) => tracing::error!(%error, "runs can't be read; trying again"),
        }
        for workspace in workspaces {
            self.wake(myself, workspace).await?;
        }
        Ok(())
    }

    /// Brings the workspaces in line with the configuration.
    async fn sync(&mut self) {
        match sync_workspaces(&self.context).await {
            Ok(()) => self.sync_due = false,
            // what is there works on; the reconciler tries again
            Err(error) => tracing::error!(%error, "the configuration can't be taken over yet; trying again"),
        }
    }

    async fn route(
        &mut self,
        myself: &ActorRef<WorkspacesMessage>,
        Changes { runs, workspaces, missed }: Changes,
    ) -> Result<(), ActorProcessingErr> {
        if missed {
            self.wake_all(myself).await?;
        }
        for workspace in runs {
            self.wake(myself, workspace).await?;
        }
        // one without an actor has nothing that could go on
        workspaces.into_iter().for_each(|workspace| self.request(workspace));
        Ok(())
    }

    /// Sees that the workspace has an actor, and has it reconcile.
    async fn wake(
        &mut self,
        myself: &ActorRef<WorkspacesMessage>,
        workspace: WorkspaceId,
    ) -> Result<(), ActorProcessingErr> {
        if self.children.get(&workspace).is_some() {
            self.request(workspace);
        } else {
            // it begins with that
            self.children.ensure(myself, &workspace).await?;
        }
        Ok(())
    }

    /// Has the workspace's actor reconcile, if there is one. However often that is asked for before it does, it does so
    /// once more at most.
    fn request(&mut self, workspace: WorkspaceId) {
        let Some(actor) = self.children.get(&workspace) else { return };
        match self.asked.entry(workspace) {
            hash_map::Entry::Occupied(mut again) => *again.get_mut() = true,
            hash_map::Entry::Vacant(asked) => {
                asked.insert(false);
                // one that has just ended is started again if there is something to do
                let _ = actor.send_message(WorkspaceMessage::Reconcile);
            }
        }
    }

    fn change_slots(
        &self,
        change: impl FnOnce(&mut Slots) -> BTreeSet<WorkspaceId>,
    ) -> BTreeSet<WorkspaceId> {
        let mut granted = BTreeSet::new();
        self.context.slots.send_modify(|slots| granted = change(slots));
        granted
    }

    /// Tells workspaces which of their runs have a slot and do not use it yet.
    fn grant(&self, workspaces: BTreeSet<WorkspaceId>) {
        for workspace in workspaces {
            let runs = self.context.slots.borrow().granted(workspace);
            if let (false, Some(actor)) = (runs.is_empty(), self.children.get(&workspace)) {
                let _ = actor.send_message(WorkspaceMessage::Granted(runs));
            }
        }
    }
}

/// The slots as they are when nothing was told yet: what executes has one, before anything else may start.
async fn occupied(context: &Context) -> Result<Slots, store::Error> {
    let mut slots = Slots::new(slot_limits(&context.config()));
    let mut entries: HashMap<WorkspaceId, Vec<_>> = HashMap::new();
    for run in context.store.non_final_runs().await? {
        entries.entry(run.workspace).or_default().push(run.entry());
    }
    for (workspace, entries) in entries {
        let begun =
            |run| entries.iter().any(|entry: &Entry| entry.run == run && entry.state.execution().is_some());
        let mut demands = slots::demands(&entries, &[]);
        demands.retain_mut(|demand| {
            demand.executing = begun(demand.run);
            demand.executing
        });
        slots.set(workspace, &demands);
    }
    Ok(slots)
}

/// Brings what was committed to the supervisor, which is the one way for it to hear of that. What comes while a message
/// waits to be handled is one message more, however much it is.
async fn listen(mut changes: broadcast::Receiver<Change>, supervisor: ActorRef<WorkspacesMessage>) {
    loop {
        let mut changed = Changes::default();
        match changes.recv().await {
            Ok(change) => changed.add(change),
            Err(RecvError::Lagged(_)) => changed.missed = true,
            Err(RecvError::Closed) => return,
        }
        loop {
            match changes.try_recv() {
                Ok(change) => changed.add(change),
                Err(TryRecvError::Lagged(_)) => changed.missed = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        let (handled, done) = oneshot::channel();
        if supervisor.send_message(WorkspacesMessage::Changed(changed, handled)).is_err() {
            return;
        }
        // one that failed in it is restarted, and reads everything then
        let _ = done.await;
    }
}

impl Changes {
    fn add(&mut self, change: Change) {
        match change {
            Change::Run { workspace, .. } => self.runs.insert(workspace),
            Change::Workspace { id } => self.workspaces.insert(id),
        };
    }
}

async fn watch_configuration(
    mut config: watch::Receiver<Arc<config::Config>>,
    supervisor: ActorRef<WorkspacesMessage>,
) {
    while config.changed().await.is_ok() {
        if supervisor.send_message(WorkspacesMessage::ConfigurationChanged).is_err() {
            return;
        }
    }
}
