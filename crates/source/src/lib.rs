//! Takes the terraform configuration of a workspace for one run.
//!
//! It is a step of an executor, `signalbox take-configuration REQUEST`: a short process whose output is the head of the
//! plan's log. It brings the configuration from where its users keep it into the directory that terraform runs in,
//! keeps a record of it, and puts the state of the workspace there if no backend of the configuration's own keeps it.
//!
//! What always holds:
//!
//! - nothing but files, directories and symbolic links that stay inside the configuration gets into the work directory,
//!   and nothing is written through a link;
//! - nothing is opened of which it is not known that it is a file or a directory, so nothing is waited for;
//! - a state that lies in the source is never used. Where the state is kept is read from the configuration as terraform
//!   would read it, or the configuration is refused: there is no guess;
//! - the record holds what the user wrote, nothing of ours, and equal configurations give equal bytes;
//! - the report is written last. Without it, nothing was taken; the step can be killed at any moment and repeated.
//!
//! What goes wrong is an [`Error`], which names the thing and what would be right. A repository is fetched by the `git`
//! of the `PATH`, with its user's own credentials; why it fails it says itself in the log.

mod backend;
mod directory;
mod error;
mod estate;
mod git;
mod ignore;
mod link;
mod pack;
mod remote;
mod report;
mod request;
mod selection;
mod submodules;
mod take;
mod tree;
mod unpack;
mod words;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

pub use error::{Error, Kind};
pub use estate::{Advice, Elsewhere};
pub use report::{Commit, Digest, StateKept, TakeReport};
pub use request::{FORMAT, Limits, Source, TakeRequest};
pub use take::{kept_in, state_of, take};
pub use words::without_credentials;

/// What the line in the log begins with that says why a configuration was not taken.
pub const REFUSAL: &str = "The configuration was not taken: ";

/// The step `take-configuration` of an executor: does what the request file says and tells the reader of the log.
///
/// Exit code 0: taken, and the report is written. 1: not taken; the log's last line says why and what would be right.
pub fn run_take(request_path: &Path) -> ExitCode {
    let taken = read(request_path).and_then(|request| take(&request, &mut io::stdout()));
    match taken {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{REFUSAL}{error}.");
            ExitCode::FAILURE
        }
    }
}

fn read(path: &Path) -> Result<TakeRequest, Error> {
    let unreadable = |reason: String| Error::Request { path: path.to_owned(), reason };
    let text = std::fs::read(path).map_err(|cause| unreadable(cause.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))
}
