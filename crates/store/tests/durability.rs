//! What was acknowledged is there after the process was killed, or the disk took no more; what was not
//! acknowledged is there as a whole or not at all.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use lifecycle::id::RunId;
use lifecycle::{Event, Facts, WorkspaceRights};
use store::{Actor, NewRun, NewWorkspace, Run, RunEvent, RunOptions, RunUpdate, Store};

/// Where the child finds its data directory.
const DATA: &str = "SIGNALBOX_TEST_DATA";

const WRITERS: usize = 8;

/// Writes until it is stopped, and says on its standard output what was acknowledged: `run version` or
/// `error text`. Started by the tests below.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "the child of the other tests"]
async fn writes_until_it_is_stopped() {
    let Ok(data) = std::env::var(DATA) else { return };
    let store = Store::open(data).await.unwrap();
    let writers: Vec<_> = (0..WRITERS)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                // of several children each has workspaces of its own
                let name = format!("w{n} of {}", std::process::id());
                let new = NewWorkspace::named(name, Timestamp::now());
                let workspace = store.create_workspace(new).await.unwrap().id;
                let mut errors = 0;
                while errors < 3 {
                    match one_run(&store, workspace).await {
                        Ok(()) => {}
                        Err(error) => {
                            errors += 1;
                            say(&format!("error {error}"));
                        }
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
}

/// Whole lines, past the capture of the test harness.
fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

async fn one_run(store: &Store, workspace: lifecycle::id::WorkspaceId) -> Result<(), store::RecordError> {
    let new = NewRun {
        id: RunId::generate(),
        workspace,
        // outside the queue, so that a run that was cut short stops no other
        facts: Facts { plan_only: true, ..Facts::default() },
        options: RunOptions { message: "x".repeat(2000), ..RunOptions::default() },
        source: "tfe-api".into(),
        created_by: "ada".into(),
        created_at: Timestamp::now(),
        configuration_version: None,
    };
    let mut run = store.create_run(new).await?;
    say(&format!("{} {}", run.id, run.version));
    let unchanged = Event::PlanEnded { outcome: lifecycle::PlanOutcome::NoChanges, policies: false };
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
        run = store.record(happened).await?;
        say(&format!("{} {}", run.id, run.version));
    }
    Ok(())
}

fn child(program: &mut Command, data: &Path) -> Child {
    program
        .args(["--ignored", "--exact", "--nocapture", "writes_until_it_is_stopped"])
        .env(DATA, data)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What a child said: the last acknowledged version of each run, and errors.
#[derive(Default)]
struct Said {
    versions: HashMap<RunId, i64>,
    errors: Vec<String>,
    lines: usize,
}

impl Said {
    fn hear(&mut self, line: &str) {
        self.lines += 1;
        let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
        match (what.parse::<RunId>(), rest.parse::<i64>()) {
            (Ok(run), Ok(version)) => {
                let last = self.versions.entry(run).or_default();
                *last = version.max(*last);
            }
            _ if what == "error" => self.errors.push(rest.to_owned()),
            // the log of the harness, or a line that the kill cut off
            _ => {}
        }
    }
}

/// Everything acknowledged is there, and every run is in one piece.
async fn verify(data: &Path, said: &Said) {
    let store = Store::open(data).await.unwrap();
    let mut journal = store.journal_after(0, u32::MAX).await.unwrap();
    journal.sort_by_key(|entry| (entry.run, entry.seq));
    let mut there = HashMap::new();
    for entries in journal.chunk_by(|a, b| a.run == b.run) {
        let run: Run = store.run(entries[0].run).await.unwrap();
        assert_eq!(
            run.version,
            i64::try_from(entries.len()).unwrap(),
            "a row of the journal for each change"
        );
        assert_eq!(entries.last().unwrap().to, run.state);
        there.insert(run.id, run.version);
    }
    assert_eq!(
        store.counts().await.unwrap().values().sum::<u64>(),
        there.len() as u64,
        "no run without a journal"
    );
    for (run, version) in &said.versions {
        let kept = there.get(run).copied();
        assert!(kept >= Some(*version), "{run}: acknowledged {version}, kept {kept:?}");
    }
    store
        .create_workspace(NewWorkspace::named(RunId::generate().to_string(), Timestamp::now()))
        .await
        .unwrap();
    store.close().await;
}

#[tokio::test]
async fn what_was_acknowledged_before_a_kill_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    for round in 1..=3 {
        let mut child = child(&mut Command::new(std::env::current_exe().unwrap()), dir.path());
        let mut said = Said::default();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        while said.versions.len() < 40 * round {
            let line = lines.next().unwrap_or_else(|| panic!("it ended by itself: {:?}", said.errors));
            said.hear(&line.unwrap());
        }
        child.kill().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()), Some(9));
        lines.for_each(|line| said.hear(&line.unwrap()));
        assert_eq!(said.errors, Vec::<String>::new());
        verify(dir.path(), &said).await;
    }
}

/// A limit on the size of files is the nearest to a full disk that needs no rights: writes fail in the
/// middle of a file, at any place in a commit.
#[tokio::test]
async fn a_disk_that_takes_no_more_is_told_and_leaves_nothing_half_done() {
    let dir = tempfile::tempdir().unwrap();
    let mut shell = Command::new("sh");
    // in units of 512 or 1024 bytes: far below where the journal of the database starts over
    shell
        .args(["-c", r#"trap "" XFSZ; ulimit -f 1200; exec "$0" "$@""#])
        .arg(std::env::current_exe().unwrap());
    let mut child = child(&mut shell, dir.path());
    let mut said = Said::default();
    BufReader::new(child.stderr.take().unwrap()).lines().for_each(|line| said.hear(&line.unwrap()));
    assert!(child.wait().unwrap().success(), "{:?}", said.errors);
    assert!(said.versions.len() >= 10, "it failed before it did anything: {:?}", said.errors);
    assert!(said.errors.len() >= WRITERS * 3);
    for error in &said.errors {
        assert!(error.starts_with("database: input or output failed: "), "{error}");
    }
    verify(dir.path(), &said).await;
}
