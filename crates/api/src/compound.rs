//! Compound documents: runs and workspaces with what comes along with them. What they need beside their records is read
//! at once for all of a page.

use std::collections::HashMap;

use engine::PublicSettings;
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::{ConfigurationVersionId, RunEventId, RunId, StateVersionId, WorkspaceId};
use lifecycle::waiting::{LockFacts, WaitsFor, waits_for};
use store::{ConfigurationVersion, Run, Workspace};
use wire::{Identifier, Included, One, RunAttributes, StateVersionAttributes, WorkspaceAttributes};

use crate::document::{configuration_version, organization, run, stage, state_version, user, workspace};
use crate::jsonapi::{Include, Result};
use crate::org_queue::OrgQueue;
use crate::reader::Reader;

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

/// What comes along with a run, as its names in an `include` begin.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    include: &'a Include,
    prefix: &'a str,
}

impl Wanted<'_> {
    fn has(self, name: &str) -> bool {
        self.include.has(&format!("{}{name}", self.prefix))
    }

    fn reaches(self, name: &str) -> bool {
        self.include.reaches(&format!("{}{name}", self.prefix))
    }
}

/// What runs need beside their records.
#[derive(Default)]
struct BesideRuns {
    queue: OrgQueue,
    /// Of those whose documents list them; the others lead there by links.
    events: HashMap<RunId, Vec<RunEventId>>,
    states: HashMap<RunId, Vec<StateVersionId>>,
    configurations: HashMap<ConfigurationVersionId, ConfigurationVersion>,
    workspaces: BesideWorkspaces,
}

/// What workspaces need beside their records.
#[derive(Default)]
struct BesideWorkspaces {
    current: HashMap<WorkspaceId, Run>,
    settings: HashMap<WorkspaceId, PublicSettings>,
}

impl Reader {
    /// The document of one run, with its journal.
    pub(crate) async fn run_document(
        &self,
        run: &Run,
        workspace: &Workspace,
        include: &Include,
    ) -> Result<One<RunAttributes>> {
        let wanted = Wanted { include, prefix: "" };
        let beside = self.beside_runs(&[(run, workspace)], wanted, true).await?;
        let mut included = Included::default();
        self.include_run(run, workspace, wanted, &beside, &mut included);
        Ok(One::from(self.run_with(run, workspace, &beside)).including(included))
    }

    /// A run by itself, with its journal.
    pub(crate) async fn run_resource(&self, run: &Run, workspace: &Workspace) -> Result<wire::Run> {
        let nothing = Include::default();
        let wanted = Wanted { include: &nothing, prefix: "" };
        let beside = self.beside_runs(&[(run, workspace)], wanted, true).await?;
        Ok(self.run_with(run, workspace, &beside))
    }

    /// A workspace by itself.
    pub(crate) async fn workspace_resource(&self, workspace: &Workspace) -> Result<wire::Workspace> {
        Ok(self.workspace_with(workspace, &self.beside_workspaces(&[workspace]).await?))
    }

    /// A run that comes along with something else, and what comes along with it: names in `include` begin with `prefix`.
    pub(crate) async fn run_along(
        &self,
        run: &Run,
        workspace: &Workspace,
        include: &Include,
        prefix: &str,
        included: &mut Included,
    ) -> Result<()> {
        let wanted = Wanted { include, prefix };
        let beside = self.beside_runs(&[(run, workspace)], wanted, true).await?;
        included.add(&self.run_with(run, workspace, &beside));
        self.include_run(run, workspace, wanted, &beside, included);
        Ok(())
    }

    /// The documents of runs, which lead to their journals by links; those whose workspace is not there are left out.
    pub(crate) async fn run_documents(
        &self,
        runs: &[Run],
        workspaces: &HashMap<WorkspaceId, Workspace>,
        include: &Include,
    ) -> Result<(Vec<wire::Run>, Included)> {
        let runs: Vec<_> =
            runs.iter().filter_map(|run| Some((run, workspaces.get(&run.workspace)?))).collect();
        let wanted = Wanted { include, prefix: "" };
        let beside = self.beside_runs(&runs, wanted, false).await?;
        let mut included = Included::default();
        for (run, workspace) in &runs {
            self.include_run(run, workspace, wanted, &beside, &mut included);
        }
        let resources = runs.iter().map(|(run, workspace)| self.run_with(run, workspace, &beside));
        Ok((resources.collect(), included))
    }

