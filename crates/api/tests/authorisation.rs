//! Who may do what: each operation, asked for by each kind of caller. What is expected follows from the declared right;
//! the snapshot shows the whole of it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use api::{Operation, Right};
use axum::body::to_bytes;
use axum::http::{Method, StatusCode};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, StateVersionId};
use lifecycle::{PolicyOutcome, Stage, State, WorkspaceRights};
use serde_json::{Value, json};
use store::{
    Commit, ConfigurationResult, NewConfigurationVersion, NewStateVersion, PlanSummary, PolicyCheckRecord,
    PolicyCounts, Run, RunUpdate, StateMeta,
};
use support::{Seed, Seeding, Server, new_run, request};
use tower::ServiceExt as _;

/// Who asks, what the heading says, and what they may do in the workspace; `None` where the token is not good.
const CALLERS: [(&str, &str, Option<WorkspaceRights>); 8] = [
    ("", "none", None),
    ("nobody", "wrong", None),
    ("stranger", "strngr", Some(WorkspaceRights::NONE)),
    ("reader", "read", Some(WorkspaceRights::READ)),
    ("planner", "plan", Some(WorkspaceRights::PLAN)),
    ("operator", "write", Some(WorkspaceRights::WRITE)),
    ("admin", "admin", Some(WorkspaceRights::ADMIN)),
    ("owner", "owner", Some(WorkspaceRights::OWNER)),
];

const STATE: &str = r#"{"version":4,"serial":3,"lineage":"abc","terraform_version":"1.11.4",
    "outputs":{"address":{"value":"10.0.0.1","type":"string"}},"resources":[]}"#;

/// A daemon whose workspace `network` has one of everything.
struct World {
    server: Server,
    run: Run,
    /// What belongs in a path or a query, by the name of the variable or the parameter.
    names: HashMap<&'static str, String>,
}

