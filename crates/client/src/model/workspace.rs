use jiff::Timestamp;
use serde::Deserialize;

use super::Run;
use crate::document::{FromResource, Included, Resource, Result, null_is_default};

/// A workspace.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Workspace {
    /// The id, `ws-…`.
    #[serde(skip)]
    pub id: String,
    /// The name in the config file.
    pub name: String,
    /// For people.
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    /// By a person, or by the run that holds it.
    #[serde(default)]
    pub locked: bool,
    /// A person's words.
    #[serde(default, deserialize_with = "null_is_default")]
    pub locked_reason: String,
    /// Whether a run is applied without a person, where that is possible at all.
    #[serde(default)]
    pub auto_apply: bool,
    /// The terraform that its runs use; `latest` if that is not known.
    #[serde(default, deserialize_with = "null_is_default")]
    pub terraform_version: String,
    /// What this daemon says beyond the API.
    #[serde(default, deserialize_with = "null_is_default")]
    signalbox: Own,
    /// The folder of its source in which terraform runs; empty for its root.
    #[serde(default, deserialize_with = "null_is_default")]
    pub working_directory: String,
    /// When it was first seen in the config file.
    pub created_at: Timestamp,
    /// When something last happened to it.
    #[serde(default)]
    pub latest_change_at: Option<Timestamp>,
    /// What the user may do with it.
    #[serde(default, deserialize_with = "null_is_default")]
    pub permissions: WorkspacePermissions,
    /// Who locked it: `users` or `runs`, and the id.
    #[serde(skip)]
    pub locked_by: Option<LockedBy>,
    /// The id of the run that it shows: the one that holds it, or else the newest final one.
    #[serde(skip)]
    pub current_run_id: Option<String>,
    /// That run, if it was asked for.
    #[serde(skip)]
    pub current_run: Option<Box<Run>>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
struct Own {
    source: Option<Source>,
    terraform_version_unknown: Option<String>,
    locked_at: Option<Timestamp>,
}

/// Where the terraform configuration of a workspace comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Source {
    /// A git repository.
    Git {
        /// Its address, without user and password.
        url: String,
        /// A branch, tag or commit.
        r#ref: String,
    },
    /// A directory of the daemon's machine.
    Directory {
        /// Absolute.
        path: String,
    },
    /// One that this release does not know.
    #[serde(other)]
    Other,
}

impl Workspace {
    /// Where its terraform configuration comes from; `None` for one that was removed from the config file.
    pub fn source(&self) -> Option<&Source> {
        self.signalbox.source.as_ref()
    }

    /// When a person locked it.
    pub fn locked_at(&self) -> Option<Timestamp> {
        self.signalbox.locked_at
    }

    /// Why the daemon does not know the version of its terraform.
    pub fn terraform_version_unknown(&self) -> Option<&str> {
        self.signalbox.terraform_version_unknown.as_deref()
    }
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedBy {
    /// The run that holds the workspace.
    Run(String),
    /// A person, by name; by id if the name was not told.
    User(String),
}

/// What the user may do with a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct WorkspacePermissions {
    /// Queue a run.
    pub can_queue_run: bool,
    /// Queue a run that is applied, and confirm.
    pub can_queue_apply: bool,
    /// Lock it.
    pub can_lock: bool,
    /// Release their own lock.
    pub can_unlock: bool,
    /// Release the lock of another.
    pub can_force_unlock: bool,
}

impl FromResource for Workspace {
    const KIND: &'static str = "workspaces";

    fn from_resource(resource: &Resource, included: &Included<'_>) -> Result<Self> {
        let mut workspace = Self { id: resource.id.clone(), ..resource.attributes()? };
        workspace.locked_by = resource.link("locked-by").map(|(kind, id)| match kind {
            "runs" => LockedBy::Run(id.to_owned()),
            _ => LockedBy::User(included.attribute("users", id, "username").unwrap_or_else(|| id.to_owned())),
        });
        workspace.current_run_id = resource.linked("current-run");
        if let Some(id) = &workspace.current_run_id {
            workspace.current_run = included.get(id)?.map(Box::new);
        }
        Ok(workspace)
    }
}
