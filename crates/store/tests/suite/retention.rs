use std::time::{Duration, SystemTime};

use lifecycle::id::{ConfigurationVersionId, StateVersionId};
use lifecycle::retention::{Keep, Retention};
use lifecycle::{Event, Facts};
use store::{
    ConfigurationResult, Digest, Error, NewConfigurationVersion, NewRun, NewStateVersion, PageRequest, Run,
    RunFilter, RunUpdate, StateMeta, Store, Workspace,
};

use super::{TO_CONFIRMATION, at, event, new_run, queued, record, through, workspace};

const DAY: i64 = 24 * 60 * 60;

/// A run that ends on that day, with a log, and a configuration of its own.
async fn ended_on(store: &Store, workspace: &Workspace, day: i64) -> (Run, Digest) {
    let log = store.blobs().put_bytes(format!("log of day {day}")).await.unwrap().digest;
    let configuration = NewConfigurationVersion {
        id: ConfigurationVersionId::generate(),
        workspace: workspace.id,
        source: "tfe-api".into(),
        speculative: false,
        created_at: at(day * DAY),
    };
    let archive = store.blobs().put_bytes(format!("configuration of day {day}")).await.unwrap();
    let result = ConfigurationResult::Uploaded { digest: archive.digest, size: archive.size, commit: None };
    let id = configuration.id;
    store.keep_configuration_version(configuration, result, at(day * DAY)).await.unwrap();
    let new = NewRun { configuration_version: Some(id), ..new_run(workspace, Facts::default()) };
    let run = store.create_run(NewRun { created_at: at(day * DAY), ..new }).await.unwrap();
    let mut run = through(store, &run, &[Event::Start, Event::Launch]).await;
    let update = RunUpdate { log: Some((lifecycle::Stage::Plan, log)), ..RunUpdate::default() };
    run = store.record(store::RunEvent { update, ..event(&run, super::UNCHANGED) }).await.unwrap();
    assert!(run.state.is_final());
    (run, log)
}

async fn state_of(store: &Store, workspace: &Workspace, run: Option<&Run>, day: i64) -> StateVersionId {
    let content = store.blobs().put_bytes(format!("state of day {day}")).await.unwrap();
    let new = NewStateVersion {
        id: StateVersionId::generate(),
        workspace: workspace.id,
        run: run.map(|run| run.id),
        meta: StateMeta {
            serial: day.unsigned_abs() + 1,
            lineage: "a".into(),
            terraform_version: "1.11.4".into(),
        },
        digest: content.digest,
        size: content.size,
        created_at: at(day * DAY),
        created_by: "ada".into(),
        json: None,
    };
    let id = new.id;
    store.add_state_version(new).await.unwrap();
    id
}

fn keep(runs: usize, states: usize) -> Retention {
    let of = |newest| Keep { newest, days: None };
    Retention { runs: of(runs), states: of(states) }
}

async fn expire(store: &Store, workspace: &Workspace, retention: Retention, day: i64) -> (usize, usize) {
    let mut removed = (0, 0);
    loop {
        let expired = store.expire(workspace.id, retention, at(day * DAY)).await.unwrap();
        removed = (removed.0 + expired.runs.len(), removed.1 + expired.states);
        if !expired.more {
            return removed;
        }
    }
}

/// A day and an hour after all that was put.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(25 * 60 * 60)
}

