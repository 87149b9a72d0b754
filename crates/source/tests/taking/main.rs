//! The taking of configurations, with real directories, repositories, archives and the real terraform.

#![expect(clippy::unwrap_used, reason = "what a test sets up is there, or the test fails")]

mod archive;
mod common;
mod directory;
mod git;
mod property;
mod step;
mod terraform;
