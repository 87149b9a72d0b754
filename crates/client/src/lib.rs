//! A typed, asynchronous client of the Terraform Enterprise v2 API as the daemon serves it, and of the streams
//! that the daemon adds to it under `/api/signalbox/v1`. The command line and the black-box tests use it.
//!
//! ```text
//!  Client ── requests ──> JSON:API document ──> Workspace, Run, Plan, Apply, PolicyCheck, RunEvent
//!     └───── streams ───> event stream ─ sse::Parser ─> follow_run: states, follow_log: bytes
//! ```
//!
//! * Every answer that is not a success is a [`ClientError`] in the words of the daemon.
//! * Attributes that this release does not know are ignored, and a status that it does not know is kept as it is
//!   ([`RunStatus::Other`]): an older client works with a newer daemon.
//! * A followed log gives each byte once and in order, over any number of lost connections: it asks for what comes
//!   after the last byte that it gave, and checks the place of each piece that arrives.
//!
//! Failure modes: an ordinary request fails at once when the daemon can't be reached. A stream tries again with
//! growing pauses, says so ([`Update::Interrupted`]), and ends with the error when it had no answer for longer than
//! [`Client::with_patience`] allows. A run that is followed goes on in the daemon whatever becomes of the client.

mod document;
mod error;
mod http;
mod model;
mod new_run;
mod page;
mod progress;
mod runs;
pub mod sse;
mod state_name;
mod states;
mod stream;
mod workspaces;

pub use error::{ClientError, Problem, Problems};
pub use http::Client;
pub use model::{
    Account, Apply, ApplyStatus, CheckedPolicy, CheckedSet, LockedBy, Plan, PlanStatus, PolicyCheck,
    PolicyCheckStatus, PolicyCounts, ResourceCounts, Run, RunActions, RunEvent, RunPermissions, RunStatus,
    Source, Workspace, WorkspacePermissions,
};
pub use new_run::NewRun;
pub use page::{Page, Pagination};
pub use progress::{Progress, Stage};
pub use runs::{RunAction, RunFilter};
pub use states::StateVersion;
pub use stream::{LogChunk, Update};
