//! The engine in this process: a real store, a scripted executor, and time that stands still.
//!
//! The black-box tests prove the product with real processes, in seconds each. Here the same engine runs over an
//! executor that does what its script says ([`support::Scripted`]), and the daemon dies wherever a test wants it to
//! ([`support::Life`]): each row of the run lifecycle and each moment at which a daemon can die, in milliseconds.
//!
//! Time moves only when a test moves it. What should happen at once and waits for the reconciler instead never happens
//! here, and its test fails.

#![allow(unreachable_pub, reason = "one binary")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod crashes;
mod crashes_of_a_cancel;
mod every_moment;
mod executor_trouble;
mod fetch;
mod hints;
mod panics;
mod property;
mod queue;
mod rows;
mod rows_apply;
mod rows_of_any_stage;
mod rows_plan;
mod rows_policy;
mod support;
mod trouble;
mod years;
