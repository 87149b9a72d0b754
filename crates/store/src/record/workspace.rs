use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::AccessLevel;
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
    /// What each team may do here, as the config file said last. Of a workspace that was taken out of the file it stands
    /// while a run is under way, and for a day after the last of them has ended, so that its people see how; then it is
    /// empty.
    pub access: BTreeMap<String, AccessLevel>,
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

impl Lock {
    /// [`Lock::by`] of a lock that the daemon set itself, since a run left a state that it could not keep.
    pub const DAEMON: &str = lifecycle::access::DAEMON;
}
