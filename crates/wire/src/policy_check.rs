//! Policy checks of runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Attributes, Relationship, Relationships, Resource, Text, Timestamps};

/// The policy check of a run.
pub type PolicyCheck = Resource<PolicyCheckAttributes>;

impl Attributes for PolicyCheckAttributes {
    const TYPE: &'static str = "policy-checks";
    type Relationships = PolicyCheckRelationships;
}

/// What a policy check is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyCheckAttributes {
    /// How far it is, or how it ended: `pending`, `passed`, `soft_failed`, `hard_failed`, `overridden`, `errored`,
    /// `canceled`, `unreachable`.
    pub status: Text,
    /// When it reached what, by key: `passed-at`.
    pub status_timestamps: Timestamps,
    /// Always `organization`.
    pub scope: Text,
    /// What could be done with it now, by who has the right.
    pub actions: PolicyCheckActions,
    /// What the reader may do with it, if it can be done.
    pub permissions: PolicyCheckPermissions,
    /// `null` until it has ended.
    pub result: Option<PolicyResult>,
}

/// What could be done with a policy check now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyCheckActions {
    /// It waits for an override.
    pub is_overridable: bool,
}

/// What the reader may do with a policy check, if it can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyCheckPermissions {
    /// Override it.
    pub can_override: bool,
}

/// How many policies ended how. `total-failed` is the sum of the three; each policy is counted once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyResult {
    /// Whether no mandatory policy failed.
    pub result: bool,
    /// Passed.
    pub passed: u64,
    /// Failed, at whatever level.
    pub total_failed: u64,
    /// Failed, and can't be overridden.
    pub hard_failed: u64,
    /// Failed, and can be overridden.
    pub soft_failed: u64,
    /// Failed, which stops nothing.
    pub advisory_failed: u64,
    /// Milliseconds, as older clients read them.
    pub duration: Option<u64>,
    /// Milliseconds.
    pub duration_ms: Option<u64>,
    /// The whole report.
    pub sentinel: Option<Value>,
}

impl PolicyResult {
    /// What became of each policy set. A report of another kind of server is none of ours, and tells nothing.
    pub fn sets(&self) -> Vec<CheckedSet> {
        let sets = self.sentinel.as_ref().and_then(|report| report.get("sets"));
        sets.and_then(|sets| Vec::deserialize(sets).ok()).unwrap_or_default()
    }
}

/// What became of a policy set, as a report tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckedSet {
    /// Its name.
    pub name: String,
    /// Why it could not be loaded, if it could not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// Its policies in their order; none if it could not be loaded.
    pub policies: Vec<CheckedPolicy>,
    /// Whatever else the report tells of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What became of a policy, as a report tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CheckedPolicy {
    /// Its name.
    pub name: String,
    /// Its enforcement level: `advisory`, `soft-mandatory` or `hard-mandatory`.
    pub level: String,
    /// `passed`, `failed` or `errored`.
    pub result: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whatever else the report tells of it: messages or the error, prints, the rules with their values.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What a policy check is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PolicyCheckRelationships {
    /// The run that it is a part of.
    pub run: Relationship,
}

impl Relationships for PolicyCheckRelationships {}
