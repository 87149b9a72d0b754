//! Random runs in random workspaces, held against a model in memory.

use std::cell::Cell;

use lifecycle::id::RunId;
use lifecycle::{Event, Facts, Rule, State, WorkspaceRights, queue, step};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Actor, Lock, LockError, NewWorkspace, RecordError, Run, RunEvent, RunUpdate, Store, Workspace};

use super::{at, new_run};

#[derive(Debug, Clone)]
enum Act {
    Queue { workspace: usize, facts: Facts },
    Record { run: prop::sample::Index, event: prop::sample::Index },
    Lock { workspace: usize },
    Unlock { workspace: usize },
}

const WORKSPACES: usize = 2;

fn facts() -> impl Strategy<Value = Facts> {
    proptest::sample::select(Facts::all().collect::<Vec<_>>())
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..WORKSPACES, facts()).prop_map(|(workspace, facts)| Act::Queue { workspace, facts }),
        24 => (any::<prop::sample::Index>(), any::<prop::sample::Index>())
            .prop_map(|(run, event)| Act::Record { run, event }),
        1 => (0..WORKSPACES).prop_map(|workspace| Act::Lock { workspace }),
        3 => (0..WORKSPACES).prop_map(|workspace| Act::Unlock { workspace }),
    ]
}

/// What the journal should say: from, to, why, by whom.
type Told = (Option<State>, State, Option<Rule>, Actor);

struct Model {
    runs: Vec<(Run, Vec<Told>)>,
    locked: [bool; WORKSPACES],
}

impl Model {
    fn entries(&self, workspace: &Workspace) -> Vec<queue::Entry> {
        let waits = |run: &&Run| run.workspace == workspace.id && !run.state.is_final();
        self.runs.iter().map(|(run, _)| run).filter(waits).map(Run::entry).collect()
    }
}

