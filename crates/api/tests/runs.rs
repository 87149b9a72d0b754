//! Runs, from being queued to what people do with them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, RunId};
use lifecycle::{Event, Stage, State};
use serde_json::{Value, json};
use store::NewConfigurationVersion;
use support::{Seed, Seeding, Server, new_run};

/// A server on which runs of `network` stay pending.
async fn locked() -> Server {
    let server = Seeding::begin().await.start().await;
    let network = server.workspace("network").await;
    server.post("operator", &format!("/api/v2/workspaces/{network}/actions/lock"), "").await.ok(200);
    server
}

fn run_id(document: &Value) -> RunId {
    document["data"]["id"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_run_is_queued_with_all_that_clients_look_for_at_once() {
    let server = locked().await;
    let network = server.workspace("network").await;
    let created =
        server.post("planner", "/api/v2/runs", new_run(network, json!({ "message": "hello" }))).await.ok(201);
    let (attributes, relationships) = (&created["data"]["attributes"], &created["data"]["relationships"]);
    assert_eq!(attributes["status"], "pending");
    assert_eq!(attributes["message"], "hello");
    assert_eq!(attributes["source"], "tfe-api");
    assert_eq!(attributes["actions"]["is-cancelable"], true);
    assert_eq!(attributes["permissions"]["can-apply"], false);
    assert!(attributes["created-at"].as_str().unwrap().ends_with('Z'));
    for (name, kind) in
        [("workspace", "workspaces"), ("plan", "plans"), ("apply", "applies"), ("created-by", "users")]
    {
        assert_eq!(relationships[name]["data"]["type"], kind);
    }
    assert_eq!(relationships["run-events"]["data"].as_array().unwrap().len(), 1);
    assert_eq!(relationships["policy-checks"]["data"], json!([]));
    assert_eq!(relationships["cost-estimate"]["data"], Value::Null);

    let id = run_id(&created);
    let events =
        server.get("planner", &format!("/api/v2/runs/{id}/run-events?include=actor,comment")).await.ok(200);
    assert_eq!(events["data"][0]["attributes"]["action"], "queued");
    assert_eq!(events["included"][0]["attributes"]["username"], "planner");
    let event = events["data"][0]["id"].as_str().unwrap();
    assert_eq!(
        server.get("reader", &format!("/api/v2/run-events/{event}")).await.ok(200)["data"],
        events["data"][0]
    );
    server.get("stranger", &format!("/api/v2/run-events/{event}")).await.ok(404);
    let plan = server.get("planner", &format!("/api/v2/plans/{}", id.plan())).await.ok(200);
    assert_eq!(plan["data"]["attributes"]["status"], "pending");
    assert_eq!(server.get("planner", &format!("/api/v2/runs/{id}/plan")).await.ok(200), plan);
    let apply = server.get("planner", &format!("/api/v2/applies/{}", id.apply())).await.ok(200);
    assert_eq!(apply["data"]["attributes"]["status"], "pending");
    assert_eq!(
        server.get("planner", &format!("/api/v2/runs/{id}/task-stages")).await.ok(200)["data"],
        json!([])
    );
}

#[tokio::test]
async fn runs_are_listed_newest_first_by_page_and_without_plan_only_ones() {
    let server = locked().await;
    let network = server.workspace("network").await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(
            run_id(&server.post("operator", "/api/v2/runs", new_run(network, json!({}))).await.ok(201))
                .to_string(),
        );
    }
    ids.reverse();
    let path = format!("/api/v2/workspaces/{network}/runs");
    let listed = async |query: &str| server.get("reader", &format!("{path}?{query}")).await.ok(200);
    let found = |document: &Value| -> Vec<String> {
        document["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(found(&listed("").await), ids);
    let first = listed("page%5Bsize%5D=2").await;
    assert_eq!(found(&first), ids[..2]);
    assert_eq!(
        first["meta"]["pagination"],
        json!({
            "current-page": 1, "page-size": 2, "prev-page": null, "next-page": 2, "total-pages": 2, "total-count": 3,
        })
    );
    let next = server.get("reader", first["links"]["next"].as_str().unwrap()).await.ok(200);
    assert_eq!(found(&next), ids[2..]);
    assert_eq!(next["meta"]["pagination"]["next-page"], Value::Null);
    assert_eq!(found(&listed("filter[status]=pending&filter[operation]=&junk=1").await), ids);
    assert_eq!(found(&listed("filter[status]=applied").await), [""; 0]);
    assert_eq!(found(&listed("filter[operation]=plan_only").await), [""; 0]);
    assert_eq!(found(&listed("search[user]=operator").await), ids);
    assert_eq!(found(&listed("search[user]=owner").await), [""; 0]);
    let of_organization = async |query: &str| {
        server.get("reader", &format!("/api/v2/organizations/acme/runs?{query}")).await.ok(200)
    };
    assert_eq!(found(&of_organization("filter[workspace_names]=network").await), ids);
    assert_eq!(found(&of_organization("filter[workspace_names]=guarded").await), [""; 0]);
    assert_eq!(found(&of_organization("filter[status_group]=non_final").await), ids);
    let uncounted = of_organization("page[size]=2").await;
    assert_eq!(found(&uncounted), ids[..2]);
    assert_eq!(
        uncounted["meta"]["pagination"],
        json!({ "current-page": 1, "page-size": 2, "prev-page": null, "next-page": 2 })
    );
    let last = server.get("reader", uncounted["links"]["next"].as_str().unwrap()).await.ok(200);
    assert_eq!(found(&last), ids[2..]);
    assert_eq!(last["meta"]["pagination"]["next-page"], Value::Null);
    server.get("reader", &format!("{path}?page[number]=x")).await.ok(400);

    // the queue counts the runs ahead, also for somebody who can't see them
    let queue = server.get("reader", "/api/v2/organizations/acme/runs/queue").await.ok(200);
    let positions: Vec<_> = queue["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["attributes"]["position-in-queue"].clone())
        .collect();
    assert_eq!(positions, [0, 1, 2]);
    assert_eq!(
        server.get("stranger", "/api/v2/organizations/acme/runs/queue").await.ok(200)["data"],
        json!([])
    );
    let capacity = server.get("reader", "/api/v2/organizations/acme/capacity").await.ok(200);
    assert_eq!(capacity["data"]["attributes"], json!({ "pending": 3, "running": 0 }));
}

#[tokio::test]
async fn an_action_is_accepted_with_every_body_that_clients_send() {
    let server = locked().await;
    let network = server.workspace("network").await;
    for body in ["", "{}", "null", r#"{"comment":"no longer wanted"}"#, r#"{"comment":null}"#] {
        let id = run_id(&server.post("operator", "/api/v2/runs", new_run(network, json!({}))).await.ok(201));
        let answer = server.post("operator", &format!("/api/v2/runs/{id}/actions/discard"), body).await;
        assert_eq!((answer.status.as_u16(), answer.text().as_str()), (202, ""), "{body}");
        let events =
            server.get("reader", &format!("/api/v2/runs/{id}/run-events?include=comment")).await.ok(200);
        let comments = events["included"]
            .as_array()
            .map(|all| all.iter().map(|c| c["attributes"]["body"].clone()).collect());
        let expected = body.contains("wanted").then(|| vec![json!("no longer wanted")]);
        assert_eq!(comments, expected, "{body}");
    }
    let id = run_id(&server.post("operator", "/api/v2/runs", new_run(network, json!({}))).await.ok(201));
    let wrong =
        server.post("operator", &format!("/api/v2/runs/{id}/actions/discard"), r#"{"comment":1}"#).await;
    wrong.ok(422);
    assert_eq!(wrong.pointers(), ["/comment"]);
    server.post("operator", &format!("/api/v2/runs/{id}/actions/discard"), "no").await.ok(400);
    let force_execute =
        server.post("operator", &format!("/api/v2/runs/{id}/actions/force-execute"), "").await.ok(422);
    assert!(force_execute["errors"][0]["detail"].as_str().unwrap().contains("not supported"));
    assert_eq!(
        server.get("reader", &format!("/api/v2/runs/{id}")).await.ok(200)["data"]["attributes"]["status"],
        "pending"
    );
}

#[tokio::test]
async fn an_action_that_is_not_legal_now_is_409_and_changes_nothing() {
    let seeding = Seeding::begin().await;
    let run = seeding.run(Seed::new("network", State::Discarded(Stage::Plan))).await;
    let server = seeding.start().await;
    let path = format!("/api/v2/runs/{}", run.id);
    let before = server.get("admin", &path).await.ok(200);
    for action in ["apply", "discard", "cancel", "force-cancel"] {
        let error = server.post("admin", &format!("{path}/actions/{action}"), "").await.ok(409);
        assert!(error["errors"][0]["detail"].as_str().unwrap().contains("the run is over"), "{error}");
    }
    assert_eq!(server.get("admin", &path).await.ok(200), before);
}

#[tokio::test]
async fn a_plan_is_confirmed_by_who_may_apply_and_read_by_who_may_read() {
    let plan_json = json!({ "format_version": "1.2", "resource_changes": [{ "change": {
        "before": null, "after": { "input": "hunter2", "id": "x" },
        "before_sensitive": false, "after_sensitive": { "input": true },
    } }] });
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", plan_json.to_string().as_bytes()).await;
    let server = seeding.start().await;
    let path = format!("/api/v2/runs/{}", run.id);
    let read = server.get("reader", &format!("{path}?include=plan,apply,created-by,workspace")).await.ok(200);
    assert_eq!(read["data"]["attributes"]["actions"]["is-confirmable"], true);
    assert_eq!(read["data"]["attributes"]["has-changes"], true);
    let included: Vec<_> =
        read["included"].as_array().unwrap().iter().map(|r| r["type"].as_str().unwrap()).collect();
    assert_eq!(included, ["plans", "applies", "users", "workspaces"]);

    let raw = server.get("admin", &format!("/api/v2/plans/{}/json-output", run.id.plan())).await;
    assert_eq!((raw.ok(200), raw.headers["content-type"].to_str().unwrap()), (plan_json, "application/json"));
    let redacted =
        server.get("reader", &format!("/api/v2/plans/{}/json-output-redacted", run.id.plan())).await;
    assert!(!redacted.text().contains("hunter2"));
    assert_eq!(
        redacted.ok(200)["resource_changes"][0]["change"]["after"],
        json!({ "input": null, "id": "x" })
    );

    let applied = server.post("operator", &format!("{path}/actions/apply"), r#"{"comment":"go"}"#).await;
    assert_eq!(applied.ok(202), Value::Null);
    let after = server.get("reader", &path).await.ok(200);
    let status = after["data"]["attributes"]["status"].as_str().unwrap();
    assert!(["apply_queued", "applying"].contains(&status), "{status}");
    let confirmed_by = &after["data"]["relationships"]["confirmed-by"]["data"];
    assert_eq!(
        *confirmed_by,
        server.get("operator", "/api/v2/account/details").await.ok(200)["data"].identifier()
    );
    server.post("operator", &format!("{path}/actions/apply"), "").await.ok(409);
}

trait Identified {
    fn identifier(&self) -> Value;
}

impl Identified for Value {
    fn identifier(&self) -> Value {
        json!({ "type": self["type"], "id": self["id"] })
    }
}

#[tokio::test]
async fn a_failed_policy_is_overridden_by_an_owner_alone() {
    let seeding = Seeding::begin().await;
    let run = seeding.soft_failed().await;
    let server = seeding.start().await;
    let check = run.id.policy_check();
    let path = format!("/api/v2/policy-checks/{check}");
    let listed = server.get("operator", &format!("/api/v2/runs/{}/policy-checks", run.id)).await.ok(200);
    let document = server.get("operator", &path).await.ok(200);
    assert_eq!(listed["data"][0], document["data"]);
    let attributes = &document["data"]["attributes"];
    assert_eq!(attributes["status"], "soft_failed");
    assert_eq!(attributes["actions"]["is-overridable"], true);
    assert_eq!(attributes["permissions"]["can-override"], false);
    for (key, value) in [
        ("result", json!(false)),
        ("passed", json!(2)),
        ("soft-failed", json!(1)),
        ("total-failed", json!(1)),
        ("duration", json!(12)),
        ("duration-ms", json!(12)),
    ] {
        assert_eq!(attributes["result"][key], value, "{key}");
    }
    for path in [path.clone(), format!("/api/v2/runs/{}/policy-checks", run.id)] {
        let with_run = server.get("operator", &format!("{path}?include=run.workspace")).await.ok(200);
        let kinds: Vec<_> = with_run["included"].as_array().unwrap().iter().map(|it| &it["type"]).collect();
        assert_eq!(kinds, ["workspaces", "runs"]);
        assert_no_circle(&with_run, &path);
        server.get("operator", &format!("{path}?include=nonsense")).await.ok(400);
    }
    let beyond = format!("/api/v2/runs/{}/policy-checks?include=run&page[number]=2", run.id);
    let beyond = server.get("operator", &beyond).await.ok(200);
    assert_eq!((&beyond["data"], &beyond["included"]), (&json!([]), &json!(null)));
    server.write_log(run.id, Stage::PolicyCheck, b"Sentinel Result: false\n");
    let output = server.get("operator", &format!("{path}/output")).await;
    assert_eq!(output.text(), "Sentinel Result: false\n");

    server.post("operator", &format!("{path}/actions/override"), "").await.ok(404);
    let overridden =
        server.post("owner", &format!("{path}/actions/override"), r#"{"comment":"agreed"}"#).await.ok(200);
    assert_eq!(overridden["data"]["attributes"]["status"], "overridden");
    assert_eq!(overridden["data"]["attributes"]["actions"]["is-overridable"], false);
    server.post("owner", &format!("{path}/actions/override"), "").await.ok(409);
    let events = server
        .get("operator", &format!("/api/v2/runs/{}/run-events?include=actor,comment", run.id))
        .await
        .ok(200);
    let texts = events["included"].to_string();
    assert!(texts.contains("agreed") && texts.contains("owner"), "{texts}");
    // a run without policies has no check
    let none = server
        .post("owner", "/api/v2/runs", new_run(server.workspace("secret").await, json!({})))
        .await
        .ok(201);
    server.get("owner", &format!("/api/v2/policy-checks/{}", run_id(&none).policy_check())).await.ok(404);
}

/// Follows every relationship through what is included, as the decoder of the Go clients does.
fn depth(
    resource: &Value,
    included: &HashMap<(String, String), Value>,
    above: &mut Vec<(String, String)>,
) -> usize {
    let mut deepest = above.len();
    for linked in resource["relationships"].as_object().into_iter().flatten().map(|(_, value)| &value["data"])
    {
        let one = linked.as_object().map(|_| linked.clone());
        for link in one.into_iter().chain(linked.as_array().cloned().unwrap_or_default()) {
            let key = (link["type"].to_string(), link["id"].to_string());
            let Some(next) = included.get(&key) else { continue };
            assert!(!above.contains(&key), "a circle over {key:?}");
            above.push(key);
            deepest = deepest.max(depth(next, included, above));
            above.pop();
        }
    }
    deepest
}

fn assert_no_circle(document: &Value, path: &str) {
    let included = document["included"].as_array().unwrap();
    let by_id: HashMap<_, _> =
        included.iter().map(|r| ((r["type"].to_string(), r["id"].to_string()), r.clone())).collect();
    assert_eq!(by_id.len(), included.len(), "something comes twice: {path}");
    let primary = document["data"].as_array().cloned().unwrap_or_else(|| vec![document["data"].clone()]);
    let reached: HashSet<_> = primary.iter().map(|resource| depth(resource, &by_id, &mut vec![])).collect();
    assert!(reached.iter().any(|depth| *depth > 0), "nothing is reached: {path}");
}

#[tokio::test]
async fn no_circle_leads_through_what_is_included() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let network = server.workspace("network").await;
    let paths = [
        format!(
            "/api/v2/runs/{}?include=plan,apply,created_by,configuration_version,workspace,cost_estimate,task_stages",
            run.id
        ),
        format!("/api/v2/workspaces/{network}/runs?include=plan,workspace"),
        format!(
            "/api/v2/workspaces/{network}?include=organization,current_run,current_run.plan,current_run.apply,current_run.created_by,locked_by,outputs,current_state_version"
        ),
        "/api/v2/organizations/acme/workspaces?include=current_run.plan,locked_by".to_owned(),
    ];
    for path in paths {
        assert_no_circle(&server.get("owner", &path).await.ok(200), &path);
    }
    server.get("owner", &format!("/api/v2/runs/{}?include=workspace.current_run", run.id)).await.ok(400);
}

#[tokio::test]
async fn run_plan_and_apply_say_the_same_at_every_step() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let statuses = async || {
        let document =
            server.get("reader", &format!("/api/v2/runs/{}?include=plan,apply", run.id)).await.ok(200);
        let status = |resource: &Value| resource["attributes"]["status"].as_str().unwrap().to_owned();
        (status(&document["data"]), status(&document["included"][0]), status(&document["included"][1]))
    };
    let as_texts = |(a, b, c): (&str, &str, &str)| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(statuses().await, as_texts(("planned", "finished", "pending")));
    server.record(run.id, Event::Discard).await;
    assert_eq!(statuses().await, as_texts(("discarded", "finished", "unreachable")));
}

#[tokio::test]
async fn a_configuration_version_of_another_workspace_is_answered_as_one_that_is_not_there() {
    let seeding = Seeding::begin().await;
    let elsewhere = NewConfigurationVersion {
        id: ConfigurationVersionId::generate(),
        workspace: seeding.workspace("guarded").await,
        source: "git".into(),
        speculative: false,
        created_at: Timestamp::now(),
    };
    let elsewhere = seeding.store.create_configuration_version(elsewhere).await.unwrap().id;
    let server = seeding.start().await;
    let network = server.workspace("network").await;
    let mut answers = Vec::new();
    for version in [elsewhere, ConfigurationVersionId::generate()] {
        let mut body: Value = serde_json::from_str(&new_run(network, json!({}))).unwrap();
        body["data"]["relationships"]["configuration-version"] =
            json!({ "data": { "type": "configuration-versions", "id": version.to_string() } });
        answers.push(server.post("operator", "/api/v2/runs", body.to_string()).await.ok(422));
    }
    assert_eq!(answers[0], answers[1]);
}
