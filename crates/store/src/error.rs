use std::path::{Path, PathBuf};

use files::Failure;
use lifecycle::Illegal;
use lifecycle::id::RunId;

use crate::record::Lock;

/// Why the store could not do something. Nothing was changed, except where it says otherwise.
///
/// Cloneable, so that one failed commit can answer everybody who waited for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another daemon works on these data.
    #[error(
        "data directory {} is in use by {}: stop it, or give this daemon another data_dir",
        path.display(),
        pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
    )]
    DataDirInUse {
        /// The data directory.
        path: PathBuf,
        /// Who has it, as far as that can be told.
        pid: Option<u32>,
    },
    /// The data directory can't be made, read or written.
    #[error("data directory {}: {reason}: give data_dir a directory that this user can write to", path.display())]
    DataDir {
        /// What could not be used.
        path: PathBuf,
        /// In the words of the operating system.
        reason: Failure,
    },
    /// The data were written by a newer release.
    #[error("the data in {} were written by a newer release (migration {migration}): use that release", path.display())]
    NewerRelease {
        /// The database.
        path: PathBuf,
        /// The first migration that this release does not know.
        migration: i64,
    },
    /// The database failed.
    #[error("database: {kind}: {reason}")]
    Database {
        /// What that means.
        kind: DatabaseFailure,
        /// In its own words.
        reason: String,
    },
    /// A record can't be understood.
    #[error("the record of {id} can't be read: {reason}")]
    Damaged {
        /// Whose.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no such record.
    #[error("there is no {0}")]
    NotFound(String),
    /// The workspace was taken out of the config file, and takes nothing new.
    #[error("workspace {0} was removed from the configuration")]
    WorkspaceRemoved(String),
    /// A record with this id is there already.
    #[error("{0} exists already")]
    Exists(String),
    /// What was asked for contradicts other records.
    #[error("{0}")]
    Refused(String),
    /// A file of ours can't be written or read.
    #[error("{}: {reason}", path.display())]
    Blob {
        /// The file.
        path: PathBuf,
        /// In the words of the operating system.
        reason: Failure,
    },
    /// The bytes of a blob are not those that were put there.
    #[error("{}: the content does not match its name: the file was damaged", path.display())]
    BlobDamaged {
        /// The file.
        path: PathBuf,
    },
    /// Something is encrypted with a key that was not given.
    #[error(
        "{} is encrypted with key {key}, which is not among the keys of the configuration: add that key to \
         previous_encryption_keys",
        path.display()
    )]
    NoKey {
        /// A file, or the data directory.
        path: PathBuf,
        /// Which.
        key: seal::KeyId,
    },
    /// The store was closed, or the work on this change broke off.
    #[error("the store is closed")]
    Closed,
}

/// What a failure of the database means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseFailure {
    /// No space left.
    #[error("the disk is full")]
    Full,
    /// Somebody else holds it: a backup, a database shell.
    #[error("busy, another process holds it")]
    Busy,
    /// It can't be written.
    #[error("it can't be written")]
    ReadOnly,
    /// The file is damaged, or is not a database.
    #[error("the file is damaged")]
    Corrupt,
    /// The disk failed.
    #[error("input or output failed")]
    Io,
    /// Anything else.
    #[error("failed")]
    Other,
}

impl Error {
    /// Whether it can pass by itself, so that the same thing may work later. What can't is not tried again: it has to come
    /// to an end, with these words.
    pub const fn can_pass(&self) -> bool {
        match self {
            Self::DataDirInUse { .. } | Self::Closed => true,
            Self::DataDir { reason, .. } | Self::Blob { reason, .. } => reason.can_pass(),
            Self::Database { kind, .. } => match kind {
                DatabaseFailure::Full
                | DatabaseFailure::Busy
                | DatabaseFailure::ReadOnly
                | DatabaseFailure::Io => true,
                DatabaseFailure::Corrupt | DatabaseFailure::Other => false,
            },
            Self::NewerRelease { .. }
            | Self::Damaged { .. }
            | Self::NotFound(_)
            | Self::WorkspaceRemoved(_)
            | Self::Exists(_)
            | Self::Refused(_)
            | Self::BlobDamaged { .. }
            | Self::NoKey { .. } => false,
        }
    }

