//! Logs: as terraform's clients poll them, and as streams.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures::StreamExt as _;
use lifecycle::id::RunId;
use lifecycle::{Event, Execution, PlanOutcome, Stage, State, Work};
use serde_json::Value;
use support::{Seed, Seeding, Server, token};
use tower::ServiceExt as _;

const PLANNED: Event = Event::PlanEnded { outcome: PlanOutcome::Changes, policies: false };
const PLANNING: State = State::Planning(Work::Executing(Execution::Running));

/// A server with a run whose plan is under way.
async fn planning() -> (Server, RunId) {
    let seeding = Seeding::begin().await;
    let run = seeding.run(Seed::new("network", PLANNING)).await;
    (seeding.start().await, run.id)
}

async fn log_path(server: &Server, run: RunId) -> String {
    let plan = server.get("reader", &format!("/api/v2/plans/{}", run.plan())).await.ok(200);
    let url = plan["data"]["attributes"]["log-read-url"].as_str().unwrap().to_owned();
    url.strip_prefix("https://signalbox.example").expect("an absolute address").to_owned()
}

#[tokio::test]
async fn a_log_is_polled_to_its_end_mark_without_a_lost_or_doubled_byte() {
    let (server, run) = planning().await;
    let path = log_path(&server, run).await;
    let mut got = Vec::new();
    let mut written = Vec::new();
    for step in 0..6 {
        if step < 5 {
            let piece = format!("line {step}\n").repeat(step * 7);
            server.write_log(run, Stage::Plan, piece.as_bytes());
            written.extend(piece.into_bytes());
        } else {
            server.record(run, PLANNED).await;
        }
        loop {
            let answer = server.get("", &format!("{path}?limit=37&offset={}", got.len())).await;
            assert_eq!(answer.status, 200);
            if answer.bytes.is_empty() {
                break;
            }
            assert!(answer.bytes.len() <= 37);
            got.extend(answer.bytes);
        }
        let end = if step < 5 { &[][..] } else { &[3][..] };
        assert_eq!(got, [&[2][..], &written, end].concat(), "after step {step}");
    }
    // without a query: all of it
    assert_eq!(server.get("", &path).await.bytes, got);
    assert_eq!(server.get("", &format!("{path}?limit=1000000&offset=3")).await.bytes, got[3..]);
    assert_eq!(server.get("", &format!("{path}?limit=5&offset=99999999")).await.ok(200), Value::Null);
    server.get("", &format!("{path}?offset=-1")).await.ok(400);
}

#[tokio::test]
async fn the_secret_in_the_path_is_what_opens_a_log() {
    let (server, run) = planning().await;
    let path = log_path(&server, run).await;
    let (front, secret) = path.rsplit_once('/').unwrap();
    let other = format!("{front}/{}", secret.chars().rev().collect::<String>());
    for path in [other, path.replace("/plan/", "/apply/"), format!("{front}/"), format!("{front}/00")] {
        assert_eq!(server.get("owner", &path).await.status, 404, "{path}");
    }
    assert_eq!(server.get("", &path).await.bytes, [2]);
    // the same for an hour: this test does not run at its turn
    assert_eq!(log_path(&server, run).await, path);
}

#[tokio::test]
async fn a_stage_that_never_ran_has_an_empty_log_that_ends() {
    let seeding = Seeding::begin().await;
    let run = seeding.run(Seed::new("network", State::Discarded(Stage::Pending))).await;
    let server = seeding.start().await;
    let path = log_path(&server, run.id).await;
    assert_eq!(server.get("", &format!("{path}?limit=65536&offset=0")).await.bytes, [2, 3]);
    assert_eq!(server.get("", &format!("{path}?limit=65536&offset=2")).await.bytes, [0; 0]);
}

struct Stream(axum::body::BodyDataStream, String);

#[derive(Debug)]
struct Sent {
    name: String,
    id: Option<String>,
    data: Value,
}

impl Stream {
    async fn open(server: &Server, user: &str, path: &str, last: Option<&str>) -> Self {
        let mut request = Request::get(path).header("authorization", format!("Bearer {}", token(user)));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = server.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body().into_data_stream(), String::new())
    }

    /// The next event; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.1 = rest;
                let field = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(|v| v.trim().to_owned())
                };
                let Some(name) = field("event:") else { continue };
                let data = serde_json::from_str(&field("data:").unwrap()).unwrap();
                return Some(Sent { name, id: field("id:"), data });
            }
            let more =
                tokio::time::timeout(Duration::from_secs(30), self.0.next()).await.expect("an event in time");
            self.1 += std::str::from_utf8(&more?.unwrap()).unwrap();
        }
    }
}

fn piece(event: &Sent) -> (u64, Vec<u8>) {
    assert_eq!(event.name, "log");
    (
        event.data["offset"].as_u64().unwrap(),
        BASE64_STANDARD.decode(event.data["data"].as_str().unwrap()).unwrap(),
    )
}

