//! The actors: thin shells that ask `lifecycle` what to do and do it.
//!
//! ```text
//!  store.changes() ─┐
//!  configuration  ──┼─> Workspaces ──Reconcile──> Workspace ──Reconcile──> Run
//!  every 2 seconds ─┘    owns slots <──Demand────  owns queue               owns the driver
//!                                   ──Granted───>
//! ```
//!
//! Every message means "look again": what is true is in the store. Messages go down, and only the need for slots goes up.

mod root;
mod run;
mod workspace;
mod workspaces;

pub(crate) use root::{Root, RootMessage};

/// How long a supervisor waits for its children to stop before it stops itself.
const STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(5);
