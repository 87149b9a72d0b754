//! What the engine works with, for every actor and every caller.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use config::Config;
use executor::Executor;
use jiff::Timestamp;
use lifecycle::id::RunId;
use lifecycle::slots::{SlotLimits, Slots};
use lifecycle::waiting::LowSpace;
use lifecycle::{Event, Facts, Stage, State, WorkspaceRights};
use store::{RecordError, Run, RunEvent, RunUpdate, Store, Workspace};
use tokio::sync::watch;

use crate::RunDir;
use crate::clean_up::{Unclean, clean_up};
use crate::engine::Parts;
use crate::host::HostEnvironment;
use crate::log_watch::LogWatch;
use crate::measure;
use crate::place::Places;
use crate::terraform::Versions;

/// What every actor shares. Nothing in it is truth: that is in the store.
pub(crate) struct Context {
    pub(crate) store: Store,
    pub(crate) executor: Arc<dyn Executor>,
    pub(crate) config: watch::Sender<Arc<Config>>,
    /// Absolute.
    pub(crate) data_dir: PathBuf,
    /// The binary whose hidden subcommands are steps of executions.
    pub(crate) program: PathBuf,
    /// What no code of a run may see beside the data directory.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) host: HostEnvironment,
    pub(crate) terraform: Versions,
    pub(crate) log_watch: LogWatch,
    pub(crate) places: Places,
    pub(crate) unclean: Unclean,
    /// Whether what is not kept any more is removed by itself.
    pub(crate) sweeps: bool,
    /// Held by who removes what is not kept any more.
    pub(crate) sweeping: tokio::sync::Mutex<()>,
    /// The free space where the data lies, when it is too little for new runs.
    pub(crate) low_space: watch::Sender<Option<LowSpace>>,
    /// Owned by the workspaces' supervisor; here to be looked at.
    pub(crate) slots: watch::Sender<Slots>,
}

/// How much may go on at once, as the configuration has it.
pub(crate) fn slot_limits(config: &Config) -> SlotLimits {
    SlotLimits {
        terraform: config.server.max_concurrent_runs,
        fetch: config.server.max_concurrent_fetches,
        policy_check: config.server.max_concurrent_policy_checks,
    }
}

impl Context {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { store, executor, config, program, hidden, host, sweeps } = parts;
        let slots = watch::Sender::new(Slots::new(slot_limits(&config)));
        Self {
            slots,
            store,
            executor,
            data_dir: config.server.data_dir.clone(),
            config: watch::Sender::new(config),
            program,
            hidden,
            host,
            terraform: Versions::default(),
            log_watch: LogWatch::new(),
            places: Places::default(),
            unclean: Unclean::default(),
            sweeps,
            sweeping: tokio::sync::Mutex::default(),
            low_space: watch::Sender::new(None),
        }
    }

    /// Looks at the free space where the data lies. Says whether there is too little for new runs now, or was before.
    pub(crate) fn look_at_space(&self) -> bool {
        let least = self.config().server.min_free_space;
        let free = match executor::space_left(&self.data_dir) {
            Ok(free) => free,
            Err(error) => {
                tracing::warn!(%error, "can't see how much space is free");
                return false;
            }
        };
        let low = (free < least).then_some(LowSpace { free, least });
        let before = self.low_space.send_replace(low);
        if low.is_some() && before.is_none() {
            tracing::warn!(free = %text::bytes(free), "too little space is free: no run starts until there is more");
        }
        low.is_some() || before.is_some()
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.borrow().clone()
    }

    /// What the user may do in the workspace now.
    pub(crate) fn access(&self, user: &str, workspace: &Workspace) -> WorkspaceRights {
        self.config.borrow().access(user, &workspace.name, &workspace.access)
    }

    /// The run's facts as far as they hold now: whether its plan can be auto-applied depends on what whoever queued it
    /// may do, then and at the time of the decision.
    pub(crate) async fn facts_now(&self, run: &Run) -> Result<Facts, store::Error> {
        Ok(run.facts.held_by(self.creator(run).await?))
    }

    /// What who queued the run may do in its workspace now, as far as anything depends on it.
    async fn creator(&self, run: &Run) -> Result<WorkspaceRights, store::Error> {
        if !run.facts.can_be_auto_applied() {
            return Ok(WorkspaceRights::NONE);
        }
        let workspace = self.store.workspace(run.workspace).await?;
        Ok(self.access(&run.created_by, &workspace))
    }

    /// Records what happened to a run: the one way in which the engine changes a run.
    pub(crate) async fn record(
        &self,
        run: &Run,
        event: Event,
        by: store::Actor,
        why: Option<String>,
        update: RunUpdate,
    ) -> Result<Run, RecordError> {
        self.record_with(run, event, by, why, update, self.creator(run).await?).await
    }

    /// The same for who knows what whoever queued the run may do, or that nothing depends on it.
    pub(crate) async fn record_with(
        &self,
        run: &Run,
        event: Event,
        by: store::Actor,
        why: Option<String>,
        update: RunUpdate,
        creator: WorkspaceRights,
    ) -> Result<Run, RecordError> {
        let happened = RunEvent { run: run.id, event, creator, by, why, at: self.now(), update };
        let run = match run.state {
            State::Pending => self.record_of_pending(happened).await?,
            _ => self.store.record(happened).await?,
        };
        tracing::info!(run = %run.id, state = %run.state, "{}", event.name());
        measure::recorded(run.state);
        Ok(run)
    }

    /// Records it and, if the run is over with that, cleans up: one that has not started has no actor which could. Goes to
    /// its end if nobody waits for it any more; what a death leaves behind, the next start removes.
    async fn record_of_pending(&self, happened: RunEvent) -> Result<Run, RecordError> {
        let (store, run_dir) = (self.store.clone(), RunDir::new(&self.data_dir, happened.run));
        let unclean = self.unclean.clone();
        let recording = tokio::spawn(async move {
            let run = store.record(happened).await?;
            if run.state.is_final() && run.state.stage() == Stage::Pending {
                clean_up(&unclean, run_dir, run.id, BTreeSet::new()).await;
            }
            Ok(run)
        });
        recording.await.unwrap_or(Err(RecordError::Store(store::Error::Closed)))
    }

    /// Removes what must not outlive a run that is over.
    pub(crate) async fn clean_up(&self, run: RunId, logs: BTreeSet<Stage>) {
        clean_up(&self.unclean, RunDir::new(&self.data_dir, run), run, logs).await;
    }

    #[expect(clippy::unused_self, reason = "the clock belongs to the context, wherever it comes from")]
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
