//! What can go wrong on the daemon's side, in words.

use std::io;
use std::path::{Path, PathBuf};

/// An operation on an execution that could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The spec could not be run as meant.
    #[error("the execution's spec is not valid: {reasons}")]
    InvalidSpec {
        /// All of them.
        reasons: String,
    },
    /// A path that must be absolute is not.
    #[error("{path:?} is not an absolute path")]
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {what} {path:?}: {source}")]
    Io {
        /// What was tried, as "read".
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// A file of the execution is not what it should be.
    #[error("{path:?} is damaged: {why}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file of the execution was written by a newer release.
    #[error(
        "{path:?} has format {found}, and this release knows formats up to {known}: use the release that wrote it"
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// What it says.
        found: u64,
        /// The newest known.
        known: u32,
    },
    /// The executor could not be started.
    #[error("cannot start the executor {program:?}: {why}")]
    Launch {
        /// The executor's program.
        program: PathBuf,
        /// Why, with what the executor said itself.
        why: String,
    },
    /// The executor runs, but does not answer.
    #[error("the executor of {directory:?} did not answer: {why}")]
    Control {
        /// Its execution directory.
        directory: PathBuf,
        /// Why.
        why: String,
    },
    /// The executor died, and what it left cannot be ended.
    #[error("processes of {directory:?} were killed and do not end: {pids}")]
    Leftovers {
        /// The execution directory.
        directory: PathBuf,
        /// Their pids.
        pids: String,
    },
    /// The lock is held by a process that cannot be seen from here, so that nothing can be said about the execution.
    #[error(
        "{directory:?} is locked by a process that cannot be seen from here (another container?): end it, or wait for it"
    )]
    HeldElsewhere {
        /// The execution directory.
        directory: PathBuf,
    },
}

impl Error {
    /// Whether it can pass by itself, so that asking again may work. What can't is not tried again: whoever asked has to
    /// come to an end without the answer.
    pub fn can_pass(&self) -> bool {
        match self {
            Self::Io { source, .. } => files::can_pass(source),
            // why a program could not be started is known in words alone; a process that does not end, or does not answer,
            // may do so later
            Self::Launch { .. }
            | Self::Control { .. }
            | Self::Leftovers { .. }
            | Self::HeldElsewhere { .. } => true,
            Self::InvalidSpec { .. }
            | Self::RelativePath { .. }
            | Self::Damaged { .. }
            | Self::UnknownFormat { .. } => false,
        }
    }

    pub(crate) fn io(what: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| Self::Io { what, path, source }
    }
}