    /// What the operating system says of a file.
    pub fn file(path: impl Into<PathBuf>, reason: &std::io::Error) -> Self {
        Self::Blob { path: path.into(), reason: reason.into() }
    }

    pub(crate) fn not_found(id: impl std::fmt::Display) -> Self {
        Self::NotFound(id.to_string())
    }

    pub(crate) fn damaged(id: impl std::fmt::Display, reason: impl std::fmt::Display) -> Self {
        Self::Damaged { id: id.to_string(), reason: reason.to_string() }
    }

    pub(crate) fn data_dir(path: &Path, reason: &std::io::Error) -> Self {
        Self::DataDir { path: path.to_owned(), reason: reason.into() }
    }

    pub(crate) fn sealed(path: &Path, error: seal::OpenError) -> Self {
        match error {
            seal::OpenError::UnknownKey(key) => Self::NoKey { path: path.to_owned(), key },
            seal::OpenError::Damaged => Self::BlobDamaged { path: path.to_owned() },
            seal::OpenError::Io(error) => Self::blob(path, &error),
        }
    }

    pub(crate) fn blob(path: &Path, reason: &std::io::Error) -> Self {
        Self::file(path, reason)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        let kind = match &error {
            sqlx::Error::PoolTimedOut => DatabaseFailure::Busy,
            sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => return Self::Closed,
            sqlx::Error::Io(_) => DatabaseFailure::Io,
            sqlx::Error::Database(database) => {
                // SQLite's extended result codes hold the primary one in their lowest byte
                match database.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff) {
                    Some(13) => DatabaseFailure::Full,
                    Some(5 | 6) => DatabaseFailure::Busy,
                    Some(3 | 8 | 14) => DatabaseFailure::ReadOnly,
                    Some(11 | 26) => DatabaseFailure::Corrupt,
                    Some(10) => DatabaseFailure::Io,
                    _ => DatabaseFailure::Other,
                }
            }
            _ => DatabaseFailure::Other,
        };
        Self::Database { kind, reason: error.to_string() }
    }
}

/// Why an event was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It may not happen in the state that the run is in.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// T1 asked for a run whose turn has not come: others are ahead of it or the workspace is locked.
    /// Nothing is wrong; ask again when the workspace changes.
    #[error("{0} has to wait for its turn")]
    NotItsTurn(RunId),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

impl RecordError {
    /// See [`Error::can_pass`]. What is illegal now, or has to wait, is no failure.
    pub const fn can_pass(&self) -> bool {
        match self {
            Self::Illegal(_) => false,
            Self::NotItsTurn(_) => true,
            Self::Store(error) => error.can_pass(),
        }
    }
}

/// Why a workspace was not locked or unlocked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// It is locked already.
    #[error("the workspace is locked by User {}", .0.by)]
    Locked(Lock),
    /// A run holds it, which can't be locked out (docs/api.md, "Locks").
    #[error("the workspace is locked by Run {0}")]
    HeldByRun(RunId),
    /// It is not locked.
    #[error("the workspace is not locked")]
    NotLocked,
    /// Only the holder may unlock it, or who may force it.
    #[error("the workspace is locked by User {}", .0.by)]
    LockedByAnother(Lock),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Why a state was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddStateError {
    /// It does not continue the workspace's current state.
    #[error(transparent)]
    Conflict(#[from] StateConflict),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Why a state that a person brought was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PushStateError {
    /// The workspace is not locked by them: a run could be changing its state.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// It does not continue the workspace's current state.
    #[error(transparent)]
    Conflict(#[from] StateConflict),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] Error),
}

/// A state that does not continue the current one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateConflict {
    /// It belongs to the history of another state.
    #[error(
        "the state's lineage is {given:?}, the workspace's is {current:?}: it is the state of something else"
    )]
    OtherLineage {
        /// The workspace's.
        current: String,
        /// The refused one.
        given: String,
    },
    /// It is older.
    #[error("the state's serial is {given}, and the workspace is at {current} already: it is older")]
    OlderSerial {
        /// The workspace's.
        current: u64,
        /// The refused one.
        given: u64,
    },
    /// It has the number of the current state, and is another.
    #[error("the workspace has another state with serial {serial}: a changed state needs a higher serial")]
    OtherContent {
        /// Of both.
        serial: u64,
    },
}
