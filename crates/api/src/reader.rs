//! Reading what a document needs beside its record.

use std::collections::{HashMap, HashSet};

use engine::Refusal;
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, Id, Kind, RunEventId, StateVersionId, WorkspaceId};
use lifecycle::waiting::{LockFacts, WaitsFor, waits_for};
use store::{ConfigurationVersion, JournalEntry, Run, StateOutput, StateVersion, Workspace, state_outputs};
use wire::{Identifier, Included, StateVersionAttributes};

use crate::ApiState;
use crate::content;
use crate::document::{configuration_version, organization, run, stage, state_version, user, workspace};
use crate::jsonapi::{ApiError, Include, Result, User};
use crate::org_queue::OrgQueue;

/// What may come along with a run. Those that belong to features that are off bring nothing.
pub(crate) const RUN_INCLUDES: [&str; 8] = [
    "plan",
    "apply",
    "created_by",
    "configuration_version",
    "configuration_version.ingress_attributes",
    "workspace",
    "cost_estimate",
    "task_stages",
];

/// One user's view of what is in the store: the one place where things are looked up by what a request names.
///
/// Everything lies in a workspace, and is there for who may read that workspace. What is not there is called as it
/// was asked for.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) api: ApiState,
    pub(crate) user: User,
}

impl Reader {
    /// The run and its workspace. A plan, an apply and a policy check are parts of their run, and name it.
    pub(crate) async fn run<K: Kind>(&self, id: Id<K>) -> Result<(Run, Workspace)> {
        self.run_for(id, Action::Read).await
    }

    /// The same, if the user may do this.
    pub(crate) async fn run_for<K: Kind>(&self, id: Id<K>, action: Action) -> Result<(Run, Workspace)> {
        let found = self.api.engine().run_for(&self.user.name, id.sibling(), action).await;
        found.map_err(|refusal| match refusal {
            Refusal::NotFound { .. } => ApiError::not_found(id.described()),
            other => other.into(),
        })
    }

    /// The workspace, if the user may do this in it.
    pub(crate) async fn workspace_for(&self, id: WorkspaceId, action: Action) -> Result<Workspace> {
        Ok(self.api.engine().workspace_for(&self.user.name, id, action).await?)
    }

    /// The workspace of this name, if the user may do this in it.
    pub(crate) async fn workspace_by_name_for(&self, name: &str, action: Action) -> Result<Workspace> {
        let not_found = || ApiError::not_found(format_args!("workspace {name:.64}"));
        let workspace = self.api.store().workspace_by_name(name).await?.ok_or_else(not_found)?;
        self.allowed(workspace, action, not_found).await
    }

    /// The state version and its workspace. `described` is how the request named it.
    pub(crate) async fn state_version(
        &self,
        id: StateVersionId,
        described: impl Fn() -> String,
        action: Action,
    ) -> Result<(StateVersion, Workspace)> {
        let not_found = || ApiError::not_found(described());
        let version = present(self.api.store().state_version(id).await, not_found)?;
        let workspace = self.within(version.workspace, action, not_found).await?;
        Ok((version, workspace))
    }

    /// The configuration version.
    pub(crate) async fn configuration_version(
        &self,
        id: ConfigurationVersionId,
        action: Action,
    ) -> Result<ConfigurationVersion> {
        let not_found = || ApiError::not_found(id.described());
        let version = present(self.api.store().configuration_version(id).await, not_found)?;
        self.within(version.workspace, action, not_found).await?;
        Ok(version)
    }

    /// The entry of a run's journal.
    pub(crate) async fn run_event(&self, id: RunEventId, action: Action) -> Result<JournalEntry> {
        let not_found = || ApiError::not_found(id.described());
        let entry = present(self.api.store().journal_entry(id).await, not_found)?;
        let run = present(self.api.store().run(entry.run).await, not_found)?;
        self.within(run.workspace, action, not_found).await?;
        Ok(entry)
    }

    /// The workspace that a record lies in, if the user may do this there.
    async fn within(
        &self,
        workspace: WorkspaceId,
        action: Action,
        not_found: impl Fn() -> ApiError,
    ) -> Result<Workspace> {
        let workspace = present(self.api.store().workspace(workspace).await, &not_found)?;
        self.allowed(workspace, action, not_found).await
    }

