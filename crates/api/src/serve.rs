//! Connections: how many there may be, how long each may be silent, and how they end.
//!
//! Nobody needs a token to open a connection, so nobody may keep one for nothing, no address may have them all, and
//! connections together may not take the descriptors that the daemon needs for itself.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower_http::timeout::RequestBodyTimeoutLayer;

use crate::{ApiState, router};

/// How long requests that are under way may take after the shutdown has begun.
const DRAIN: Duration = Duration::from_secs(10);
/// Pause after an accept that failed, for want of descriptors mostly; and patience with who is turned away.
const BREATH: Duration = Duration::from_millis(500);
/// When a connection whose other end is silent is asked whether it is still there, and how often.
const KEEP_ALIVE: (Duration, Duration, u32) = (Duration::from_secs(60), Duration::from_secs(15), 4);

/// How long clients may be silent.
#[derive(Debug, Clone, Copy)]
struct Silence {
    /// From the connection to the first byte.
    before_first: Duration,
    /// From the first byte, or the end of a request, to the end of the next request's head. Go's clients drop an
    /// idle connection after 90 seconds; this is longer, so that they and not we are the first to close it, and no
    /// request meets a connection that is just being closed.
    head: Duration,
    /// Between two parts of a body.
    body: Duration,
    /// While we have something to say and they take nothing.
    write: Duration,
}

const SILENCE: Silence = Silence {
    before_first: Duration::from_secs(20),
    head: Duration::from_secs(120),
    body: Duration::from_secs(30),
    write: Duration::from_secs(120),
};

/// What is kept of a connection in either direction: also the longest head that is read.
const BUFFER: usize = 64 * 1024;

/// Serves until the state's shutdown is cancelled: then streams end, other requests get ten seconds, and
/// this returns.
pub async fn serve(listener: TcpListener, state: ApiState) {
    let most = most_connections(rustix::process::getrlimit(rustix::process::Resource::Nofile).current);
    let shutdown = state.shutdown().clone();
    let most = Most { of_all: most, of_one: state.engine().config().server.max_connections_per_address };
    serve_within(listener, router(state), shutdown, most, SILENCE).await;
}

/// How many connections there may be.
#[derive(Debug, Clone, Copy)]
struct Most {
    of_all: usize,
    /// From one address.
    of_one: usize,
}

