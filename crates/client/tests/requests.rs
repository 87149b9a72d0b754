//! What goes over the wire, and what the answers become.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use client::{
    Client, ClientError, NewRun, PlanOptions, Progress, RunAction, RunFilter, RunVariable, Stage, Update,
};
use futures::StreamExt as _;
use lifecycle::{State, Work};
use serde_json::{Value, json};
use wire::samples;

mod server;
use server::{Server, event_stream};

/// The document of a run, with an attribute and a resource that no release knows.
fn run(state: State, message: &str) -> Value {
    let mut run = samples::run(state);
    run.attributes.message = message.to_owned();
    let mut document = serde_json::to_value(samples::document(run)).unwrap();
    document["data"]["attributes"]["invented-later"] = json!({ "x": 1 });
    document["included"].as_array_mut().unwrap().push(json!({ "type": "inventions", "id": "1" }));
    document
}

/// The document of a plan with this log.
fn plan(log_read_url: &str) -> Value {
    json!({ "data": { "type": "plans", "id": "plan-1", "attributes": {
        "status": "finished", "status-timestamps": {}, "has-changes": true, "generated-configuration": false,
        "resource-additions": 1, "resource-changes": 0, "resource-destructions": 0, "resource-imports": null,
        "execution-details": { "mode": "remote" }, "permissions": { "can-export": false },
        "actions": { "is-exportable": false }, "log-read-url": log_read_url,
    } } })
}

async fn answering(status: &'static str, body: String) -> (Server, Client) {
    let server = Server::start(move |_| vec![server::json(status, &body)]).await;
    let client = Client::new(&server.address(), "top-secret").unwrap();
    (server, client)
}

#[tokio::test]
async fn a_run_is_read_with_what_came_along_and_without_what_is_not_known() {
    let (server, client) = answering("200 OK", run(State::NeedsConfirmation, "why").to_string()).await;
    let run = client.run("run-1").await.unwrap();
    assert_eq!(run.workspace_name.as_deref(), Some("network-prod"));
    assert_eq!(run.created_by.as_deref(), Some("operator"));
    assert_eq!((run.plan_id(), run.plan.as_ref()), (Some("plan-1"), None));
    assert_eq!((run.message.as_str(), run.status.as_ref()), ("why", "planned"));
    let request = &server.requests()[0];
    assert_eq!(
        request.line,
        "GET /api/v2/runs/run-1?include=plan%2Capply%2Ccreated_by%2Cworkspace%2Cconfiguration_version.ingress_attributes"
    );
    assert_eq!(request.header("authorization"), Some("Bearer top-secret"));
}

#[tokio::test]
async fn a_run_is_in_the_state_that_the_daemon_names() {
    for state in State::all() {
        let (_server, client) = answering("200 OK", run(state, "").to_string()).await;
        let run = client.run("run-1").await.unwrap();
        assert_eq!(
            (run.state(), run.state_name(), run.is_final()),
            (Some(state), state.name(), state.is_final())
        );
        for stage in Stage::EXECUTED {
            assert_eq!(run.progress(stage), state.progress(stage, false, false), "{state:?} {stage}");
        }
    }
}

#[tokio::test]
async fn a_state_of_a_newer_daemon_is_taken_as_it_came() {
    for is_final in [false, true] {
        let mut newer = run(State::Applied, "");
        newer["data"]["attributes"]["signalbox"] = json!({
            "state": "assessing:running", "state-name": "Assessing", "is-final": is_final, "waits-for": null,
            "error": null,
        });
        let (_server, client) = answering("200 OK", newer.to_string()).await;
        let run = client.run("run-1").await.unwrap();
        assert_eq!((run.state(), run.state_name(), run.is_final()), (None, "Assessing", is_final));
        assert_eq!(run.progress(Stage::Plan), Progress::Begun);
        let apply = if is_final { Progress::Begun } else { Progress::Ahead };
        assert_eq!(run.progress(Stage::Apply), apply);
    }
}

#[tokio::test]
async fn a_run_is_asked_for_with_all_its_options() {
    let (server, client) = answering("201 Created", run(State::Pending, "").to_string()).await;
    let new = NewRun {
        options: PlanOptions { target_addrs: vec!["a.b".into()], ..PlanOptions::default() },
        message: Some("why".into()),
        is_destroy: true,
        auto_apply: Some(true),
        variables: vec![RunVariable { key: "region".into(), value: "\"eu\"".into() }],
        ..NewRun::default()
    };
    client.create_run("ws-1", &new).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.line, "POST /api/v2/runs");
    assert_eq!(request.header("content-type"), Some("application/vnd.api+json"));
    let body: Value = serde_json::from_str(&request.body).unwrap();
    let attributes = json!({
        "message": "why", "is-destroy": true, "refresh-only": false, "refresh": true, "auto-apply": true,
        "allow-empty-apply": false, "allow-new-state": false, "target-addrs": ["a.b"], "replace-addrs": [],
        "variables": [{ "key": "region", "value": "\"eu\"" }],
    });
    assert_eq!(body["data"]["attributes"], attributes);
}

