//! The settings of a workspace, wherever they live, and those that a run took from it when it was queued.
//!
//! What a run is made with is what its workspace was when somebody asked for the run, whatever changes until its turn
//! comes. It lies in the run's directory and not in the database, since it holds secrets, which must not outlive the run:
//! a file is gone when it is removed, and a database has its log.

use std::collections::HashMap;
use std::fs::File;

use config::{Config, WorkspaceConfig};
use lifecycle::id::WorkspaceId;
use store::{Blobs, Origin, Run, Settings, Source, Workspace};

use crate::RunDir;
use crate::context::Context;
use crate::run_files::{StageError, read_sealed, write_sealed};

/// What of a workspace's settings everybody sees who may read the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicSettings {
    /// A line for people.
    pub description: Option<String>,
    /// See [`Settings::source`]. The URL of a repository may have credentials in it.
    pub source: Option<Source>,
    /// See [`Settings::working_directory`].
    pub working_directory: String,
    /// See [`Settings::auto_apply`].
    pub auto_apply: bool,
    /// The version of the terraform that runs use, or why that is not known.
    pub terraform_version: Result<String, String>,
}

impl Context {
    /// What everybody sees of the settings of these workspaces as they are now; one that was removed has none.
    pub(crate) async fn public_settings(
        &self,
        workspaces: &[&Workspace],
    ) -> Result<HashMap<WorkspaceId, PublicSettings>, store::Error> {
        let config = self.config();
        let (of_config_file, others): (Vec<&Workspace>, Vec<&Workspace>) =
            workspaces.iter().copied().partition(|workspace| workspace.origin == Origin::ConfigFile);
        let others: Vec<_> = others.into_iter().map(|workspace| workspace.id).collect();
        let others =
            if others.is_empty() { HashMap::new() } else { self.store.settings_with(&others).await? };
        let public = |settings: Settings| PublicSettings {
            terraform_version: self.terraform.known(&settings.terraform, &self.host),
            description: settings.description,
            source: settings.source,
            working_directory: settings.working_directory,
            auto_apply: settings.auto_apply,
        };
        let mut found: HashMap<_, _> =
            others.into_iter().map(|(workspace, settings)| (workspace, public(settings))).collect();
        found.extend(of_config_file.into_iter().filter_map(|workspace| {
            let here = config.workspaces.get(&workspace.name)?;
            Some((workspace.id, public(without_values(&config, here))))
        }));
        Ok(found)
    }

    /// The settings of the workspace as they are now; `None` for one that was removed.
    pub(crate) async fn settings(&self, workspace: &Workspace) -> Result<Option<Settings>, store::Error> {
        match workspace.origin {
            Origin::ConfigFile => Ok(of_file(&self.config(), &workspace.name)),
            Origin::Api => self.store.workspace_settings(workspace.id).await,
        }
    }
}

/// Writes down what a run is made with. [`make_durable`] has to follow.
pub(crate) async fn write(blobs: &Blobs, run_dir: RunDir, settings: Settings) -> Result<(), store::Error> {
    let blobs = blobs.clone();
    blocking(move || {
        let path = run_dir.settings();
        write_sealed(&blobs, &path, &settings).map_err(|error| store::Error::file(path, &error))
    })
    .await
}

/// Has the disk keep what [`write`] wrote.
pub(crate) async fn make_durable(run_dir: RunDir) -> Result<(), store::Error> {
    blocking(move || {
        let path = run_dir.settings();
        let paths = [Some(path.as_path()), Some(run_dir.root()), run_dir.root().parent()];
        let open = paths.into_iter().flatten().map(File::open).collect::<Result<Vec<_>, _>>();
        let synced = open.and_then(|files| executor::sync_together(&files));
        synced.map_err(|error| store::Error::file(path, &error))
    })
    .await
}

/// Takes back what [`write`] wrote for a run that is not recorded after all.
pub(crate) async fn discard(run_dir: RunDir) {
    let removed = blocking(move || std::fs::remove_dir_all(run_dir.root())).await;
    if let Err(error) = removed {
        tracing::warn!(%error, "the settings of a run that was not queued can't be removed");
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => match broken.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // the runtime is shutting down, and nobody will poll this again
            Err(_) => std::future::pending().await,
        },
    }
}

/// What the run is made with; `None` when it is over, and if what ran there has removed it.
pub(crate) fn of_run(blobs: &Blobs, run_dir: &RunDir) -> Result<Option<Settings>, StageError> {
    read_sealed(blobs, &run_dir.settings())
}

impl Context {
    /// What the run is made with, or else the settings of its workspace now.
    pub(crate) async fn settings_of_run(&self, run: &Run) -> Result<Option<Settings>, store::Error> {
        // damaged or gone: the workspace's are the best that is left
        if let Ok(Some(settings)) = of_run(self.store.blobs(), &RunDir::new(&self.data_dir, run.id)) {
            return Ok(Some(settings));
        }
        let workspace = self.store.workspace(run.workspace).await?;
        self.settings(&workspace).await
    }
}

/// What the config file says of its workspace.
fn of_file(config: &Config, name: &str) -> Option<Settings> {
    let workspace = config.workspaces.get(name)?;
    let WorkspaceConfig {
        name: _,
        description: _,
        source: _,
        working_directory: _,
        terraform: _,
        auto_apply: _,
        variables,
        sensitive_variables,
        environment,
        sensitive_environment,
        access: _,
        retention: _,
        defined_at: _,
    } = workspace;
    let exposed = sensitive_variables.iter().map(|(name, value)| (name.clone(), value.expose().clone()));
    let exposed_environment =
        sensitive_environment.iter().map(|(name, value)| (name.clone(), value.expose().clone()));
    Some(Settings {
        variables: variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        sensitive_variables: exposed.collect(),
        environment: environment.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        sensitive_environment: exposed_environment.collect(),
        ..without_values(config, workspace)
    })
}

/// The same without variables and environment, which lists need not copy.
fn without_values(config: &Config, workspace: &WorkspaceConfig) -> Settings {
    Settings {
        description: workspace.description.clone(),
        source: Some(match &workspace.source {
            config::Source::Directory { path } => Source::Directory { path: path.clone() },
            config::Source::Git(git) => {
                Source::Git { url: git.url.clone(), reference: git.reference.clone() }
            }
        }),
        working_directory: workspace.working_directory.clone(),
        terraform: config.terraform(workspace).to_owned(),
        auto_apply: workspace.auto_apply,
        ..Settings::default()
    }
}
