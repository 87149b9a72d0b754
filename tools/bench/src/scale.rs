//! An organization with a history: how long its daemon takes to start, and to answer what people ask all day.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use client::NewRun;
use futures::StreamExt as _;
use jiff::Timestamp;
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Event, Facts, PlanOutcome, WorkspaceRights};
use store::{Actor, RunEvent, RunOptions, RunUpdate, Store};

use crate::daemon::{Daemon, TOKEN, Workspace};
use crate::measure::{Rows, directory, milliseconds, source, spread};
use crate::standin;

const WORKSPACES: usize = 10_000;
const RUNS_EACH: usize = 10;
/// How many workspaces are written at once: they share transactions.
const TOGETHER: usize = 256;
const REQUESTS: usize = 200;

pub(crate) async fn measure(rows: &mut Rows) -> anyhow::Result<()> {
    let dir = directory()?;
    seed(&dir.path().join("data")).await?;
    let source = source(dir.path(), 1)?;
    let terraform = standin::at_once(dir.path())?;
    let workspaces: Vec<_> = (0..WORKSPACES)
        .map(|n| Workspace { name: name(n), source: &source, terraform: &terraform })
        .collect();
    let daemon = Daemon::start(dir, 2, &workspaces).await?;
    let of = format!("{WORKSPACES} workspaces and {} finished runs", WORKSPACES * RUNS_EACH);
    rows.push((format!("start with {of} (target 500 ms)"), milliseconds(daemon.ready_after)));
    let pending = pending_run(&daemon).await?;
    let requests = [
        ("20 workspaces", "organizations/bench/workspaces?page%5Bsize%5D=20".to_owned()),
        (
            "a search for a workspace by name",
            "organizations/bench/workspaces?search%5Bname%5D=bench-777".into(),
        ),
        ("the organization's first 20 runs", "organizations/bench/runs?page%5Bsize%5D=20".into()),
        ("a pending run", format!("runs/{pending}?include=plan,apply,created_by,workspace")),
    ];
    for (what, path) in requests {
        let times = answers(&daemon, &path).await.with_context(|| path.clone())?;
        rows.push((format!("  {what} (target 5 ms)"), spread(times)));
    }
    Ok(())
}

fn name(number: usize) -> String {
    format!("bench-{number}")
}

/// A run that waits for its workspace, which a person has locked.
async fn pending_run(daemon: &Daemon) -> anyhow::Result<String> {
    let workspace = daemon.client.workspace(&name(WORKSPACES / 2)).await?;
    daemon.client.lock_workspace(&workspace.id, "measured").await?;
    Ok(daemon.client.create_run(&workspace.id, &NewRun::default()).await?.id.clone())
}

/// How long the same request takes, from the first byte sent to the last one received, over one connection.
async fn answers(daemon: &Daemon, path: &str) -> anyhow::Result<Vec<Duration>> {
    const WARM_UP: usize = 10;
    let http = reqwest::Client::new();
    let mut times = Vec::new();
    for request in 0..WARM_UP + REQUESTS {
        let sent = Instant::now();
        let answer =
            http.get(format!("http://{}/api/v2/{path}", daemon.address)).bearer_auth(TOKEN).send().await?;
        ensure!(answer.status().is_success(), "{}", answer.status());
        answer.bytes().await?;
        if request >= WARM_UP {
            times.push(sent.elapsed());
        }
    }
    Ok(times)
}

/// Writes the history. All that this knows of the store is here.
async fn seed(data_dir: &Path) -> anyhow::Result<()> {
    let store = Store::open(data_dir).await?;
    let configured = (0..WORKSPACES).map(|number| (name(number), BTreeMap::new())).collect();
    store.sync_workspaces(configured, Timestamp::now()).await?;
    let workspaces = store.workspaces().await?;
    let mut written = futures::stream::iter(workspaces)
        .map(async |workspace| {
            for _ in 0..RUNS_EACH {
                finished_run(&store, workspace.id).await?;
            }
            anyhow::Ok(())
        })
        .buffer_unordered(TOGETHER);
    while let Some(written) = written.next().await {
        written?;
    }
    drop(written);
    store.close().await;
    Ok(())
}

/// A run whose plan had no changes.
async fn finished_run(store: &Store, workspace: WorkspaceId) -> anyhow::Result<()> {
    let new = store::NewRun {
        id: RunId::generate(),
        workspace,
        facts: Facts::default(),
        options: RunOptions { message: "Queued by the benchmark".into(), ..RunOptions::default() },
        source: "tfe-api".into(),
        created_by: "owner".into(),
        created_at: Timestamp::now(),
        configuration_version: None,
    };
    let run = store.create_run(new).await?.id;
    let unchanged = Event::PlanEnded { outcome: PlanOutcome::NoChanges, policies: false };
    for event in [Event::Start, Event::Launch, unchanged] {
        let happened = RunEvent {
            run,
            event,
            creator: WorkspaceRights::OWNER,
            by: Actor::System,
            why: None,
            at: Timestamp::now(),
            update: RunUpdate::default(),
        };
        store.record(happened).await?;
    }
    Ok(())
}
