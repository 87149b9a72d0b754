use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

use super::{Apply, Plan, RunStatus};
use crate::document::{FromResource, Included, One, Resource, Result, null_is_default};

/// A run.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Run {
    /// The id, `run-…`.
    #[serde(skip)]
    pub id: String,
    /// On the wire; people see [`state_name`](Self::state_name).
    pub status: RunStatus,
    /// When it reached what, by key: `planning-at`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub status_timestamps: BTreeMap<String, Timestamp>,
    /// What could be done with it now, by who has the right.
    #[serde(default, deserialize_with = "null_is_default")]
    pub actions: RunActions,
    /// What the user may do with it, if it can be done.
    #[serde(default, deserialize_with = "null_is_default")]
    pub permissions: RunPermissions,
    /// When it was queued.
    pub created_at: Timestamp,
    /// When somebody cancelled it. It may go on for a while after that.
    #[serde(default)]
    pub canceled_at: Option<Timestamp>,
    /// From when on it can be force-cancelled; `None` before it was cancelled.
    #[serde(default)]
    pub force_cancel_available_at: Option<Timestamp>,
    /// Why it was queued, in a person's words.
    #[serde(default, deserialize_with = "null_is_default")]
    pub message: String,
    /// Where it came from: `tfe-api`, `terraform+cloud`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub source: String,
    /// Whether the plan changes anything; false until it has finished.
    #[serde(default)]
    pub has_changes: bool,
    /// Whether it is applied without a person, where that is possible at all.
    #[serde(default)]
    pub auto_apply: bool,
    /// Never applied.
    #[serde(default)]
    pub plan_only: bool,
    /// Destroys everything.
    #[serde(default)]
    pub is_destroy: bool,
    /// Only brings the state up to date.
    #[serde(default)]
    pub refresh_only: bool,
    /// Whether the plan reads the real objects first.
    #[serde(default)]
    pub refresh: Option<bool>,
    /// `-target`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub target_addrs: Vec<String>,
    /// `-replace`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub replace_addrs: Vec<String>,
    /// The terraform that made the plan.
    #[serde(default)]
    pub terraform_version: Option<String>,
    /// What this daemon says beyond the API.
    #[serde(default, deserialize_with = "null_is_default")]
    signalbox: Own,
    /// The workspace's id.
    #[serde(skip)]
    pub workspace_id: Option<String>,
    /// Its name, if it came along.
    #[serde(skip)]
    pub workspace_name: Option<String>,
    /// Who queued it: a name; the id if the name was not told.
    #[serde(skip)]
    pub created_by: Option<String>,
    /// The plan's id.
    #[serde(skip)]
    pub plan_id: Option<String>,
    /// The plan, if it came along.
    #[serde(skip)]
    pub plan: Option<Plan>,
    /// The apply's id.
    #[serde(skip)]
    pub apply_id: Option<String>,
    /// The apply, if it came along.
    #[serde(skip)]
    pub apply: Option<Apply>,
    /// The ids of its policy checks; none where no policies apply.
    #[serde(skip)]
    pub policy_check_ids: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Own {
    #[serde(default)]
    error: Option<String>,
    #[serde(default)]
    waits_for: Option<String>,
}

/// What could be done with a run now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
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

/// What the user may do with a run, if it can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RunPermissions {
    /// Confirm it.
    pub can_apply: bool,
    /// Stop it.
    pub can_cancel: bool,
    /// Decline it.
    pub can_discard: bool,
    /// Kill it.
    pub can_force_cancel: bool,
    /// Override its failed policies.
    pub can_override_policy_check: bool,
}

impl Run {
    /// Reads a run from a document of the API, such as one that was kept.
    ///
    /// # Errors
    /// In words, if it is no document of a run.
    pub fn from_document(json: &str) -> std::result::Result<Self, String> {
        serde_json::from_str::<One>(json).map_err(|error| error.to_string())?.read()
    }

    /// Whether it is over.
    pub const fn is_final(&self) -> bool {
        self.status.is_final()
    }

    /// Why it errored, in the daemon's words.
    pub fn error(&self) -> Option<&str> {
        self.signalbox.error.as_deref()
    }

    /// What it waits for in its queue: completes "it waits for …". `None` for one that is not queued, or goes on at
    /// once.
    pub fn waits_for(&self) -> Option<&str> {
        self.signalbox.waits_for.as_deref()
    }

    /// Somebody cancelled it, and it has not ended yet.
    pub const fn is_canceling(&self) -> bool {
        self.canceled_at.is_some() && !self.is_final()
    }

    /// Whether it waits for a person, and for nothing else.
    pub const fn waits_for_person(&self) -> bool {
        matches!(self.status, RunStatus::PolicyOverride) || self.actions.is_confirmable
    }

    /// When it came into the state that it is in, as far as its timestamps tell.
    pub fn state_since(&self) -> Timestamp {
        self.status_timestamps.values().copied().max().unwrap_or(self.created_at)
    }
}

impl FromResource for Run {
    const KIND: &'static str = "runs";

    fn from_resource(resource: &Resource, included: &Included<'_>) -> Result<Self> {
        let mut run = Self { id: resource.id.clone(), ..resource.attributes()? };
        run.workspace_id = resource.linked("workspace");
        run.workspace_name =
            run.workspace_id.as_deref().and_then(|id| included.attribute("workspaces", id, "name"));
        run.created_by = resource
            .linked("created-by")
            .map(|id| included.attribute("users", &id, "username").unwrap_or(id));
        run.plan_id = resource.linked("plan");
        run.apply_id = resource.linked("apply");
        run.policy_check_ids = resource.linked_all("policy-checks");
        if let Some(id) = &run.plan_id {
            run.plan = included.get(id)?;
        }
        if let Some(id) = &run.apply_id {
            run.apply = included.get(id)?;
        }
        Ok(run)
    }
}
