//! Reading what a document needs beside its record.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, Id, Kind, RunEventId, StateVersionId, WorkspaceId};
use lifecycle::waiting::{LockFacts, WaitsFor, waits_for};
use store::{ConfigurationVersion, JournalEntry, Run, StateVersion, Workspace};

use crate::ApiState;
use crate::document::{configuration_version, organization, run, stage, state_version, user, workspace};
use crate::ground::{Identifier, Include, Included, Resource, Result, User};
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

impl Reader<'_> {
    /// The run and its workspace, if the user may see it.
    pub(crate) async fn run(&self, id: RunId) -> Result<(Run, Workspace)> {
        Ok(self.api.engine().run_for(&self.user.name, id, Action::Read).await?)
    }

    /// The workspace, if the user may see it.
    pub(crate) async fn workspace(&self, id: WorkspaceId) -> Result<Workspace> {
        Ok(self.api.engine().workspace_for(&self.user.name, id, Action::Read).await?)
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

    /// The document of one run, with its journal.
    pub(crate) async fn run_resource(&self, run: &Run, workspace: &Workspace) -> Result<Resource> {
        let events: Vec<_> = self.api.store().journal(run.id).await?.iter().map(|entry| entry.id).collect();
        let queue = if run::waits(run.state) { self.queue().await?.0 } else { OrgQueue::default() };
        let view = self.run_view(run, workspace, &queue);
        Ok(run::resource(run, &run::View { events: Some(&events), ..view }))
    }

    /// The documents of a page of runs, which lead to their journals by links.
    pub(crate) async fn run_resources(
        &self,
        runs: &[Run],
        workspaces: &HashMap<WorkspaceId, Workspace>,
    ) -> Result<Vec<Resource>> {
        let waiting = runs.iter().any(|run| run::waits(run.state));
        let queue = if waiting { self.queue().await?.0 } else { OrgQueue::default() };
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

    pub(crate) fn plan_resource(&self, run: &Run) -> Resource {
        stage::plan(run, self.api.log_read_url(run.id, Stage::Plan))
    }

    pub(crate) async fn apply_resource(&self, run: &Run) -> Result<Resource> {
        let states = self.api.store().state_versions_of_run(run.id).await?;
        let states = states.iter().map(|state| Identifier::new("state-versions", state.id)).collect();
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
            included.add(self.plan_resource(run));
        }
        if include.has(&name("apply")) {
            included.add(self.apply_resource(run).await?);
        }
        if include.has(&name("created_by")) {
            included.add(user::resource(&run.created_by));
        }
        if include.reaches(&name("configuration_version"))
            && let Some(id) = run.configuration_version
        {
            let version = self.api.store().configuration_version(id).await?;
            if include.has(&name("configuration_version.ingress_attributes")) {
                configuration_version::ingress_attributes(&version)
                    .into_iter()
                    .for_each(|it| included.add(it));
            }
            included.add(configuration_version::resource(&version));
        }
        if include.has(&name("workspace")) {
            let current = self.api.store().current_run(workspace.id).await?;
            included.add(self.workspace_resource(workspace, current.as_ref()));
        }
        Ok(())
    }

    pub(crate) fn workspace_resource(&self, workspace: &Workspace, current_run: Option<&Run>) -> Resource {
        workspace::resource(workspace, &self.workspace_view(workspace, current_run))
    }

    fn workspace_view<'v>(
        &'v self,
        workspace: &Workspace,
        current_run: Option<&'v Run>,
    ) -> workspace::View<'v> {
        let config = &self.user.config;
        workspace::View {
            organization: &config.organization,
            access: self.user.access(workspace),
            // the settings of one that was removed and came back under its name are its own again
            settings: config.workspaces.get(&workspace.name),
            current_run,
        }
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
            included.add(organization::resource(&self.user.config.organization));
        }
    /// What the run waits for in its queue, in words.
    pub(crate) async fn waits_for_what(&self, run: &Run, workspace: &Workspace) -> Result<Option<String>> {
        if !run::waits(run.state) {
            return Ok(None);
        }
        let queue = self.queue().await?.0;
        Ok(self.waits_for(run, workspace, &queue).map(|waits| waits.to_string()))
    }

    fn waits_for<'w>(&self, run: &Run, workspace: &'w Workspace, queue: &OrgQueue) -> Option<WaitsFor<'w>> {
        let lock = workspace.lock.as_ref();
        let lock = lock.map(|lock| LockFacts { by: &lock.by, since: lock.at, reason: &lock.reason });
        let slots = self.api.engine().slots_beside(run.id);
        waits_for(queue.of_workspace(run.workspace), run.id, lock, slots)
    }

        let held = self.workspace_view(workspace, current_run).holder().is_some();
        let locked_by = include.has("locked_by");
        if let (true, Some(lock)) = (locked_by, &workspace.lock) {
            included.add(user::resource(&lock.by));
        }
        if let Some(run) = current_run {
            let is_locker = locked_by && held && workspace.lock.is_none();
            if include.reaches("current_run") || is_locker {
                included.add(self.run_resource(run, workspace).await?);
                self.include_run(run, workspace, include, "current_run.", included).await?;
            }
            if include.reaches("current_configuration_version")
                && let Some(id) = run.configuration_version
            {
                let version = self.api.store().configuration_version(id).await?;
                if include.has("current_configuration_version.ingress_attributes") {
                    configuration_version::ingress_attributes(&version)
                        .into_iter()
                        .for_each(|it| included.add(it));
                }
                included.add(configuration_version::resource(&version));
            }
        }
        if (include.has("current_state_version") || include.has("outputs"))
            && let Some(state) = self.api.store().current_state(workspace.id).await?
        {
            let outputs = super::states::outputs(self.api, &state).await?;
            if include.has("outputs") {
                outputs
                    .iter()
                    .for_each(|output| included.add(state_version::listed_output(state.id, output)));
            }
            if include.has("current_state_version") {
                included.add(super::states::resource(self.api, &state, Some(&outputs)));
            }
        }
        Ok(())
    }
}
