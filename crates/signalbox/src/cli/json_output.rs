//! What `--json` prints. The shapes are this program's own and stable: fields are added, never renamed or taken
//! away, whatever becomes of the API's documents. Times are RFC 3339. What is not known is `null`.

use std::collections::BTreeMap;

use client::{CheckedSet, LockedBy, PlanOptions, PolicyCheck, ResourceCounts, Run, RunEvent, Workspace};
use jiff::Timestamp;
use review::Review;
use serde::{Serialize, Serializer};
use serde_json::Value;
use wire::PolicyResult;

/// A run: `run show`, `run start`, `run list`, and in each event of what is followed.
#[derive(Serialize)]
pub(crate) struct RunShape<'a> {
    id: &'a str,
    workspace: Option<&'a str>,
    /// As people see it: `Needs Confirmation`.
    state: &'a str,
    /// As the API has it: `planned`.
    status: &'a str,
    is_final: bool,
    /// Somebody cancelled it, and it has not ended yet.
    is_canceling: bool,
    /// What it waits for in its queue: completes "it waits for …".
    waits_for: Option<&'a str>,
    message: &'a str,
    /// Why it errored.
    error: Option<&'a str>,
    created_at: Timestamp,
    created_by: Option<&'a str>,
    has_changes: bool,
    auto_apply: bool,
    plan_only: bool,
    destroy: bool,
    #[serde(flatten, serialize_with = "in_snake_case")]
    options: &'a PlanOptions,
    terraform_version: Option<&'a str>,
    plan: Option<Part<'a>>,
    apply: Option<Part<'a>>,
    /// What the user can do with it now.
    can: Can,
    force_cancel_available_at: Option<Timestamp>,
    timestamps: &'a BTreeMap<String, Timestamp>,
    /// What it runs on, if that is from git and known.
    commit: Option<CommitShape<'a>>,
    /// Values for this run alone.
    variables: Vec<VariableShape<'a>>,
}

/// A struct of the API, its members spelled like all others here.
fn in_snake_case<S: Serializer>(of_api: &impl Serialize, serializer: S) -> Result<S::Ok, S::Error> {
    fn renamed(value: Value) -> Value {
        match value {
            Value::Object(members) => {
                let renamed =
                    members.into_iter().map(|(name, value)| (name.replace('-', "_"), renamed(value)));
                Value::Object(renamed.collect())
            }
            Value::Array(all) => Value::Array(all.into_iter().map(renamed).collect()),
            other => other,
        }
    }
    renamed(serde_json::to_value(of_api).map_err(serde::ser::Error::custom)?).serialize(serializer)
}

/// What a plan would do: `run show`, and before a followed run waits for a person.
#[derive(Serialize)]
pub(crate) struct ReviewShape<'a>(#[serde(serialize_with = "in_snake_case")] pub(crate) &'a Review);

/// The commit that a run runs on.
#[derive(Serialize)]
struct CommitShape<'a> {
    sha: &'a str,
    /// The branch or tag that it was found by.
    reference: &'a str,
    repository: &'a str,
    message: Option<&'a str>,
    author: Option<&'a str>,
}

#[derive(Serialize)]
struct VariableShape<'a> {
    name: &'a str,
    /// An HCL literal; `null` if it is sensitive.
    value: Option<&'a str>,
}

/// A plan or an apply.
#[derive(Serialize)]
struct Part<'a> {
    id: &'a str,
    status: &'a str,
    additions: Option<u64>,
    changes: Option<u64>,
    destructions: Option<u64>,
    imports: Option<u64>,
}

#[derive(Serialize)]
struct Can {
    confirm: bool,
    discard: bool,
    cancel: bool,
    force_cancel: bool,
    r#override: bool,
}

fn part<'a>(id: &'a str, status: &'a str, resources: ResourceCounts) -> Part<'a> {
    let ResourceCounts { additions, changes, destructions, imports } = resources;
    Part { id, status, additions, changes, destructions, imports }
}