    /// The document of one workspace.
    pub(crate) async fn workspace_document(
        &self,
        workspace: &Workspace,
        include: &Include,
    ) -> Result<One<WorkspaceAttributes>> {
        let beside = self.beside_workspaces(&[workspace]).await?;
        let included = self.include_workspaces(&[workspace], include, &beside).await?;
        Ok(One::from(self.workspace_with(workspace, &beside)).including(included))
    }

    /// The documents of workspaces.
    pub(crate) async fn workspace_documents(
        &self,
        workspaces: &[Workspace],
        include: &Include,
    ) -> Result<(Vec<wire::Workspace>, Included)> {
        let workspaces: Vec<_> = workspaces.iter().collect();
        let beside = self.beside_workspaces(&workspaces).await?;
        let included = self.include_workspaces(&workspaces, include, &beside).await?;
        let resources = workspaces.into_iter().map(|workspace| self.workspace_with(workspace, &beside));
        Ok((resources.collect(), included))
    }

    /// What the run waits for in its queue, in words.
    pub(crate) async fn waits_for_what(&self, run: &Run, workspace: &Workspace) -> Result<Option<String>> {
        let queue = self.queue_of(&[run]).await?;
        Ok(self.run_view(run, workspace, &queue).waits_for.map(|waits| waits.to_string()))
    }

    pub(crate) fn plan_resource(&self, run: &Run) -> wire::Plan {
        stage::plan(run, self.api.log_read_url(run.id, Stage::Plan))
    }

    pub(crate) async fn apply_resource(&self, run: &Run) -> Result<wire::Apply> {
        let states = self.api.store().state_version_ids(&[run.id]).await?;
        Ok(self.apply_with(run, states.get(&run.id).map_or(&[], Vec::as_slice)))
    }

    fn apply_with(&self, run: &Run, states: &[StateVersionId]) -> wire::Apply {
        let states = states.iter().map(|id| Identifier::of::<StateVersionAttributes>(*id)).collect();
        stage::apply(run, states, self.api.log_read_url(run.id, Stage::Apply))
    }

    async fn beside_runs(
        &self,
        runs: &[(&Run, &Workspace)],
        wanted: Wanted<'_>,
        with_events: bool,
    ) -> Result<BesideRuns> {
        let store = self.api.store();
        let all: Vec<_> = runs.iter().map(|(run, _)| *run).collect();
        let ids: Vec<_> = all.iter().map(|run| run.id).collect();
        let mut beside = BesideRuns { queue: self.queue_of(&all).await?, ..BesideRuns::default() };
        if with_events && !ids.is_empty() {
            beside.events = store.journal_ids(&ids).await?;
        }
        if wanted.has("apply") {
            beside.states = store.state_version_ids(&ids).await?;
        }
        if wanted.reaches("configuration_version") {
            let versions: Vec<_> = all.iter().filter_map(|run| run.configuration_version).collect();
            beside.configurations = store.configuration_versions_with(&versions).await?;
        }
        if wanted.has("workspace") {
            let workspaces: Vec<_> = runs.iter().map(|(_, workspace)| *workspace).collect();
            beside.workspaces = self.beside_workspaces(&workspaces).await?;
        }
        Ok(beside)
    }

    async fn beside_workspaces(&self, workspaces: &[&Workspace]) -> Result<BesideWorkspaces> {
        let ids: Vec<_> = workspaces.iter().map(|workspace| workspace.id).collect();
        Ok(BesideWorkspaces {
            current: self.api.store().current_runs(&ids).await?,
            settings: self.api.engine().public_settings(workspaces).await?,
        })
    }

    /// The queue that these runs wait in; it is not read for runs of which none does.
    async fn queue_of(&self, runs: &[&Run]) -> Result<OrgQueue> {
        let any = runs.iter().any(|run| run::waits(run.state));
        if any { self.queue().await } else { Ok(OrgQueue::default()) }
    }

    fn run_with(&self, run: &Run, workspace: &Workspace, beside: &BesideRuns) -> wire::Run {
        let events = beside.events.get(&run.id).map(Vec::as_slice);
        run::resource(run, &run::View { events, ..self.run_view(run, workspace, &beside.queue) })
    }

    fn run_view<'v>(&'v self, run: &Run, workspace: &'v Workspace, queue: &OrgQueue) -> run::View<'v> {
        let waits = run::waits(run.state);
        run::View {
            access: self.user.access(workspace),
            reader: &self.user.name,
            configured: self.user.config.workspaces.get(&workspace.name),
            now: Timestamp::now(),
            policies: self.user.policies(workspace),
            position: if waits { queue.position(run.id) } else { 0 },
            waits_for: if waits { self.waits_for(run, workspace, queue) } else { None },
            events: None,
        }
    }

