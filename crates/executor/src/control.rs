//! The control protocol: one line of JSON there, one line back, over `control.sock`. Every request may be repeated.
//!
//! Whoever wants it to stop shows that they can read the execution's directory, by what stands in `control.key`: a socket can be connected
//! to by code that is kept from reading anything of it.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::directory::Directory;

/// Longer requests are refused; none that is known comes near.
pub(crate) const LONGEST_REQUEST: usize = 4096;

/// A stuck executor is reported, not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request, and what shows that one may ask.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Keyed {
    #[serde(flatten)]
    pub(crate) request: Request,
    /// The content of `control.key`; an executor of an older release wants none.
    #[serde(default)]
    pub(crate) key: String,
}

/// A line that asks the executor of this directory.
pub(crate) fn line(directory: &Directory, request: Request) -> io::Result<Vec<u8>> {
    let key = match std::fs::read_to_string(directory.control_key()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        key => key?,
    };
    let mut line = serde_json::to_vec(&Keyed { request, key })?;
    line.push(b'\n');
    Ok(line)
}

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
    stream.write_all(&line(directory, request)?)?;
    let mut answer = String::new();
    if BufReader::new(stream).read_line(&mut answer)? == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it hung up without an answer"));
    }
    Ok(serde_json::from_str(&answer)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_with_and_without_a_key_and_with_fields_of_tomorrow() {
        let read = |text: &str| serde_json::from_str::<Keyed>(text).map(|keyed| (keyed.request, keyed.key));
        let status = read(r#"{"request":"status","a_field_of_tomorrow":1}"#);
        assert_eq!(status.unwrap(), (Request::Status, String::new()));
        let interrupt = read(r#"{"request":"interrupt","grace_ms":7,"key":"k"}"#);
        assert_eq!(interrupt.unwrap(), (Request::Interrupt { grace_ms: 7 }, "k".to_owned()));
    }
}
