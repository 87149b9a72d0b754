//! Workspaces.

use engine::PublicSettings;
use lifecycle::access::{Action, WorkspaceRights};
use lifecycle::id::RunId;
use source::without_credentials;
use store::{Run, Source, StateKeeper, Workspace};
use wire::{
    ConfigurationVersionAttributes, Identifier, OrganizationAttributes, Relationship, RunAttributes,
    SettingOverwrites, StateVersionAttributes, WorkspaceActions, WorkspaceAttributes, WorkspaceExtension,
    WorkspacePermissions, WorkspaceRelationships, WorkspaceSource,
};

use super::user;

/// What a workspace's document shows beside its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) organization: &'a str,
    pub(crate) access: WorkspaceRights,
    /// `None` for one that was taken out of the config file.
    pub(crate) settings: Option<&'a PublicSettings>,
    /// The run that it shows.
    pub(crate) current_run: Option<&'a Run>,
}

/// The run that holds the workspace, if it is the one that it shows: it counts as locked by that run.
pub(crate) fn holder(current_run: Option<&Run>) -> Option<RunId> {
    current_run.filter(|run| lifecycle::queue::holder(&[run.entry()]).is_some()).map(|run| run.id)
}

/// Settings live in the config file, so nobody changes them here.
fn permissions(access: WorkspaceRights) -> WorkspacePermissions {
    let may = |action| access.allows(action);
    WorkspacePermissions {
        can_queue_run: may(Action::QueueRun),
        can_queue_apply: may(Action::Apply),
        can_queue_destroy: may(Action::Apply),
        can_read_run: may(Action::Read),
        can_read_state_versions: may(Action::Read),
        can_read_state_outputs: may(Action::Read),
        can_create_state_versions: may(Action::WriteState),
        can_lock: may(Action::Lock),
        can_unlock: may(Action::Lock),
        can_force_unlock: may(Action::ForceUnlock),
        can_read_settings: may(Action::Read),
        ..WorkspacePermissions::default()
    }
}

/// The document of a workspace.
pub(crate) fn resource(workspace: &Workspace, view: &View) -> wire::Workspace {
    let path = format!("/api/v2/workspaces/{}", workspace.id);
    let current_run = view.current_run.map(|run| Identifier::of::<RunAttributes>(run.id));
    let state = workspace.current_state_version.map(Identifier::of::<StateVersionAttributes>);
    let configuration = view.current_run.and_then(|run| run.configuration_version);
    let configuration = configuration.map(Identifier::of::<ConfigurationVersionAttributes>);
    let relationships = WorkspaceRelationships {
        organization: Relationship::one::<OrganizationAttributes>(view.organization),
        current_run: Relationship::optional(current_run),
        current_state_version: Relationship::optional(state)
            .and_related(format!("{path}/current-state-version")),
        current_configuration_version: Relationship::optional(configuration),
        locked_by: Relationship::optional(locked_by(workspace, view)),
        outputs: Relationship::related(format!("{path}/current-state-version-outputs")),
        project: Relationship::none(),
        agent_pool: Relationship::none(),
        ssh_key: Relationship::none(),
        readme: Relationship::none(),
    };
    let by_name = format!("/api/v2/organizations/{}/workspaces/{}", view.organization, workspace.name);
    wire::Workspace::new(workspace.id, attributes(workspace, view))
        .related(relationships)
        .link("self", path)
        .link("self-by-name", by_name)
}

fn locked_by(workspace: &Workspace, view: &View) -> Option<Identifier> {
    let by_user = workspace.lock.as_ref().map(|lock| user::identifier(&lock.by));
    by_user.or_else(|| holder(view.current_run).map(Identifier::of::<RunAttributes>))
}

