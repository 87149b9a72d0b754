//! What every request goes through: tokens, bodies, headers, and who may see what.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use axum::body::Body;
use axum::http::{Method, Request, header};
use lifecycle::State;
use serde_json::json;
use support::{Seed, Seeding, new_run, request, token};

#[tokio::test]
async fn without_a_good_token_there_is_401_and_nothing_else() {
    let server = Seeding::begin().await.start().await;
    let bad = ["", "Basic b3duZXI=", "Bearer nobody", "Bearer "];
    for path in [
        "/api/v2/account/details",
        "/api/v2/organizations/acme/workspaces",
        "/api/v2/runs/run-x",
        "/api/signalbox/v1/events",
    ] {
        for authorization in bad {
            let mut request = Request::get(path);
            if !authorization.is_empty() {
                request = request.header(header::AUTHORIZATION, authorization);
            }
            let answer = server.send(request.body(Body::empty()).unwrap()).await;
            let error = &answer.ok(401)["errors"][0];
            assert_eq!(error["status"], "401", "{path} {authorization}");
        }
    }
    let who = server.get("operator", "/api/v2/account/details").await.ok(200);
    assert_eq!(
        (&who["data"]["type"], &who["data"]["attributes"]["username"]),
        (&json!("users"), &json!("operator"))
    );
}

#[tokio::test]
async fn discovery_ping_and_health_need_no_token() {
    let server = Seeding::begin().await.start().await;
    let services = server.get("", "/.well-known/terraform.json").await;
    assert_eq!(services.headers[header::CONTENT_TYPE], "application/json");
    for id in ["tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"] {
        assert_eq!(services.json()[id], "/api/v2/");
    }
    assert!(services.json()["modules.v1"].is_string());
    assert_eq!(server.get("", "/api/v2/ping").await.status, 204);
    assert_eq!(server.get("", "/healthz").await.text(), "ok");
}

#[tokio::test]
async fn every_answer_carries_the_headers_that_clients_read() {
    let server = Seeding::begin().await.start().await;
    for (user, path) in [
        ("", "/api/v2/ping"),
        ("", "/api/v2/account/details"),
        ("owner", "/nowhere"),
        ("owner", "/api/v2/organizations/acme"),
    ] {
        let headers = server.get(user, path).await.headers;
        assert_eq!(headers["tfp-api-version"], "2.6", "{path}");
        assert_eq!(headers["tfp-appname"], "Terraform Enterprise");
        assert_eq!(headers["x-tfe-version"], "v202507-1");
    }
}

