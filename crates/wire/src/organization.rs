//! The organization.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attributes, NoRelationships, Permissions, Relationship, Relationships, Resource, Text};

/// The organization. Its id is its name.
pub type Organization = Resource<OrganizationAttributes>;
/// What the organization can do.
pub type EntitlementSet = Resource<EntitlementSetAttributes>;
/// How busy the organization is. Its id is the organization's name.
pub type Capacity = Resource<CapacityAttributes>;

impl Attributes for OrganizationAttributes {
    const TYPE: &'static str = "organizations";
    type Relationships = OrganizationRelationships;
}

impl Attributes for EntitlementSetAttributes {
    const TYPE: &'static str = "entitlement-sets";
    type Relationships = NoRelationships;
}

impl Attributes for CapacityAttributes {
    const TYPE: &'static str = "organization-capacity";
    type Relationships = NoRelationships;
}

/// What the organization is like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct OrganizationAttributes {
    /// The name in the config file.
    pub name: String,
    /// The same on every start.
    pub external_id: String,
    /// Always `null`.
    pub email: Option<String>,
    /// Always `password`.
    pub collaborator_auth_policy: Text,
    /// Always false.
    pub cost_estimation_enabled: bool,
    /// Always `remote`.
    pub default_execution_mode: Text,
    /// Always false.
    pub assessments_enforced: bool,
    /// Always false.
    pub allow_force_delete_workspaces: bool,
    /// What the reader may do with it.
    pub permissions: Permissions,
}

/// What the daemon does, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct EntitlementSetAttributes(pub BTreeMap<Text, bool>);

/// How busy the organization is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CapacityAttributes {
    /// Runs that wait for their turn.
    pub pending: usize,
    /// Runs that work.
    pub running: usize,
}

/// What the organization is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct OrganizationRelationships {
    /// What it can do.
    pub entitlement_set: Relationship,
}

impl Relationships for OrganizationRelationships {}