impl<'a> RunShape<'a> {
    pub(crate) fn new(run: &'a Run) -> Self {
        let (actions, may) = (run.actions, run.permissions);
        let plan = run.plan.as_ref().map(|plan| part(&plan.id, &plan.status, plan.resources));
        let apply = run.apply.as_ref().map(|apply| part(&apply.id, &apply.status, apply.resources));
        Self {
            id: &run.id,
            workspace: run.workspace_name.as_deref(),
            state: run.state_name(),
            status: &run.status,
            is_final: run.is_final(),
            is_canceling: run.is_canceling(),
            waits_for: run.waits_for(),
            message: &run.message,
            error: run.error(),
            created_at: run.created_at,
            created_by: run.created_by.as_deref(),
            has_changes: run.has_changes,
            auto_apply: run.auto_apply,
            plan_only: run.plan_only,
            destroy: run.is_destroy,
            options: &run.options,
            terraform_version: run.terraform_version.as_deref(),
            plan,
            apply,
            can: Can {
                confirm: actions.is_confirmable && may.can_apply,
                discard: actions.is_discardable && may.can_discard,
                // also of a run that waits for a person, where the API means nothing but what is at work
                cancel: !run.is_final() && may.can_cancel,
                force_cancel: actions.is_force_cancelable && may.can_force_cancel,
                r#override: run.waits_for_override() && may.can_override_policy_check,
            },
            force_cancel_available_at: run.force_cancel_available_at,
            timestamps: &run.status_timestamps,
            commit: run.commit.as_ref().map(|commit| CommitShape {
                sha: &commit.commit_sha,
                reference: &commit.branch,
                repository: &commit.clone_url,
                message: commit.commit_message.as_deref(),
                author: commit.sender_username.as_deref(),
            }),
            variables: run
                .variables
                .iter()
                .map(|variable| VariableShape { name: &variable.key, value: variable.value.as_deref() })
                .collect(),
        }
    }
}

/// `run show`: the run with what happened to it.
#[derive(Serialize)]
pub(crate) struct RunDetails<'a> {
    #[serde(flatten)]
    run: RunShape<'a>,
    /// What its plan would do; `null` where there is none.
    review: Option<ReviewShape<'a>>,
    policy_checks: Vec<PolicyCheckShape<'a>>,
    events: Vec<RunEventShape<'a>>,
}

#[derive(Serialize)]
struct PolicyCheckShape<'a> {
    id: &'a str,
    status: &'a str,
    passed: Option<u64>,
    hard_failed: Option<u64>,
    soft_failed: Option<u64>,
    advisory_failed: Option<u64>,
    sets: Vec<CheckedSet>,
}

#[derive(Serialize)]
struct RunEventShape<'a> {
    at: Timestamp,
    action: &'a str,
    description: &'a str,
    by: Option<&'a str>,
    comment: Option<&'a str>,
}

impl<'a> RunDetails<'a> {
    pub(crate) fn new(
        run: &'a Run,
        review: Option<&'a Review>,
        checks: &'a [PolicyCheck],
        events: &'a [RunEvent],
    ) -> Self {
        let policy_checks = checks.iter().map(|check| PolicyCheckShape {
            id: &check.id,
            status: &check.status,
            passed: check.result.as_ref().map(|result| result.passed),
            hard_failed: check.result.as_ref().map(|result| result.hard_failed),
            soft_failed: check.result.as_ref().map(|result| result.soft_failed),
            advisory_failed: check.result.as_ref().map(|result| result.advisory_failed),
            sets: check.result.as_ref().map(PolicyResult::sets).unwrap_or_default(),
        });
        let events = events.iter().map(|event| RunEventShape {
            at: event.created_at,
            action: &event.action,
            description: &event.description,
            by: event.actor.as_deref(),
            comment: event.comment.as_deref(),
        });
        Self {
            run: RunShape::new(run),
            review: review.map(ReviewShape),
            policy_checks: policy_checks.collect(),
            events: events.collect(),
        }
    }
}

/// A workspace: `workspace show`, `workspace list`.
#[derive(Serialize)]
pub(crate) struct WorkspaceShape<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    auto_apply: bool,
    /// What its runs use; `latest` if that is not known.
    terraform_version: &'a str,
    /// The folder of its source in which terraform runs.
    working_directory: &'a str,
    locked: bool,
    locked_reason: &'a str,
    /// When a user locked it.
    locked_at: Option<Timestamp>,
    /// The user that holds the lock.
    locked_by_user: Option<&'a str>,
    /// The run that holds it.
    locked_by_run: Option<&'a str>,
    /// The run that holds it, or else its newest final one.
    current_run: Option<RunShape<'a>>,
    created_at: Timestamp,
    latest_change_at: Timestamp,
}

impl<'a> WorkspaceShape<'a> {
    pub(crate) fn new(workspace: &'a Workspace) -> Self {
        let (user, run) = match &workspace.locked_by {
            Some(LockedBy::User(name)) => (Some(name.as_str()), None),
            Some(LockedBy::Run(id)) => (None, Some(id.as_str())),
            None => (None, None),
        };
        Self {
            id: &workspace.id,
            name: &workspace.name,
            description: workspace.description.as_deref().unwrap_or_default(),
            auto_apply: workspace.auto_apply,
            terraform_version: &workspace.terraform_version,
            working_directory: &workspace.working_directory,
            locked: workspace.locked,
            locked_reason: &workspace.locked_reason,
            locked_at: workspace.locked_at(),
            locked_by_user: user,
            locked_by_run: run,
            current_run: workspace.current_run.as_deref().map(RunShape::new),
            created_at: workspace.created_at,
            latest_change_at: workspace.latest_change_at,
        }
    }
}