#[tokio::test]
async fn each_answer_that_is_no_success_has_its_error_and_its_words() {
    type IsRight = fn(&ClientError) -> bool;
    let words =
        r#"{"errors":[{"status":"x","title":"t","detail":"the words","source":{"pointer":"/data"}}]}"#;
    let table: [(&str, IsRight); 8] = [
        ("401 Unauthorized", |error| matches!(error, ClientError::Unauthorized { .. })),
        ("403 Forbidden", |error| matches!(error, ClientError::Forbidden(_))),
        ("404 Not Found", |error| matches!(error, ClientError::NotFound(_))),
        ("409 Conflict", |error| matches!(error, ClientError::Conflict(_))),
        ("413 Payload Too Large", |error| matches!(error, ClientError::Invalid(_))),
        ("422 Unprocessable Entity", |error| matches!(error, ClientError::Invalid(_))),
        ("429 Too Many Requests", |error| matches!(error, ClientError::Server { status: 429, .. })),
        ("500 Internal Server Error", |error| matches!(error, ClientError::Server { status: 500, .. })),
    ];
    for (status, is_right) in table {
        let (_server, client) = answering(status, words.to_owned()).await;
        let error = client.act_on_run("run-1", RunAction::Apply, None).await.unwrap_err();
        assert!(is_right(&error), "{status}: {error:?}");
        let told = error.to_string();
        assert!(told.contains("the words (at /data)") || status.starts_with("401"), "{status}: {told}");
    }
}

#[tokio::test]
async fn something_else_at_the_address_is_told_from_a_daemon() {
    for (status, body) in
        [("200 OK", "<html>"), ("404 Not Found", "<html>"), ("302 Found", ""), ("200 OK", "{}")]
    {
        let (_server, client) = answering(status, body.to_owned()).await;
        let error = client.run("run-1").await.unwrap_err();
        assert!(matches!(error, ClientError::Unexpected { .. }), "{status} {body}: {error:?}");
    }
    let workspace = json!({ "data": { "type": "workspaces", "id": "ws-1", "attributes": {} } });
    let (_server, client) = answering("200 OK", workspace.to_string()).await;
    assert!(matches!(client.run("run-1").await, Err(ClientError::Unexpected { .. })));
}

#[tokio::test]
async fn nobody_at_the_address_is_said_in_words() {
    let error = Client::new(&server::nobody(), "token").unwrap().run("run-1").await.unwrap_err();
    let told = error.to_string();
    assert!(told.starts_with("can't reach the daemon at http://127.0.0.1:"), "{told}");
    assert!(told.to_lowercase().contains("connection refused"), "{told}");
    assert!(error.help().is_some());
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let server = Server::start(|request| {
        let body = if request.line.starts_with("GET /api/v2/organizations?")
            || request.line.ends_with("organizations")
        {
            json!({ "data": [{ "type": "organizations", "id": "acme", "attributes": {} }] })
        } else {
            let pagination = json!({
                "current-page": 1, "page-size": 2, "next-page": 2, "prev-page": null, "total-pages": 2, "total-count": 3,
            });
            json!({ "data": [run(State::Applied, "")["data"]], "meta": { "pagination": pagination } })
        };
        vec![server::json("200 OK", &body.to_string())]
    })
    .await;
    let client = Client::new(&server.address(), "token").unwrap();
    let filter = RunFilter { workspace_id: None, statuses: vec!["applied".into(), "errored".into()] };
    let page = client.runs(&filter, 1, 2).await.unwrap();
    assert_eq!((page.items.len(), page.next_page()), (1, Some(2)));
    let line = &server.requests()[1].line;
    assert!(line.starts_with("GET /api/v2/organizations/acme/runs?"), "{line}");
    for part in
        ["filter%5Bstatus%5D=applied%2Cerrored", "page%5Bsize%5D=2", "filter%5Boperation%5D=plan_only"]
    {
        assert!(line.contains(part), "{line} lacks {part}");
    }
}

#[tokio::test]
async fn a_log_is_read_in_parts_without_its_marks() {
    let log: Vec<u8> = [&b"\x02"[..], &vec![b'x'; 70_000], b"\x03"].concat();
    let server = Server::start(move |request| {
        if request.line.starts_with("GET /api/v2/plans/") {
            return vec![server::json("200 OK", &plan("/secret/log").to_string())];
        }
        let offset: usize = request.line.split("offset=").nth(1).unwrap().parse().unwrap();
        let part =
            String::from_utf8(log[offset.min(log.len())..].iter().take(65_536).copied().collect()).unwrap();
        vec![server::json("200 OK", &part)]
    })
    .await;
    let client = Client::new(&server.address(), "token").unwrap();
    let (_documents, reader) = answering("200 OK", run(State::NeedsConfirmation, "").to_string()).await;
    let run = reader.run("run-1").await.unwrap();
    assert_eq!(client.log(&run, Stage::Plan).await.unwrap(), vec![b'x'; 70_000]);
}

#[tokio::test]
async fn the_token_does_not_go_to_another_host() {
    let (elsewhere, _) = answering("200 OK", String::new()).await;
    let plan = plan(&format!("{}/log", elsewhere.address()));
    let (_daemon, client) = answering("200 OK", plan.to_string()).await;
    let (_documents, reader) = answering("200 OK", run(State::NeedsConfirmation, "").to_string()).await;
    let run = reader.run("run-1").await.unwrap();
    client.log(&run, Stage::Plan).await.unwrap();
    assert_eq!(elsewhere.requests()[0].header("authorization"), None);
}

#[tokio::test]
async fn a_followed_run_comes_until_it_is_final_over_a_lost_connection() {
    let event = |state| format!("event: run\ndata: {}\n\n", run(state, ""));
    let planning = State::Planning(Work::Queued);
    let server = Server::start(move |request| {
        let body = match request.number {
            0 => event(State::Pending) + &event(planning),
            // a new connection starts with what is known
            _ => event(planning) + &event(State::Applied) + &event(State::Applied),
        };
        vec![event_stream(false), body.into_bytes()]
    })
    .await;
    let client = Client::new(&server.address(), "token").unwrap();
    let seen: Vec<_> = client
        .follow_run("run-1")
        .map(|update| match update.unwrap() {
            Update::New(run) => run.status.to_string(),
            Update::Interrupted(_) => "-".to_owned(),
        })
        .collect()
        .await;
    assert_eq!(seen, ["pending", "plan_queued", "-", "applied"]);
}
