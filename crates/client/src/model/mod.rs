//! What the daemon's documents say, as plain structs. Attributes have the names of the API in snake case.

mod account;
mod policy_check;
mod run;
mod run_event;
mod stage;
mod status;
mod workspace;

pub use account::Account;
pub use policy_check::{CheckedPolicy, CheckedSet, PolicyCheck, PolicyCounts};
pub use run::{Run, RunActions, RunPermissions};
pub use run_event::RunEvent;
pub use stage::{Apply, Plan, ResourceCounts};
pub use status::{ApplyStatus, PlanStatus, PolicyCheckStatus, RunStatus};
pub use workspace::{LockedBy, Source, Workspace, WorkspacePermissions};
