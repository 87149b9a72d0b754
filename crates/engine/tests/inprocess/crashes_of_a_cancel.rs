//! The daemon dies while a run is being cancelled. The wish is in the record, so the next one carries it out.

use std::sync::Arc;
use std::time::Duration;

use engine::RunAction;
use lifecycle::id::RunId;
use lifecycle::{Event, Execution, Rule, Stage, State, WorkspaceRights};
use store::{Actor, RunEvent, RunUpdate};

use crate::crashes::executing;
use crate::support::{Action, End, Life, Point, Script, World, auto, plain};

/// A run whose stage executes and is not impressed by an interrupt.
pub fn stubborn(world: &World, stage: Stage) -> (Life, RunId) {
    world.executor().script(stage, Script::stubborn());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("it runs", |executor| executor.is_running(run, stage));
    life.quiet();
    (life, run)
}

fn assert_canceled(world: &World, life: &Life, run: RunId, stage: Stage) {
    life.reaches(run, State::Canceled(stage));
    world.assert_over(life, run);
}

#[test]
fn a_cancel_that_was_recorded_and_not_delivered_is_delivered_once() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        let (life, run) = stubborn(&world, stage);
        life.act(run, RunAction::Cancel);
        life.die();
        assert_eq!(world.executor().stops(run, stage), (0, 0));
        let life = world.live();
        assert_eq!(life.found(run), Some(executing(stage, Execution::Canceling)));
        life.until("it is interrupted", |executor| executor.stops(run, stage) == (1, 0));
        life.advance(Duration::from_secs(5));
        assert_eq!(world.executor().stops(run, stage), (1, 0), "once");
        world.executor().grace_is_over(run, stage);
        assert_canceled(&world, &life, run, stage);
    }
}

#[test]
fn a_cancel_that_was_delivered_before_the_daemon_could_hear_of_it_is_not_delivered_again() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        let (life, run) = stubborn(&world, stage);
        world.executor().at(stage, Point::Interrupted, Action::Hold);
        life.act(run, RunAction::Cancel);
        life.until_held();
        life.die();
        let life = world.live();
        life.advance(Duration::from_secs(5));
        assert_eq!(world.executor().stops(run, stage), (1, 0), "once");
        assert_eq!(life.run(run).state, executing(stage, Execution::Canceling));
        world.executor().grace_is_over(run, stage);
        assert_canceled(&world, &life, run, stage);
    }
}

#[test]
fn a_canceled_execution_that_ended_or_was_lost_while_no_daemon_lived_is_canceled() {
    for stage in Stage::EXECUTED {
        for end in [None, Some(End::Fails("terraform apply")), Some(End::Lost)] {
            let world = World::new();
            let (life, run) = stubborn(&world, stage);
            life.act(run, RunAction::Cancel);
            life.until("it is interrupted", |executor| executor.stops(run, stage) == (1, 0));
            life.die();
            match end {
                None => world.executor().grace_is_over(run, stage),
                Some(end) => world.executor().end_as(run, stage, end),
            }
            assert_canceled(&world, &world.live(), run, stage);
        }
    }
}

#[test]
fn a_force_cancel_that_was_recorded_and_not_delivered_kills() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        let (life, run) = stubborn(&world, stage);
        life.act(run, RunAction::Cancel);
        life.until("it is interrupted", |executor| executor.stops(run, stage) == (1, 0));
        life.quiet();
        life.act(run, RunAction::ForceCancel);
        life.die();
        assert_eq!(world.executor().stops(run, stage), (1, 0));
        let life = world.live();
        assert_eq!(life.found(run), Some(executing(stage, Execution::ForceCanceling)));
        assert_canceled(&world, &life, run, stage);
        assert_eq!(world.executor().stops(run, stage), (1, 1));
    }
}

#[test]
fn a_force_cancel_that_killed_before_the_daemon_could_hear_of_it_is_concluded() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        let (life, run) = stubborn(&world, stage);
        world.executor().at(stage, Point::Killed, Action::Hold);
        life.act(run, RunAction::Cancel);
        life.act(run, RunAction::ForceCancel);
        life.until_held();
        life.die();
        assert_canceled(&world, &world.live(), run, stage);
        assert_eq!(world.executor().stops(run, stage).1, 1);
    }
}

#[test]
fn a_run_that_is_canceled_between_its_start_and_its_launch_is_cleaned_up_after() {
    for dies in [false, true] {
        let world = World::new();
        let mut life = world.live();
        let run = life.queue("guarded", &plain());
        life.after_commits(2);
        // before the launch is asked for, which would take its time to find out who may do this
        let cancel = RunEvent {
            run,
            event: Event::Cancel,
            creator: WorkspaceRights::NONE,
            by: Actor::User("owner".to_owned()),
            why: None,
            at: jiff::Timestamp::now(),
            update: RunUpdate::default(),
        };
        life.wait("a cancel", life.store().record(cancel)).unwrap();
        if dies {
            life.die();
            life = world.live();
        }
        life.ends_as(run, State::Canceled(Stage::Plan), &[Rule::T1, Rule::T4]);
        assert_eq!(world.executor().started(run), []);
        world.assert_over(&life, run);
    }
}

/// A run whose launch has claimed nothing yet.
fn in_its_launch(world: &World, stage: Stage) -> (Life, RunId) {
    world.executor().at(stage, Point::Launch, Action::Hold);
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until_held();
    (life, run)
}

#[test]
fn a_cancel_does_not_wait_for_a_launch_and_the_launch_can_start_nothing_afterwards() {
    for stage in Stage::EXECUTED {
        for dies in [false, true] {
            let world = World::new();
            let (mut life, run) = in_its_launch(&world, stage);
            life.act(run, RunAction::Cancel);
            if dies {
                life.die();
                life = world.live();
            }
            assert_canceled(&world, &life, run, stage);
            world.executor().late_claim(run, stage);
            assert!(!world.executor().started(run).contains(&stage));
        }
    }
}

#[test]
fn a_launch_that_claims_its_execution_right_before_that_is_revoked_is_interrupted() {
    for stage in Stage::EXECUTED {
        for dies in [false, true] {
            let world = World::new();
            world.executor().script(stage, Script::gated());
            let (mut life, run) = in_its_launch(&world, stage);
            let late = Action::First(Arc::new(move |executor| executor.late_claim(run, stage)));
            world.executor().at(stage, Point::Revoke, late);
            life.act(run, RunAction::Cancel);
            if dies {
                life.die();
                life = world.live();
            }
            life.until("it was claimed", |executor| executor.is_running(run, stage));
            life.advance(Duration::from_millis(50));
            assert_canceled(&world, &life, run, stage);
            assert_eq!(world.executor().stops(run, stage), (1, 0));
        }
    }
}

#[test]
fn a_daemon_that_dies_while_it_revokes_leaves_that_to_the_next() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().at(stage, Point::Revoke, Action::Hold);
        let (life, run) = in_its_launch(&world, stage);
        life.act(run, RunAction::Cancel);
        life.until("it revokes", |executor| executor.passed(stage, Point::Revoke) == 1);
        life.die();
        assert_canceled(&world, &world.live(), run, stage);
        assert!(!world.executor().started(run).contains(&stage));
    }
}
