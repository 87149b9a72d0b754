use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use config::Config;
use executor::Executor;
use lifecycle::Stage;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::slots::SlotFacts;
use lifecycle::waiting::LowSpace;
use ractor::{Actor as _, ActorRef};
use store::{Records, Run, Store, Workspace};
use tokio::task::JoinHandle;

use crate::actors::{Root, RootMessage};
use crate::context::Context;
use crate::retention::{Removed, sweep};
use crate::settings::PublicSettings;
use crate::sync_workspaces::sync_workspaces;
use crate::{HostEnvironment, Log, LogTail, Mask, RunDir, log, reserve};

/// What the engine is made of.
pub struct Parts {
    /// Where everything is kept; its data directory has to be the configuration's.
    pub store: Store,
    /// What runs stages.
    pub executor: Arc<dyn Executor>,
    /// The configuration to start with.
    pub config: Arc<Config>,
    /// The binary whose hidden subcommands `take-configuration` and `policy-check` are steps of executions.
    pub program: PathBuf,
    /// Files and directories that no code of a run may see, beside the data directory: what holds secrets of the daemon.
    pub hidden: Vec<PathBuf>,
    /// What the daemon's environment lends to terraform.
    pub host: HostEnvironment,
    /// Whether what is not kept any more is removed every hour, and not only when that is asked for ([`Engine::sweep`]).
    pub sweeps: bool,
}

/// A running engine: a handle that is cheap to clone.
#[derive(Clone)]
pub struct Engine {
    pub(crate) context: Arc<Context>,
    root: ActorRef<RootMessage>,
}

/// The engine stopped working by itself. The daemon has to end, so that it is started afresh.
#[derive(Debug, thiserror::Error)]
#[error("the root supervisor ended: something failed again and again; see the log")]
pub struct Ended;

/// Why the engine could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store can't be read or written.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The root supervisor.
    #[error(transparent)]
    Actors(#[from] ractor::SpawnErr),
}

impl Engine {
    /// Starts the actors. What was under way when the last daemon died goes on.
    ///
    /// The second value resolves when the actors have ended: after [`Engine::stop`], or because they could not go on.
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn start(parts: Parts) -> Result<(Self, JoinHandle<()>), StartError> {
        let context = Arc::new(Context::new(parts));
        // whoever is told that the daemon is ready finds the workspaces there
        sync_workspaces(&context).await?;
        ask_for_versions(&context);
        let data_dir = context.data_dir.clone();
        // now, so that no apply waits for it; it tries again by itself
        tokio::task::spawn_blocking(move || reserve::set_aside(&data_dir));
        #[expect(
            clippy::disallowed_methods,
            reason = "the root has no supervisor: its end is the end of the daemon"
        )]
        let (root, ended) = Root::spawn(None, Root, context.clone()).await?;
        Ok((Self { context, root }, ended))
    }

    /// The records, for reading. Whoever changes something goes through the engine.
    pub fn store(&self) -> &Records {
        self.context.store.records()
    }

    /// Waits until every write that was begun is done, and frees the data directory.
    pub async fn close(&self) {
        self.context.store.clone().close().await;
    }

    /// The configuration as it is now.
    pub fn config(&self) -> Arc<Config> {
        self.context.config()
    }

    /// Opens the log of a stage; `None` if there is none, or none yet. What was opened can be read on whatever happens to
    /// its name: the blob is the same file. The log is whole as soon as the record says that the stage is over.
    ///
    /// # Errors
    /// [`store::Error`]: the log or the record can't be read.
    pub async fn open_log(&self, run: &Run, stage: Stage) -> Result<Option<Log>, store::Error> {
        log::open(&self.context, run, stage).await
    }

    /// Follows the log of a stage that works, or soon will: says when there may be more of it to read.
    pub fn tail_log(&self, run: RunId, stage: Stage) -> LogTail {
        let Context { log_watch, data_dir, .. } = &*self.context;
        log_watch.tail(data_dir, &RunDir::new(data_dir, run).log(stage))
    }

    /// What the workspace calls sensitive now; `None` if that is nothing, or if it was removed.
    ///
    /// # Errors
    /// [`store::Error`]: its settings can't be read.
    pub async fn mask_of(&self, workspace: &Workspace) -> Result<Option<Mask>, store::Error> {
        let settings = self.context.settings(workspace).await?;
        Ok(settings.and_then(|settings| Mask::new(&settings, &[])))
    }

    /// The files of a run.
    pub fn run_dir(&self, run: RunId) -> RunDir {
        RunDir::new(&self.context.data_dir, run)
    }

    /// How many execution slots are taken, and how many runs wait for one.
    pub fn slot_counts(&self) -> (usize, usize) {
        let slots = self.context.slots.borrow();
        (slots.held(), slots.waiting())
    }

    /// What everybody sees of the settings of these workspaces, who may read them; one that was removed has none.
    ///
    /// # Errors
    /// [`store::Error`]: settings can't be read.
    pub async fn public_settings(
        &self,
        workspaces: &[&Workspace],
    ) -> Result<HashMap<WorkspaceId, PublicSettings>, store::Error> {
        self.context.public_settings(workspaces).await
    }

    /// How the execution slots look to this run.
    pub fn slots_beside(&self, run: RunId) -> SlotFacts {
        self.context.slots.borrow().beside(run)
    }

    /// The free space where the data lies, when it is too little for new runs.
    pub fn low_space(&self) -> Option<LowSpace> {
        *self.context.low_space.borrow()
    }

    /// Removes what is not kept any more, as happens every hour by itself; `None` while that goes on already.
    ///
    /// # Errors
    /// Of the store.
    pub async fn sweep(&self) -> Result<Option<Removed>, store::Error> {
        sweep(self.context.clone()).await
    }

    /// Takes over a changed configuration: added, changed and removed workspaces, teams, limits.
    ///
    /// What terraform sees of a run stays what it was when the run was queued: binary, environment, source and variables.
    /// What is decided about it follows the configuration as it is then: who may act on it (and so whether it is
    /// auto-applied), which policy sets are checked, and the grace period of a cancel.
    pub fn reconfigure(&self, config: Arc<Config>) {
        self.context.config.send_replace(config);
        ask_for_versions(&self.context);
    }

    /// Stops the actors. Executions go on; the next start finds them.
    pub fn stop(&self) {
        self.root.stop(None);
    }
}

/// Asks every terraform of the configuration for its version, so that no run and no reader waits for the answer.
fn ask_for_versions(context: &Arc<Context>) {
    let context = context.clone();
    tokio::spawn(async move {
        let config = context.config();
        let own = config.workspaces.values().filter_map(|workspace| workspace.terraform.as_deref());
        let programs: BTreeSet<_> = own.chain([config.server.terraform.as_path()]).collect();
        for program in programs {
            context.terraform.find(program, &context.host).await;
        }
    });
}
