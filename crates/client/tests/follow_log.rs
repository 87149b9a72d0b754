//! A followed log gives each byte once and in order, whatever happens to its connections.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::{Client, ClientError, Stage, Update};
use futures::StreamExt as _;
use proptest::prelude::*;
use serde_json::json;

mod server;
use server::{Request, Server, chunk, event_stream};

fn log_event(log: &[u8], from: usize, to: usize) -> String {
    let data = json!({ "offset": from, "data": STANDARD.encode(&log[from..to]) });
    format!("event: log\nid: {to}\ndata: {data}\n\n")
}

fn position(request: &Request) -> usize {
    request.header("last-event-id").map_or(0, |id| id.parse().unwrap())
}

/// What is given for the whole log, how often the connection was lost, and how the stream ended.
async fn follow(address: &str, from: u64) -> (Vec<u8>, usize, Option<ClientError>) {
    let client = Client::new(address, "token").unwrap().with_patience(Duration::from_secs(10));
    let mut stream = client.follow_log("run-1", Stage::Plan, from);
    let (mut given, mut losses) = (Vec::new(), 0);
    while let Some(update) = stream.next().await {
        match update {
            Ok(Update::New(piece)) => {
                assert_eq!(piece.offset, from + given.len() as u64);
                assert!(!piece.bytes.is_empty());
                given.extend_from_slice(&piece.bytes);
            }
            Ok(Update::Interrupted(_)) => losses += 1,
            Err(error) => {
                assert!(stream.next().await.is_none());
                return (given, losses, Some(error));
            }
        }
    }
    (given, losses, None)
}

/// How one connection goes.
#[derive(Debug, Clone)]
struct Connection {
    /// It starts so many bytes before what was asked for.
    overlap: usize,
    /// The size of each event.
    step: usize,
    /// It breaks off after so many bytes of the stream, heads of events and all.
    cut: usize,
    /// The end of it is an error to the client.
    rude: bool,
}

fn connections() -> impl Strategy<Value = Vec<Connection>> {
    let connection = (0usize..40, 1usize..40, 0usize..400, any::<bool>())
        .prop_map(|(overlap, step, cut, rude)| Connection { overlap, step, cut, rude });
    proptest::collection::vec(connection, 0..3)
}

proptest! {
    // each loss of a connection costs a pause
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn lost_connections_lose_no_byte_and_double_none(
        log in proptest::collection::vec(any::<u8>(), 0..400),
        connections in connections(),
        from in any::<proptest::sample::Index>(),
    ) {
        let from = from.index(log.len() + 1);
        let expected = log[from..].to_vec();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (given, _, end) = runtime.block_on(async {
            let server = Server::start(move |request| {
                let whole = Connection { overlap: 7, step: 64, cut: usize::MAX, rude: false };
                let Connection { overlap, step, cut, rude } = connections.get(request.number).unwrap_or(&whole);
                let mut at = position(request).saturating_sub(*overlap);
                let mut body = String::from(": hello\n\n");
                while at < log.len() {
                    let to = (at + step).min(log.len());
                    body += &log_event(&log, at, to);
                    at = to;
                }
                body += "event: end\ndata: {}\n\n";
                let body = &body.as_bytes()[..body.len().min(*cut)];
                if *rude {
                    vec![event_stream(true), chunk(body)]
                } else {
                    std::iter::once(event_stream(false)).chain(body.chunks(50).map(<[u8]>::to_vec)).collect()
                }
            })
            .await;
            follow(&server.address(), from as u64).await
        });
        prop_assert!(end.is_none(), "{:?}", end);
        prop_assert_eq!(given, expected);
    }
}

#[tokio::test]
async fn bytes_that_are_left_out_are_asked_for_again() {
    let log = b"terraform plan";
    let server = Server::start(move |request| {
        let from = position(request);
        // the first connection skips a piece
        let body = match request.number {
            0 => log_event(log, 0, 4) + &log_event(log, 9, 14),
            _ => log_event(log, from, 14) + "event: end\n\n",
        };
        vec![event_stream(false), body.into_bytes()]
    })
    .await;
    let (given, _, end) = follow(&server.address(), 0).await;
    assert!(end.is_none());
    assert_eq!(given, log);
    assert_eq!(position(&server.requests()[1]), 4);
}

#[tokio::test]
async fn a_server_that_always_leaves_bytes_out_is_not_believed() {
    let log = b"terraform plan";
    let server = Server::start(move |_| vec![event_stream(false), log_event(log, 5, 14).into_bytes()]).await;
    let (given, _, end) = follow(&server.address(), 0).await;
    assert!(given.is_empty());
    assert!(matches!(end, Some(ClientError::Unexpected { .. })), "{end:?}");
}

#[tokio::test]
async fn a_loss_is_told_once_and_a_daemon_that_restarts_is_waited_for() {
    let server = Server::start(|request| match request.number {
        0 => vec![event_stream(false), log_event(b"ab", 0, 1).into_bytes()],
        1 | 2 => vec![server::json("503 Service Unavailable", r#"{"errors":[{"detail":"starting"}]}"#)],
        _ => vec![event_stream(false), (log_event(b"ab", 1, 2) + "event: end\n\n").into_bytes()],
    })
    .await;
    let (given, losses, end) = follow(&server.address(), 0).await;
    assert_eq!((given.as_slice(), losses), (&b"ab"[..], 1));
    assert!(end.is_none());
}

#[tokio::test]
async fn what_does_not_pass_by_itself_ends_the_stream_at_once() {
    let body = r#"{"errors":[{"status":"404","title":"not found","detail":"run run-1 not found"}]}"#;
    let server = Server::start(move |_| vec![server::json("404 Not Found", body)]).await;
    let (_, losses, end) = follow(&server.address(), 0).await;
    assert!(matches!(&end, Some(ClientError::NotFound(_))), "{end:?}");
    assert_eq!((losses, server.requests().len()), (0, 1));
}

#[tokio::test]
async fn a_page_of_something_else_is_no_stream() {
    let server = Server::start(|_| vec![server::json("200 OK", "{}")]).await;
    let (_, _, end) = follow(&server.address(), 0).await;
    assert!(matches!(&end, Some(ClientError::Unexpected { .. })), "{end:?}");
}

#[tokio::test]
async fn without_any_answer_patience_ends() {
    let client = Client::new(&server::nobody(), "token").unwrap().with_patience(Duration::from_millis(300));
    let mut stream = client.follow_log("run-1", Stage::Apply, 0);
    assert!(matches!(stream.next().await, Some(Ok(Update::Interrupted(ClientError::Unreachable { .. })))));
    assert!(matches!(stream.next().await, Some(Err(ClientError::Unreachable { .. }))));
    assert!(stream.next().await.is_none());
}
