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
    /// `None` for what is taken from a directory.
    #[serde(default)]
    pub vcs_repo: Option<VcsRepo>,
    /// The folder of the configuration inside its source.
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

/// Where a configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct VcsRepo {
    /// The repository's address.
    #[serde(default, deserialize_with = "null_is_default")]
    pub identifier: String,
    /// A branch, tag or commit.
    #[serde(default, deserialize_with = "null_is_default")]
    pub branch: String,
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
