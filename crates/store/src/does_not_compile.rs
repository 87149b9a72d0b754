//! That a state can't be recorded without an event, as far as the compiler sees to it.
//!
//! Each example that must not compile stands below one that does, and differs from it in one place: that is what is
//! refused, and not a mistake in the example. (Only a nightly compiler compares the codes of errors.)
//!
//! # What is recorded is an event, and no state
//!
//! ```
//! use lifecycle::{Event, State, WorkspaceRights};
//! use store::{Actor, RecordError, Run, RunEvent, RunUpdate, Store};
//!
//! async fn change(store: &Store, run: &Run) -> Result<Run, RecordError> {
//!     let (creator, by, at) = (WorkspaceRights::NONE, Actor::System, jiff::Timestamp::UNIX_EPOCH);
//!     let update = RunUpdate::default();
//!     store.record(RunEvent { run: run.id, event: Event::Cancel, creator, by, why: None, at, update }).await
//! }
//! ```
//!
//! ```compile_fail,E0308
//! use lifecycle::{Event, State, WorkspaceRights};
//! use store::{Actor, RecordError, Run, RunEvent, RunUpdate, Store};
//!
//! async fn change(store: &Store, run: &Run) -> Result<Run, RecordError> {
//!     let (creator, by, at) = (WorkspaceRights::NONE, Actor::System, jiff::Timestamp::UNIX_EPOCH);
//!     let update = RunUpdate::default();
//!     store.record(RunEvent { run: run.id, event: State::Applied, creator, by, why: None, at, update }).await
//! }
//! ```
//!
//! # A record that was changed by hand can't be given back
//!
//! ```
//! use store::{RecordError, Run, RunEvent, Store};
//!
//! async fn change(store: &Store, run: Run, event: RunEvent) -> Result<Run, RecordError> {
//!     store.record(event).await
//! }
//! ```
//!
//! ```compile_fail,E0308
//! use store::{RecordError, Run, RunEvent, Store};
//!
//! async fn change(store: &Store, run: Run, event: RunEvent) -> Result<Run, RecordError> {
//!     store.record(run).await
//! }
//! ```
//!
//! # What is learnt on the way holds no state
//!
//! ```
//! use lifecycle::State;
//! use store::RunUpdate;
//!
//! let update = RunUpdate { error: None, ..RunUpdate::default() };
//! ```
//!
//! ```compile_fail,E0560
//! use lifecycle::State;
//! use store::RunUpdate;
//!
//! let update = RunUpdate { state: State::Applied, ..RunUpdate::default() };
//! ```
//!
//! # A new run is pending, and nothing else
//!
//! ```
//! use lifecycle::State;
//! use store::NewRun;
//!
//! fn other(new: NewRun, of: &NewRun) -> NewRun {
//!     NewRun { facts: of.facts, ..new }
//! }
//! ```
//!
//! ```compile_fail,E0560
//! use lifecycle::State;
//! use store::NewRun;
//!
//! fn other(new: NewRun, of: &NewRun) -> NewRun {
//!     NewRun { state: State::Applied, ..new }
//! }
//! ```
//!
//! # Who only reads can't record
//!
//! ```
//! use store::{RecordError, Records, Run, RunEvent, Store};
//!
//! async fn change(store: &Store, event: RunEvent) -> Result<Run, RecordError> {
//!     store.record(event).await
//! }
//! ```
//!
//! ```compile_fail,E0599
//! use store::{RecordError, Records, Run, RunEvent, Store};
//!
//! async fn change(store: &Records, event: RunEvent) -> Result<Run, RecordError> {
//!     store.record(event).await
//! }
//! ```
//!
//! # Nobody outside of the store writes by other means
//!
//! ```
//! async fn close(store: store::Store) {
//!     store.close().await
//! }
//! ```
//!
//! ```compile_fail,E0624
//! async fn close(store: store::Store) {
//!     store.write(|_| Box::pin(async { Ok::<(), store::Error>(()) })).await
//! }
//! ```