    /// Whoever may see the workspace is told that it takes more; for everybody else there is nothing.
    async fn allowed(
        &self,
        workspace: Workspace,
        action: Action,
        not_found: impl Fn() -> ApiError,
    ) -> Result<Workspace> {
        let access = self.user.access(&workspace);
        if access.allows(action) {
            Ok(workspace)
        } else if access.allows(Action::Read) {
            self.workspace_for(workspace.id, action).await
        } else {
            Err(not_found())
        }
    }

    /// The workspaces that the user may see, also those that were taken out of the config file.
    pub(crate) async fn visible(&self) -> Result<HashMap<WorkspaceId, Workspace>> {
        let workspaces = self.api.store().workspaces().await?;
        let seen =
            workspaces.into_iter().filter(|workspace| self.user.access(workspace).allows(Action::Read));
        Ok(seen.map(|workspace| (workspace.id, workspace)).collect())
    }

    /// The organization's queue, over all workspaces: a position tells of no run that one may not see.
    pub(crate) async fn queue(&self) -> Result<(OrgQueue, Vec<Run>)> {
        let runs = self.api.store().non_final_runs().await?;
        let workspaces = self.api.store().workspaces().await?;
        let locked: HashSet<_> = workspaces.iter().filter(|w| w.lock.is_some()).map(|w| w.id).collect();
        Ok((OrgQueue::of(&runs, &locked), runs))
    }

    /// The queue that these runs wait in; it is not read for runs of which none does.
    async fn queue_of(&self, runs: &[Run]) -> Result<OrgQueue> {
        let any = runs.iter().any(|run| run::waits(run.state));
        Ok(if any { self.queue().await?.0 } else { OrgQueue::default() })
    }

    /// The outputs in the state's file.
    pub(crate) async fn outputs(&self, version: &StateVersion) -> Result<Vec<StateOutput>> {
        let bytes = self.api.store().blobs().read(version.digest).await?;
        content::parsed(move || state_outputs(&bytes)).await
    }

    pub(crate) fn state_version_resource(
        &self,
        version: &StateVersion,
        outputs: Option<&[StateOutput]>,
    ) -> wire::StateVersion {
        // clients send their token there
        let download_url = self.api.url(&format!("/api/v2/state-versions/{}/download", version.id));
        state_version::resource(version, outputs, &download_url)
    }

    /// The document of one run, with its journal.
    pub(crate) async fn run_resource(&self, run: &Run, workspace: &Workspace) -> Result<wire::Run> {
        let events: Vec<_> = self.api.store().journal(run.id).await?.iter().map(|entry| entry.id).collect();
        let queue = self.queue_of(std::slice::from_ref(run)).await?;
        let view = self.run_view(run, workspace, &queue);
        Ok(run::resource(run, &run::View { events: Some(&events), ..view }))
    }

    /// The documents of a page of runs, which lead to their journals by links.
    pub(crate) async fn run_resources(
        &self,
        runs: &[Run],
        workspaces: &HashMap<WorkspaceId, Workspace>,
    ) -> Result<Vec<wire::Run>> {
        let queue = self.queue_of(runs).await?;
        let resource = |run: &Run| {
            let workspace = workspaces.get(&run.workspace)?;
            Some(run::resource(run, &self.run_view(run, workspace, &queue)))
        };
        Ok(runs.iter().filter_map(resource).collect())
    }

    fn run_view<'v>(&'v self, run: &Run, workspace: &'v Workspace, queue: &OrgQueue) -> run::View<'v> {
        let waits = run::waits(run.state);
        run::View {
            access: self.user.access(workspace),
            reader: &self.user.name,
            now: Timestamp::now(),
            policies: self.user.policies(workspace),
            position: if waits { queue.position(run.id) } else { 0 },
            waits_for: if waits { self.waits_for(run, workspace, queue) } else { None },
            events: None,
        }
    }

    /// What the run waits for in its queue, in words.
    pub(crate) async fn waits_for_what(&self, run: &Run, workspace: &Workspace) -> Result<Option<String>> {
        let queue = self.queue_of(std::slice::from_ref(run)).await?;
        Ok(self.run_view(run, workspace, &queue).waits_for.map(|waits| waits.to_string()))
    }

