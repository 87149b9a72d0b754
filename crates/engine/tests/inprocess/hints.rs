//! Messages are hints, and may come at any time: while an actor is about to end, while the daemon starts, or not at all.
//! Whatever can go on does so at once, and not when the reconciler comes by.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::Rule::{self, Launched};
use lifecycle::id::RunId;
use lifecycle::{AccessLevel, Event, Facts, Stage, State, WorkspaceRights};
use store::{Actor, NewRun, RunEvent, RunUpdate};
use tokio::sync::broadcast::error::RecvError;

use crate::support::{End, Life, Script, Shape, World, auto, plain};

#[test]
fn a_run_that_is_queued_while_the_actor_of_its_workspace_ends_starts_at_once() {
    let world = World::new();
    let life = world.live();
    let options = life.run(life.queue("other", &plain())).options;
    world.executor().script(Stage::Plan, Script::ends(End::NoChanges));
    // the actor reads a few times more when its last run is over, and then it ends
    for reads in 0..8 {
        life.reaches(life.queue("net", &plain()), State::NoChanges);
        let new = NewRun {
            id: RunId::generate(),
            workspace: life.workspace("net").id,
            facts: Facts::default(),
            options: options.clone(),
            source: String::new(),
            created_by: "owner".to_owned(),
            created_at: Timestamp::now(),
            configuration_version: None,
        };
        let mut held = life.hold_reads();
        (0..reads).for_each(|_| held.let_one_read());
        let queued = life.record_new(new);
        held.settle();
        drop(held);
        // nobody has written down what it is made with
        life.reaches(queued, State::PlanErrored(Stage::Plan));
    }
}

#[test]
fn who_has_the_right_to_apply_again_is_applied_for_at_once() {
    let world = World::new();
    let life = world.live();
    world.executor().script(Stage::PolicyCheck, Script::gated());
    let run = life.queue("guarded", &auto());
    life.until("its policies are checked", |executor| executor.is_running(run, Stage::PolicyCheck));
    life.reconfigure(world.config(&Shape { operator_writes: false, ..Shape::default() }));
    world.executor().end(run, Stage::PolicyCheck);
    life.ends_as(run, State::PolicyChecked, &[Rule::T1, Launched, Rule::T6, Rule::T15]);
    life.reconfigure(world.config(&Shape::default()));
    life.reaches(run, State::Applied);
}

#[test]
fn a_limit_that_changes_while_the_daemon_starts_is_taken_over() {
    for turns in 0..12 {
        let world = World::of(Shape { slots: 1, ..Shape::default() });
        world.executor().script(Stage::Plan, Script::gated());
        let life = world.live();
        life.turns(turns);
        life.reconfigure(world.config(&Shape { slots: 3, ..Shape::default() }));
        let runs = ["net", "other", "guarded"].map(|workspace| life.queue(workspace, &plain()));
        life.until("all run", |executor| runs.iter().all(|run| executor.is_running(*run, Stage::Plan)));
    }
}

/// More than the store keeps for a reader that is behind.
const MANY: usize = 4096 + 64;

/// What the writer does meanwhile.
const SOME: usize = 512;

/// The workspaces that are there, and as many more.
fn and_more(life: &Life, more: usize) -> BTreeMap<String, BTreeMap<String, AccessLevel>> {
    let there = life.wait("workspaces are read", life.store().workspaces()).unwrap();
    let there = there.into_iter().map(|workspace| (workspace.name, workspace.access));
    there.chain((0..more).map(|number| (format!("more-{number}"), BTreeMap::new()))).collect()
}

#[test]
fn changes_that_were_missed_because_there_were_too_many_are_made_up_for_at_once() {
    let world = World::new();
    let life = world.live();
    let [confirmed, declined] = ["net", "other"].map(|workspace| life.queue(workspace, &plain()));
    [confirmed, declined].into_iter().for_each(|run| drop(life.reaches(run, State::NeedsConfirmation)));
    life.quiet();
    let (some, many) = (and_more(&life, SOME), and_more(&life, SOME + MANY));
    let (store, now) = (life.store(), Timestamp::now());
    let happens = |run, event| {
        let (creator, by) = (WorkspaceRights::NONE, Actor::User("owner".to_owned()));
        store.record(RunEvent { run, event, creator, by, why: None, at: now, update: RunUpdate::default() })
    };
    let mut changes = store.changes();
    life.wait("more changes than are kept", async {
        let keeps_the_writer_busy = store.sync_workspaces(some, now);
        let share_a_transaction = async {
            life.reads(8).await;
            assert!(changes.is_empty(), "the writer has something to do still");
            let runs =
                async { tokio::join!(happens(confirmed, Event::Confirm), happens(declined, Event::Discard)) };
            tokio::join!(runs, store.sync_workspaces(many, now))
        };
        let (_, ((confirmed, declined), _)) = tokio::join!(keeps_the_writer_busy, share_a_transaction);
        (confirmed.unwrap(), declined.unwrap())
    });
    let behind = life.wait("a reader that is behind", changes.recv());
    assert!(matches!(behind, Err(RecvError::Lagged(missed)) if missed > SOME as u64 + 2), "{behind:?}");
    life.reaches(confirmed, State::Applied);
    // although its workspace has no run any more that is not over
    world.assert_over(&life, declined);
}
