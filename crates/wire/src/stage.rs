//! Plans and applies: parts of a run.

use lifecycle::wire as status;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use crate::run::words;
use crate::{Attributes, Relationship, Relationships, Resource, Text, Timestamps};

/// The plan of a run.
pub type Plan = Resource<PlanAttributes>;
/// The apply of a run.
pub type Apply = Resource<ApplyAttributes>;

impl Attributes for PlanAttributes {
    const TYPE: &'static str = "plans";
    type Relationships = PlanRelationships;
}

impl Attributes for ApplyAttributes {
    const TYPE: &'static str = "applies";
    type Relationships = ApplyRelationships;
}

/// What a plan is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanAttributes {
    /// How far it is.
    #[schemars(schema_with = "plan_status")]
    pub status: Text,
    /// When it reached what, by key: `started-at`.
    pub status_timestamps: Timestamps,
    /// Whether it changes anything; false until it has finished.
    pub has_changes: bool,
    /// Always false: configuration is not generated.
    pub generated_configuration: bool,
    /// What it is about; `null` until that is known.
    #[serde(flatten)]
    pub resources: ResourceCounts,
    /// Where it is made.
    pub execution_details: ExecutionDetails,
    /// Where its log is. The address is a secret, and good for a day.
    pub log_read_url: String,
    /// What the reader may do with it.
    pub permissions: PlanPermissions,
    /// What could be done with it.
    pub actions: PlanActions,
}

/// What an apply is like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ApplyAttributes {
    /// How far it is.
    #[schemars(schema_with = "apply_status")]
    pub status: Text,
    /// When it reached what, by key: `started-at`.
    pub status_timestamps: Timestamps,
    /// What it did; `null` unless it was done.
    #[serde(flatten)]
    pub resources: ResourceCounts,
    /// Where it is done.
    pub execution_details: ExecutionDetails,
    /// Where its log is. The address is a secret, and good for a day.
    pub log_read_url: String,
}

/// How many resources a plan or an apply is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ResourceCounts {
    /// Created.
    #[serde(rename = "resource-additions")]
    pub additions: Option<u64>,
    /// Updated in place.
    #[serde(rename = "resource-changes")]
    pub changes: Option<u64>,
    /// Destroyed.
    #[serde(rename = "resource-destructions")]
    pub destructions: Option<u64>,
    /// Imported.
    #[serde(rename = "resource-imports")]
    pub imports: Option<u64>,
}

/// Where a stage is carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionDetails {
    /// Always `remote`.
    pub mode: Text,
}

/// What the reader may do with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanPermissions {
    /// Always false: plans are not exported.
    pub can_export: bool,
}

/// What could be done with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct PlanActions {
    /// Always false: plans are not exported.
    pub is_exportable: bool,
}

/// What a plan is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct PlanRelationships {
    /// Always empty: a plan writes no state.
    pub state_versions: Relationship,
    /// Always empty: plans are not exported.
    pub exports: Relationship,
}

impl Relationships for PlanRelationships {}

/// What an apply is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct ApplyRelationships {
    /// The state versions that it wrote.
    pub state_versions: Relationship,
}

impl Relationships for ApplyRelationships {}

fn plan_status(_: &mut SchemaGenerator) -> Schema {
    words(status::plan_status, "How far it is.")
}

fn apply_status(_: &mut SchemaGenerator) -> Schema {
    words(status::apply_status, "How far it is.")
}
