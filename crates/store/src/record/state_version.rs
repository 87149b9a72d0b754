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
    /// The blob with the state as `terraform show -json` gives it, if who wrote the state gave that as well.
    pub json: Option<Digest>,
}

/// A state that was announced: its bytes come later, once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateUpload {
    /// What the state version will be.
    pub id: StateVersionId,
    /// Whose.
    pub workspace: WorkspaceId,
    /// What it is said to be. The file has to say the same.
    pub serial: Option<u64>,
    /// The same of its lineage.
    pub lineage: Option<String>,
    /// The MD5 of its bytes, as 32 hexadecimal digits.
    pub md5: Option<String>,
    /// See [`Store::push_state_version`](crate::Store::push_state_version).
    pub force: bool,
    /// See [`StateVersion::json`]: it may come first.
    pub json: Option<Digest>,
    /// When it was announced.
    pub created_at: Timestamp,
    /// By whom.
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
    /// See [`StateVersion::json`].
    pub json: Option<Digest>,
}
