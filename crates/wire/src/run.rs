//! Runs.

use std::borrow::Cow;

use jiff::Timestamp;
use lifecycle::{PlanOptions, State, wire as status};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Attributes, NullIfEmpty, Relationship, Relationships, Resource, Text, Timestamps};

/// A run.
pub type Run = Resource<RunAttributes>;

impl Attributes for RunAttributes {
    const TYPE: &'static str = "runs";
    type Relationships = RunRelationships;
}

/// What a run is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RunAttributes {
    /// In the words of the Terraform Enterprise API. People see `signalbox.state-name`, which tells more states apart.
    #[schemars(schema_with = "run_status")]
    pub status: Text,
    /// When it reached what, by key: `planning-at`.
    pub status_timestamps: Timestamps,
    /// What could be done with it now, by who has the right.
    pub actions: RunActions,
    /// What the reader may do with it, if it can be done.
    pub permissions: RunPermissions,
    /// Always false: configuration is not generated.
    pub allow_config_generation: bool,
    /// Whether a plan without changes may be applied.
    pub allow_empty_apply: bool,
    /// Whether it begins with a new state although another was found.
    pub allow_new_state: bool,
    /// Whether it is applied without a person, where that is possible at all.
    pub auto_apply: bool,
    /// When somebody cancelled it. It may go on for a while after that.
    pub canceled_at: Option<Timestamp>,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When something about it last changed.
    pub updated_at: Timestamp,
    /// Always false.
    pub debugging_mode: bool,
    /// From when on it can be force-cancelled; `null` before it was cancelled.
    pub force_cancel_available_at: Option<Timestamp>,
    /// Whether the plan changes anything; false until it has finished.
    pub has_changes: bool,
    /// Whether the plan destroys everything.
    pub is_destroy: bool,
    /// Why it was queued, in a person's words.
    pub message: String,
    /// Whether it is never applied.
    pub plan_only: bool,
    /// Always empty: policies come from the config file.
    pub policy_paths: Vec<String>,
    /// How many runs are ahead of it in the organization's queue, those that run included.
    pub position_in_queue: usize,
    /// What `terraform plan` is told.
    #[serde(flatten)]
    pub options: NullIfEmpty<PlanOptions>,
    /// Always false: plans are not saved for later.
    pub save_plan: bool,
    /// Where it came from: `tfe-api`, `terraform+cloud`, `signalbox-cli`.
    pub source: String,
    /// The terraform that made the plan.
    pub terraform_version: Option<String>,
    /// Always `manual`.
    pub trigger_reason: Text,
    /// Values for this run alone.
    pub variables: Vec<ShownVariable>,
    /// What this daemon says beyond the Terraform Enterprise API.
    pub signalbox: RunExtension,
}

/// What could be done with a run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RunActions {
    /// Something can be stopped.
    pub is_cancelable: bool,
    /// A plan waits to be confirmed.
    pub is_confirmable: bool,
    /// It can be declined.
    pub is_discardable: bool,
    /// It was cancelled, and the cool-off is over.
    pub is_force_cancelable: bool,
}

/// What the reader may do with a run, if it can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RunPermissions {
    /// Confirm it.
    pub can_apply: bool,
    /// Stop it.
    pub can_cancel: bool,
    /// Always false: comments come with actions.
    pub can_comment: bool,
    /// Decline it.
    pub can_discard: bool,
    /// Always false.
    pub can_force_execute: bool,
    /// Kill it.
    pub can_force_cancel: bool,
    /// Override its failed policies.
    pub can_override_policy_check: bool,
}

/// A variable of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownVariable {
    /// The variable's name.
    pub key: String,
    /// An HCL literal; `null` for who may not see it.
    pub value: Option<String>,
}

/// What this daemon says of a run beyond the Terraform Enterprise API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RunExtension {
    /// The state.
    pub state: RunState,
    /// The state as people see it: `Needs Confirmation`.
    pub state_name: Text,
    /// Whether the run is over.
    pub is_final: bool,
    /// Completes "it waits for …"; `null` for one that is not queued, or goes on at once.
    pub waits_for: Option<String>,
    /// Why it errored.
    pub error: Option<String>,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunState {
    /// One of those that this release knows.
    Known(State),
    /// One of a newer daemon, as it came.
    Other(String),
}

impl RunState {
    /// The state, if this release knows it.
    pub const fn known(&self) -> Option<State> {
        match self {
            Self::Known(state) => Some(*state),
            Self::Other(_) => None,
        }
    }
}

impl Serialize for RunState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Known(state) => state.as_str(),
            Self::Other(text) => text,
        })
    }
}

impl<'de> Deserialize<'de> for RunState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().map_or(Self::Other(text), Self::Known))
    }
}

impl JsonSchema for RunState {
    fn schema_name() -> Cow<'static, str> {
        "RunState".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        words(|state| state.as_str(), "The state of a run. Newer daemons may have more.")
    }
}

fn run_status(_: &mut SchemaGenerator) -> Schema {
    words(status::run_status, "In the words of the Terraform Enterprise API.")
}

/// A text that is one of those that states have.
pub(crate) fn words(of: impl Fn(State) -> &'static str, description: &str) -> Schema {
    let mut words: Vec<_> = State::all().into_iter().map(of).collect();
    words.dedup();
    let mut seen = Vec::new();
    words.retain(|word| {
        !seen.contains(word) && {
            seen.push(word);
            true
        }
    });
    json_schema!({ "type": "string", "enum": words, "description": description })
}

/// What a run is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct RunRelationships {
    /// Where it runs.
    pub workspace: Relationship,
    /// Its plan.
    pub plan: Relationship,
    /// Its apply.
    pub apply: Relationship,
    /// What it runs on, once that is known.
    pub configuration_version: Relationship,
    /// Its policy check; none where no policies apply.
    pub policy_checks: Relationship,
    /// What happened to it.
    pub run_events: Relationship,
    /// Who queued it.
    pub created_by: Relationship,
    /// Who confirmed its plan.
    pub confirmed_by: Relationship,
    /// Who cancelled it.
    pub canceled_by: Relationship,
    /// Always nothing: there are no cost estimates.
    pub cost_estimate: Relationship,
    /// Always empty: there are no run tasks.
    pub task_stages: Relationship,
    /// Always empty: comments are part of events.
    pub comments: Relationship,
}

impl Relationships for RunRelationships {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_of_a_newer_daemon_is_kept_as_it_came() {
        let read = |text: &str| serde_json::from_str::<RunState>(text).unwrap();
        let shown = |state: &RunState| serde_json::to_string(state).unwrap();
        for state in State::all() {
            let read = read(&shown(&RunState::Known(state)));
            assert_eq!(read.known(), Some(state));
        }
        let newer = read("\"assessing\"");
        assert_eq!((newer.known(), shown(&newer).as_str()), (None, "\"assessing\""));
    }
}
