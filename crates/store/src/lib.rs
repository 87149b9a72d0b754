//! What Signalbox remembers: workspaces, runs and their journal, configurations, states, and the files
//! that belong to them.
//!
//! ```text
//! <data_dir>/            0700, one daemon at a time
//!   lock                 held as long as the store is open; says by which process
//!   signalbox.db         SQLite: the records
//!   keys                 the ids of the keys that files are sealed with
//!   blobs/ab/abcdef…     0600, named by the SHA-256 of the content; `.sealed` behind it where it is encrypted
//!   runs/, locks/, …     the engine's
//! ```
//!
//! [`Store`] is the one door, and [`Records`] the same door for those who only read. Reads go to a few read-only
//! connections; writes go through one writer (`writer.rs`), where those that wait together share a transaction. All SQL
//! is in `sql/`; what a change makes of a record is decided by pure functions (`transition.rs`, `state_file.rs`) and by
//! the [`lifecycle`] crate. Time and ids come from the caller.
//!
//! Invariants, each proven by the suite in `tests/`:
//!
//! * What was acknowledged survives the death of the process and a power cut: nobody gets an answer
//!   before the disk has it.
//! * A run's state changes by [`Store::record`] alone, which is given an event and asks `lifecycle::step` inside of the
//!   write: what is illegal can't be recorded, and a state without its event does not compile (`does_not_compile.rs`). The run's row in the journal is part of the same write. A final run never
//!   changes, and the journal never does: the database itself refuses.
//! * One run at a time holds a workspace: a start (T1) is held against the queue in its own transaction,
//!   and an index refuses a second holder.
//! * A workspace's state only goes forward: rising serials, and one lineage unless a person forces another.
//! * A blob that was acknowledged is there as a whole, and never changes.
//! * With a key nothing that is kept in a file is written in clear, and a data directory whose keys are not all given is not
//!   opened.
//!
//! When something fails, nothing is half done: a full disk, a busy database or a broken record is an
//! [`Error`] in words, and the next write begins on a fresh connection. A write goes to its end even if
//! who asked for it stops waiting.

mod backup;
mod blobs;
mod data_dir;
mod digest;
#[cfg(doctest)]
mod does_not_compile;
mod error;
mod examine;
mod record;
mod sql;
mod state_file;
mod store;
mod sweep_lock;
mod sync;
mod transition;
mod writer;

pub use backup::{BackedUp, Manifest, back_up, restore};
pub use blobs::{Blob, BlobSink, BlobStore, Blobs, PutBlob, Resealed, Scratch, Swept, reseal};
pub use digest::{Digest, InvalidDigest};
pub use error::{
    AddStateError, DatabaseFailure, Error, LockError, PushStateError, RecordError, StateConflict,
};
pub use examine::{Examined, examine};
pub use record::{
    Actor, Cancel, Commit, ConfigurationResult, ConfigurationStatus, ConfigurationVersion, JournalEntry,
    Lock, NamePattern, NewConfigurationVersion, NewRun, NewStateVersion, NewWorkspace, Operation, Origin,
    Page, PageRequest, PlanSummary, PolicyCheckRecord, PolicyCounts, Run, RunEvent, RunFilter, RunOptions,
    RunUpdate, Settings, Slice, Source, StateKeeper, StateUpload, StateVersion, Visibility, Waiting,
    Workspace, WorkspaceFilter, WorkspaceOrder,
};
pub use state_file::{InvalidState, ReadStateError, StateMeta, StateOutput, state_outputs};
pub use store::{Change, Expired, Records, Store, Synced};
pub use sweep_lock::SweepLock;

/// File work, away from the threads that drive everything else.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(broken) => match broken.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // the runtime is shutting down
            Err(_) => Err(Error::Closed),
        },
    }
}
