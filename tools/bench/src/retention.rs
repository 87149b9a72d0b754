//! What it takes to remove what is not kept any more: the runs of a year, with their logs and states.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use futures::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use lifecycle::id::{RunId, StateVersionId};
use lifecycle::retention::Retention;
use lifecycle::{Event, Facts, PlanOutcome, Stage, WorkspaceRights};
use store::{
    Actor, NewRun, NewStateVersion, NewWorkspace, RunEvent, RunOptions, RunUpdate, StateMeta, Store,
    Workspace,
};

use crate::measure::{Rows, directory, milliseconds};

const WORKSPACES: usize = 100;
/// Of each workspace, evenly over a year.
const RUNS: i64 = 100;
/// Bytes of a log, and of a state.
const LOG: usize = 20 * 1024;
const STATE: usize = 8 * 1024;

pub(crate) async fn measure(rows: &mut Rows) -> anyhow::Result<()> {
    let dir = directory()?;
    let data = dir.path().join("data");
    let store = Store::open(&data).await?;
    let begun = Timestamp::now() - SignedDuration::from_hours(24 * 548);
    let names: Vec<String> = (0..WORKSPACES).map(|number| format!("workspace-{number}")).collect();
    let made = names.iter().map(|name| store.create_workspace(NewWorkspace::named(name.as_str(), begun)));
    let workspaces = try_join_all(made).await?;
    for number in 0..RUNS {
        let at = begun + SignedDuration::from_hours(24 * 365 * number / RUNS);
        try_join_all(workspaces.iter().map(|workspace| finished(&store, workspace, number, at))).await?;
    }
    let before = used(&data)?;
    let backup = dir.path().join("backup.tar.gz");
    let (scratch, restored) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let started = Instant::now();
    store::back_up(&data, std::fs::File::create(&backup)?, scratch.path(), "bench").await?;
    let backing_up = started.elapsed();
    let started = Instant::now();
    store::restore(std::fs::File::open(&backup)?, &restored.path().join("data"))?;
    let restoring = started.elapsed();
    let size = std::fs::metadata(&backup)?.len();
    // half a year after the last of them
    let now = Timestamp::now();
    let started = Instant::now();
    let (mut runs, mut states, mut longest) = (0, 0, Duration::ZERO);
    for workspace in &workspaces {
        loop {
            let asked = Instant::now();
            let expired = store.expire(workspace.id, Retention::default(), now).await?;
            longest = longest.max(asked.elapsed());
            runs += expired.runs.len();
            states += expired.states;
            if !expired.more {
                break;
            }
        }
    }
    let removed = started.elapsed();
    let started = Instant::now();
    let swept = store.sweep_blobs(SystemTime::now() + Duration::from_secs(25 * 60 * 60)).await?;
    let sweeping = started.elapsed();
    for workspace in &workspaces {
        let state = store.current_state(workspace.id).await?;
        let state =
            state.ok_or_else(|| anyhow::anyhow!("the current state of {} is gone", workspace.name))?;
        store.blobs().verify(state.digest).await?;
    }
    let all = WORKSPACES as i64 * RUNS;
    rows.push((format!("{all} runs of a year: what they take"), text::bytes(before)));
    rows.push((format!("  backed up into {}", text::bytes(size)), milliseconds(backing_up)));
    rows.push(("  restored".into(), milliseconds(restoring)));
    rows.push((
        format!("  {runs} runs and {states} states expired, their records gone after"),
        milliseconds(removed),
    ));
    rows.push(("  the longest that others waited for it".into(), milliseconds(longest)));
    rows.push((format!("  {} files swept in", swept.files), milliseconds(sweeping)));
    rows.push(("  what is left takes".into(), text::bytes(used(&data)?)));
    store.close().await;
    Ok(())
}

async fn finished(store: &Store, workspace: &Workspace, number: i64, at: Timestamp) -> anyhow::Result<()> {
    let filled = |what: &str, size: usize| {
        let line = format!("{what} {number} of {}\n", workspace.name);
        line.repeat(size / line.len() + 1)
    };
    let new = NewRun {
        id: RunId::generate(),
        workspace: workspace.id,
        facts: Facts::default(),
        options: RunOptions::default(),
        source: "bench".into(),
        created_by: "owner".into(),
        created_at: at,
        configuration_version: None,
    };
    let mut run = store.create_run(new).await?;
    let log = store.blobs().put_bytes(filled("log", LOG)).await?.digest;
    let ended = Event::PlanEnded { outcome: PlanOutcome::NoChanges, policies: false };
    for event in [Event::Start, Event::Launch, ended] {
        let log = (event == ended).then_some((Stage::Plan, log));
        let update = RunUpdate { log, ..RunUpdate::default() };
        let creator = WorkspaceRights::OWNER;
        run = store
            .record(RunEvent { run: run.id, event, creator, by: Actor::System, why: None, at, update })
            .await?;
    }
    let state = store.blobs().put_bytes(filled("state", STATE)).await?;
    let meta = StateMeta {
        serial: number.unsigned_abs() + 1,
        lineage: workspace.name.clone(),
        terraform_version: "1.11.4".into(),
    };
    let version = NewStateVersion {
        id: StateVersionId::generate(),
        workspace: workspace.id,
        run: Some(run.id),
        meta,
        digest: state.digest,
        size: state.size,
        created_at: at,
        created_by: "owner".into(),
        json: None,
    };
    store.add_state_version(version).await?;
    Ok(())
}

/// The bytes of all files.
fn used(directory: &Path) -> std::io::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { used(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