fn attributes(workspace: &Workspace, view: &View) -> WorkspaceAttributes {
    let settings = view.settings;
    let version = settings.map_or(Err("the workspace was removed from the config file"), |settings| {
        settings.terraform_version.as_deref().map_err(String::as_str)
    });
    let lock = workspace.lock.as_ref();
    let latest_change =
        view.current_run.map_or(workspace.updated_at, |run| run.state_changed_at.max(workspace.updated_at));
    WorkspaceAttributes {
        name: workspace.name.clone(),
        description: settings.and_then(|settings| settings.description.clone()),
        environment: "default".into(),
        execution_mode: "remote".into(),
        operations: true,
        auto_apply: settings.is_some_and(|settings| settings.auto_apply),
        auto_apply_run_trigger: false,
        allow_destroy_plan: true,
        assessments_enabled: false,
        auto_destroy_at: None,
        file_triggers_enabled: false,
        global_remote_state: false,
        locked: lock.is_some() || holder(view.current_run).is_some(),
        locked_reason: lock.map(|lock| lock.reason.clone()).unwrap_or_default(),
        queue_all_runs: true,
        speculative_enabled: true,
        structured_run_output_enabled: false,
        // with `latest` no client compares its own version with it
        terraform_version: version.unwrap_or("latest").to_owned(),
        trigger_prefixes: vec![],
        trigger_patterns: vec![],
        tag_names: vec![],
        // the daemon has no connection to a host of repositories, and with one clients refuse to apply
        vcs_repo: None,
        vcs_repo_identifier: None,
        working_directory: settings.map(|settings| settings.working_directory.clone()).unwrap_or_default(),
        source: "tfe-api".into(),
        source_name: None,
        source_url: None,
        setting_overwrites: SettingOverwrites { execution_mode: true, agent_pool: true },
        created_at: workspace.created_at,
        updated_at: workspace.updated_at,
        latest_change_at: latest_change,
        actions: WorkspaceActions { is_destroyable: false },
        permissions: permissions(view.access),
        signalbox: WorkspaceExtension {
            state_kept_by: workspace.state_keeper.as_ref().map(kept_by),
            source: settings.and_then(|settings| settings.source.as_ref()).map(source),
            terraform_version_unknown: version.err().map(str::to_owned),
            locked_at: lock.map(|lock| lock.at),
            removed_at: workspace.removed_at,
        },
    }
}

/// Where the configuration comes from, without what others must not see.
fn source(source: &Source) -> WorkspaceSource {
    match source {
        Source::Git { url, reference } => {
            WorkspaceSource::Git { url: without_credentials(url), r#ref: reference.clone() }
        }
        Source::Directory { path } => WorkspaceSource::Directory { path: path.display().to_string() },
    }
}

fn kept_by(keeper: &StateKeeper) -> String {
    match keeper {
        StateKeeper::Daemon => "signalbox".to_owned(),
        StateKeeper::Backend(kind) => kind.clone(),
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::State;
    use serde_json::json;
    use store::Lock;

    use super::super::fixture;
    use super::*;

    fn settings(terraform_version: Result<String, String>) -> PublicSettings {
        PublicSettings {
            description: None,
            source: None,
            working_directory: String::new(),
            auto_apply: false,
            terraform_version,
        }
    }

    fn document(workspace: &Workspace, run: Option<&Run>) -> wire::Workspace {
        let settings = settings(Ok("1.11.4".into()));
        let access = WorkspaceRights::WRITE;
        resource(
            workspace,
            &View { organization: "acme", access, settings: Some(&settings), current_run: run },
        )
    }

    #[test]
    fn the_document_of_a_workspace_that_a_run_holds() {
        let run = fixture::planned_run();
        fixture::snapshot("workspace_held", &document(&fixture::workspace(), Some(&run)));
    }

    #[test]
    fn a_workspace_is_locked_by_its_user_or_else_by_the_run_that_holds_it() {
        let locked = |lock: bool, state: Option<State>| {
            let mut workspace = fixture::workspace();
            workspace.lock =
                lock.then(|| Lock { by: "owner".into(), reason: "moving".into(), at: fixture::at(0) });
            let run = state.map(|state| fixture::run_in(state, None));
            let document = serde_json::to_value(document(&workspace, run.as_ref())).unwrap();
            let by = document["relationships"]["locked-by"]["data"]["type"].as_str().map(str::to_owned);
            (document["attributes"]["locked"].as_bool().unwrap(), by)
        };
        assert_eq!(locked(false, None), (false, None));
        assert_eq!(locked(false, Some(State::NeedsConfirmation)), (true, Some("runs".into())));
        assert_eq!(locked(false, Some(State::Applied)), (false, None));
        assert_eq!(locked(false, Some(State::Pending)), (false, None));
        assert_eq!(locked(true, Some(State::Pending)), (true, Some("users".into())));
    }

    #[test]
    fn a_source_is_shown_without_credentials() {
        let url = "https://user:pw@git.example/infra.git".into();
        let git = Source::Git { url, reference: "main".into() };
        let shown = json!({ "kind": "git", "url": "https://git.example/infra.git", "ref": "main" });
        assert_eq!(serde_json::to_value(source(&git)).unwrap(), shown);
    }

    #[test]
    fn clients_compare_no_version_with_one_that_is_not_known() {
        let version = |terraform_version| {
            let settings = settings(terraform_version);
            let view = View {
                organization: "acme",
                access: WorkspaceRights::READ,
                settings: Some(&settings),
                current_run: None,
            };
            let attributes = attributes(&fixture::workspace(), &view);
            (attributes.terraform_version, attributes.signalbox.terraform_version_unknown)
        };
        assert_eq!(version(Ok("1.11.4".into())), ("1.11.4".to_owned(), None));
        assert_eq!(version(Err("not found".into())), ("latest".to_owned(), Some("not found".to_owned())));
    }
}