    fn waits_for<'w>(&self, run: &Run, workspace: &'w Workspace, queue: &OrgQueue) -> Option<WaitsFor<'w>> {
        let lock = workspace.lock.as_ref();
        let lock = lock.map(|lock| LockFacts { by: &lock.by, since: lock.at, reason: &lock.reason });
        let slots = self.api.engine().slots_beside(run.id);
        waits_for(queue.of_workspace(run.workspace), run.id, lock, slots, self.api.engine().low_space())
    }

    fn include_run(
        &self,
        run: &Run,
        workspace: &Workspace,
        wanted: Wanted<'_>,
        beside: &BesideRuns,
        included: &mut Included,
    ) {
        if wanted.has("plan") {
            included.add(&self.plan_resource(run));
        }
        if wanted.has("apply") {
            included.add(&self.apply_with(run, beside.states.get(&run.id).map_or(&[], Vec::as_slice)));
        }
        if wanted.has("created_by") {
            included.add(&user::resource(&run.created_by));
        }
        let configuration = run.configuration_version.and_then(|id| beside.configurations.get(&id));
        if let Some(version) = configuration {
            let with_commit = wanted.has("configuration_version.ingress_attributes");
            include_configuration_version(version, with_commit, included);
        }
        if wanted.has("workspace") {
            included.add(&self.workspace_with(workspace, &beside.workspaces));
        }
    }

    fn workspace_with(&self, workspace: &Workspace, beside: &BesideWorkspaces) -> wire::Workspace {
        let view = workspace::View {
            organization: &self.user.config.organization,
            access: self.user.access(workspace),
            settings: beside.settings.get(&workspace.id),
            current_run: beside.current.get(&workspace.id),
        };
        workspace::resource(workspace, &view)
    }

    async fn include_workspaces(
        &self,
        workspaces: &[&Workspace],
        include: &Include,
        beside: &BesideWorkspaces,
    ) -> Result<Included> {
        let mut included = Included::default();
        let store = self.api.store();
        let current = |workspace: &Workspace| beside.current.get(&workspace.id);
        let locker = |workspace: &Workspace| {
            let held = workspace::holder(current(workspace)).is_some() && workspace.lock.is_none();
            include.has("locked_by") && held
        };
        let told = |workspace: &Workspace| include.reaches("current_run") || locker(workspace);
        let runs: Vec<_> = workspaces
            .iter()
            .copied()
            .filter_map(|workspace| Some((current(workspace).filter(|_| told(workspace))?, workspace)))
            .collect();
        let of_runs = Wanted { include, prefix: "current_run." };
        let beside_runs = self.beside_runs(&runs, of_runs, true).await?;
        let configurations = if include.reaches("current_configuration_version") {
            let versions: Vec<_> =
                workspaces.iter().filter_map(|workspace| current(workspace)?.configuration_version).collect();
            store.configuration_versions_with(&versions).await?
        } else {
            HashMap::new()
        };
        let states = if include.has("current_state_version") || include.has("outputs") {
            let states: Vec<_> =
                workspaces.iter().filter_map(|workspace| workspace.current_state_version).collect();
            store.state_versions_with(&states).await?
        } else {
            HashMap::new()
        };
        for workspace in workspaces {
            if include.has("organization") {
                included.add(&organization::resource(&self.user.config.organization));
            }
            if let (true, Some(lock)) = (include.has("locked_by"), &workspace.lock) {
                included.add(&user::resource(&lock.by));
            }
            let run = current(workspace);
            if let Some(run) = run.filter(|_| told(workspace)) {
                included.add(&self.run_with(run, workspace, &beside_runs));
                self.include_run(run, workspace, of_runs, &beside_runs, &mut included);
            }
            let version = run.and_then(|run| configurations.get(&run.configuration_version?));
            if let Some(version) = version {
                let with_commit = include.has("current_configuration_version.ingress_attributes");
                include_configuration_version(version, with_commit, &mut included);
            }
            if let Some(state) = workspace.current_state_version.and_then(|id| states.get(&id)) {
                if include.has("outputs") {
                    for output in &self.outputs(state).await? {
                        included.add(&state_version::listed_output(state.id, output));
                    }
                }
                if include.has("current_state_version") {
                    let names = self.output_names(state).await?;
                    included.add(&self.state_version_resource(state, Some(&names)));
                }
            }
        }
        Ok(included)
    }
}

fn include_configuration_version(version: &ConfigurationVersion, with_commit: bool, included: &mut Included) {
    if with_commit {
        configuration_version::ingress_attributes(version).iter().for_each(|it| included.add(it));
    }
    included.add(&configuration_version::resource(version));
}
