use jiff::Timestamp;
use lifecycle::id::{RunId, StateVersionId, WorkspaceId};

use crate::{Digest, StateMeta};

/// A state of a workspace, as terraform wrote it: a file in the blobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateVersion {
    /// Which.
    pub id: StateVersionId,
    /// Whose.
    pub workspace: WorkspaceId,
    /// The run that wrote it; `None` if a person did.
    pub run: Option<RunId>,
    /// What the state file says about itself.
    pub meta: StateMeta,
    /// The blob with the state file.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
    /// When it was taken.
    pub created_at: Timestamp,
    /// The name of who queued the run, or wrote the state.
    pub created_by: String,
}

/// A state to be added. Its bytes have to be in the blobs already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewStateVersion {
    /// A fresh id, made by the caller.
    pub id: StateVersionId,
    /// Whose.
    pub workspace: WorkspaceId,
    /// The run that wrote it.
    pub run: Option<RunId>,
    /// What the state file says about itself, by [`StateMeta::parse`].
    pub meta: StateMeta,
    /// The blob with the state file.
    pub digest: Digest,
    /// Its bytes.
    pub size: u64,
    /// When.
    pub created_at: Timestamp,
    /// See [`StateVersion::created_by`].
    pub created_by: String,
}
