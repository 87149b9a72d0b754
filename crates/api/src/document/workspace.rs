//! Workspaces (tfe-api.md 5.4, 3.3).

use config::{Source, WorkspaceConfig};
use lifecycle::access::{Action, WorkspaceRights};
use lifecycle::id::RunId;
use serde::Serialize;
use serde_json::{Value, json};
use source::without_credentials;
use store::{Run, Workspace};

use super::user;
use crate::jsonapi::{Identifier, Relationship, Resource, null};

/// What a workspace's document shows beside its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) organization: &'a str,
    pub(crate) access: WorkspaceRights,
    /// `None` for one that was taken out of the config file.
    pub(crate) settings: Option<&'a WorkspaceConfig>,
    /// The terraform that its runs use, or why that is not known.
    pub(crate) terraform_version: Result<&'a str, &'a str>,
    /// The run that it shows.
    pub(crate) current_run: Option<&'a Run>,
}

/// The run that holds the workspace, if it is the one that it shows: it counts as locked by that run (tfe-api.md 2.5).
pub(crate) fn holder(current_run: Option<&Run>) -> Option<RunId> {
    current_run.filter(|run| lifecycle::queue::holder(&[run.entry()]).is_some()).map(|run| run.id)
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Permissions {
    can_update: bool,
    can_destroy: bool,
    can_force_delete: bool,
    can_queue_run: bool,
    can_queue_apply: bool,
    can_queue_destroy: bool,
    can_read_run: bool,
    can_read_variable: bool,
    can_update_variable: bool,
    can_read_state_versions: bool,
    can_read_state_outputs: bool,
    can_create_state_versions: bool,
    can_lock: bool,
    can_unlock: bool,
    can_force_unlock: bool,
    can_read_settings: bool,
    can_manage_tags: bool,
    can_manage_run_tasks: bool,
    can_manage_assessments: bool,
    can_read_assessment_results: bool,
    can_manage_ephemeral_workspaces: bool,
}

impl Permissions {
    /// Settings live in the config file, so nobody changes them here.
    fn of(access: WorkspaceRights) -> Self {
        let read = access.allows(Action::Read);
        Self {
            can_update: false,
            can_destroy: false,
            can_force_delete: false,
            can_queue_run: access.allows(Action::QueueRun),
            can_queue_apply: access.allows(Action::Apply),
            can_queue_destroy: access.allows(Action::Apply),
            can_read_run: read,
            can_read_variable: false,
            can_update_variable: false,
            can_read_state_versions: read,
            can_read_state_outputs: read,
            can_create_state_versions: access.allows(Action::WriteState),
            can_lock: access.allows(Action::Lock),
            can_unlock: access.allows(Action::Lock),
            can_force_unlock: access.allows(Action::ForceUnlock),
            can_read_settings: read,
            can_manage_tags: false,
            can_manage_run_tasks: false,
            can_manage_assessments: false,
            can_read_assessment_results: false,
            can_manage_ephemeral_workspaces: false,
        }
    }
}

/// The document of a workspace.
pub(crate) fn resource(workspace: &Workspace, view: &View) -> Resource {
    let path = format!("/api/v2/workspaces/{}", workspace.id);
    let current_run = view.current_run.map(|run| Identifier::new("runs", run.id));
    let state = workspace.current_state_version.map(|id| Identifier::new("state-versions", id));
    let configuration = view.current_run.and_then(|run| run.configuration_version);
    let configuration = configuration.map(|id| Identifier::new("configuration-versions", id));
    let related_state = format!("{path}/current-state-version");
    Resource::new("workspaces", workspace.id, attributes(workspace, view))
        .with("organization", Relationship::one("organizations", view.organization))
        .with("current-run", Relationship::optional(current_run))
        .with("current-state-version", Relationship::optional(state).and_related(related_state))
        .with("current-configuration-version", Relationship::optional(configuration))
        .with("locked-by", Relationship::optional(locked_by(workspace, view)))
        .with("outputs", Relationship::related(format!("{path}/current-state-version-outputs")))
        .with("project", null())
        .with("agent-pool", null())
        .with("ssh-key", null())
        .with("readme", null())
        .link("self", path)
        .link(
            "self-by-name",
            format!("/api/v2/organizations/{}/workspaces/{}", view.organization, workspace.name),
        )
}

fn locked_by(workspace: &Workspace, view: &View) -> Option<Identifier> {
    let by_user = workspace.lock.as_ref().map(|lock| user::identifier(&lock.by));
    by_user.or_else(|| holder(view.current_run).map(|run| Identifier::new("runs", run)))
}

fn attributes(workspace: &Workspace, view: &View) -> Value {
    let settings = view.settings;
    let latest_change =
        view.current_run.map_or(workspace.updated_at, |run| run.state_changed_at.max(workspace.updated_at));
    let auto_apply = settings.is_some_and(|settings| settings.auto_apply);
    json!({
        "name": workspace.name,
        "description": settings.and_then(|settings| settings.description.as_deref()),
        "environment": "default",
        "execution-mode": "remote",
        "operations": true,
        "auto-apply": auto_apply,
        "auto-apply-run-trigger": false,
        "allow-destroy-plan": true,
        "assessments-enabled": false,
        "auto-destroy-at": null,
        "file-triggers-enabled": false,
        "global-remote-state": false,
        "locked": workspace.lock.is_some() || holder(view.current_run).is_some(),
        "locked-reason": workspace.lock.as_ref().map_or("", |lock| &lock.reason),
        "queue-all-runs": true,
        "speculative-enabled": true,
        "structured-run-output-enabled": false,
        // with `latest` no client compares its own version with it
        "terraform-version": view.terraform_version.map_or("latest", |version| version),
        "trigger-prefixes": [],
        "trigger-patterns": [],
        "tag-names": [],
        // the daemon has no connection to a host of repositories, and with one clients refuse to apply (tfe-api.md 3.3)
        "vcs-repo": null,
        "vcs-repo-identifier": null,
        "working-directory": settings.map_or("", |settings| &settings.working_directory),
        "source": "tfe-api",
        "source-name": null,
        "source-url": null,
        "setting-overwrites": { "execution-mode": true, "agent-pool": true },
        "created-at": workspace.created_at,
        "updated-at": workspace.updated_at,
        "latest-change-at": latest_change,
        "actions": { "is-destroyable": false },
        "permissions": Permissions::of(view.access),
        "signalbox": {
            "source": settings.map(|settings| source(&settings.source)),
            "terraform-version-unknown": view.terraform_version.err(),
            "locked-at": workspace.lock.as_ref().map(|lock| lock.at),
            "removed-at": workspace.removed_at,
        },
    })
}

/// What the dialect has no place for: where the configuration comes from, without what others must not see.
fn source(source: &Source) -> Value {
    match source {
        Source::Git(git) => {
            json!({ "kind": "git", "url": without_credentials(&git.url), "ref": git.reference })
        }
        Source::Directory { path } => json!({ "kind": "directory", "path": path }),
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::State;
    use store::Lock;

    use super::super::fixture;
    use super::*;

    fn view(run: Option<&Run>) -> View<'_> {
        let access = WorkspaceRights::WRITE;
        View {
            organization: "acme",
            access,
            settings: None,
            terraform_version: Ok("1.11.4"),
            current_run: run,
        }
    }

    #[test]
    fn the_document_of_a_workspace_that_a_run_holds() {
        let run = fixture::planned_run();
        fixture::snapshot("workspace_held", &resource(&fixture::workspace(), &view(Some(&run))));
    }

    #[test]
    fn a_workspace_is_locked_by_its_user_or_else_by_the_run_that_holds_it() {
        let locked = |lock: bool, state: Option<State>| {
            let mut workspace = fixture::workspace();
            workspace.lock =
                lock.then(|| Lock { by: "owner".into(), reason: "moving".into(), at: fixture::at(0) });
            let run = state.map(|state| fixture::run_in(state, None));
            let document = serde_json::to_value(resource(&workspace, &view(run.as_ref()))).unwrap();
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
        let git = config::GitSource {
            url: "https://user:pw@git.example/infra.git".into(),
            reference: "main".into(),
        };
        let shown = json!({ "kind": "git", "url": "https://git.example/infra.git", "ref": "main" });
        assert_eq!(source(&Source::Git(git)), shown);
    }

    #[test]
    fn clients_compare_no_version_with_one_that_is_not_known() {
        let version = |terraform_version| {
            let view = View { terraform_version, ..view(None) };
            let attributes = attributes(&fixture::workspace(), &view);
            (
                attributes["terraform-version"].clone(),
                attributes["signalbox"]["terraform-version-unknown"].clone(),
            )
        };
        assert_eq!(version(Ok("1.11.4")), (json!("1.11.4"), Value::Null));
        assert_eq!(version(Err("not found")), (json!("latest"), json!("not found")));
    }
}
