//! States in two steps: announced, and then sent.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod support;

use axum::body::Body;
use axum::http::{Method, Request, header};
use serde_json::{Value, json};
use support::{Answer, Seeding, Server};

fn state(serial: u64) -> String {
    json!({ "version": 4, "serial": serial, "lineage": "abc", "terraform_version": "1.11.4", "resources": [] })
        .to_string()
}

/// MD5 of `state(1)`, by another implementation.
const MD5: &str = "6f4fa95a7b222189d7e738fe2dd9bf34";

struct Uploads {
    server: Server,
    workspace: String,
}

impl Uploads {
    /// With the workspace locked by `admin`.
    async fn new() -> Self {
        let server = Seeding::begin().await.start().await;
        let workspace = format!("/api/v2/workspaces/{}", server.workspace("network").await);
        server.post("admin", &format!("{workspace}/actions/lock"), "").await.ok(200);
        Self { server, workspace }
    }

    async fn announce(&self, attributes: Value) -> Answer {
        let body = json!({ "data": { "type": "state-versions", "attributes": attributes } }).to_string();
        self.server.post("admin", &format!("{}/state-versions", self.workspace), &body).await
    }

    async fn announced(&self, attributes: Value) -> Value {
        self.announce(attributes).await.ok(201)
    }

    async fn put(&self, url: &Value, body: impl Into<Body>) -> Answer {
        let path = url.as_str().unwrap().strip_prefix("https://signalbox.example").unwrap();
        self.server.send(Request::put(path).body(body.into()).unwrap()).await
    }

    async fn read(&self, announced: &Value) -> Value {
        let id = announced["data"]["id"].as_str().unwrap();
        self.server.get("reader", &format!("/api/v2/state-versions/{id}")).await.ok(200)
    }
}

fn url<'v>(announced: &'v Value, of: &str) -> &'v Value {
    &announced["data"]["attributes"][format!("hosted-{of}-upload-url")]
}

