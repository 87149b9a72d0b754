//! Workspaces with their locks and states.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use jiff::Timestamp;
use lifecycle::id::StateVersionId;
use serde_json::{Value, json};
use store::{NewStateVersion, StateMeta};
use support::{Seeding, new_run};

#[tokio::test]
async fn a_workspace_is_read_by_name_and_by_id() {
    let server = Seeding::begin().await.start().await;
    let id = server.workspace("network").await;
    let by_id = loop {
        let read = server.get("reader", &format!("/api/v2/workspaces/{id}")).await.ok(200);
        // terraform is asked for it while the server starts
        if read["data"]["attributes"]["terraform-version"] != "latest" {
            break read;
        }
        tokio::task::yield_now().await;
    };
    let by_name = server.get("reader", "/api/v2/organizations/acme/workspaces/network").await.ok(200);
    assert_eq!(by_id, by_name);
    let attributes = &by_id["data"]["attributes"];
    assert_eq!(attributes["name"], "network");
    assert_eq!(attributes["permissions"]["can-queue-run"], false);
    assert_eq!(attributes["structured-run-output-enabled"], false);
    for lists in ["trigger-prefixes", "trigger-patterns", "tag-names"] {
        assert_eq!(attributes[lists], json!([]));
    }
    // with one the terraform CLI would refuse to apply
    assert_eq!(attributes["vcs-repo"], json!(null));
    assert_eq!(attributes["signalbox"]["source"]["url"], "https://git.example/infra.git");
    assert!(!by_id.to_string().contains("hunter2"));
    let named = server
        .get("reader", "/api/v2/organizations/acme/workspaces?search[name]=net&sort=-name")
        .await
        .ok(200);
    assert_eq!(named["data"][0], by_id["data"]);
}

