//! Takes the terraform configuration of a workspace for one run.

mod report;
mod request;

pub use report::{Commit, Digest, StateKept, TakeReport};
pub use request::{FORMAT, Limits, Source, TakeRequest};

/// The step `take-configuration` of an executor: does what the request file says and tells the reader of the log.
///
/// Exit code 0: taken, and the report is written. 1: not taken; the log's last line says why and what would be right.
pub fn run_take(request_path: &std::path::Path) -> std::process::ExitCode {
    let _ = request_path;
    std::process::ExitCode::FAILURE
}
