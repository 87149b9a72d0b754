//! Workspaces (tfe-api.md 5.4, 3.3).

use config::{Source, WorkspaceConfig};
use lifecycle::access::{Access, Action};
use lifecycle::id::RunId;
use serde::Serialize;
use serde_json::{Value, json};
use store::{Run, Workspace};
use url::Url;

use super::user;
use crate::ground::{Identifier, Relationship, Resource, null};

/// What a workspace's document shows beside its record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) organization: &'a str,
    pub(crate) access: Access,
    /// `None` for one that was taken out of the config file.
    pub(crate) settings: Option<&'a WorkspaceConfig>,
    /// The run that it shows.
    pub(crate) current_run: Option<&'a Run>,
}

impl View<'_> {
    /// The run that holds it: it counts as locked by that run (tfe-api.md 2.5).
    pub(crate) fn holder(&self) -> Option<RunId> {
        self.current_run.filter(|run| lifecycle::queue::holder(&[run.entry()]).is_some()).map(|run| run.id)
    }
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
    fn of(access: Access) -> Self {
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
            can_create_state_versions: false,
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
    by_user.or_else(|| view.holder().map(|run| Identifier::new("runs", run)))
}

fn attributes(workspace: &Workspace, view: &View) -> Value {
    let settings = view.settings;
    let git = settings.and_then(|settings| match &settings.source {
        Source::Git(git) => Some(git),
        Source::Directory { .. } => None,
    });
    let vcs_repo = git.map(|git| {
        let url = without_credentials(&git.url);
        json!({
            "identifier": url,
            "display-identifier": url,
            "repository-http-url": url,
            "branch": git.reference,
            "ingress-submodules": false,
            "oauth-token-id": null,
            "service-provider": null,
        })
    });
    let latest_change =
        view.current_run.map_or(workspace.updated_at, |run| run.state_changed_at.max(workspace.updated_at));
    let auto_apply = settings.is_some_and(|settings| settings.auto_apply);
    let mut attributes = json!({
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
        "locked": workspace.lock.is_some() || view.holder().is_some(),
        "locked-reason": workspace.lock.as_ref().map_or("", |lock| &lock.reason),
        "queue-all-runs": true,
        "speculative-enabled": true,
        "structured-run-output-enabled": false,
        // whatever the binary is that the configuration names
        "terraform-version": "latest",
        "trigger-prefixes": [],
        "trigger-patterns": [],
        "tag-names": [],
        "vcs-repo": vcs_repo,
        "vcs-repo-identifier": git.map(|git| without_credentials(&git.url)),
        "working-directory": git.map_or("", |git| &git.path),
        "source": "tfe-api",
        "source-name": null,
        "source-url": null,
        "setting-overwrites": { "execution-mode": true, "agent-pool": true },
        "created-at": workspace.created_at,
        "updated-at": workspace.updated_at,
        "latest-change-at": latest_change,
        "actions": { "is-destroyable": false },
        "permissions": Permissions::of(view.access),
    });
    if let Some(removed_at) = workspace.removed_at {
        attributes["signalbox"] = json!({ "removed-at": removed_at });
    }
    attributes
}

/// A repository's address as others may see it.
fn without_credentials(url: &str) -> String {
    match Url::parse(url) {
        Ok(mut parsed) if !parsed.username().is_empty() || parsed.password().is_some() => {
            // a URL that has credentials can always lose them
            let _ = parsed.set_username("");
            let _ = parsed.set_password(None);
            parsed.into()
        }
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::{AccessLevel, State};
    use store::Lock;

    use super::super::fixture;
    use super::*;

    fn view(run: Option<&Run>) -> View<'_> {
        let access = Access::Level(AccessLevel::Write);
        View { organization: "acme", access, settings: None, current_run: run }
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
    fn a_repository_is_shown_without_credentials() {
        let table = [
            ("https://user:pw@git.example/infra.git", "https://git.example/infra.git"),
            ("https://token@git.example/infra.git", "https://git.example/infra.git"),
            ("https://git.example/infra.git", "https://git.example/infra.git"),
            ("git@git.example:infra.git", "git@git.example:infra.git"),
            ("/srv/git/infra.git", "/srv/git/infra.git"),
        ];
        for (url, shown) in table {
            assert_eq!(without_credentials(url), shown);
        }
    }
}
