use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::{ApplyStatus, PlanStatus};
use crate::document::{FromResource, Included, Resource, Result, null_is_default};

/// How many resources a plan or an apply is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
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

/// The plan of a run. Counts are `None` until they are known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Plan {
    /// The id, `plan-…`.
    #[serde(skip)]
    pub id: String,
    /// How far it is.
    pub status: PlanStatus,
    /// When it reached what, by key: `started-at`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub status_timestamps: BTreeMap<String, Timestamp>,
    /// Whether it changes anything; false until it has finished.
    #[serde(default, deserialize_with = "null_is_default")]
    pub has_changes: bool,
    /// What it is about.
    #[serde(flatten)]
    pub resources: ResourceCounts,
    /// Where its log is; a secret.
    #[serde(default)]
    pub log_read_url: Option<String>,
}

/// The apply of a run. Counts are `None` unless it was done.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Apply {
    /// The id, `apply-…`.
    #[serde(skip)]
    pub id: String,
    /// How far it is.
    pub status: ApplyStatus,
    /// When it reached what, by key: `started-at`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub status_timestamps: BTreeMap<String, Timestamp>,
    /// What it is about.
    #[serde(flatten)]
    pub resources: ResourceCounts,
    /// Where its log is; a secret.
    #[serde(default)]
    pub log_read_url: Option<String>,
    /// The ids of the state versions that it wrote.
    #[serde(skip)]
    pub state_version_ids: Vec<String>,
}

impl FromResource for Plan {
    const KIND: &'static str = "plans";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        Ok(Self { id: resource.id.clone(), ..resource.attributes()? })
    }
}

impl FromResource for Apply {
    const KIND: &'static str = "applies";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        let state_version_ids = resource.linked_all("state-versions");
        Ok(Self { id: resource.id.clone(), state_version_ids, ..resource.attributes()? })
    }
}
