//! The life of a run: its states, what may happen in each, and who may do it.
//!
//! This crate decides and does nothing: no I/O, no clock, no runtime. Everything that acts (actors,
//! HTTP, processes) asks here and then does what it was told.
//!
//! ```text
//!            T1            T6/T7/T8                T16/T17
//!  Pending ──────> Planning ──────> Policy Check ──────────> Applying ──> Applied
//!     │T2             │T3 T4 T5     Policy Override │           │T19 T20
//!     v               v             Policy Checked  │T10 T14 T17v
//!  Discarded      Plan Errored      Needs Confirm.  v       Apply Errored
//!  Canceled       Canceled                      Discarded   Canceled
//!                 No Changes
//! ```
//!
//! * [`step`](fn@step) is the one place where a run changes its state. Its match reads like the table
//!   of transitions; each row carries its number ([`Rule`]).
//! * [`due`] says what has to be going on while a run is in a state. It depends on the state alone, so a
//!   restarted daemon asks the same function as a running one and goes on where the last one died.
//! * [`queue`] says which runs of a workspace may start, [`slots`] which executions may run at once, and
//!   [`waiting`] what a run that may not waits for.
//! * [`access`] says who may do what.
//! * [`PlanOptions`] is what a run asks of `terraform plan`: the one place where a mode of runs is named.
//! * [`wire`] maps states to the status strings of the Terraform Enterprise API.
//!
//! Invariants, proven in `tests/must_never_happen.rs`: a final state has no way out; every state that
//! is neither final nor waiting for a person has something due; an event that is not legal changes
//! nothing; an apply is only ever reached from a plan that was approved or may be auto-applied.

pub mod access;
mod event;
mod facts;
pub mod history;
pub mod id;
mod plan_options;
mod progress;
pub mod queue;
pub mod retention;
pub mod slots;
mod state;
mod step;
pub mod waiting;
pub mod wire;

pub use access::{AccessLevel, OrganizationRights, WorkspaceRights};
pub use event::{ApplyOutcome, Event, PlanOutcome, PolicyOutcome};
pub use facts::Facts;
pub use plan_options::{Contradiction, PlanOptions, RunVariable};
pub use progress::Progress;
pub use state::{Execution, Stage, State, UnknownState, Work};
pub use step::{Due, Illegal, Rule, Transition, due, step};
