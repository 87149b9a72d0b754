//! The policy stage: the policy sets of the workspace against the plan, in a process of their own.

use std::time::Duration;

use config::PolicySetConfig;
use executor::{Spec, Step};
use lifecycle::{Event, PolicyOutcome, Stage};
use policy::{CheckRequest, Parameter, PolicyReport, SetRequest, SetSettings};
use serde_json::{Map, Value, json};
use store::{PolicyCheckRecord, PolicyCounts, Run, RunUpdate, Settings, Source, Workspace};

use super::{Conclusion, Ended, confinement, environment, failed};
use crate::RunDir;
use crate::context::Context;
use crate::run_files::{StageError, open_needed, write_private};

const STEP: &str = "policy-check";
/// Of the whole check. Each policy has its own limit; this is the end of an engine that does not keep it.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// Address space of the checking process.
const MEMORY_LIMIT: u64 = 4 << 30;

pub(super) async fn prepare(context: &Context, run: &Run, workspace: &Workspace) -> Result<Spec, StageError> {
    let run_dir = RunDir::new(&context.data_dir, run.id);
    let config = context.config();
    let plan_json = run
        .plan
        .as_ref()
        .and_then(|plan| plan.plan_json)
        .ok_or_else(|| StageError::Impossible("there is no plan to check".to_owned()))?;
    let plan_json = context.store.blobs().in_clear(plan_json, run_dir.copies().join("plan.json")).await?;
    let request = CheckRequest {
        format: policy::REQUEST_FORMAT,
        plan_json: plan_json.clone(),
        run: run_document(context, run, workspace).await?,
        sets: config
            .policy_sets_of(&workspace.name)
            .map(|set| SetRequest {
                name: set.name.clone(),
                path: set.path.clone(),
                time_limit_ms: u64::try_from(set.time_limit.as_millis()).unwrap_or(u64::MAX),
                settings: set_settings(set),
            })
            .collect(),
        report: run_dir.policy_report(),
    };
    write_private(&run_dir.policy_request(), &request)?;
    let mut step = Step::new(STEP, &context.program)
        .arguments([STEP.to_owned(), run_dir.policy_request().display().to_string()]);
    step.must_write = vec![run_dir.policy_report()];
    step.time_limit = Some(TIME_LIMIT);
    step.memory_limit = Some(MEMORY_LIMIT);
    step.confinement = confinement::of_our_own(context, &run_dir, None, vec![plan_json]);
    let mut spec = Spec::new(format!("{}/{}", run.id, Stage::PolicyCheck), run_dir.root());
    spec.environment = environment::minimal(&context.host);
    spec.repeatable = true;
    spec.steps = vec![step];
    Ok(spec)
}

/// The run as policies see it: with the settings that it is made with, or those of its workspace now if it is over.
pub(crate) async fn run_document(
    context: &Context,
    run: &Run,
    workspace: &Workspace,
) -> Result<Value, store::Error> {
    let commit = match run.configuration_version {
        Some(id) => context.store.configuration_version(id).await?.commit.map(|commit| commit.sha),
        None => None,
    };
    let settings = context.settings_of_run(run).await?;
    let organization = &context.config().organization;
    Ok(run_input(organization, settings.as_ref(), run, workspace, commit.as_deref()))
}

/// What a configuration says of a policy set beside its folder.
pub fn set_settings(set: &PolicySetConfig) -> SetSettings {
    let plain = set
        .parameters
        .iter()
        .map(|(name, value)| (name.clone(), Parameter { value: value.clone(), sensitive: false }));
    let sensitive = set
        .sensitive_parameters
        .iter()
        .map(|(name, value)| (name.clone(), Parameter { value: value.expose().clone(), sensitive: true }));
    SetSettings {
        policies_path: set.policies_path.clone(),
        http_hosts: set.http_hosts.iter().map(|host| host.as_str().to_owned()).collect(),
        parameters: plain.chain(sensitive).collect(),
    }
}