impl World {
    async fn new(state: State) -> Self {
        let seeding = Seeding::begin().await;
        let (store, now) = (seeding.store.clone(), Timestamp::now());
        let workspace = seeding.workspace("network").await;
        let blob = store.blobs().put_bytes(r#"{"terraform_version":"1.11.4"}"#).await.unwrap();
        let configuration = NewConfigurationVersion {
            id: ConfigurationVersionId::generate(),
            workspace,
            source: "git".into(),
            speculative: false,
            created_at: now,
        };
        let url = "https://git.example/infra.git".into();
        let commit = Commit {
            sha: "0123456789".repeat(4),
            reference: "main".into(),
            url,
            message: None,
            author: None,
        };
        let uploaded =
            ConfigurationResult::Uploaded { digest: blob.digest, size: blob.size, commit: Some(commit) };
        let version = store.keep_configuration_version(configuration, uploaded, now).await.unwrap();
        let plan = PlanSummary {
            has_changes: true,
            additions: 1,
            changes: 0,
            destructions: 0,
            imports: 0,
            plan_digest: blob.digest,
            plan_json: Some(blob.digest),
            masked_plan_json: None,
            terraform_version: "1.11.4".into(),
        };
        let policy = PolicyCheckRecord {
            outcome: PolicyOutcome::SoftFailed,
            report: blob.digest,
            counts: PolicyCounts::default(),
        };
        let update = RunUpdate {
            plan: Some(plan),
            policy: (state == State::PolicyOverride).then_some(policy),
            configuration_version: Some(version.id),
            ..RunUpdate::default()
        };
        let run = seeding.run(Seed { update, ..Seed::new("network", state) }).await;
        let blob = store.blobs().put_bytes(STATE).await.unwrap();
        let state = NewStateVersion {
            id: StateVersionId::generate(),
            workspace,
            run: None,
            meta: StateMeta::parse(STATE.as_bytes()).unwrap(),
            digest: blob.digest,
            size: blob.size,
            created_at: now,
            created_by: "operator".into(),
            json: Some(blob.digest),
        };
        let state = store.add_state_version(state).await.unwrap();
        let event = store.journal(run.id).await.unwrap()[0].id;
        let server = seeding.start().await;
        let read = async |path: String| server.get("owner", &path).await.ok(200);
        let outputs = read(format!("/api/v2/workspaces/{workspace}/current-state-version-outputs")).await;
        let plan = read(format!("/api/v2/plans/{}", run.id.plan())).await;
        let log = plan["data"]["attributes"]["log-read-url"].as_str().unwrap().to_owned();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let names = HashMap::from([
            ("organization", "acme".to_owned()),
            ("name", "network".to_owned()),
            ("workspace", workspace.to_string()),
            ("run", run.id.to_string()),
            ("plan", run.id.plan().to_string()),
            ("apply", run.id.apply().to_string()),
            ("policy_check", run.id.policy_check().to_string()),
            ("stage", Stage::Plan.to_string()),
            ("secret", log.rsplit('/').next().unwrap().to_owned()),
            ("run_event", event.to_string()),
            ("configuration_version", version.id.to_string()),
            ("state_version", state.id.to_string()),
            ("state_version_output", text(&outputs["data"][0]["id"])),
            ("filter[organization][name]", "acme".to_owned()),
            ("filter[workspace][name]", "network".to_owned()),
        ]);
        Self { server, run, names }
    }

    fn named(&self, name: &str) -> &str {
        self.names.get(name).unwrap_or_else(|| panic!("the test knows nothing for {name}"))
    }

    /// The address of the operation, about what is there.
    fn address(&self, operation: &Operation) -> String {
        let mut address = operation.path.to_owned();
        for variable in &operation.variables {
            address = address.replace(&format!("{{{}}}", variable.name), self.named(&variable.name));
        }
        let needed = operation.parameters.iter().filter(|parameter| parameter.needed);
        let query: Vec<_> = needed.map(|one| format!("{}={}", one.name, self.named(one.name))).collect();
        if query.is_empty() { address } else { format!("{address}?{}", query.join("&")) }
    }

    /// Asks, and says with what status, and in what words if it is refused. Streams are not read.
    async fn ask(&self, operation: &Operation, user: &str, address: &str) -> (StatusCode, String) {
        let body = operation.body.as_ref().map(|_| self.body(operation));
        let request = request(operation.method.clone(), user, address, body);
        let response = self.server.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        if status.is_success() {
            return (status, String::new());
        }
        let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let refused: Value = serde_json::from_slice(&bytes).unwrap();
        (status, refused["errors"][0]["detail"].as_str().unwrap().to_owned())
    }

    /// Announces a state, and gives the address for this operation.
    async fn announced(&self, operation: &Operation) -> String {
        let workspace = format!("/api/v2/workspaces/{}", self.run.workspace);
        self.server.post("admin", &format!("{workspace}/actions/lock"), "").await.ok(200);
        let body = json!({ "data": { "type": "state-versions", "attributes": { "serial": 4 } } });
        let path = format!("{workspace}/state-versions");
        let announced = self.server.post("admin", &path, &body.to_string()).await.ok(201);
        let of = if operation.path.contains("json-state") {
            "hosted-json-state-upload-url"
        } else {
            "hosted-state-upload-url"
        };
        let url = announced["data"]["attributes"][of].as_str().unwrap();
        url.strip_prefix("https://signalbox.example").unwrap().to_owned()
    }

    fn body(&self, operation: &Operation) -> String {
        match operation.path {
            path if path.starts_with("/uploads") => STATE.replace("\"serial\":3", "\"serial\":4"),
            "/api/v2/runs" => new_run(self.run.workspace, json!({})),
            path if path.ends_with("/state-versions") => {
                let state = STATE.replace("\"serial\":3", "\"serial\":4");
                let state = BASE64_STANDARD.encode(state);
                json!({ "data": { "type": "state-versions", "attributes": { "state": state } } }).to_string()
            }
            _ => "{}".to_owned(),
        }
    }

    /// What a request could have changed.
    async fn records(&self) -> String {
        let store = self.server.engine.store();
        let run = store.run(self.run.id).await.unwrap();
        let workspace = store.workspace(self.run.workspace).await.unwrap();
        let queue = store.queue(self.run.workspace).await.unwrap();
        let state = store.current_state(self.run.workspace).await.unwrap();
        format!("{run:?} {workspace:?} {queue:?} {state:?}")
    }
}

/// The statuses with which a caller who has these rights is answered.
fn expected(operation: &Operation, rights: Option<WorkspaceRights>) -> BTreeSet<StatusCode> {
    let done = || {
        let successes = operation.successes.iter().map(|success| success.status);
        let not_now = operation.refusals.get(&StatusCode::CONFLICT).copied();
        let never = operation.successes.is_empty().then_some(StatusCode::UNPROCESSABLE_ENTITY);
        successes.chain(not_now).chain(never).collect()
    };
    match (operation.right, rights) {
        (Right::Public | Right::SecretInPath, _) => done(),
        (_, None) => BTreeSet::from([StatusCode::UNAUTHORIZED]),
        (Right::Token | Right::Visible, Some(_)) => done(),
        (Right::In(action), Some(rights)) if rights.allows(action) => done(),
        (Right::In(_), Some(_)) => BTreeSet::from([StatusCode::NOT_FOUND]),
    }
}

/// The state of the run that an operation finds: one in which it can be carried out.
fn suitable(operation: &Operation) -> State {
    let is_about = |name: &str| operation.variables.iter().any(|variable| variable.name == name);
    match operation.method {
        Method::GET => State::PolicyOverride,
        _ if is_about("policy_check") => State::PolicyOverride,
        // nothing holds the workspace
        _ if is_about("workspace") || is_upload(operation) => State::Applied,
        _ => State::NeedsConfirmation,
    }
}

fn is_upload(operation: &Operation) -> bool {
    operation.path.starts_with("/uploads")
}

/// What takes the caller's own lock.
fn needs_lock(operation: &Operation) -> bool {
    operation.method == Method::POST
        && ["/unlock", "/force-unlock", "/state-versions"].iter().any(|end| operation.path.ends_with(end))
}

/// Asks for the operation as this caller, checks what came of it, and gives the status and whether anything changed.
async fn check(
    world: &World,
    operation: &Operation,
    (user, heading, rights): (&str, &str, Option<WorkspaceRights>),
) -> (StatusCode, bool) {
    let untouched = world.records().await;
    if needs_lock(operation) {
        let lock = format!("/api/v2/workspaces/{}/actions/lock", world.run.workspace);
        world.server.post(user, &lock, "").await;
    }
    let address =
        if is_upload(operation) { world.announced(operation).await } else { world.address(operation) };
    let before = world.records().await;
    let (status, words) = world.ask(operation, user, &address).await;
    let after = world.records().await;
    let name = format!("{} {} by {heading}", operation.method, operation.path);
    assert!(expected(operation, rights).contains(&status), "{name}: {status} {words}");
    if !status.is_success() {
        assert_eq!(after, before, "{name}: refused, and it changed something");
    }
    // who may see the workspace is told what it takes, and nobody else
    let sees = rights.is_some_and(|rights| rights.allows(Action::Read));
    if status == StatusCode::NOT_FOUND {
        assert_eq!(words.contains(": it takes "), sees, "{name}: {words}");
        assert_eq!(words.contains("not found"), !sees, "{name}: {words}");
    }
    (status, after != untouched)
}

#[tokio::test]
async fn each_operation_is_for_who_has_its_right_and_for_nobody_else() {
    let mut worlds: HashMap<State, World> = HashMap::new();
    let mut matrix = format!("{:<108}", "");
    CALLERS.iter().for_each(|(_, heading, _)| write!(matrix, " {heading:>6}").unwrap());
    for operation in api::operations() {
        let right = operation.right.to_string();
        write!(matrix, "\n{:<6} {:<75} {right:<25}", operation.method.as_str(), operation.path).unwrap();
        for caller in CALLERS {
            let state = suitable(&operation);
            let world = match worlds.remove(&state) {
                Some(world) => world,
                None => World::new(state).await,
            };
            let (status, changed) = check(&world, &operation, caller).await;
            write!(matrix, " {:>6}", status.as_u16()).unwrap();
            if !changed {
                worlds.insert(state, world);
            }
        }
    }
    insta::assert_snapshot!(matrix);
}

#[tokio::test]
async fn the_rights_of_the_matrix_are_those_of_its_callers() {
    let server = Seeding::begin().await.start().await;
    let network = server.engine.store().workspace_by_name("network").await.unwrap().unwrap();
    for (user, _, rights) in CALLERS {
        let Some(rights) = rights else { continue };
        assert_eq!(server.engine.access(user, &network), rights, "{user}");
    }
}
