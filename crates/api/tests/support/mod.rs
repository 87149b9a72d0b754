//! A real engine over a real store, with an executor whose stages never end by themselves.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "helpers of tests are tests")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use api::ApiState;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use config::{Config, SystemHost, TokenDigest};
use engine::{Engine, HostEnvironment, Parts};
use executor::{BoxFuture, Delivery, Error, Executor, Launched, Observation, Running, Spec};
use jiff::Timestamp;
use lifecycle::history::events_to;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Event, Facts, PolicyOutcome, Stage, State, WorkspaceRights};
use serde_json::Value;
use store::{
    Actor, NewRun, PlanSummary, PolicyCheckRecord, PolicyCounts, Run, RunEvent, RunOptions, RunUpdate, Store,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;
use url::Url;

/// Stages that were launched run until the end of the test.
#[derive(Default)]
struct Endless(Mutex<HashSet<PathBuf>>);

impl Executor for Endless {
    fn launch<'a>(&'a self, directory: &'a Path, _: &'a Spec) -> BoxFuture<'a, Result<Launched, Error>> {
        let fresh = self.0.lock().unwrap().insert(directory.to_owned());
        Box::pin(async move { Ok(if fresh { Launched::Now } else { Launched::Before }) })
    }
    fn attach<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        let running = Running { executor_pid: 1, step: None, child_pid: None, interrupted: false };
        Box::pin(async move { Ok(Observation::Running(running)) })
    }
    fn interrupt<'a>(&'a self, _: &'a Path, _: Duration) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(async { Ok(Delivery::Accepted) })
    }
    fn kill<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Delivery, Error>> {
        Box::pin(async { Ok(Delivery::Accepted) })
    }
    fn destroy<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async { Ok(()) })
    }

    fn revoke<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async { Ok(false) })
    }
    fn wait<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<Observation, Error>> {
        Box::pin(std::future::pending())
    }
    fn settle<'a>(&'a self, _: &'a Path) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(std::future::pending())
    }
}

/// What a request was answered with.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
    /// The document, if the status is this one.
    #[track_caller]
    pub fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        if self.bytes.is_empty() { Value::Null } else { self.json() }
    }
    #[track_caller]
    pub fn pointers(&self) -> Vec<String> {
        let errors = self.json()["errors"].as_array().cloned().unwrap();
        errors.iter().filter_map(|e| e["source"]["pointer"].as_str().map(str::to_owned)).collect()
    }
}

pub struct Server {
    store: Store,
    pub engine: Engine,
    pub router: Router,
    pub shutdown: CancellationToken,
    folder: tempfile::TempDir,
}

/// `owner` owns, `operator` writes, `planner` plans, `reader` reads, `admin` administers `network`;
/// `stranger` sees nothing. `guarded` has policies.
fn config(folder: &Path) -> Config {
    std::fs::create_dir_all(folder.join("policies")).unwrap();
    std::fs::create_dir_all(folder.join("infra")).unwrap();
    let users = ["owner", "operator", "planner", "reader", "admin", "stranger"];
    let users: String = users
        .iter()
        .map(|user| format!("user \"{user}\" {{ token_sha256 = \"{}\" }}\n", TokenDigest::of(&token(user))))
        .collect();
    let text = format!(
        r#"
server {{
  listen   = "127.0.0.1:0"
  data_dir = "{data}"
}}
organization = "acme"
{users}
team "owners" {{ members = ["owner"] }}
team "writers" {{ members = ["operator"] }}
team "planners" {{ members = ["planner"] }}
team "readers" {{ members = ["reader"] }}
team "admins" {{ members = ["admin"] }}
policy_set "baseline" {{
  path       = "./policies"
  workspaces = ["guarded"]
}}
workspace "network" {{
  source "git" {{
    url = "https://user:hunter2@git.example/infra.git"
    ref = "main"
  }}
  access = {{ writers = "write", planners = "plan", readers = "read", admins = "admin" }}
}}
workspace "guarded" {{
  source "directory" {{ path = "./infra" }}
  access = {{ writers = "write" }}
}}
workspace "secret" {{
  source "directory" {{ path = "./infra" }}
}}
"#,
        data = folder.join("data").display(),
    );
    let loaded = Config::parse(&text, &folder.join("signalbox.hcl"), &SystemHost);
    loaded.unwrap_or_else(|mistakes| panic!("{mistakes:?}")).config
}

pub fn token(user: &str) -> String {
    format!("{user}-token")
}

/// A run to be there before the engine starts, in a state where nobody works on it.
pub struct Seed {
    pub workspace: &'static str,
    pub state: State,
    pub update: RunUpdate,
    pub facts: Facts,
}

impl Seed {
    pub fn new(workspace: &'static str, state: State) -> Self {
        let facts = Facts { queued_with_apply_right: true, ..Facts::default() };
        Self { workspace, state, update: RunUpdate::default(), facts }
    }
}

pub struct Seeding {
    pub folder: tempfile::TempDir,
    pub store: Store,
    config: Arc<Config>,
}

