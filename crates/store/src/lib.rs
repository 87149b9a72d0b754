//! What Signalbox remembers.

mod digest;
mod error;
mod record;
mod state_file;

pub use digest::{Digest, InvalidDigest};
pub use error::{AddStateError, DatabaseFailure, Error, LockError, StateConflict, TransitionError};
pub use record::{
    Actor, Cancel, Commit, ConfigurationResult, ConfigurationStatus, ConfigurationVersion, JournalEntry, Lock,
    NewConfigurationVersion, NewRun, NewStateVersion, Operation, Page, PageRequest, PlanSummary, PolicyCheckRecord,
    PolicyCounts, Run, RunChange, RunFilter, RunOptions, RunUpdate, RunVariable, StateVersion, Workspace,
};
pub use state_file::{InvalidState, StateMeta, StateOutput, state_outputs};