/// How many connections each address has.
#[derive(Clone, Default)]
struct Addresses(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection, as long as it is counted.
struct Counted {
    addresses: Addresses,
    address: IpAddr,
}

impl Addresses {
    /// Counts a connection; `None` if the address has as many as it may.
    fn count(&self, address: IpAddr, most: usize) -> Option<Counted> {
        let address = whose(address);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Counted { addresses: self.clone(), address })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.addresses.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// Who that is: one host has all addresses of a network of IPv6.
fn whose(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// How many of those who are turned away are told why at once. The others find the connection closed.
const TOLD: usize = 32;

/// Says why there is no place, and waits a little for the other end to hear of it.
async fn turn_away(mut stream: TcpStream, patience: Duration) {
    const WORDS: &str =
        "this address has too many connections: close some, or raise max_connections_per_address\n";
    let length = WORDS.len();
    let answer = format!(
        "HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-type: text/plain\r\n\
         content-length: {length}\r\n\r\n{WORDS}"
    );
    let told = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await?;
        // what it has sent has to be read, or the answer is lost with it
        let mut rest = [0; 1024];
        while stream.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    // it is gone, or takes its time
    let _ = tokio::time::timeout(patience, told).await;
}

/// How many connections leave the daemon enough descriptors, if it may have `descriptors` (`None`: any number).
///
/// A connection may have a file open, the log that it follows. The daemon's own: database, blobs, the sockets of
/// running executors.
fn most_connections(descriptors: Option<u64>) -> usize {
    const OWN: u64 = 256;
    let most = descriptors.map_or(u64::MAX, |descriptors| descriptors.saturating_sub(OWN) / 2);
    usize::try_from(most.clamp(32, 4096)).unwrap_or(4096)
}

async fn serve_within(
    listener: TcpListener,
    router: Router,
    shutdown: CancellationToken,
    most: Most,
    silence: Silence,
) {
    let service = TowerToHyperService::new(router.layer(RequestBodyTimeoutLayer::new(silence.body)));
    let slots = Arc::new(Semaphore::new(most.of_all));
    let addresses = Addresses::default();
    let told = Arc::new(Semaphore::new(TOLD));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(silence.head).max_buf_size(BUFFER);
    let accepting = async {
        loop {
            let slot = slot(&slots, most.of_all).await;
            let (stream, address) = accept(&listener).await;
            let Some(counted) = addresses.count(address.ip(), most.of_one) else {
                tracing::debug!(%address, "an address has as many connections as it may");
                if let Ok(place) = told.clone().try_acquire_owned() {
                    tokio::spawn(async move {
                        let _held = (slot, place);
                        turn_away(stream, BREATH).await;
                    });
                }
                continue;
            };
            let (service, http, watcher) = (service.clone(), http.clone(), graceful.watcher());
            let shutdown = shutdown.clone();
            tokio::spawn(async move {
                let _held: (Option<OwnedSemaphorePermit>, Counted) = (slot, counted);
                let first = tokio::time::timeout(silence.before_first, prepared(&stream));
                // clients open connections in advance: one that has asked for nothing has nothing to end
                let speaks = tokio::select! {
                    biased;
                    first = first => matches!(first, Ok(Ok(1..))),
                    () = shutdown.cancelled() => false,
                };
                if speaks {
                    connection(stream, &http, service, watcher, silence.write).await;
                }
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = shutdown.cancelled() => {}
    }
    drop(listener);
    if tokio::time::timeout(DRAIN, graceful.shutdown()).await.is_err() {
        tracing::warn!("requests that did not end were cut off");
    }
}

/// Waits until there may be one more. `None` only if there is no limit any more, which does not happen.
async fn slot(slots: &Arc<Semaphore>, most: usize) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = slots.clone().try_acquire_owned() {
        return Some(slot);
    }
    tracing::warn!(
        connections = most,
        "as many connections as the limit on open files allows: further ones wait (LimitNOFILE raises it)"
    );
    slots.clone().acquire_owned().await.ok()
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            // the other end has gone already
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                tracing::warn!(%error, "no connection can be accepted");
                tokio::time::sleep(BREATH).await;
            }
        }
    }
}

/// Prepares a connection and waits for its first byte: none when it has ended.
async fn prepared(stream: &TcpStream) -> io::Result<usize> {
    if let Err(error) = prepare(stream) {
        tracing::debug!(%error, "a connection stays slow, or without a check that its other end is there");
    }
    // not `readable`, which may say so of a connection that has just been made
    stream.peek(&mut [0]).await
}

async fn connection<S>(
    stream: TcpStream,
    http: &http1::Builder,
    service: S,
    watcher: Watcher,
    write: Duration,
) where
    S: hyper::service::HttpService<hyper::body::Incoming, ResBody = axum::body::Body>,
    S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(write));
    let served = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    if let Err(error) = watcher.watch(served).await {
        tracing::debug!(%error, "a connection broke");
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // small events are to leave at once
    stream.set_nodelay(true)?;
    let (idle, interval, count) = KEEP_ALIVE;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, idle)?;
    sockopt::set_tcp_keepintvl(stream, interval)?;
    sockopt::set_tcp_keepcnt(stream, count)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use axum::routing::{get, post};

    const SHORT: Duration = Duration::from_millis(200);
    const LONG: Duration = Duration::from_secs(60);

    struct Served {
        address: SocketAddr,
        shutdown: CancellationToken,
        task: tokio::task::JoinHandle<()>,
    }

    async fn served(of_all: usize, silence: Silence) -> Served {
        served_with(Most { of_all, of_one: 100 }, silence).await
    }

    async fn served_with(most: Most, silence: Silence) -> Served {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new()
            .route("/", get(async || "hello"))
            .route("/slow", get(async || tokio::time::sleep(3 * SHORT).await))
            .route("/large", get(async || vec![0_u8; 64 << 20]))
            .route("/body", post(async |body: Bytes| body.len().to_string()));
        let shutdown = CancellationToken::new();
        let task = tokio::spawn(serve_within(listener, router, shutdown.clone(), most, silence));
        Served { address, shutdown, task }
    }

    impl Served {
        async fn connect(&self) -> TcpStream {
            TcpStream::connect(self.address).await.unwrap()
        }

        /// What comes back until the connection is closed.
        async fn answer(&self, request: &str) -> String {
            let mut stream = self.connect().await;
            stream.write_all(request.as_bytes()).await.unwrap();
            read(&mut stream).await
        }
    }

    async fn read(stream: &mut TcpStream) -> String {
        let mut answer = String::new();
        tokio::time::timeout(LONG, stream.read_to_string(&mut answer)).await.expect("closed").unwrap();
        answer
    }

    fn silence() -> Silence {
        Silence { before_first: LONG, head: LONG, body: LONG, write: LONG }
    }

    #[tokio::test]
    async fn a_connection_that_says_nothing_is_closed() {
        let served = served(8, Silence { before_first: SHORT, ..silence() }).await;
        assert_eq!(read(&mut served.connect().await).await, "");
    }

    #[tokio::test]
    async fn half_a_head_is_not_waited_for_and_an_idle_connection_is_closed() {
        let served = served(8, Silence { head: SHORT, ..silence() }).await;
        let answer = served.answer("GET / HTTP/1.1\r\nhost: x\r\nhalf-a-he").await;
        assert!(!answer.contains("hello"), "{answer}");
        let answer = served.answer("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(answer.ends_with("hello"), "{answer}");
        // an answer may take longer than a head
        let answer = served.answer("GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    #[tokio::test]
    async fn half_a_body_is_not_waited_for() {
        let served = served(8, Silence { body: SHORT, ..silence() }).await;
        let answer = served.answer("POST /body HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nhalf").await;
        assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    }

    #[tokio::test]
    async fn an_answer_that_is_not_read_is_not_held_for_ever() {
        let served = served(1, Silence { write: SHORT, ..silence() }).await;
        let mut deaf = served.connect().await;
        deaf.write_all(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        // its place is free again, though it is still there
        let answer = served.answer("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        assert!(answer.ends_with("hello"), "{answer}");
        drop(deaf);
    }

    #[tokio::test]
    async fn a_head_without_end_is_refused() {
        let served = served(8, silence()).await;
        let answer =
            served.answer(&format!("GET / HTTP/1.1\r\nhost: x\r\na: {}", "a".repeat(2 * BUFFER))).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }

    #[tokio::test]
    async fn no_address_has_all_connections_and_one_that_ends_makes_place() {
        let served = served_with(Most { of_all: 8, of_one: 2 }, silence()).await;
        let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let first = served.connect().await;
        let second = served.connect().await;
        let refused = served.answer(request).await;
        assert!(
            refused.starts_with("HTTP/1.1 503") && refused.contains("max_connections_per_address"),
            "{refused}"
        );
        drop(first);
        while !served.answer(request).await.ends_with("hello") {
            tokio::task::yield_now().await;
        }
        drop(second);
    }

    #[test]
    fn hosts_are_told_apart_by_what_they_can_not_choose() {
        let whose = |address: &str| whose(address.parse().unwrap()).to_string();
        assert_eq!(whose("::ffff:10.0.0.1"), whose("10.0.0.1"));
        assert_eq!(whose("2001:db8:1:2:3:4:5:6"), whose("2001:db8:1:2::1"));
        assert_ne!(whose("2001:db8:1:2::1"), whose("2001:db8:1:3::1"));
        assert_ne!(whose("10.0.0.1"), whose("10.0.0.2"));
    }

    #[tokio::test]
    async fn further_connections_wait_until_one_ends() {
        let served = served(1, silence()).await;
        let mut first = served.connect().await;
        first.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut seen = [0; 5];
        first.read_exact(&mut seen).await.unwrap();
        let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
        let mut second = std::pin::pin!(served.answer(request));
        assert!(tokio::time::timeout(SHORT, &mut second).await.is_err(), "there is place for one");
        drop(first);
        assert!(second.await.ends_with("hello"));
    }

    #[tokio::test]
    async fn a_shutdown_lets_requests_end_and_idle_connections_go() {
        let served = served(8, silence()).await;
        let mut idle = served.connect().await;
        idle.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut slow = served.connect().await;
        slow.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut seen = [0; 5];
        idle.read_exact(&mut seen).await.unwrap();
        // the slow one has been taken up when a later one is answered on the same thread
        served.answer("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        served.shutdown.cancel();
        assert!(read(&mut slow).await.starts_with("HTTP/1.1 200"));
        assert!(read(&mut idle).await.ends_with("hello"));
        served.task.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_that_has_said_nothing_holds_no_shutdown_up() {
        let served = served(8, Silence { before_first: 6 * DRAIN, ..silence() }).await;
        let mut silent = served.connect().await;
        // it has been accepted when a later one is answered
        served.answer("GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        served.shutdown.cancel();
        tokio::time::timeout(DRAIN / 2, served.task).await.expect("it is not waited for").unwrap();
        assert_eq!(read(&mut silent).await, "");
    }

    #[test]
    fn connections_leave_descriptors_to_the_daemon() {
        assert_eq!(most_connections(Some(1024)), 384);
        assert_eq!(most_connections(Some(100)), 32);
        assert_eq!(most_connections(Some(1 << 20)), 4096);
        assert_eq!(most_connections(None), 4096);
    }
}
