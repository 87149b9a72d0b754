use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use config::Config;
use executor::Executor;
use jiff::Timestamp;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::slots::{SlotFacts, Slots, Urgency};
use lifecycle::{Access, Facts};
use ractor::{ActorId, ActorRef};
use store::{Run, Store, Workspace};
use tokio::sync::watch;

use crate::actors::{WorkspaceMessage, WorkspacesMessage};
use crate::terraform::Versions;

/// What the daemon's own environment lends to the processes of a run. Everything else is built from nothing.
#[derive(Debug, Clone)]
pub struct HostEnvironment {
    /// `PATH`.
    pub path: String,
    /// `HOME`: credentials of git and of providers are found there.
    pub home: String,
}

/// What every actor shares. Nothing in it is truth: that is in the store.
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) config: watch::Sender<Arc<Config>>,
    /// Absolute.
    pub(crate) data_dir: PathBuf,
    /// The binary whose hidden subcommands are steps of executions.
    pub(crate) program: PathBuf,
    pub(crate) host: HostEnvironment,
    pub(crate) terraform: Versions,
    slots: Mutex<SlotTable>,
    mailboxes: Mutex<Mailboxes>,
}

struct SlotTable {
    slots: Slots,
    workspaces: HashMap<RunId, WorkspaceId>,
}

#[derive(Default)]
struct Mailboxes {
    workspaces: HashMap<WorkspaceId, ActorRef<WorkspaceMessage>>,
    supervisor: Option<ActorRef<WorkspacesMessage>>,
}

/// Nothing that the locks of this crate guard is left half changed by a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Context {
    pub(crate) fn new(
        store: Store,
        executor: Arc<dyn Executor>,
        config: Arc<Config>,
        program: PathBuf,
        host: HostEnvironment,
    ) -> Self {
        let slots = Slots::new(config.server.max_concurrent_runs);
        Self {
            store,
            executor,
            data_dir: config.server.data_dir.clone(),
            config: watch::Sender::new(config),
            program,
            host,
            terraform: Versions::default(),
            slots: Mutex::new(SlotTable { slots, workspaces: HashMap::new() }),
            mailboxes: Mutex::default(),
        }
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.borrow().clone()
    }

    /// What the user may do in the workspace now.
    pub(crate) fn access(&self, user: &str, workspace: &Workspace) -> Access {
        self.config.borrow().access(user, &workspace.name, &workspace.access)
    }

    /// The run's facts as far as they hold now: whether its plan can be auto-applied depends on what whoever queued it
    /// may do, then and at the time of the decision.
    pub(crate) async fn facts_now(&self, run: &Run) -> Result<Facts, store::Error> {
        if !run.facts.can_be_auto_applied() {
            return Ok(run.facts);
        }
        let workspace = self.store.workspace(run.workspace).await?;
        Ok(run.facts.held_by(self.access(&run.created_by, &workspace)))
    }

    #[expect(clippy::unused_self, reason = "the clock belongs to the context, wherever it comes from")]
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    /// Asks for an execution slot; true: the run has one. False: its workspace is told when to ask again.
    pub(crate) fn request_slot(&self, run: RunId, workspace: WorkspaceId, urgency: Urgency) -> bool {
        let mut table = lock(&self.slots);
        table.workspaces.insert(run, workspace);
        table.slots.request(run, urgency)
    }

    /// Takes a slot for an execution that may be running already.
    pub(crate) fn occupy_slot(&self, run: RunId, workspace: WorkspaceId, urgency: Urgency) {
        let mut table = lock(&self.slots);
        table.workspaces.insert(run, workspace);
        table.slots.occupy(run, urgency);
    }

    /// Gives back what runs of this workspace have and should not: those that may neither start nor have started,
    /// since they were locked out or ended while they stood in line.
    pub(crate) fn retain_slots(&self, workspace: WorkspaceId, keep: &HashSet<RunId>) {
        let ghosts: Vec<RunId> = lock(&self.slots)
            .workspaces
            .iter()
            .filter(|(run, of)| **of == workspace && !keep.contains(run))
            .map(|(run, _)| *run)
            .collect();
        ghosts.into_iter().for_each(|run| self.release_slot(run));
    }

    /// Gives the run's slot, or its place in line, back, and tells those whose turn it is.
    pub(crate) fn release_slot(&self, run: RunId) {
        let woken = {
            let mut table = lock(&self.slots);
            let turn = table.slots.release(run);
            table.workspaces.remove(&run);
            table.workspaces_of(turn)
        };
        woken.into_iter().for_each(|workspace| self.hint(workspace));
    }

    pub(crate) fn set_slot_limit(&self, limit: usize) {
        let woken = {
            let mut table = lock(&self.slots);
            let turn = table.slots.set_limit(limit);
            table.workspaces_of(turn)
        };
        woken.into_iter().for_each(|workspace| self.hint(workspace));
    }

    /// How the execution slots look to this run.
    pub(crate) fn slots_beside(&self, run: RunId) -> SlotFacts {
        lock(&self.slots).slots.beside(run)
    }

    /// How many execution slots are taken, and how many runs wait for one.
    pub(crate) fn slot_counts(&self) -> (usize, usize) {
        let table = lock(&self.slots);
        (table.slots.held(), table.slots.waiting())
    }

    /// Tells the workspace's actor to look at its queue. If there is none, or the hint is lost, the
    /// reconciler finds what was missed.
    pub(crate) fn hint(&self, workspace: WorkspaceId) {
        if let Some(actor) = lock(&self.mailboxes).workspaces.get(&workspace) {
            let _ = actor.send_message(WorkspaceMessage::Look);
        }
    }

    /// Tells the workspace supervisor that the configuration has changed.
    pub(crate) fn hint_configuration(&self) {
        if let Some(actor) = &lock(&self.mailboxes).supervisor {
            let _ = actor.send_message(WorkspacesMessage::ConfigurationChanged);
        }
    }

    pub(crate) fn register(&self, workspace: WorkspaceId, actor: ActorRef<WorkspaceMessage>) {
        lock(&self.mailboxes).workspaces.insert(workspace, actor);
    }

    /// Forgets a workspace's actor that has ended, unless another has taken its place.
    pub(crate) fn unregister(&self, workspace: WorkspaceId, actor: ActorId) {
        let mut mailboxes = lock(&self.mailboxes);
        if mailboxes.workspaces.get(&workspace).is_some_and(|known| known.get_id() == actor) {
            mailboxes.workspaces.remove(&workspace);
        }
    }

    pub(crate) fn register_supervisor(&self, actor: ActorRef<WorkspacesMessage>) {
        lock(&self.mailboxes).supervisor = Some(actor);
    }
}

impl SlotTable {
    fn workspaces_of(&self, runs: Vec<RunId>) -> Vec<WorkspaceId> {
        runs.iter().filter_map(|run| self.workspaces.get(run).copied()).collect()
    }
}