#[tokio::test]
async fn a_lock_belongs_to_who_took_it_and_admins_may_break_it() {
    let server = Seeding::begin().await.start().await;
    let id = server.workspace("network").await;
    let act = async |user: &str, action: &str, body: &str| {
        server.post(user, &format!("/api/v2/workspaces/{id}/actions/{action}"), body).await
    };
    act("operator", "unlock", "").await.ok(409);
    let empty_type = r#"{"data":{"type":"","attributes":{"reason":"Locked by Terraform"}}}"#;
    let locked = act("operator", "lock", empty_type).await.ok(200);
    assert_eq!(locked["data"]["attributes"]["locked"], true);
    assert_eq!(locked["data"]["attributes"]["locked-reason"], "Locked by Terraform");
    assert_eq!(locked["data"]["relationships"]["locked-by"]["data"]["type"], "users");
    let again = act("admin", "lock", r#"{"reason":"mine"}"#).await.ok(409);
    assert!(again["errors"][0]["detail"].as_str().unwrap().contains("is locked by User"));
    let others = act("admin", "unlock", "").await.ok(409);
    assert!(others["errors"][0]["detail"].as_str().unwrap().contains("is locked by User"));
    act("operator", "force-unlock", "").await.ok(404);
    let freed = act("admin", "force-unlock", "").await.ok(200);
    assert_eq!(freed["data"]["attributes"]["locked"], false);
    act("admin", "force-unlock", "").await.ok(409);
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_locks_its_workspace() {
    let seeding = Seeding::begin().await;
    let run = seeding.planned("network", b"{}").await;
    let server = seeding.start().await;
    let id = server.workspace("network").await;
    let held =
        server.get("reader", &format!("/api/v2/workspaces/{id}?include=current_run,locked_by")).await.ok(200);
    assert_eq!(held["data"]["attributes"]["locked"], true);
    let by = &held["data"]["relationships"]["locked-by"]["data"];
    assert_eq!((&by["type"], &by["id"]), (&json!("runs"), &json!(run.id)));
    assert_eq!(held["data"]["relationships"]["current-run"]["data"], *by);
    assert_eq!(held["included"][0]["id"], json!(run.id));
    let refused = server.post("operator", &format!("/api/v2/workspaces/{id}/actions/lock"), "").await.ok(409);
    assert!(refused["errors"][0]["detail"].as_str().unwrap().contains("is locked by Run"));
    // what is queued behind it is ahead of nobody, and is told who holds the place
    let behind = server.post("operator", "/api/v2/runs", new_run(id, json!({}))).await.ok(201);
    assert_eq!(behind["data"]["attributes"]["status"], "pending");
    let current = server.get("reader", &format!("/api/v2/workspaces/{id}")).await.ok(200);
    assert_eq!(current["data"]["relationships"]["current-run"]["data"], *by);
}

#[tokio::test]
async fn states_are_read_with_their_outputs_and_without_what_is_sensitive() {
    let state = json!({
        "version": 4, "serial": 3, "lineage": "abc", "terraform_version": "1.11.4",
        "outputs": {
            "address": { "value": "10.0.0.1", "type": "string" },
            "password": { "value": "hunter2", "type": "string", "sensitive": true },
        },
        "resources": [],
    })
    .to_string();
    let seeding = Seeding::begin().await;
    let workspace = seeding.workspace("network").await;
    let blob = seeding.store.blobs().put_bytes(state.clone()).await.unwrap();
    let new = NewStateVersion {
        id: StateVersionId::generate(),
        workspace,
        run: None,
        meta: StateMeta::parse(state.as_bytes()).unwrap(),
        digest: blob.digest,
        size: state.len() as u64,
        created_at: Timestamp::now(),
        created_by: "operator".into(),
        json: None,
    };
    let version = seeding.store.add_state_version(new).await.unwrap();
    let server = seeding.start().await;

    let current =
        server.get("reader", &format!("/api/v2/workspaces/{workspace}/current-state-version")).await.ok(200);
    assert_eq!(current["data"]["id"], json!(version.id));
    assert_eq!(current["data"]["attributes"]["serial"], 3);
    assert_eq!(current["data"]["relationships"]["outputs"]["data"].as_array().unwrap().len(), 2);
    assert_eq!(
        server.get("reader", &format!("/api/v2/state-versions/{}", version.id)).await.ok(200),
        current
    );
    let url = current["data"]["attributes"]["hosted-state-download-url"].as_str().unwrap();
    let path = url.strip_prefix("https://signalbox.example").unwrap();
    assert_eq!(server.get("reader", path).await.text(), state);
    server.get("stranger", path).await.ok(404);
    server.get("", path).await.ok(401);

    let outputs = server
        .get("reader", &format!("/api/v2/workspaces/{workspace}/current-state-version-outputs"))
        .await
        .ok(200);
    let values: Vec<_> =
        outputs["data"].as_array().unwrap().iter().map(|o| o["attributes"]["value"].clone()).collect();
    assert_eq!(values, [json!("10.0.0.1"), Value::Null]);
    assert_eq!(outputs["data"][1]["attributes"]["detailed-type"], "string");
    let id = outputs["data"][1]["id"].as_str().unwrap();
    let single = server.get("reader", &format!("/api/v2/state-version-outputs/{id}")).await.ok(200);
    assert_eq!(single["data"]["attributes"]["value"], "hunter2");
    server.get("stranger", &format!("/api/v2/state-version-outputs/{id}")).await.ok(404);
    let paged = server
        .get("reader", &format!("/api/v2/state-versions/{}/outputs?page[size]=1", version.id))
        .await
        .ok(200);
    assert_eq!(paged["meta"]["pagination"]["total-count"], 2);

    let by_name = "/api/v2/state-versions?filter[organization][name]=acme&filter[workspace][name]=network&include=outputs";
    let listed = server.get("reader", by_name).await.ok(200);
    assert_eq!(listed["data"][0]["id"], json!(version.id));
    assert!(!listed.to_string().contains("hunter2"));
    server.get("reader", "/api/v2/state-versions").await.ok(400);
    server
        .get(
            "operator",
            &format!("/api/v2/workspaces/{}/current-state-version", server.workspace("guarded").await),
        )
        .await
        .ok(404);
}
