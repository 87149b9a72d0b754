//! Everything that an executor waits for, in one place: requests, signals, the ends of children, and time.

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::control::{Keyed, LONGEST_REQUEST, Reply, Request};
use crate::directory::Directory;

/// A client that holds more connections than this waits in the queue of the socket.
const MOST_CONNECTIONS: usize = 16;

/// The sources of events.
pub(crate) struct Events {
    listener: UnixListener,
    connections: Vec<Connection>,
    /// Becomes readable with every signal.
    signals: UnixStream,
    terminate: Arc<AtomicBool>,
    child: Arc<AtomicBool>,
    /// What requests have to show.
    key: String,
}

/// What woke the executor.
#[derive(Debug, Default)]
pub(crate) struct Woken {
    /// One child or more ended: one that was started here, or one that was inherited.
    pub(crate) child_ended: bool,
    /// Somebody sent SIGTERM (or SIGINT) to the executor itself.
    pub(crate) terminate: bool,
    /// Complete requests, each with the connection that waits for the answer.
    pub(crate) requests: Vec<(Result<Request, String>, Answer)>,
}

/// Takes the answer to one request.
#[derive(Debug)]
pub(crate) struct Answer(UnixStream);

struct Connection {
    stream: UnixStream,
    received: Vec<u8>,
}

impl Events {
    /// Binds the control socket and takes over the signals that would end the executor.
    ///
    /// They get handlers and are not ignored, because what is ignored stays ignored in a child.
    pub(crate) fn open(directory: &Directory) -> io::Result<Self> {
        let (signals, wake) = UnixStream::pair()?;
        signals.set_nonblocking(true)?;
        let [terminate, child, hangup] = [(); 3].map(|()| Arc::new(AtomicBool::new(false)));
        for (signal, heard) in [
            (SIGTERM, &terminate),
            (SIGINT, &terminate),
            (SIGQUIT, &terminate),
            (SIGCHLD, &child),
            (SIGHUP, &hangup),
        ] {
            // the flag before the wake-up: handlers run in the order of their registration
            signal_hook::flag::register(signal, Arc::clone(heard))?;
            signal_hook::low_level::pipe::register(signal, wake.try_clone()?)?;
        }
        let socket = directory.control_socket()?;
        let key = fs::read_to_string("/proc/sys/kernel/random/uuid")?.trim().to_owned();
        files::create_private(&directory.control_key())?.write_all(key.as_bytes())?;
        // of an executor whose claim was lost in a power cut
        files::remove(socket.path())?;
        let listener = UnixListener::bind(socket.path())?;
        listener.set_nonblocking(true)?;
        Ok(Self { listener, connections: Vec::new(), signals, terminate, child, key })
    }

    /// Waits for anything to happen, until `deadline` at most.
    pub(crate) fn wait(&mut self, deadline: Option<Instant>) -> io::Result<Woken> {
        let timeout = deadline.map(|deadline| timespec(deadline.saturating_duration_since(Instant::now())));
        let mut sources = vec![PollFd::new(&self.signals, PollFlags::IN)];
        if self.connections.len() < MOST_CONNECTIONS {
            sources.push(PollFd::new(&self.listener, PollFlags::IN));
        }
        sources
            .extend(self.connections.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)));
        match poll(&mut sources, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        drain(&self.signals);
        self.accept();
        Ok(Woken {
            child_ended: self.child.swap(false, Ordering::Relaxed),
            terminate: self.terminate.swap(false, Ordering::Relaxed),
            requests: self.receive(),
        })
    }

    fn accept(&mut self) {
        while self.connections.len() < MOST_CONNECTIONS {
            // a client that went away again, or a lack of descriptors, is no reason to stop working
            let Ok((stream, _)) = self.listener.accept() else { return };
            if stream.set_nonblocking(true).is_ok() {
                self.connections.push(Connection { stream, received: Vec::new() });
            }
        }
    }

    fn receive(&mut self) -> Vec<(Result<Request, String>, Answer)> {
        let mut requests = Vec::new();
        for mut connection in std::mem::take(&mut self.connections) {
            match connection.receive(&self.key) {
                Received::Partial => self.connections.push(connection),
                Received::Closed => {}
                Received::Request(request) => requests.push((request, Answer(connection.stream))),
            }
        }
        requests
    }
}

enum Received {
    Partial,
    Closed,
    Request(Result<Request, String>),
}

impl Connection {
    fn receive(&mut self, key: &str) -> Received {
        let mut buffer = [0; 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Received::Closed,
                Ok(count) => {
                    let (read, _) = buffer.split_at(count);
                    self.received.extend_from_slice(read);
                    if let Some(line) = self.received.split(|byte| *byte == b'\n').next()
                        && line.len() < self.received.len()
                    {
                        return Received::Request(keyed(line, key));
                    }
                    if self.received.len() > LONGEST_REQUEST {
                        return Received::Request(Err(format!(
                            "a request has at most {LONGEST_REQUEST} bytes"
                        )));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Received::Partial,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return Received::Closed,
            }
        }
    }
}

/// The request in a line, which shows the key if it asks for more than an answer.
fn keyed(line: &[u8], key: &str) -> Result<Request, String> {
    let keyed: Keyed = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    match keyed.request {
        Request::Interrupt { .. } | Request::Kill if keyed.key != key => {
            Err("it does not show the key of this execution".to_owned())
        }
        request => Ok(request),
    }
}

impl Answer {
    pub(crate) fn send(mut self, reply: &Reply) {
        if let Ok(mut line) = serde_json::to_vec(reply) {
            line.push(b'\n');
            // who does not wait for the answer does not need it: every request may be repeated
            let _ = self.0.write_all(&line);
        }
    }
}

fn drain(mut signals: &UnixStream) {
    let mut buffer = [0; 64];
    while matches!(signals.read(&mut buffer), Ok(count) if count > 0) {}
}

/// Rounded up, so that the deadline has passed when the wait is over.
fn timespec(duration: Duration) -> Timespec {
    let duration = duration.saturating_add(Duration::from_micros(1)).min(Duration::from_secs(86_400));
    Timespec { tv_sec: duration.as_secs().cast_signed(), tv_nsec: i64::from(duration.subsec_nanos()) }
}