pub(crate) async fn random_runs_are_as_the_table_says(store: Store) {
    let config = Config { cases: 16, failure_persistence: None, ..Config::default() };
    let (round, starts) = (Cell::new(0), Cell::new(0));
    let runtime = tokio::runtime::Handle::current();
    let outcome = TestRunner::new(config).run(&vec(act(), 150), |acts| {
        round.set(round.get() + 1);
        let played = play(&store, round.get(), &acts);
        starts.set(starts.get() + tokio::task::block_in_place(|| runtime.block_on(played)));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(starts.get() > 16, "the events were no test: {} starts", starts.get());
}

/// Plays the acts in workspaces of their own. Returns how many runs started.
async fn play(store: &Store, round: u32, acts: &[Act]) -> u32 {
    let mut starts = 0;
    let mut workspaces = Vec::new();
    for n in 0..WORKSPACES {
        workspaces
            .push(store.create_workspace(NewWorkspace::named(format!("{round}-{n}"), at(0))).await.unwrap());
    }
    let mut model = Model { runs: Vec::new(), locked: [false; WORKSPACES] };
    for (n, act) in acts.iter().enumerate() {
        let now = at(i64::try_from(n).unwrap());
        match act {
            Act::Queue { workspace, facts } => {
                let run = store.create_run(new_run(&workspaces[*workspace], *facts)).await.unwrap();
                let told = (None, State::Pending, None, Actor::User("ada".into()));
                model.runs.push((run, std::vec![told]));
            }
            Act::Record { run, event } if !model.runs.is_empty() => {
                let chosen = run.index(model.runs.len());
                let event = likely(&model.runs[chosen].0, event);
                starts += u32::from(record(store, &workspaces, &mut model, chosen, event, now).await);
            }
            Act::Record { .. } => {}
            Act::Lock { workspace } => lock(store, &workspaces, &mut model, *workspace).await,
            Act::Unlock { workspace } => {
                let unlocked = store.force_unlock_workspace(workspaces[*workspace].id, now).await;
                assert_eq!(unlocked.is_ok(), std::mem::take(&mut model.locked[*workspace]));
            }
        }
    }
    compare(store, &workspaces, &model).await;
    starts
}

/// One of the events that may happen to the run, or any other now and then.
fn likely(run: &Run, choice: &prop::sample::Index) -> Event {
    let all = Event::all();
    let legal = all.iter().filter(|event| step(run.state, run.facts, **event).is_ok());
    let twelve_times: Vec<_> =
        legal.flat_map(|event| std::iter::repeat_n(*event, 12)).chain(all.clone()).collect();
    *choice.get(&twelve_times)
}

/// True: the run started.
async fn record(
    store: &Store,
    workspaces: &[Workspace],
    model: &mut Model,
    chosen: usize,
    event: Event,
    now: jiff::Timestamp,
) -> bool {
    let run = model.runs[chosen].0.clone();
    // nobody cancels with a time after which it may be forced
    let expected = match event {
        Event::ForceCancel { .. } => step(run.state, run.facts, Event::ForceCancel { cool_off_over: false }),
        event => step(run.state, run.facts, event),
    };
    let by = if event.is_action() { Actor::User("grace".into()) } else { Actor::System };
    let happened = RunEvent {
        run: run.id,
        event,
        creator: WorkspaceRights::OWNER,
        by: by.clone(),
        why: Some(event.name().into()),
        at: now,
        update: RunUpdate::default(),
    };
    let place = workspaces.iter().position(|workspace| workspace.id == run.workspace).unwrap();
    let entries = model.entries(&workspaces[place]);
    let may_start = queue::startable(&entries, model.locked[place]).contains(&run.id);
    match (store.record(happened).await, expected) {
        (Ok(changed), Ok(transition)) => {
            assert!(transition.rule != Rule::T1 || may_start);
            assert_eq!((changed.state, changed.version), (transition.to, run.version + 1));
            assert_eq!((changed.state_changed_at, changed.updated_at), (now, now));
            let (kept, told) = &mut model.runs[chosen];
            told.push((Some(run.state), transition.to, Some(transition.rule), by));
            *kept = changed;
            transition.rule == Rule::T1
        }
        (Err(RecordError::NotItsTurn(_)), Ok(transition)) => {
            assert!(transition.rule == Rule::T1 && !may_start);
            false
        }
        (Err(RecordError::Illegal(illegal)), Err(expected)) => {
            assert_eq!(illegal, expected);
            false
        }
        (recorded, expected) => panic!("{recorded:?}, and not {expected:?}"),
    }
}

async fn lock(store: &Store, workspaces: &[Workspace], model: &mut Model, workspace: usize) {
    let lock = Lock { by: "ada".into(), reason: String::new(), at: at(0) };
    let holder = queue::holder(&model.entries(&workspaces[workspace]));
    match store.lock_workspace(workspaces[workspace].id, lock).await {
        Ok(_) => {
            assert!(holder.is_none() && !model.locked[workspace]);
            model.locked[workspace] = true;
        }
        Err(LockError::Locked(_)) => assert!(model.locked[workspace]),
        Err(LockError::HeldByRun(run)) => assert_eq!(Some(run), holder),
        Err(other) => panic!("{other}"),
    }
}

async fn compare(store: &Store, workspaces: &[Workspace], model: &Model) {
    for workspace in workspaces {
        let entries = model.entries(workspace);
        assert_eq!(store.queue(workspace.id).await.unwrap(), entries);
        let final_runs = |(run, _): &&(Run, Vec<Told>)| {
            run.workspace == workspace.id && run.state.is_final() && !run.facts.plan_only
        };
        let newest = model.runs.iter().rfind(final_runs).map(|(run, _)| run.id);
        let first: Option<RunId> = entries.iter().find(|entry| !entry.plan_only).map(|entry| entry.run);
        let shown = queue::holder(&entries).or(newest).or(first);
        assert_eq!(
            store.current_runs(&[workspace.id]).await.unwrap().get(&workspace.id).map(|run| run.id),
            shown
        );
    }
    for (run, told) in &model.runs {
        assert_eq!(store.run(run.id).await.unwrap(), *run);
        let journal = store.journal(run.id).await.unwrap();
        let journal: Vec<_> =
            journal.into_iter().map(|entry| (entry.from, entry.to, entry.rule, entry.by)).collect();
        assert_eq!(journal, *told);
    }
}
