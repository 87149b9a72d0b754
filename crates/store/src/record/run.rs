use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, RunId, WorkspaceId};
use lifecycle::{
    Event, Facts, PlanOptions, PolicyOutcome, RunVariable, Stage, State, WorkspaceRights, queue,
};
use serde::{Deserialize, Serialize};

use super::{Actor, Visibility};
use crate::Digest;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its plan, apply and policy check have the sibling ids.
    pub id: RunId,
    /// Where it runs.
    pub workspace: WorkspaceId,
    /// Its place among all runs: what was queued later has the higher number.
    pub seq: i64,
    /// Counts the changes of this record. A change names the version that it is based on.
    pub version: i64,
    /// Where it is.
    pub state: State,
    /// What its transitions depend on, fixed when it was queued.
    pub facts: Facts,
    /// What else was asked for, fixed when it was queued.
    pub options: RunOptions,
    /// Where it came from: `tfe-api`, `terraform+cloud`, `signalbox-cli`, … (docs/api.md, "Creating a run").
    pub source: String,
    /// The name of who queued it.
    pub created_by: String,
    /// The name of who confirmed its plan; `None` if nobody did, or if it was auto-applied.
    pub confirmed_by: Option<String>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When this record last changed.
    pub updated_at: Timestamp,
    /// When its state last changed.
    pub state_changed_at: Timestamp,
    /// `status-timestamps` of the API, by key (`planning-at`).
    pub timestamps: BTreeMap<String, Timestamp>,
    /// Who wanted it to stop, once somebody did.
    pub cancel: Option<Cancel>,
    /// What the plan says, once there is one.
    pub plan: Option<PlanSummary>,
    /// What it runs on, once that is known.
    pub configuration_version: Option<ConfigurationVersionId>,
    /// Why it errored, in words.
    pub error: Option<String>,
    /// What the policies said, once they did.
    pub policy: Option<PolicyCheckRecord>,
    /// The blobs with the logs of the stages that are over. A stage that never ran has none.
    pub logs: BTreeMap<Stage, Digest>,
    /// What of this record could not be read, in words, and was given up. Nothing more is begun then.
    pub damaged: Option<String>,
}

/// The run as its queue sees it. A run that fetches its configuration has it when there is a version of it.
pub(crate) const fn entry(run: RunId, state: State, facts: Facts, has_configuration: bool) -> queue::Entry {
    let fetch = match (facts.fetches, has_configuration) {
        (false, _) => queue::Fetch::None,
        (true, false) => queue::Fetch::Due,
        (true, true) => queue::Fetch::Done,
    };
    queue::Entry { run, state, plan_only: facts.plan_only, fetch }
}

impl Run {
    /// The run as its workspace's queue sees it.
    pub const fn entry(&self) -> queue::Entry {
        entry(self.id, self.state, self.facts, self.configuration_version.is_some())
    }

    /// What kind of run it is.
    pub const fn operation(&self) -> Operation {
        Operation::of(self.facts, self.options.plan.refresh_only)
    }
}

/// What was asked for when a run was queued, beside its [`Facts`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RunOptions {
    /// Why it was queued, for people.
    pub message: String,
    /// What `terraform plan` is told.
    #[serde(flatten)]
    pub plan: PlanOptions,
    /// Values for this run alone; they win over the workspace's.
    pub variables: Vec<RunVariable>,
    /// Begin with a new state although another was found.
    pub allow_new_state: bool,
}

/// The kind of a run, as the API's `filter[operation]` names it (docs/api.md, "Attributes of a run").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Never applied.
    PlanOnly,
    /// The plan destroys everything.
    Destroy,
    /// Only the state is brought up to date.
    RefreshOnly,
    /// A plan without changes may be applied as well.
    EmptyApply,
    /// None of the others.
    PlanAndApply,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::PlanOnly, Self::Destroy, Self::RefreshOnly, Self::EmptyApply, Self::PlanAndApply];

    /// The one kind of a run; plan-only wins over what it would plan.
    pub const fn of(facts: Facts, refresh_only: bool) -> Self {
        match facts {
            Facts { plan_only: true, .. } => Self::PlanOnly,
            Facts { destroy: true, .. } => Self::Destroy,
            _ if refresh_only => Self::RefreshOnly,
            Facts { allow_empty_apply: true, .. } => Self::EmptyApply,
            _ => Self::PlanAndApply,
        }
    }

    /// The word in the API and in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PlanOnly => "plan_only",
            Self::Destroy => "destroy",
            Self::RefreshOnly => "refresh_only",
            Self::EmptyApply => "empty_apply",
            Self::PlanAndApply => "plan_and_apply",
        }
    }
}

