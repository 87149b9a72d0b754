//! What the store keeps, one module for each record.

mod configuration;
mod journal;
mod run;
mod settings;
mod state_version;
mod workspace;

pub use configuration::{
    Commit, ConfigurationResult, ConfigurationStatus, ConfigurationVersion, NewConfigurationVersion,
};
pub use journal::{Actor, JournalEntry};
pub(crate) use run::entry;
pub use run::{
    Cancel, NewRun, Operation, PlanSummary, PolicyCheckRecord, PolicyCounts, Run, RunEvent, RunFilter,
    RunOptions, RunUpdate, Waiting,
};
pub use settings::{Settings, Source};
pub use state_version::{NewStateVersion, StateUpload, StateVersion};
pub use workspace::{
    Lock, NamePattern, NewWorkspace, Origin, StateKeeper, Visibility, Workspace, WorkspaceFilter,
    WorkspaceOrder,
};

/// Which part of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// From 1 on.
    pub number: u32,
    /// Records on a page, at least 1.
    pub size: u32,
}

impl PageRequest {
    /// The first page, of this many records.
    pub const fn first(size: u32) -> Self {
        Self { number: 1, size }
    }

    pub(crate) fn limit(self) -> i64 {
        i64::from(self.size.max(1))
    }

    pub(crate) fn offset(self) -> i64 {
        i64::from(self.number.max(1) - 1).saturating_mul(self.limit())
    }
}

/// A part of a list that nobody has counted, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice<T> {
    /// The records in this part; empty past the end.
    pub items: Vec<T>,
    /// Whether there are more behind it.
    pub more: bool,
}

/// A part of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The records on this page; empty past the end.
    pub items: Vec<T>,
    /// How many records there are on all pages, at the same moment.
    pub total: u64,
}