    fn waits_for<'w>(&self, run: &Run, workspace: &'w Workspace, queue: &OrgQueue) -> Option<WaitsFor<'w>> {
        let lock = workspace.lock.as_ref();
        let lock = lock.map(|lock| LockFacts { by: &lock.by, since: lock.at, reason: &lock.reason });
        let slots = self.api.engine().slots_beside(run.id);
        waits_for(queue.of_workspace(run.workspace), run.id, lock, slots)
    }

    pub(crate) fn plan_resource(&self, run: &Run) -> wire::Plan {
        stage::plan(run, self.api.log_read_url(run.id, Stage::Plan))
    }

    pub(crate) async fn apply_resource(&self, run: &Run) -> Result<wire::Apply> {
        let states = self.api.store().state_versions_of_run(run.id).await?;
        let states = states.iter().map(|state| Identifier::of::<StateVersionAttributes>(state.id)).collect();
        Ok(stage::apply(run, states, self.api.log_read_url(run.id, Stage::Apply)))
    }

    /// What is to come along with a run; its names in `include` have this before them.
    pub(crate) async fn include_run(
        &self,
        run: &Run,
        workspace: &Workspace,
        include: &Include,
        prefix: &str,
        included: &mut Included,
    ) -> Result<()> {
        let name = |name: &str| format!("{prefix}{name}");
        if include.has(&name("plan")) {
            included.add(&self.plan_resource(run));
        }
        if include.has(&name("apply")) {
            included.add(&self.apply_resource(run).await?);
        }
        if include.has(&name("created_by")) {
            included.add(&user::resource(&run.created_by));
        }
        if include.reaches(&name("configuration_version"))
            && let Some(id) = run.configuration_version
        {
            let version = self.api.store().configuration_version(id).await?;
            if include.has(&name("configuration_version.ingress_attributes")) {
                configuration_version::ingress_attributes(&version).iter().for_each(|it| included.add(it));
            }
            included.add(&configuration_version::resource(&version));
        }
        if include.has(&name("workspace")) {
            let current = self.api.store().current_run(workspace.id).await?;
            included.add(&self.workspace_resource(workspace, current.as_ref()));
        }
        Ok(())
    }

    pub(crate) fn workspace_resource(
        &self,
        workspace: &Workspace,
        current_run: Option<&Run>,
    ) -> wire::Workspace {
        let config = &self.user.config;
        // the settings of one that was removed and came back under its name are its own again
        let settings = config.workspaces.get(&workspace.name);
        let version = match settings {
            Some(settings) => self.api.engine().terraform_version(settings),
            None => Err("the workspace was removed from the config file".to_owned()),
        };
        let view = workspace::View {
            organization: &config.organization,
            access: self.user.access(workspace),
            settings,
            terraform_version: version.as_deref().map_err(String::as_str),
            current_run,
        };
        workspace::resource(workspace, &view)
    }

    /// What is to come along with a workspace.
    pub(crate) async fn include_workspace(
        &self,
        workspace: &Workspace,
        current_run: Option<&Run>,
        include: &Include,
        included: &mut Included,
    ) -> Result<()> {
        if include.has("organization") {
            included.add(&organization::resource(&self.user.config.organization));
        }
        let held = workspace::holder(current_run).is_some();
        let locked_by = include.has("locked_by");
        if let (true, Some(lock)) = (locked_by, &workspace.lock) {
            included.add(&user::resource(&lock.by));
        }
        if let Some(run) = current_run {
            let is_locker = locked_by && held && workspace.lock.is_none();
            if include.reaches("current_run") || is_locker {
                included.add(&self.run_resource(run, workspace).await?);
                self.include_run(run, workspace, include, "current_run.", included).await?;
            }
            if include.reaches("current_configuration_version")
                && let Some(id) = run.configuration_version
            {
                let version = self.api.store().configuration_version(id).await?;
                if include.has("current_configuration_version.ingress_attributes") {
                    configuration_version::ingress_attributes(&version)
                        .iter()
                        .for_each(|it| included.add(it));
                }
                included.add(&configuration_version::resource(&version));
            }
        }
        if (include.has("current_state_version") || include.has("outputs"))
            && let Some(state) = self.api.store().current_state(workspace.id).await?
        {
            let outputs = self.outputs(&state).await?;
            if include.has("outputs") {
                outputs
                    .iter()
                    .for_each(|output| included.add(&state_version::listed_output(state.id, output)));
            }
            if include.has("current_state_version") {
                included.add(&self.state_version_resource(&state, Some(&outputs)));
            }
        }
        Ok(())
    }
}

/// What is absent is called as it was asked for.
fn present<T>(record: std::result::Result<T, store::Error>, not_found: impl Fn() -> ApiError) -> Result<T> {
    record.map_err(|error| match error {
        store::Error::NotFound(_) => not_found(),
        other => other.into(),
    })
}
