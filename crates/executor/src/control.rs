//! The control protocol: one line of JSON there, one line back, over `control.sock`. Every request may be repeated.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::directory::Directory;

/// Longer requests are refused; none that is known comes near.
pub(crate) const LONGEST_REQUEST: usize = 4096;

/// A stuck executor is reported, not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// What an executor can be asked. An older executor answers an unknown request with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case")]
pub(crate) enum Request {
    /// End gracefully; kill after the grace period.
    Interrupt { grace_ms: u64 },
    /// Kill everything now.
    Kill,
    /// Say what you do.
    Status,
    /// Answer when it is over and the result can be read.
    Wait,
}

/// What an executor answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub(crate) enum Reply {
    /// Taken, and recorded.
    Accepted(Status),
    /// Not understood.
    Refused { why: String },
}

/// What an executor does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Status {
    pub(crate) format: u32,
    pub(crate) label: String,
    pub(crate) executor_pid: u32,
    pub(crate) step: Option<String>,
    pub(crate) child_pid: Option<u32>,
    pub(crate) interrupted: bool,
    pub(crate) killed: bool,
}

/// Asks the executor of this directory. Blocks for some seconds at most.
pub(crate) fn ask(directory: &Directory, request: Request) -> io::Result<Reply> {
    let socket = directory.control_socket()?;
    let mut stream = UnixStream::connect(socket.path())?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(&request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = String::new();
    if BufReader::new(stream).read_line(&mut answer)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up without an answer"));
    }
    Ok(serde_json::from_str(&answer)?)
}
