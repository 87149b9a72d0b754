use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::PolicyCheckStatus;
use crate::document::{FromResource, Included, Resource, Result, null_is_default};

/// A policy check of a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PolicyCheck {
    /// The id, `polchk-…`.
    #[serde(skip)]
    pub id: String,
    /// How far it is, or how it ended.
    pub status: PolicyCheckStatus,
    /// `None` until it has ended.
    #[serde(default)]
    pub result: Option<PolicyCounts>,
    /// What became of each policy set; empty until it has ended.
    #[serde(skip)]
    pub sets: Vec<CheckedSet>,
    #[serde(default, deserialize_with = "null_is_default")]
    actions: Actions,
    #[serde(default, deserialize_with = "null_is_default")]
    permissions: Permissions,
}

/// How many policies ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PolicyCounts {
    /// Whether no mandatory policy failed.
    pub result: bool,
    /// Passed.
    pub passed: u64,
    /// Failed, and can't be overridden.
    pub hard_failed: u64,
    /// Failed, and can be overridden.
    pub soft_failed: u64,
    /// Failed, which stops nothing.
    pub advisory_failed: u64,
}

/// What became of a policy set.
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
    /// Whatever else the server tells of it.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// What became of a policy.
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
    /// Whatever else the server tells of it: messages or the error, prints, the rules with their values.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Actions {
    is_overridable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Permissions {
    can_override: bool,
}

impl PolicyCheck {
    /// It waits for an override.
    pub const fn is_overridable(&self) -> bool {
        self.actions.is_overridable
    }

    /// The user may override it, when it can be.
    pub const fn can_override(&self) -> bool {
        self.permissions.can_override
    }
}

impl FromResource for PolicyCheck {
    const KIND: &'static str = "policy-checks";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        // a report of another kind of server is none of ours, and takes nothing from the rest
        let sets = resource.attribute_at("/result/sentinel/sets").unwrap_or_default();
        Ok(Self { id: resource.id.clone(), sets, ..resource.attributes()? })
    }
}
