use serde::Deserialize;

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
        Ok(Self { id: resource.id.clone(), ..resource.attributes()? })
    }
}