#[tokio::test]
async fn what_is_not_there_and_what_one_may_not_see_are_the_same_404() {
    let seeding = Seeding::begin().await;
    let run = seeding.run(Seed::new("secret", State::NeedsConfirmation)).await;
    let server = seeding.start().await;
    let secret = server.workspace("secret").await;
    let (plan, check) = (run.id.plan(), run.id.policy_check());
    let paths = [
        "/api/v2/organizations/other/workspaces".to_owned(),
        "/api/v2/organizations/acme/workspaces/secret".to_owned(),
        "/api/v2/organizations/acme/workspaces/never".to_owned(),
        format!("/api/v2/workspaces/{secret}"),
        format!("/api/v2/workspaces/{secret}/runs"),
        format!("/api/v2/workspaces/{secret}/current-state-version"),
        format!("/api/v2/runs/{}", run.id),
        format!("/api/v2/runs/{}/run-events", run.id),
        format!("/api/v2/plans/{plan}"),
        format!("/api/v2/plans/{plan}/json-output"),
        format!("/api/v2/applies/{}", run.id.apply()),
        format!("/api/v2/policy-checks/{check}"),
        format!("/api/signalbox/v1/runs/{}/events", run.id),
        format!("/api/signalbox/v1/runs/{}/tfrun", run.id),
        format!("/api/signalbox/v1/runs/{}/logs/plan/stream", run.id),
        "/api/v2/runs/run-4444444444444444".to_owned(),
        "/api/v2/runs/../../etc/passwd".to_owned(),
        "/api/v2/runs/plan-4444444444444444".to_owned(),
        "/api/v2/nothing".to_owned(),
        "/api/v2/runs/%FF".to_owned(),
        "/api/v2/organizations/acme/workspaces/%FF".to_owned(),
        "/api/signalbox/v1/runs/%FF/logs/plan/stream".to_owned(),
    ];
    for path in paths {
        let error = server.get("operator", &path).await.ok(404);
        assert_eq!(error["errors"][0]["status"], "404", "{path}");
    }
    // the very same words for what is hidden and for what is not there
    let words = async |path: &str| {
        let error = server.get("operator", path).await.ok(404)["errors"][0]["detail"].clone();
        error.as_str().unwrap().split(" not found").next().unwrap().to_owned()
    };
    for named in [
        format!("run {}", run.id),
        format!("plan {plan}"),
        format!("policy check {check}"),
        format!("workspace {secret}"),
        "run run-4444444444444444".to_owned(),
        "state version sv-4444444444444444".to_owned(),
        "state version output wsout-4444444444444444-0".to_owned(),
        "configuration version cv-4444444444444444".to_owned(),
        "run event re-4444444444444444".to_owned(),
        "configuration version nonsense".to_owned(),
    ] {
        let (kind, id) = named.rsplit_once(' ').unwrap();
        let path = format!("/api/v2/{}s/{id}", kind.replace(' ', "-"));
        assert_eq!(words(&path).await, named, "what was asked for is named as it was asked for");
    }
    for name in ["secret", "never"] {
        let path = format!("/api/v2/organizations/acme/workspaces/{name}");
        assert_eq!(words(&path).await, format!("workspace {name}"));
    }
    for action in ["apply", "discard", "cancel", "force-cancel", "force-execute"] {
        server.post("operator", &format!("/api/v2/runs/{}/actions/{action}", run.id), "").await.ok(404);
    }
    let listed = server.get("operator", "/api/v2/organizations/acme/workspaces").await.ok(200);
    let names: Vec<_> =
        listed["data"].as_array().unwrap().iter().map(|w| w["attributes"]["name"].clone()).collect();
    assert_eq!(names, ["guarded", "network"]);
    assert_eq!(
        server.get("stranger", "/api/v2/organizations/acme/workspaces").await.ok(200)["data"],
        json!([])
    );
    assert_eq!(
        server.get("owner", "/api/v2/organizations/acme/workspaces").await.ok(200)["data"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[tokio::test]
async fn who_may_read_may_do_no_more_than_that() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let network = server.workspace("network").await;
    let run_path = format!("/api/v2/runs/{}", run.id);
    server.get("reader", &run_path).await.ok(200);
    server.post("reader", "/api/v2/runs", new_run(network, json!({}))).await.ok(404);
    for user in ["reader", "planner"] {
        for action in ["apply", "discard", "cancel", "force-cancel"] {
            server.post(user, &format!("{run_path}/actions/{action}"), "{}").await.ok(404);
        }
        server.post(user, &format!("/api/v2/workspaces/{network}/actions/lock"), "{}").await.ok(404);
    }
    // they know that it is there, so they are told by its name what it takes
    let refused = server.post("planner", &format!("{run_path}/actions/apply"), "{}").await.ok(404);
    let words = "you are not authorized to do this in workspace network: it takes write access";
    assert_eq!(refused["errors"][0]["detail"], words);
    let json_output = format!("/api/v2/plans/{}/json-output", run.id.plan());
    server.get("operator", &json_output).await.ok(404);
    server.get("admin", &json_output).await.ok(200);
    let tfrun = format!("/api/signalbox/v1/runs/{}/tfrun", run.id);
    server.get("operator", &tfrun).await.ok(404);
    let document = server.get("admin", &tfrun).await.ok(200);
    assert_eq!(document["id"], run.id.to_string());
    assert_eq!(document["workspace"]["name"], "network");
    let unchanged = server.get("reader", &run_path).await.ok(200);
    assert_eq!(unchanged["data"]["attributes"]["status"], "planned");
}

#[tokio::test]
async fn a_body_that_can_not_be_read_is_refused_by_what_is_wrong_with_it() {
    let server = Seeding::begin().await.start().await;
    let network = server.workspace("network").await;
    let post = async |body: String| server.post("operator", "/api/v2/runs", body).await;
    post(String::new()).await.ok(400);
    post("{\"data\"".into()).await.ok(400);
    post("[]".into()).await.ok(422);
    let large = "x".repeat(1024 * 1024 + 1);
    post(new_run(network, json!({ "message": large }))).await.ok(413);
    let wrong = post(new_run(network, json!({ "is-destroy": "yes" }))).await;
    wrong.ok(422);
    assert_eq!(wrong.pointers(), ["/data/attributes/is-destroy"]);
    let nested = post(new_run(network, json!({ "variables": [{ "key": "a", "value": 1 }] }))).await;
    nested.ok(422);
    assert_eq!(nested.pointers(), ["/data/attributes/variables/0/value"]);
    let unsupported = post(new_run(network, json!({ "save-plan": true, "debugging-mode": true }))).await;
    unsupported.ok(422);
    assert_eq!(unsupported.pointers(), ["/data/attributes/save-plan", "/data/attributes/debugging-mode"]);
    let contradiction = post(new_run(network, json!({ "refresh-only": true, "is-destroy": true }))).await;
    contradiction.ok(422);
    assert_eq!(contradiction.pointers(), ["/data/attributes/refresh-only"]);
    post(
        json!({ "data": { "relationships": { "workspace": { "data": { "id": "ws-4444444444444444" } } } } })
            .to_string(),
    )
    .await
    .ok(404);
    let mut text = request(Method::POST, "operator", "/api/v2/runs", Some("x=1".into()));
    text.headers_mut().insert(header::CONTENT_TYPE, "application/x-www-form-urlencoded".parse().unwrap());
    server.send(text).await.ok(415);
    assert!(server.engine.store().non_final_runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_body_of_a_state_is_read_only_from_who_may_write_it() {
    let server = Seeding::begin().await.start().await;
    let path = format!("/api/v2/workspaces/{}/state-versions", server.workspace("network").await);
    for (user, status) in [("operator", 400), ("planner", 404), ("stranger", 404)] {
        server.post(user, &path, "{\"data\"").await.ok(status);
    }
}

#[tokio::test]
async fn what_the_daemon_does_not_do_is_refused_in_words() {
    let server = Seeding::begin().await.start().await;
    let network = server.workspace("network").await;
    let path = format!("/api/v2/workspaces/{network}");
    let refused = server.post("operator", &format!("{path}/configuration-versions"), "{}").await.ok(422);
    let detail = refused["errors"][0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("uploading configurations is not supported yet"), "{detail}");
    server.post("owner", "/api/v2/organizations/acme/workspaces", "{}").await.ok(422);
    server.send(request(Method::PATCH, "owner", &path, Some("{}".into()))).await.ok(422);
    server.send(request(Method::DELETE, "owner", &path, None)).await.ok(422);
    server.send(request(Method::PUT, "owner", &path, None)).await.ok(405);
    // and not told to who may not see it
    server.post("stranger", &format!("{path}/configuration-versions"), "{}").await.ok(404);
    server.send(request(Method::DELETE, "stranger", &path, None)).await.ok(404);
}

#[tokio::test]
async fn the_organization_says_what_it_can_do() {
    let server = Seeding::begin().await.start().await;
    let organizations = server.get("reader", "/api/v2/organizations").await.ok(200);
    assert_eq!(organizations["data"][0]["id"], "acme");
    assert_eq!(organizations["meta"]["pagination"]["total-count"], 1);
    assert_eq!(server.get("reader", "/api/v2/organizations?q=other").await.ok(200)["data"], json!([]));
    let set = server.get("reader", "/api/v2/organizations/acme/entitlement-set").await.ok(200);
    assert_eq!(set["data"]["type"], "entitlement-sets");
    assert_eq!(set["data"]["attributes"]["operations"], true);
    assert!(set["data"]["attributes"].as_object().unwrap().values().all(|value| value.is_boolean()));
    server.get("reader", "/api/v2/organizations/acme?include=nonsense").await.ok(400);
}

#[tokio::test]
async fn a_token_is_read_in_any_case_of_its_scheme() {
    let server = Seeding::begin().await.start().await;
    let request =
        Request::get("/api/v2/account/details").header("authorization", format!("bearer {}", token("owner")));
    server.send(request.body(Body::empty()).unwrap()).await.ok(200);
}
