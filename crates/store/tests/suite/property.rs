//! Random runs in random workspaces, held against a model in memory.

use std::cell::Cell;

use lifecycle::id::RunId;
use lifecycle::{Event, Facts, Rule, Stage, State, queue, step};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Actor, Lock, LockError, Run, RunChange, RunUpdate, Store, TransitionError, Workspace};

use super::{at, new_run};

#[derive(Debug, Clone)]
enum Act {
    Queue { workspace: usize, facts: Facts },
    Feed { run: prop::sample::Index, event: prop::sample::Index, stale: bool },
    Lock { workspace: usize },
    Unlock { workspace: usize },
}

const WORKSPACES: usize = 2;

fn facts() -> impl Strategy<Value = Facts> {
    any::<[bool; 5]>().prop_map(
        |[plan_only, destroy, auto_apply, queued_with_apply_right, allow_empty_apply]| Facts {
            plan_only,
            destroy,
            auto_apply,
            queued_with_apply_right,
            allow_empty_apply,
        },
    )
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => (0..WORKSPACES, facts()).prop_map(|(workspace, facts)| Act::Queue { workspace, facts }),
        24 => (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::bool::weighted(0.1))
            .prop_map(|(run, event, stale)| Act::Feed { run, event, stale }),
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
        workspaces.push(store.ensure_workspace(&format!("{round}-{n}"), at(0)).await.unwrap());
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
            Act::Feed { run, event, stale } if !model.runs.is_empty() => {
                let chosen = run.index(model.runs.len());
                let event = legal(&model.runs[chosen].0, event);
                starts += u32::from(feed(store, &workspaces, &mut model, chosen, event, *stale, now).await);
            }
            Act::Feed { .. } => {}
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

/// One of the events that may happen to the run; none when it is over.
fn legal(run: &Run, choice: &prop::sample::Index) -> Option<Event> {
    let legal: Vec<_> =
        Event::all().into_iter().filter(|event| step(run.state, run.facts, *event).is_ok()).collect();
    (!legal.is_empty()).then(|| *choice.get(&legal))
}

/// True: the run started.
async fn feed(
    store: &Store,
    workspaces: &[Workspace],
    model: &mut Model,
    chosen: usize,
    event: Option<Event>,
    stale: bool,
    now: jiff::Timestamp,
) -> bool {
    let run = model.runs[chosen].0.clone();
    let Some(event) = event else {
        let change = RunChange {
            run: run.id,
            expected_version: run.version,
            to: State::Discarded(Stage::Plan),
            rule: Rule::T10,
            by: Actor::System,
            why: None,
            at: now,
            update: RunUpdate::default(),
        };
        let refused = store.transition(change).await;
        assert_eq!(refused, Err(TransitionError::Final { run: run.id, state: run.state }));
        return false;
    };
    let transition = step(run.state, run.facts, event).unwrap();
    let by = if event.is_action() { Actor::User("grace".into()) } else { Actor::System };
    let change = RunChange {
        run: run.id,
        expected_version: run.version - i64::from(stale),
        to: transition.to,
        rule: transition.rule,
        by: by.clone(),
        why: Some(event.name().into()),
        at: now,
        update: RunUpdate::default(),
    };
    let place = workspaces.iter().position(|workspace| workspace.id == run.workspace).unwrap();
    let entries = model.entries(&workspaces[place]);
    let may_start = queue::startable(&entries, model.locked[place]).contains(&run.id);
    match store.transition(change).await {
        Ok(changed) => {
            assert!(!stale);
            assert!(transition.rule != Rule::T1 || may_start);
            assert_eq!((changed.state, changed.version), (transition.to, run.version + 1));
            assert_eq!((changed.state_changed_at, changed.updated_at), (now, now));
            let (kept, told) = &mut model.runs[chosen];
            told.push((Some(run.state), transition.to, Some(transition.rule), by));
            *kept = changed;
            transition.rule == Rule::T1
        }
        Err(TransitionError::Moved { expected, actual, .. }) => {
            assert!(stale && expected == run.version - 1 && actual == run.version);
            false
        }
        Err(TransitionError::NotItsTurn(_)) => {
            assert!(transition.rule == Rule::T1 && !may_start);
            false
        }
        Err(other) => panic!("{other}"),
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
        assert_eq!(store.current_run(workspace.id).await.unwrap().map(|run| run.id), shown);
    }
    for (run, told) in &model.runs {
        assert_eq!(store.run(run.id).await.unwrap(), *run);
        let journal = store.journal(run.id).await.unwrap();
        let journal: Vec<_> =
            journal.into_iter().map(|entry| (entry.from, entry.to, entry.rule, entry.by)).collect();
        assert_eq!(journal, *told);
    }
}
