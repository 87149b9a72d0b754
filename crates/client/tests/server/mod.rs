//! A server whose every byte a test decides, and that says what it was asked.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What a client asked.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Method and path with the query.
    pub(crate) line: String,
    /// In lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// How many were asked before it.
    pub(crate) number: usize,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Ends when it is dropped. Every answer closes its connection.
pub(crate) struct Server {
    address: String,
    requests: Arc<Mutex<Vec<Request>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    /// Answers each request with the bytes that `answer` gives, written piece by piece.
    pub(crate) async fn start(answer: impl Fn(&Request) -> Vec<Vec<u8>> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<Request>>>::default();
        let log = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let Some(mut request) = read(&mut stream).await else { continue };
                let pieces = {
                    let mut log = log.lock().unwrap();
                    request.number = log.len();
                    log.push(request.clone());
                    answer(&request)
                };
                for piece in pieces {
                    // the client may have gone
                    if stream.write_all(&piece).await.is_err() {
                        break;
                    }
                    stream.flush().await.unwrap();
                    tokio::task::yield_now().await;
                }
            }
        });
        Self { address, requests, task }
    }

    pub(crate) fn address(&self) -> String {
        self.address.clone()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let mut lines = text.lines();
    let line = lines.next()?.trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(k, v)| (k.to_lowercase(), v.to_owned()))
        .collect();
    let mut request = Request { line, headers, body: String::new(), number: 0 };
    let length: usize = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < head + 4 + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    request.body = String::from_utf8(bytes[head + 4..].to_vec()).ok()?;
    Some(request)
}

/// A whole answer.
pub(crate) fn json(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/vnd.api+json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

/// The head of an event stream. With `chunked`, the end of the connection is an error to the client; without, it is
/// an end like any other.
pub(crate) fn event_stream(chunked: bool) -> Vec<u8> {
    let framing = if chunked { "transfer-encoding: chunked\r\n" } else { "connection: close\r\n" };
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n{framing}\r\n").into_bytes()
}

/// A chunk of a chunked answer.
pub(crate) fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// An address where nobody listens.
pub(crate) fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