/// Somebody's wish that a run stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cancel {
    /// Who cancelled.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// From when on it may be force-cancelled.
    pub force_available_at: Timestamp,
    /// When it was force-cancelled.
    #[serde(default)]
    pub forced_at: Option<Timestamp>,
}

/// What a plan says, read from the plan file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PlanSummary {
    /// Resources or outputs change.
    pub has_changes: bool,
    /// Resources to create.
    pub additions: u64,
    /// Resources to update in place.
    pub changes: u64,
    /// Resources to destroy.
    pub destructions: u64,
    /// Resources to import.
    pub imports: u64,
    /// The blob with the plan file: only this very file may be applied.
    pub plan_digest: Digest,
    /// The blob with `terraform show -json` of the plan.
    #[serde(default)]
    pub plan_json: Option<Digest>,
    /// The same without the values that the workspace calls sensitive, if some stand in it.
    #[serde(default)]
    pub masked_plan_json: Option<Digest>,
    /// The terraform that made it.
    pub terraform_version: String,
}

/// What the policies said about a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyCheckRecord {
    /// All of them together.
    pub outcome: PolicyOutcome,
    /// The blob with the whole report.
    pub report: Digest,
    /// Of single policies.
    pub counts: PolicyCounts,
}

/// How many policies ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyCounts {
    /// Passed.
    pub passed: u64,
    /// Failed, and can't be overridden.
    pub hard_failed: u64,
    /// Failed, and can be overridden.
    pub soft_failed: u64,
    /// Failed, which stops nothing.
    pub advisory_failed: u64,
}

/// A run to be queued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// A fresh id, made by the caller.
    pub id: RunId,
    /// Where it runs.
    pub workspace: WorkspaceId,
    /// See [`Run::facts`].
    pub facts: Facts,
    /// See [`Run::options`].
    pub options: RunOptions,
    /// See [`Run::source`].
    pub source: String,
    /// The name of who queues it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// If it is known already. It has to be one of the same workspace.
    pub configuration_version: Option<ConfigurationVersionId>,
}

/// Something that happened to a run. What it makes of the run's state is decided by [`lifecycle::step`](fn@lifecycle::step)
/// when it is recorded, and by nobody else: there is no way to name a state here.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// Which run.
    pub run: RunId,
    /// What happened. Whether the time before a force-cancel is over is read from the run's record.
    pub event: Event,
    /// What who queued the run may do in its workspace now: whether its plan is applied by itself depends on that.
    pub creator: WorkspaceRights,
    /// Who did it.
    pub by: Actor,
    /// A person's comment, or the reason in words.
    pub why: Option<String>,
    /// When.
    pub at: Timestamp,
    /// What is known now beside the state.
    pub update: RunUpdate,
}

/// New values of a run's other fields; `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunUpdate {
    /// From when on the run may be force-cancelled, when a person cancels it. See [`Run::cancel`].
    pub force_cancel_from: Option<Timestamp>,
    /// See [`Run::plan`].
    pub plan: Option<PlanSummary>,
    /// See [`Run::configuration_version`].
    pub configuration_version: Option<ConfigurationVersionId>,
    /// See [`Run::error`].
    pub error: Option<String>,
    /// See [`Run::policy`].
    pub policy: Option<PolicyCheckRecord>,
    /// One more of [`Run::logs`].
    pub log: Option<(Stage, Digest)>,
}

/// A run that is not over, as far as the queue of the organization cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// See [`Run::seq`].
    pub seq: i64,
    /// Where it runs.
    pub workspace: WorkspaceId,
    /// Its entry in the queue of its workspace.
    pub entry: queue::Entry,
}

/// Which runs; an empty filter passes all of them, and an empty list passes none.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunFilter {
    /// In a workspace that the reader sees.
    pub visible: Visibility,
    /// In this workspace.
    pub workspace: Option<WorkspaceId>,
    /// In one of the workspaces of these names.
    pub workspace_names: Option<Vec<String>>,
    /// In one of these states.
    pub states: Option<Vec<State>>,
    /// Of one of these kinds.
    pub operations: Option<Vec<Operation>>,
    /// From one of these sources.
    pub sources: Option<Vec<String>>,
    /// Queued by this user.
    pub created_by: Option<String>,
    /// Whose configuration is of a commit that starts with this.
    pub commit: Option<String>,
    /// Whose id, message, creator or commit contains this, capitals aside.
    pub search: Option<String>,
    /// Queued at this moment or later.
    pub created_from: Option<Timestamp>,
    /// Queued before this moment.
    pub created_before: Option<Timestamp>,
}
