//! The real binary with the real terraform, from outside: what a person would see.
//!
//! `transitions` has a test for each row of the run lifecycle; the other modules hold the promises beside it.
#![allow(unreachable_pub, reason = "modules of one test binary")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod bad_input;
mod cancel;
mod chaos;
mod command_line;
mod configuration;
mod crash;
mod encryption;
mod ends;
mod estate;
mod faults;
mod first_hour;
mod habits;
mod isolation;
mod load;
mod logs;
mod outside;
mod permissions;
mod place;
mod policies;
mod queue;
mod review;
mod secrets;
mod sentinel;
mod sentinel_cli;
mod state;
mod strangers;
mod support;
mod transitions;
mod years;