impl Seeding {
    pub async fn begin() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = Arc::new(config(folder.path()));
        let store = Store::open(&config.server.data_dir).await.unwrap();
        let names = config.workspaces.keys().map(|name| (name.clone(), Default::default()));
        store.sync_workspaces(names.collect(), Timestamp::now()).await.unwrap();
        Self { folder, store, config }
    }

    pub async fn workspace(&self, name: &str) -> WorkspaceId {
        self.store.workspace_by_name(name).await.unwrap().unwrap().id
    }

    pub async fn run(&self, seed: Seed) -> Run {
        let new = NewRun {
            id: RunId::generate(),
            workspace: self.workspace(seed.workspace).await,
            facts: seed.facts,
            options: RunOptions { message: "a change".into(), ..RunOptions::default() },
            source: "tfe-api".into(),
            created_by: "operator".into(),
            created_at: Timestamp::now(),
            configuration_version: None,
        };
        let mut run = self.store.create_run(new).await.unwrap();
        for event in events_to(seed.facts, |state| state == seed.state).unwrap() {
            run = self.store.record(happened(run.id, event, seed.update.clone())).await.unwrap();
        }
        run
    }

    /// A run whose plan has changes and waits for a person, with a log of its plan.
    pub async fn planned(&self, workspace: &'static str, plan_json: &[u8]) -> Run {
        let json = self.store.blobs().put_bytes(plan_json).await.unwrap();
        let plan = PlanSummary {
            has_changes: true,
            additions: 2,
            changes: 0,
            destructions: 1,
            imports: 0,
            plan_digest: store::Digest::of(b"plan"),
            plan_json: Some(json.digest),
            masked_plan_json: None,
            terraform_version: "1.11.4".into(),
        };
        let update = RunUpdate { plan: Some(plan), ..RunUpdate::default() };
        self.run(Seed { update, ..Seed::new(workspace, State::NeedsConfirmation) }).await
    }

    /// A run that a soft-mandatory policy stopped.
    pub async fn soft_failed(&self) -> Run {
        let report =
            self.store.blobs().put_bytes(br#"{"format":1,"duration_ms":12}"#.as_slice()).await.unwrap();
        let policy = PolicyCheckRecord {
            outcome: PolicyOutcome::SoftFailed,
            report: report.digest,
            counts: PolicyCounts { passed: 2, soft_failed: 1, ..PolicyCounts::default() },
        };
        let update = RunUpdate { policy: Some(policy), ..RunUpdate::default() };
        self.run(Seed { update, ..Seed::new("guarded", State::PolicyOverride) }).await
    }

    pub async fn start(self) -> Server {
        let Self { folder, store, config } = self;
        let parts = Parts {
            store: store.clone(),
            executor: Arc::new(Endless::default()),
            config,
            program: "/bin/false".into(),
            hidden: Vec::new(),
            host: HostEnvironment {
                path: std::env::var("PATH").unwrap(),
                home: folder.path().display().to_string(),
            },
            sweeps: false,
        };
        let (engine, _) = Engine::start(parts).await.unwrap();
        let shutdown = CancellationToken::new();
        let url = Url::parse("https://signalbox.example").unwrap();
        let router = api::router(ApiState::new(engine.clone(), &url, shutdown.clone()).unwrap());
        Server { engine, store, router, shutdown, folder }
    }
}

fn happened(run: RunId, event: Event, update: RunUpdate) -> RunEvent {
    RunEvent {
        run,
        event,
        creator: WorkspaceRights::NONE,
        by: Actor::System,
        why: None,
        at: Timestamp::now(),
        update,
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.engine.stop();
    }
}

impl Server {
    /// Sends a request as it is.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
        Answer { status: parts.status, headers: parts.headers, bytes }
    }

    pub async fn get(&self, user: &str, path: &str) -> Answer {
        self.send(request(Method::GET, user, path, None)).await
    }

    pub async fn post(&self, user: &str, path: &str, body: impl Into<String>) -> Answer {
        self.send(request(Method::POST, user, path, Some(body.into()))).await
    }

    pub async fn workspace(&self, name: &str) -> WorkspaceId {
        self.engine.store().workspace_by_name(name).await.unwrap().unwrap().id
    }

    /// Writes what a stage would have written.
    pub fn write_log(&self, run: RunId, stage: Stage, bytes: &[u8]) {
        let path = self.engine.run_dir(run).log(stage);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, bytes).unwrap();
    }

    /// Records something behind the engine's back, as an actor would.
    pub async fn record(&self, run: RunId, event: Event) -> Run {
        self.store.record(happened(run, event, RunUpdate::default())).await.unwrap()
    }
}

pub fn request(method: Method, user: &str, path: &str, body: Option<String>) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    if !user.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {}", token(user)));
    }
    if body.is_some() {
        request = request.header(header::CONTENT_TYPE, "application/vnd.api+json");
    }
    request.body(body.map_or_else(Body::empty, Body::from)).unwrap()
}

/// The body that queues a run.
pub fn new_run(workspace: WorkspaceId, attributes: Value) -> String {
    serde_json::json!({ "data": {
        "type": "runs",
        "attributes": attributes,
        "relationships": { "workspace": { "data": { "type": "workspaces", "id": workspace } } },
    } })
    .to_string()
}
