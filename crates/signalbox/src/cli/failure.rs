use std::io;
use std::process::ExitCode;

use client::{ClientError, Run};
use lifecycle::State;
use sentinel::ErrorKind;

use super::terminal;

/// How the program ends, as a script sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was for; a followed run was applied or had nothing to apply.
    Success,
    /// It failed; a followed run errored.
    Errored,
    /// It was called or configured wrongly.
    Usage,
    /// A followed run was discarded or canceled.
    Declined,
    /// Ctrl-C ended the following. How the run ends is not known, so no status above would be true.
    Interrupted,
    /// The reader of the output went away before a followed run ended; likewise.
    OutputClosed,
}

impl Exit {
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Errored => 1,
            Self::Usage => 2,
            Self::Declined => 3,
            // what a shell reports for SIGINT and SIGPIPE
            Self::Interrupted => 130,
            Self::OutputClosed => 141,
        }
    }

    /// Of a final run.
    pub(crate) fn of(run: &Run) -> Self {
        match run.state() {
            Some(State::Applied | State::NoChanges | State::PlannedAndFinished) => Self::Success,
            Some(State::Discarded(_) | State::Canceled(_)) => Self::Declined,
            _ => Self::Errored,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.status())
    }
}

/// Why a command did not do what it was for.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It was called wrongly.
    #[error("{message}")]
    Usage { message: String, help: String },
    /// It can't be done, and there is something to do about that.
    #[error("{message}")]
    Refused { message: String, help: String },
    /// The daemon.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A policy or its configuration.
    #[error(transparent)]
    Sentinel(#[from] sentinel::Error),
    /// The output can't be written.
    #[error("can't write the output: {0}")]
    Output(#[from] io::Error),
    /// Something of this machine.
    #[error("{0}")]
    Local(String),
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    pub(crate) fn refused(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused { message: message.into(), help: help.into() }
    }

    /// The reader of the output went away, which is nobody's mistake.
    pub(crate) fn is_closed_output(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } => Exit::Usage,
            Self::Client(
                ClientError::Invalid(_) | ClientError::BadAddress { .. } | ClientError::BadToken,
            ) => Exit::Usage,
            // a configuration that means nothing, a file that is not there
            Self::Sentinel(error)
                if matches!(error.kind(), ErrorKind::Config | ErrorKind::File | ErrorKind::Outside) =>
            {
                Exit::Usage
            }
            Self::Output(_) if self.is_closed_output() => Exit::Success,
            Self::Refused { .. } | Self::Client(_) | Self::Sentinel(_) | Self::Output(_) | Self::Local(_) => {
                Exit::Errored
            }
        }
    }

    /// In one line, with what the daemon said made safe to show.
    pub(crate) fn message(&self) -> String {
        terminal::line(&self.to_string())
    }

    /// Over several lines, with the line that is meant, where there is one.
    pub(crate) fn rendered(&self) -> Option<String> {
        match self {
            Self::Sentinel(error) => Some(terminal::text(&error.render())),
            _ => None,
        }
    }

    /// What a person can do about it.
    pub(crate) fn help(&self) -> Option<String> {
        match self {
            Self::Usage { help, .. } | Self::Refused { help, .. } => Some(help.clone()),
            Self::Client(error) => error.help().map(str::to_owned),
            Self::Sentinel(error) => {
                Some(terminal::line(&error.notes().join("; "))).filter(|help| !help.is_empty())
            }
            Self::Output(_) | Self::Local(_) => None,
        }
    }
}