pub(crate) async fn what_is_not_kept_goes_and_its_space_comes_back(store: Store) {
    let network = workspace(&store, "network").await;
    let mut runs = Vec::new();
    for day in 0..30 {
        let (run, log) = ended_on(&store, &network, day).await;
        state_of(&store, &network, Some(&run), day).await;
        runs.push((run, log));
    }
    // what came within a day stays, and so does everything that is among the newest
    assert_eq!(expire(&store, &network, keep(1000, 200), 60).await, (0, 0));
    assert_eq!(expire(&store, &network, keep(10, 5), 60).await, (20, 25));
    assert_eq!(expire(&store, &network, keep(10, 5), 60).await, (0, 0), "once is enough");
    let left = store.runs(&RunFilter::default(), PageRequest::first(100)).await.unwrap();
    let expected: Vec<_> = runs[20..].iter().rev().map(|(run, _)| run.id).collect();
    assert_eq!(left.items.iter().map(|run| run.id).collect::<Vec<_>>(), expected);
    assert_eq!(store.state_versions(network.id, PageRequest::first(100)).await.unwrap().total, 5);
    let configurations = store.configuration_versions(network.id, PageRequest::first(100)).await.unwrap();
    assert_eq!(configurations.total, 10);
    let gone = &runs[0].0;
    assert_eq!(store.run(gone.id).await, Err(Error::NotFound(gone.id.to_string())));
    assert!(store.journal(gone.id).await.unwrap().is_empty());

    // blobs go a day after they were put last, and only those that nothing refers to
    assert_eq!(store.sweep_blobs(SystemTime::now()).await.unwrap().files, 0);
    let swept = store.sweep_blobs(later()).await.unwrap();
    assert_eq!(swept.files, 20 + 20 + 25);
    assert!(store.blobs().read(runs[0].1).await.is_err());
    for (_, log) in &runs[20..] {
        store.blobs().read(*log).await.unwrap();
    }
    // and what was put before can be put again
    let again = store.blobs().put_bytes("log of day 0").await.unwrap();
    assert_eq!(store.blobs().read(again.digest).await.unwrap(), b"log of day 0");
}

pub(crate) async fn what_goes_on_or_is_needed_stays_however_old_it_is(store: Store) {
    let network = workspace(&store, "network").await;
    let (first, _) = ended_on(&store, &network, 0).await;
    // the state that is current was made by the oldest run
    let current = state_of(&store, &network, Some(&first), 0).await;
    let (_, log) = ended_on(&store, &network, 1).await;
    let waiting = through(&store, &queued(&store, &network).await, &TO_CONFIRMATION).await;
    let pending = queued(&store, &network).await;
    let retention = keep(1, 1);
    assert_eq!(expire(&store, &network, retention, 1000).await, (1, 0));
    for run in [&first, &waiting, &pending] {
        assert_eq!(store.run(run.id).await.unwrap().id, run.id);
    }
    assert_eq!(store.current_state(network.id).await.unwrap().unwrap().id, current);
    store.sweep_blobs(later()).await.unwrap();
    assert!(store.blobs().read(log).await.is_err());
    store.blobs().read(store.current_state(network.id).await.unwrap().unwrap().digest).await.unwrap();
    record(&store, &waiting, Event::Confirm).await.unwrap();
}

pub(crate) async fn a_blob_that_only_an_error_names_stays(store: Store) {
    let network = workspace(&store, "network").await;
    let blob = store.blobs().put_bytes("a state that its backend did not take").await.unwrap().digest;
    let run = through(&store, &queued(&store, &network).await, &[Event::Start, Event::Launch]).await;
    let update =
        RunUpdate { error: Some(format!("it is kept as blob {blob}, and as x")), ..RunUpdate::default() };
    let failed = Event::PlanEnded { outcome: lifecycle::PlanOutcome::Failed, policies: false };
    store.record(store::RunEvent { update, ..event(&run, failed) }).await.unwrap();
    assert_eq!(store.sweep_blobs(later()).await.unwrap().files, 0);
    store.blobs().read(blob).await.unwrap();
}

pub(crate) async fn nothing_that_is_put_fails_for_a_sweep(store: Store) {
    // the same again and again, while a clock that is a day ahead has all of it removed
    let puts = async {
        for round in 0..200 {
            let content = format!("content {}", round % 7);
            store.blobs().put_bytes(content).await.unwrap();
        }
    };
    let sweeps = async {
        let mut removed = 0;
        for _ in 0..40 {
            removed += store.sweep_blobs(later()).await.unwrap().files;
        }
        assert!(removed > 0, "this proves nothing");
    };
    tokio::join!(puts, sweeps);
    let kept = store.blobs().put_bytes("content 0").await.unwrap();
    assert_eq!(store.blobs().read(kept.digest).await.unwrap(), b"content 0");
}