#[tokio::test]
async fn a_stream_brings_every_byte_as_it_is_written_and_then_the_end() {
    let (server, run) = planning().await;
    let path = format!("/api/signalbox/v1/runs/{run}/logs/plan/stream");
    // a character may be cut in the middle
    server.write_log(run, Stage::Plan, b"first \xc3");
    let mut stream = Stream::open(&server, "reader", &path, None).await;
    let first = stream.next().await.unwrap();
    assert_eq!((piece(&first), first.id.as_deref()), ((0, b"first \xc3".to_vec()), Some("7")));
    server.write_log(run, Stage::Plan, b"\xa4 second\n");
    let second = stream.next().await.unwrap();
    assert_eq!((piece(&second), second.id.as_deref()), ((7, b"\xa4 second\n".to_vec()), Some("16")));
    server.write_log(run, Stage::Plan, b"last\n");
    server.record(run, PLANNED).await;
    let third = stream.next().await.unwrap();
    assert_eq!(piece(&third), (16, b"last\n".to_vec()));
    let end = stream.next().await.unwrap();
    assert_eq!((end.name.as_str(), end.data["offset"].as_u64()), ("end", Some(21)));
    assert!(stream.next().await.is_none());

    // a reader who comes back gets what it has not seen
    for (last, query) in [(second.id.as_deref(), ""), (None, "?offset=16")] {
        let mut resumed = Stream::open(&server, "reader", &format!("{path}{query}"), last).await;
        assert_eq!(piece(&resumed.next().await.unwrap()), (16, b"last\n".to_vec()));
        assert_eq!(resumed.next().await.unwrap().name, "end");
        assert!(resumed.next().await.is_none());
    }
}

#[tokio::test]
async fn a_large_log_is_streamed_in_pieces_that_add_up() {
    let (server, run) = planning().await;
    let whole: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
    server.write_log(run, Stage::Plan, &whole);
    server.record(run, Event::PlanEnded { outcome: PlanOutcome::Failed, policies: false }).await;
    let path = format!("/api/signalbox/v1/runs/{run}/logs/plan/stream");
    let mut stream = Stream::open(&server, "reader", &path, None).await;
    let mut got = Vec::new();
    let total = loop {
        let event = stream.next().await.unwrap();
        if event.name == "end" {
            break event.data["offset"].as_u64().unwrap();
        }
        let (offset, bytes) = piece(&event);
        assert_eq!(offset, got.len() as u64);
        got.extend(bytes);
    };
    assert!(got == whole && total == whole.len() as u64);
}

#[tokio::test]
async fn a_run_is_watched_until_it_is_over() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let mut stream = Stream::open(
        &server,
        "reader",
        &format!("/api/signalbox/v1/runs/{}/events?include=plan", run.id),
        None,
    )
    .await;
    let first = stream.next().await.unwrap();
    assert_eq!(
        (first.name.as_str(), &first.data["data"]["attributes"]["status"]),
        ("run", &"planned".into())
    );
    assert_eq!(first.data["included"][0]["type"], "plans");
    server.post("operator", &format!("/api/v2/runs/{}/actions/discard", run.id), "").await.ok(202);
    let last = stream.next().await.unwrap();
    assert_eq!(last.data["data"]["attributes"]["status"], "discarded");
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn changes_are_told_to_who_may_see_them_and_again_to_who_was_away() {
    let seeding = Seeding::begin().await;
    let seen = seeding.planned("network", b"{}").await;
    let hidden = seeding.run(Seed::new("secret", State::NeedsConfirmation)).await;
    let server = seeding.start().await;
    let mut stream = Stream::open(&server, "operator", "/api/signalbox/v1/events", None).await;
    server.post("owner", &format!("/api/v2/runs/{}/actions/discard", hidden.id), "").await.ok(202);
    server.post("operator", &format!("/api/v2/runs/{}/actions/discard", seen.id), "").await.ok(202);
    let event = stream.next().await.unwrap();
    assert_eq!(event.name, "change");
    assert_eq!(event.data["run"], seen.id.to_string());
    assert_eq!(event.data["workspace"], seen.workspace.to_string());
    assert_eq!(event.data["status"], "discarded");
    server.post("operator", &format!("/api/v2/workspaces/{}/actions/lock", seen.workspace), "").await.ok(200);
    let locked = stream.next().await.unwrap();
    assert_eq!(
        (&locked.data["run"], &locked.data["workspace"]),
        (&Value::Null, &seen.workspace.to_string().into())
    );
    let mut again = Stream::open(&server, "operator", "/api/signalbox/v1/events", Some("0")).await;
    let mut told = Vec::new();
    while told.last().is_none_or(|status| status != "discarded") {
        let event = again.next().await.unwrap();
        assert_eq!(event.data["run"], seen.id.to_string());
        told.push(event.data["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(told, ["pending", "plan_queued", "planning", "planned", "discarded"]);
}

#[tokio::test]
async fn streams_end_when_the_daemon_stops() {
    let (server, run) = planning().await;
    let mut streams = Vec::new();
    for path in ["events".to_owned(), format!("runs/{run}/events"), format!("runs/{run}/logs/plan/stream")] {
        streams.push(Stream::open(&server, "reader", &format!("/api/signalbox/v1/{path}"), None).await);
    }
    server.shutdown.cancel();
    for mut stream in streams {
        while stream.next().await.is_some() {}
    }
}
