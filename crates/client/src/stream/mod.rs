//! What is followed: the states of a run, and the log of a stage.

mod log;
mod run;
mod source;

use crate::ClientError;

pub use log::LogChunk;

/// What a stream says.
#[derive(Debug, Clone)]
pub enum Update<T> {
    /// Something new.
    New(T),
    /// The connection was lost for this reason. It is tried again; what comes next follows on what came before.
    Interrupted(ClientError),
}
