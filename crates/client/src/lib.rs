//! A typed, asynchronous client of the Terraform Enterprise v2 API as the daemon serves it, and of the streams
//! that the daemon adds to it under `/api/signalbox/v1`. The command line and the black-box tests use it.
//!
//! ```text
//!  Client ── requests ──> documents of the crate wire ──> Workspace, Run, Plan, Apply, PolicyCheck, RunEvent
//!     └───── streams ───> event stream ─ sse::Parser ─> follow_run: states, follow_log: bytes
//! ```
//!
//! * Every answer that is not a success is a [`ClientError`] in the words of the daemon.
//! * The state of a run, its name and whether it is final are what the daemon says: nothing is derived here. A state
//!   that this release does not know is kept as it came ([`RunState`]).
//! * A followed log gives each byte once and in order, over any number of lost connections: it asks for what comes
//!   after the last byte that it gave, and checks the place of each piece that arrives.
//!
//! Failure modes: an ordinary request fails at once when the daemon can't be reached. A stream tries again with
//! growing pauses, says so ([`Update::Interrupted`]), and ends with the error when it had no answer for longer than
//! [`Client::with_patience`] allows. A run that is followed goes on in the daemon whatever becomes of the client.

mod document;
mod error;
mod http;
mod page;
mod run;
mod runs;
pub mod sse;
mod states;
mod stream;
mod workspace;
mod workspaces;

pub use error::{ClientError, Problem, Problems};
pub use http::Client;
pub use lifecycle::{PlanOptions, Progress, RunVariable, Stage};
pub use page::Page;
pub use run::{Run, RunEvent};
pub use runs::{RunAction, RunFilter};
pub use stream::{LogChunk, Update};
pub use wire::{
    Account, Apply, CheckedPolicy, CheckedSet, NewRun, Plan, PolicyCheck, ResourceCounts, RunState,
    StateOutput, StateVersion, WorkspaceSource,
};
pub use workspace::{LockedBy, Workspace};
