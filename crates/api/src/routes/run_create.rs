//! `POST runs`: what a client asks for, as the engine takes it. What can't be done is refused with its place; nothing
//! is accepted and then ignored.

use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use engine::RunRequest;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use store::{ConfigurationStatus, ConfigurationVersion, RunOptions};
use wire::{CreateRun, NewRun};

use crate::jsonapi::{ApiError, Fault, Result, identity};

/// What was asked for, before the configuration version is known.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) workspace: WorkspaceId,
    pub(super) configuration_version: Option<ConfigurationVersionId>,
    run: NewRun,
}

pub(super) const CONFIGURATION_VERSION: &str = "/data/relationships/configuration-version/data/id";

/// What the body asks for.
///
/// # Errors
/// 422 with every mistake in it; 404 for a workspace whose id can't be one.
pub(super) fn wanted(body: CreateRun) -> Result<Wanted> {
    let Some(data) = body.data else {
        return Err(ApiError::invalid(vec![Fault::at("/data", "the data of the run is missing")]));
    };
    let mut faults = unsupported(&data.attributes);
    let workspace = data.relationships.workspace.id();
    if workspace.is_none() {
        faults.push(Fault::at("/data/relationships/workspace/data", "the workspace is missing"));
    }
    let version = data.relationships.configuration_version.id().map(str::parse).transpose();
    let version = version.unwrap_or_else(|error| {
        faults.push(Fault::at(CONFIGURATION_VERSION, format!("{error}")));
        None
    });
    match workspace {
        Some(id) if faults.is_empty() => {
            Ok(Wanted { workspace: identity(id)?, configuration_version: version, run: data.attributes })
        }
        _ => Err(ApiError::invalid(faults)),
    }
}

/// Every attribute that asks for what is not done here.
fn unsupported(run: &NewRun) -> Vec<Fault> {
    let table = [
        (run.save_plan, "save-plan", "saved plans are not supported: leave it out, or give false"),
        (
            run.allow_config_generation,
            "allow-config-generation",
            "generating configuration is not supported: leave it out, or give false",
        ),
        (
            run.debugging_mode,
            "debugging-mode",
            "debugging mode is not supported: leave it out, or give false",
        ),
        (
            !run.terraform_version.trim().is_empty(),
            "terraform-version",
            "a run uses the terraform of its workspace, which the config file names: leave it out",
        ),
        (
            !run.invoke_action_addrs.is_empty(),
            "invoke-action-addrs",
            "invoking actions is not supported: leave it out",
        ),
        (!run.policy_paths.is_empty(), "policy-paths", "policies come from the config file: leave it out"),
    ];
    let asked = table.into_iter().filter(|(asked, ..)| *asked);
    asked.map(|(_, name, why)| Fault::at(format!("/data/attributes/{name}"), why)).collect()
}

impl Wanted {
    /// The request to the engine. `version` is the configuration version that was named.
    ///
    /// # Errors
    /// 422 for a version that can't be run, or a plan-only one in a run that is not.
    pub(super) fn request(self, version: Option<&ConfigurationVersion>, source: &str) -> Result<RunRequest> {
        let run = self.run;
        let invalid = |pointer: &str, detail: &str| Err(ApiError::invalid(vec![Fault::at(pointer, detail)]));
        if let Some(version) = version {
            match &version.status {
                ConfigurationStatus::Uploaded { .. } => {}
                ConfigurationStatus::Pending => {
                    return invalid(
                        CONFIGURATION_VERSION,
                        "Configuration version is missing: it was not uploaded yet",
                    );
                }
                ConfigurationStatus::Errored { .. } => {
                    return invalid(CONFIGURATION_VERSION, "its content could not be taken: make a new one");
                }
            }
            if version.speculative && run.plan_only == Some(false) {
                let detail = "the configuration version is speculative: its runs are plan-only";
                return invalid("/data/attributes/plan-only", detail);
            }
        }
        let speculative = version.is_some_and(|version| version.speculative);
        let message = run.message.filter(|message| !message.trim().is_empty());
        Ok(RunRequest {
            options: RunOptions {
                message: message.unwrap_or_else(|| default_message(source).to_owned()),
                plan: run.options,
                variables: run.variables,
                allow_new_state: run.allow_new_state,
            },
            source: source.to_owned(),
            plan_only: run.plan_only.unwrap_or(speculative),
            destroy: run.is_destroy,
            auto_apply: run.auto_apply,
            allow_empty_apply: run.allow_empty_apply,
            configuration_version: self.configuration_version,
        })
    }
}