#[tokio::test]
async fn a_state_that_was_announced_is_the_current_one_when_its_bytes_have_come() {
    let uploads = Uploads::new().await;
    let announced = uploads.announced(json!({ "serial": 1, "lineage": "abc", "md5": MD5 })).await;
    let pending = uploads.read(&announced).await;
    assert_eq!(pending["data"]["attributes"]["status"], "pending");
    assert_eq!(pending["data"]["attributes"]["hosted-state-download-url"], Value::Null);
    uploads.server.get("reader", &format!("{}/current-state-version", uploads.workspace)).await.ok(404);
    // its JSON may come first
    uploads.put(url(&announced, "json-state"), r#"{"format_version":"1.0"}"#).await.ok(200);
    uploads.put(url(&announced, "state"), state(1)).await.ok(200);
    // who did not hear of it sends it again
    uploads.put(url(&announced, "state"), state(1)).await.ok(200);
    let kept = uploads.read(&announced).await;
    assert_eq!(kept["data"]["attributes"]["status"], "finalized");
    assert_eq!(kept["data"]["attributes"]["hosted-state-upload-url"], Value::Null);
    let current = uploads.server.get("reader", &format!("{}/current-state-version", uploads.workspace)).await;
    assert_eq!(current.ok(200)["data"]["id"], announced["data"]["id"]);
    let json = kept["data"]["attributes"]["hosted-json-state-download-url"].as_str().unwrap();
    let json = json.strip_prefix("https://signalbox.example").unwrap();
    assert_eq!(uploads.server.get("reader", json).await.text(), r#"{"format_version":"1.0"}"#);
    uploads.server.get("stranger", json).await.ok(404);
}

#[tokio::test]
async fn bytes_that_are_not_what_was_announced_are_refused_and_it_is_announced_still() {
    let uploads = Uploads::new().await;
    let announced = uploads.announced(json!({ "serial": 1, "lineage": "abc", "md5": MD5 })).await;
    let at = url(&announced, "state");
    let words = |answer: Answer| answer.ok(422)["errors"][0]["detail"].as_str().unwrap().to_owned();
    assert!(words(uploads.put(at, state(2)).await).contains(MD5));
    assert!(words(uploads.put(at, "").await).contains("MD5"));
    uploads.put(at, state(1)).await.ok(200);

    for (attributes, sent, why) in [
        (json!({ "serial": 3 }), state(2), "is 3, and the state says 2"),
        (json!({ "lineage": "xyz", "force": true }), state(2), "the state says \"abc\""),
        (json!({}), "{".to_owned(), "cut off"),
        (json!({}), String::new(), "the state is empty"),
        (json!({}), "hello".to_owned(), "not a terraform state"),
    ] {
        let announced = uploads.announced(attributes).await;
        let words = words(uploads.put(url(&announced, "state"), sent).await);
        assert!(words.contains(why), "{words}");
    }
    let announced = uploads.announced(json!({})).await;
    assert!(words(uploads.put(url(&announced, "json-state"), "{").await).contains("not JSON"));
}

#[tokio::test]
async fn what_would_be_refused_when_it_comes_is_not_announced() {
    let uploads = Uploads::new().await;
    let announced = uploads.announced(json!({ "serial": 5, "lineage": "abc" })).await;
    uploads.put(url(&announced, "state"), state(5)).await.ok(200);
    uploads.announce(json!({ "serial": 4, "lineage": "abc" })).await.ok(409);
    uploads.announce(json!({ "serial": 6, "lineage": "xyz" })).await.ok(409);
    uploads.announced(json!({ "serial": 6, "lineage": "xyz", "force": true })).await;
    let next = uploads.announced(json!({ "serial": 6, "lineage": "abc" })).await;
    uploads.server.post("admin", &format!("{}/actions/unlock", uploads.workspace), "").await.ok(200);
    uploads.announce(json!({ "serial": 6, "lineage": "abc" })).await.ok(409);
    // a run could be changing the state by now
    uploads.put(url(&next, "state"), state(6)).await.ok(409);
}

#[tokio::test]
async fn an_address_is_for_one_state_and_one_purpose() {
    let uploads = Uploads::new().await;
    let first = uploads.announced(json!({})).await;
    let second = uploads.announced(json!({})).await;
    let (first, json) = (url(&first, "state").as_str().unwrap(), url(&first, "json-state").as_str().unwrap());
    let second = url(&second, "state").as_str().unwrap();
    let (path, _) = first.rsplit_once('/').unwrap();
    for other in [second, json, "/0-00"] {
        let (_, secret) = other.rsplit_once('/').unwrap();
        uploads.put(&json!(format!("{path}/{secret}")), state(1)).await.ok(404);
    }
    uploads.put(&json!(first), state(1)).await.ok(200);
}

#[tokio::test]
async fn what_will_be_too_large_is_refused_before_it_is_read() {
    let uploads = Uploads::new().await;
    let announced = uploads.announced(json!({})).await;
    let path = url(&announced, "state").as_str().unwrap().strip_prefix("https://signalbox.example").unwrap();
    let length = (1_u64 << 30) + 1;
    let request = Request::builder().method(Method::PUT).uri(path).header(header::CONTENT_LENGTH, length);
    let refused = uploads.server.send(request.body(Body::empty()).unwrap()).await.ok(413);
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("1073741824"), "{refused}");
}

#[tokio::test]
async fn a_state_in_the_body_is_taken_at_once() {
    use base64::Engine as _;
    let uploads = Uploads::new().await;
    let inline = base64::prelude::BASE64_STANDARD.encode(state(1));
    let kept = uploads.announced(json!({ "state": &inline, "md5": MD5, "json-state": "e30=" })).await;
    assert_eq!(kept["data"]["attributes"]["status"], "finalized");
    let refused = uploads.announce(json!({ "state": inline, "md5": "0123" })).await;
    assert_eq!(refused.pointers(), ["/data/attributes/md5"]);
    let refused = uploads.announce(json!({ "state": "###" })).await;
    assert_eq!(refused.pointers(), ["/data/attributes/state"]);
    let refused = uploads.announce(json!({ "state": 3 })).await;
    assert_eq!(refused.pointers(), ["/data/attributes/state"]);
}
