use jiff::Timestamp;
use lifecycle::id::{StateVersionId, WorkspaceId};
use serde::{Deserialize, Serialize};

/// A workspace, as far as it is not told by the config file: settings live there, and only there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Given when the name was first seen, and kept when the workspace is removed and comes back.
    pub id: WorkspaceId,
    /// As in the config file.
    pub name: String,
    /// A person's lock: runs that are not plan-only stay pending.
    pub lock: Option<Lock>,
    /// The newest state version, if there is any.
    pub current_state_version: Option<StateVersionId>,
    /// When the name was first seen.
    pub created_at: Timestamp,
    /// When the lock or the removal last changed.
    pub updated_at: Timestamp,
    /// When it was taken out of the config file. Its runs, states and locks stay; it takes no new runs.
    pub removed_at: Option<Timestamp>,
}

/// A person's lock on a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The user's name.
    pub by: String,
    /// Why, in their words; may be empty.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
}