/// The source of runs that the command line of this program started.
const COMMAND_LINE: &str = "signalbox-cli";

/// Where a run comes from, by the headers that the terraform CLI sends, and our own.
pub(super) fn source(headers: &HeaderMap) -> &'static str {
    let is =
        |name: &str, value: &str| headers.get(name).is_some_and(|given| given.as_bytes() == value.as_bytes());
    if is("x-terraform-integration", "cloud") {
        "terraform+cloud"
    } else if headers.contains_key("terraform-version") {
        "terraform"
    } else if headers.get(USER_AGENT).is_some_and(|agent| agent.as_bytes().starts_with(b"signalbox/")) {
        COMMAND_LINE
    } else {
        "tfe-api"
    }
}

fn default_message(source: &str) -> &'static str {
    match source {
        "terraform" | "terraform+cloud" => "Queued manually using Terraform",
        COMMAND_LINE => "Queued manually via the CLI",
        _ => "Queued manually via the API",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use lifecycle::id::ConfigurationVersionId;
    use lifecycle::{PlanOptions, RunVariable};
    use serde_json::{Value, json};
    use store::Digest;

    use super::*;
    use crate::document::fixture;

    fn body(attributes: Value) -> CreateRun {
        let workspace = json!({ "data": { "type": "workspaces", "id": fixture::workspace().id } });
        let document = json!({ "data": {
            "type": "runs", "attributes": attributes, "relationships": { "workspace": workspace },
        } });
        CreateRun::read(&document).unwrap()
    }

    fn refused(attributes: Value) -> Vec<String> {
        match wanted(body(attributes)) {
            Ok(_) => vec![],
            Err(error) => {
                assert_eq!(error.status(), 422);
                error
                    .pointers()
                    .into_iter()
                    .map(|p| p.trim_start_matches("/data/attributes/").to_owned())
                    .collect()
            }
        }
    }

    #[test]
    fn what_is_not_done_is_refused_all_at_once_with_its_places() {
        let everything = json!({
            "save-plan": true, "allow-config-generation": true, "debugging-mode": true,
            "terraform-version": "1.11.4", "invoke-action-addrs": ["a"], "policy-paths": ["p"],
        });
        let places = [
            "save-plan",
            "allow-config-generation",
            "debugging-mode",
            "terraform-version",
            "invoke-action-addrs",
            "policy-paths",
        ];
        assert_eq!(refused(everything), places);
    }

    #[test]
    fn what_clients_send_to_switch_it_off_is_fine() {
        let off = json!({
            "save-plan": false, "allow-config-generation": false, "debugging-mode": null, "terraform-version": "",
            "invoke-action-addrs": [], "policy-paths": null, "target-addrs": null, "variables": [], "unknown": 1,
        });
        assert_eq!(refused(off), [""; 0]);
    }

    #[test]
    fn every_attribute_reaches_the_engine() {
        let attributes = json!({
            "message": "why", "is-destroy": true, "auto-apply": false, "plan-only": true, "refresh": false,
            "refresh-only": true, "allow-empty-apply": true, "target-addrs": ["a.b"], "replace-addrs": ["c.d"],
            "variables": [{ "key": "region", "value": "\"x\"" }],
        });
        let request = wanted(body(attributes)).unwrap().request(None, "tfe-api").unwrap();
        assert_eq!((request.options.message.as_str(), request.source.as_str()), ("why", "tfe-api"));
        assert!(request.destroy && request.plan_only && request.allow_empty_apply);
        assert_eq!(request.auto_apply, Some(false));
        let plan = PlanOptions {
            refresh: false,
            refresh_only: true,
            target_addrs: vec!["a.b".into()],
            replace_addrs: vec!["c.d".into()],
        };
        assert_eq!(request.options.plan, plan);
        assert_eq!(request.options.variables, [RunVariable { key: "region".into(), value: "\"x\"".into() }]);
    }

    #[test]
    fn nothing_given_is_a_plain_run() {
        let request = wanted(body(Value::Null)).unwrap().request(None, "terraform+cloud").unwrap();
        assert_eq!(request.options.message, "Queued manually using Terraform");
        assert_eq!(request.options.plan, PlanOptions::default());
        assert!(!request.plan_only && !request.destroy && request.auto_apply.is_none());
    }

    #[test]
    fn a_run_without_a_message_says_by_what_it_was_queued() {
        for (source, message) in [
            ("terraform", "Queued manually using Terraform"),
            ("terraform+cloud", "Queued manually using Terraform"),
            ("signalbox-cli", "Queued manually via the CLI"),
            ("tfe-api", "Queued manually via the API"),
        ] {
            let request = wanted(body(json!({ "message": " " }))).unwrap().request(None, source).unwrap();
            assert_eq!(request.options.message, message);
        }
    }

    fn version(speculative: bool, status: ConfigurationStatus) -> ConfigurationVersion {
        ConfigurationVersion {
            id: ConfigurationVersionId::from_entropy([4; 16]),
            workspace: fixture::workspace().id,
            source: "tfe-api".into(),
            status,
            commit: None,
            speculative,
            created_at: fixture::at(0),
            finished_at: None,
        }
    }

    #[test]
    fn a_run_of_a_speculative_configuration_is_plan_only() {
        let uploaded = || ConfigurationStatus::Uploaded { digest: Digest::of(b""), size: 0 };
        let request = |attributes, version: &ConfigurationVersion| {
            wanted(body(attributes)).unwrap().request(Some(version), "tfe-api")
        };
        assert!(request(json!({}), &version(true, uploaded())).unwrap().plan_only);
        assert!(!request(json!({}), &version(false, uploaded())).unwrap().plan_only);
        assert!(request(json!({ "plan-only": true }), &version(false, uploaded())).unwrap().plan_only);
        let refused = request(json!({ "plan-only": false }), &version(true, uploaded())).unwrap_err();
        assert_eq!(refused.pointers(), ["/data/attributes/plan-only"]);
    }

    #[test]
    fn only_what_was_uploaded_can_run() {
        let request = |version: &ConfigurationVersion| {
            wanted(body(json!({}))).unwrap().request(Some(version), "tfe-api").map(|_| ())
        };
        let pending = version(false, ConfigurationStatus::Pending);
        let missing = request(&pending).unwrap_err();
        assert!(format!("{missing:?}").contains("Configuration version is missing"), "{missing:?}");
        let errored =
            ConfigurationVersion { status: ConfigurationStatus::Errored { message: "no".into() }, ..pending };
        assert_eq!(request(&errored).unwrap_err().pointers(), [CONFIGURATION_VERSION]);
    }

    #[test]
    fn a_run_without_a_workspace_is_refused() {
        for document in
            [json!({ "data": {} }), json!({ "data": { "relationships": { "workspace": { "data": null } } } })]
        {
            let error = wanted(CreateRun::read(&document).unwrap()).unwrap_err();
            assert_eq!(error.pointers(), ["/data/relationships/workspace/data"]);
        }
        let error = wanted(CreateRun::read(&json!({ "data": null })).unwrap()).unwrap_err();
        assert_eq!(error.pointers(), ["/data"]);
    }

    #[test]
    fn the_source_is_told_by_the_headers_of_the_cli() {
        let with = |pairs: &[(&'static str, &'static str)]| {
            let pairs =
                pairs.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
            source(&HeaderMap::from_iter(pairs))
        };
        assert_eq!(
            with(&[("terraform-version", "1.11.4"), ("x-terraform-integration", "cloud")]),
            "terraform+cloud"
        );
        assert_eq!(with(&[("terraform-version", "1.11.4")]), "terraform");
        assert_eq!(with(&[("user-agent", "signalbox/0.1.0")]), "signalbox-cli");
        assert_eq!(with(&[("user-agent", "go-tfe")]), "tfe-api");
        assert_eq!(with(&[]), "tfe-api");
    }
}