/// The run as policies see it (docs/sentinel.md, "The run"): `input.run` of Rego, and what Sentinel's `tfrun`
/// is made of.
///
/// Two keys of `tfrun` are not here because nothing here has them: `cost_estimate`, which is undefined without
/// estimates, and the ids of projects, which are null.
fn run_input(
    organization: &str,
    settings: Option<&Settings>,
    run: &Run,
    workspace: &Workspace,
    commit: Option<&str>,
) -> Value {
    // policies ask whether these are null, not whether they are empty
    let some = |addresses: &[String]| (!addresses.is_empty()).then(|| addresses.to_vec());
    let plan = &run.options.plan;
    let git = settings.and_then(|settings| match &settings.source {
        Some(Source::Git { url, reference }) => Some((url, reference)),
        Some(Source::Directory { .. }) | None => None,
    });
    json!({
        "id": run.id,
        "created_at": run.created_at,
        "created_by": run.created_by,
        "message": run.options.message,
        "commit_sha": commit,
        "is_destroy": run.facts.destroy,
        "refresh": plan.refresh,
        "refresh_only": plan.refresh_only,
        "replace_addrs": some(&plan.replace_addrs),
        "speculative": run.facts.plan_only,
        "target_addrs": some(&plan.target_addrs),
        "variables": variables_input(settings, run),
        "project": { "id": null, "name": "Default Project" },
        "organization": { "name": organization },
        "workspace": {
            "id": workspace.id,
            "name": workspace.name,
            "created_at": workspace.created_at,
            "description": settings.and_then(|settings| settings.description.clone()),
            "execution_mode": "remote",
            "auto_apply": settings.is_some_and(|settings| settings.auto_apply),
            "tags": [],
            "tag_bindings": [],
            "working_directory": settings.map_or("", |settings| &settings.working_directory),
            "vcs_repo": git.map(|(url, reference)| {
                let identifier = source::without_credentials(url);
                json!({
                    "identifier": identifier,
                    "display_identifier": identifier,
                    "branch": reference,
                    "ingress_submodules": false,
                })
            }),
        },
    })
}

/// The run's variables by name, without their values: policies find those in the plan.
fn variables_input(settings: Option<&Settings>, run: &Run) -> Map<String, Value> {
    let variable = |category: &'static str, sensitive: bool| {
        move |name: &String| (name.clone(), json!({ "category": category, "sensitive": sensitive }))
    };
    let mut variables = Map::new();
    if let Some(settings) = settings {
        // of two with one name terraform's is the one that the plan has
        variables.extend(settings.environment.keys().map(variable("env", false)));
        variables.extend(settings.sensitive_environment.keys().map(variable("env", true)));
        variables.extend(settings.variables.keys().map(variable("terraform", false)));
        variables.extend(settings.sensitive_variables.keys().map(variable("terraform", true)));
    }
    for own in &run.options.variables {
        // a run's own value for a sensitive variable is no less sensitive
        variables
            .entry(&own.key)
            .and_modify(|known| known["category"] = "terraform".into())
            .or_insert_with(|| variable("terraform", false)(&own.key).1);
    }
    variables
}

pub(super) async fn conclude(context: &Context, run: &Run, ended: &Ended) -> Result<Conclusion, StageError> {
    if let Some(failure) = ended.failure() {
        let conclusion = failed(Stage::PolicyCheck, failure);
        return Ok(match ended.reason(run) {
            Some(_) => conclusion,
            None => Conclusion { why: None, update: RunUpdate::default(), ..conclusion },
        });
    }
    let path = RunDir::new(&context.data_dir, run.id).policy_report();
    let report = match PolicyReport::read(&path) {
        Ok(report) => report,
        Err(error) => return Ok(failed(Stage::PolicyCheck, error.to_string())),
    };
    open_needed(&path)?;
    let blob = context.store.blobs().adopt_file(path).await?;
    let outcome = match report.outcome {
        policy::PolicyOutcome::Passed => PolicyOutcome::Passed,
        policy::PolicyOutcome::SoftFailed => PolicyOutcome::SoftFailed,
        policy::PolicyOutcome::HardFailed => PolicyOutcome::HardFailed,
    };
    let why = words(&report);
    let update = RunUpdate {
        policy: Some(PolicyCheckRecord {
            outcome,
            report: blob.digest,
            counts: PolicyCounts {
                passed: report.counts.passed,
                hard_failed: report.counts.hard_failed,
                soft_failed: report.counts.soft_failed,
                advisory_failed: report.counts.advisory_failed,
            },
        }),
        error: (outcome == PolicyOutcome::HardFailed).then(|| why.clone()).flatten(),
        ..RunUpdate::default()
    };
    Ok(Conclusion { event: Event::PolicyCheckEnded(outcome), why, update })
}

/// The failed policies, by name, for the journal; `None` if all passed.
fn words(report: &PolicyReport) -> Option<String> {
    let mut failed = Vec::new();
    for set in &report.sets {
        if let Some(error) = &set.error {
            failed.push(format!("policy set {} can't be loaded: {error}", set.name));
        }
        for policy in set.policies.iter().filter(|policy| !policy.verdict.is_passed()) {
            failed.push(format!("policy {}/{} failed ({})", set.name, policy.name, policy.level.as_str()));
        }
    }
    (!failed.is_empty()).then(|| failed.join("; "))
}
