//! Actors that fail: whoever drives a run panics in the middle of it.

use std::time::Duration;

use lifecycle::id::RunId;
use lifecycle::{Execution, Stage, State};

use crate::crashes::{ALL, assert_applied, executing};
use crate::support::{Action, End, Life, Point, Script, Shape, World, auto};

/// As often as the supervisor restarts an actor, and once more.
const TOO_OFTEN: u32 = 6;

#[test]
fn a_run_actor_that_panics_in_any_call_is_restarted_and_goes_on_where_it_was() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        for point in [Point::Attach, Point::Launch, Point::Claimed, Point::Wait, Point::Settle] {
            world.executor().at(stage, point, Action::Panic(1));
        }
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.reaches_in_time(run, State::Applied);
        assert!(!world.executor().is_armed(), "it has panicked in each");
        assert_applied(&world, &life, run);
    }
}

#[test]
fn a_plan_or_a_policy_check_whose_actor_always_panics_is_killed_and_its_run_ends_errored() {
    for stage in [Stage::Plan, Stage::PolicyCheck] {
        let world = World::new();
        world.executor().script(stage, Script::gated());
        let life = world.live();
        let run = life.queue("guarded", &auto());
        let next = life.queue("guarded", &auto());
        life.until("it runs", |executor| executor.is_running(run, stage));
        world.executor().at(stage, Point::Attach, Action::Panic(TOO_OFTEN));
        let errored = life.reaches_in_time(run, State::PlanErrored(stage));
        let why = "signalbox could not go on with this run: a fault at Attach";
        assert_eq!(errored.error.as_deref(), Some(why));
        assert_eq!(world.executor().stops(run, stage), (0, 1));
        world.assert_over(&life, run);
        life.until("the next one runs", |executor| executor.is_running(next, stage));
        world.executor().end(next, stage);
        assert_applied(&world, &life, next);
    }
}

/// A run that applies, and whose actor has panicked too often.
fn applying_and_given_up() -> (World, Life, RunId) {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("it applies", |executor| executor.is_running(run, Stage::Apply));
    world.executor().at(Stage::Apply, Point::Attach, Action::Panic(TOO_OFTEN));
    life.advance(Duration::from_secs(30));
    assert!(!world.executor().is_armed(), "it has panicked too often");
    (world, life, run)
}

#[test]
fn an_apply_whose_actor_always_panics_is_never_killed_and_its_own_end_decides() {
    let (world, life, run) = applying_and_given_up();
    assert_eq!(life.run(run).state, executing(Stage::Apply, Execution::Running));
    assert_eq!(world.executor().stops(run, Stage::Apply), (0, 0));
    world.executor().end(run, Stage::Apply);
    assert_applied(&world, &life, run);
}

#[test]
fn a_run_that_is_given_up_launches_nothing_more() {
    for (stage, state) in [
        (Stage::Plan, State::PlanErrored(Stage::Plan)),
        (Stage::PolicyCheck, State::PlanErrored(Stage::PolicyCheck)),
        (Stage::Apply, State::ApplyErrored),
    ] {
        let world = World::new();
        world.executor().at(stage, Point::Launch, Action::Panic(TOO_OFTEN));
        let life = world.live();
        let run = life.queue("guarded", &auto());
        let errored = life.reaches_in_time(run, state);
        let why = "signalbox could not go on with this run: a fault at Launch";
        assert_eq!(errored.error.as_deref(), Some(why), "{stage}");
        assert!(!world.executor().started(run).contains(&stage));
        world.assert_over(&life, run);
    }
}

#[test]
fn an_end_whose_recorder_panics_after_its_files_were_kept_is_recorded_once_with_them() {
    let world = World::new();
    world.arm("run-actor-record", 3);
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.reaches_in_time(run, State::Applied);
    assert!(!world.is_armed("run-actor-record"), "it has panicked in each stage, or more than once in one");
    assert_applied(&world, &life, run);
    let kept = life.wait("its states", life.store().state_version_ids(&[run])).unwrap();
    assert_eq!(kept.values().flatten().count(), 1, "its state was taken once");
}

#[test]
fn a_workspace_actor_that_panics_too_often_is_restarted_all_the_same_and_loses_no_run() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let first = life.queue("guarded", &auto());
    life.until("it applies", |executor| executor.is_running(first, Stage::Apply));
    world.arm("workspace-actor", TOO_OFTEN);
    let second = life.queue("guarded", &auto());
    assert_eq!(world.executor().stops(first, Stage::Apply), (0, 0));
    world.executor().script(Stage::Apply, Script::ends(End::Well));
    world.executor().end(first, Stage::Apply);
    for run in [first, second] {
        life.reaches_in_time(run, State::Applied);
        assert_applied(&world, &life, run);
    }
    assert!(!world.is_armed("workspace-actor"), "it has panicked as often as it was to");
}

#[test]
fn a_run_that_ends_while_the_actor_of_its_workspace_panics_is_cleaned_up_after() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.after_commits(1 + ALL.len());
    world.arm("workspace-actor", 1);
    life.until_seen("it has panicked", || !world.is_armed("workspace-actor"));
    life.advance(Duration::from_secs(1));
    assert_applied(&world, &life, run);
}

#[test]
fn a_run_that_was_given_up_by_a_daemon_is_taken_on_by_the_next_one() {
    let (world, life, run) = applying_and_given_up();
    life.die();
    world.executor().end(run, Stage::Apply);
    assert_applied(&world, &world.live(), run);
}

#[test]
fn a_supervisor_that_panics_is_restarted_and_every_run_goes_on_where_it_was() {
    let world = World::of(Shape { slots: 2, ..Shape::default() });
    let executor = world.executor();
    executor.script(Stage::Apply, Script::gated());
    let life = world.live();
    let runs = ["net", "guarded"].map(|workspace| life.queue(workspace, &auto()));
    life.until("both apply", |executor| runs.iter().all(|run| executor.is_running(*run, Stage::Apply)));
    life.quiet();
    world.arm("workspaces-actor", 1);
    let waits = life.queue("other", &auto());
    life.advance(Duration::from_secs(1));
    assert!(!world.is_armed("workspaces-actor"), "it has panicked");
    assert_eq!((life.run(waits).state, life.engine().slot_counts()), (State::Pending, (2, 1)));
    for run in runs {
        assert_eq!(executor.stops(run, Stage::Apply), (0, 0));
        executor.end(run, Stage::Apply);
        life.reaches(run, State::Applied);
    }
    life.until("the third applies", |executor| executor.is_running(waits, Stage::Apply));
    executor.end(waits, Stage::Apply);
    life.reaches(waits, State::Applied);
    [runs[0], runs[1], waits].into_iter().for_each(|run| world.assert_over(&life, run));
    assert_eq!(executor.most_at_once(), 2);
}

#[test]
fn an_engine_whose_supervisor_always_panics_ends_and_leaves_what_runs_to_the_next() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("it applies", |executor| executor.is_running(run, Stage::Apply));
    life.quiet();
    world.arm("workspaces-actor", TOO_OFTEN);
    life.queue("net", &auto());
    life.advance(Duration::from_secs(30));
    assert!(life.has_ended());
    assert_eq!(world.executor().stops(run, Stage::Apply), (0, 0));
    life.die();
    world.executor().end(run, Stage::Apply);
    assert_applied(&world, &world.live(), run);
}
