//! An executor that can't be asked, for a moment or for long: a full disk, a process that hangs. It ends no run.

use std::time::Duration;

use engine::RunAction;
use lifecycle::{Execution, Stage, State};

use crate::crashes::{assert_applied, executing};
use crate::support::{Action, Point, Script, World, auto};

#[test]
fn a_call_that_fails_is_tried_again_and_ends_no_run() {
    let world = World::new();
    for stage in Stage::EXECUTED {
        for point in [Point::Attach, Point::Launch, Point::Claimed, Point::Wait, Point::Settle] {
            world.executor().at(stage, point, Action::Fail(1));
        }
    }
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.reaches_in_time(run, State::Applied);
    assert!(!world.executor().is_armed(), "each has failed");
    assert_applied(&world, &life, run);
}

#[test]
fn a_call_of_a_cancel_that_fails_is_tried_again() {
    for (point, action) in [
        (Point::Interrupt, RunAction::Cancel),
        (Point::Interrupted, RunAction::Cancel),
        (Point::Kill, RunAction::ForceCancel),
        (Point::Killed, RunAction::ForceCancel),
    ] {
        let world = World::new();
        world.executor().script(Stage::Apply, Script::stubborn());
        world.executor().at(Stage::Apply, point, Action::Fail(1));
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it applies", |executor| executor.is_running(run, Stage::Apply));
        life.act(run, RunAction::Cancel);
        if action == RunAction::ForceCancel {
            life.act(run, RunAction::ForceCancel);
        }
        life.until("it has failed", |executor| !executor.is_armed());
        life.advance(Duration::from_secs(1));
        let (interrupts, kills) = world.executor().stops(run, Stage::Apply);
        let delivered = if action == RunAction::Cancel { interrupts } else { kills };
        assert_eq!(delivered, 1, "{point:?}");
        world.executor().grace_is_over(run, Stage::Apply);
        life.reaches_in_time(run, State::Canceled(Stage::Apply));
        world.assert_over(&life, run);
    }
}

#[test]
fn a_call_that_always_fails_is_tried_again_with_pauses_until_it_works() {
    for stage in Stage::EXECUTED {
        for point in [Point::Attach, Point::Launch, Point::Wait, Point::Settle] {
            let world = World::new();
            let executor = world.executor();
            executor.at(stage, point, Action::Fail(u32::MAX));
            let life = world.live();
            let run = life.queue("guarded", &auto());
            life.until("it has failed", |executor| executor.passed(stage, point) > 0);
            life.quiet();
            assert_eq!(executor.passed(stage, point), 1, "once, as long as no time passes");
            life.advance(Duration::from_secs(3));
            let tried = executor.passed(stage, point);
            assert!((3..10).contains(&tried), "{stage} {point:?}: {tried} times in three seconds");
            assert_eq!(life.run(run).state, executing(stage, Execution::Running));
            executor.disarm();
            life.reaches_in_time(run, State::Applied);
            assert_applied(&world, &life, run);
        }
    }
}

#[test]
fn a_run_that_can_not_be_launched_can_be_canceled() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().at(stage, Point::Launch, Action::Fail(u32::MAX));
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it has failed", |executor| executor.passed(stage, Point::Launch) > 0);
        life.advance(Duration::from_secs(1));
        life.act(run, RunAction::Cancel);
        life.reaches_in_time(run, State::Canceled(stage));
        assert!(!world.executor().started(run).contains(&stage));
        world.assert_over(&life, run);
    }
}

#[test]
fn a_run_whose_executor_is_in_trouble_keeps_no_other_waiting() {
    let world = World::new();
    world.executor().at(Stage::PolicyCheck, Point::Attach, Action::Fail(u32::MAX));
    world.executor().at(Stage::PolicyCheck, Point::Launch, Action::Hold);
    let life = world.live();
    let troubled = life.queue("guarded", &auto());
    life.until("it has failed", |executor| executor.passed(Stage::PolicyCheck, Point::Attach) > 0);
    life.reaches(life.queue("net", &auto()), State::Applied);
    assert_eq!(life.run(troubled).state, executing(Stage::PolicyCheck, Execution::Running));
}
