//! How many changes of state a second this disk takes, alone and from many runs at once, beside what the
//! disk itself gives: `cargo run --release -p store --example throughput [DIRECTORY]`.

#![expect(clippy::print_stdout, reason = "a table is what it is for")]

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use lifecycle::id::RunId;
use lifecycle::{Event, Facts, PlanOutcome, WorkspaceRights};
use store::{Actor, NewRun, NewWorkspace, RunEvent, RunOptions, RunUpdate, Store};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const FOR: Duration = Duration::from_secs(3);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let place = std::env::args_os().nth(1).unwrap_or_else(|| std::env::temp_dir().into());
    let dir = tempfile::tempdir_in(place)?;
    println!("{:<44} {:>10} {:>12}", "", "per second", "median wait");
    fsyncs(dir.path())?;
    let store = Store::open(dir.path().join("data")).await?;
    for writers in [1, 8, 50, 200] {
        let began = Instant::now();
        let tasks: Vec<_> =
            (0..writers).map(|n| tokio::spawn(changes(store.clone(), n, began + FOR))).collect();
        let mut waits = Vec::new();
        for task in tasks {
            waits.extend(task.await??);
        }
        report(&format!("changes of state, {writers} runs at once"), waits, began.elapsed());
    }
    reads(&store).await?;
    Ok(())
}

fn report(what: &str, mut waits: Vec<Duration>, took: Duration) {
    waits.sort_unstable();
    let median = waits.get(waits.len() / 2).copied().unwrap_or_default();
    println!("{what:<44} {:>10.0} {median:>12.2?}", waits.len() as f64 / took.as_secs_f64());
}

/// What one write of a page and its way to the disk takes, which bounds what one run after the other can get.
fn fsyncs(dir: &Path) -> Result<(), Failure> {
    let mut file = File::create(dir.join("fsync"))?;
    let (began, mut waits) = (Instant::now(), Vec::new());
    while began.elapsed() < FOR {
        let write = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        waits.push(write.elapsed());
    }
    report("4 KiB and fdatasync, nothing else", waits, began.elapsed());
    Ok(())
}

/// Whole runs in a workspace, one after the other; the wait of each change.
async fn changes(store: Store, workspace: usize, until: Instant) -> Result<Vec<Duration>, Failure> {
    let workspace =
        store.create_workspace(NewWorkspace::named(format!("w{workspace}"), Timestamp::now())).await?.id;
    let mut waits = Vec::new();
    while Instant::now() < until {
        let new = NewRun {
            id: RunId::generate(),
            workspace,
            facts: Facts::default(),
            options: RunOptions::default(),
            source: "tfe-api".into(),
            created_by: "bench".into(),
            created_at: Timestamp::now(),
            configuration_version: None,
        };
        let mut run = store.create_run(new).await?;
        let unchanged = Event::PlanEnded { outcome: PlanOutcome::NoChanges, policies: false };
        for event in [Event::Start, Event::Launch, unchanged] {
            let happened = RunEvent {
                run: run.id,
                event,
                creator: WorkspaceRights::NONE,
                by: Actor::System,
                why: None,
                at: Timestamp::now(),
                update: RunUpdate::default(),
            };
            let asked = Instant::now();
            run = store.record(happened).await?;
            waits.push(asked.elapsed());
        }
    }
    Ok(waits)
}

/// The reads that a page of workspaces and a run's own page need, over all that was written above.
async fn reads(store: &Store) -> Result<(), Failure> {
    let run = store.journal_after(0, 1).await?[0].run;
    let (began, mut waits) = (Instant::now(), Vec::new());
    while began.elapsed() < FOR {
        let read = Instant::now();
        store.run(run).await?;
        waits.push(read.elapsed());
    }
    report("reads of one run", waits, began.elapsed());
    let ids: Vec<_> = store.workspaces().await?.iter().map(|workspace| workspace.id).take(200).collect();
    let (began, mut waits) = (Instant::now(), Vec::new());
    while began.elapsed() < FOR {
        let read = Instant::now();
        store.current_runs(&ids).await?;
        waits.push(read.elapsed());
    }
    report("reads of the current runs of 200 workspaces", waits, began.elapsed());
    let runs = store.counts().await?.values().sum::<u64>();
    println!("{runs} runs at the end");
    Ok(())
}
