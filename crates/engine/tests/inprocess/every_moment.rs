//! The same run, and a daemon that dies at another moment each time, until no moment is left.

use engine::RunAction;
use lifecycle::{Stage, State};

use crate::crashes::{ALL, assert_applied};
use crate::crashes_of_a_cancel::stubborn;
use crate::support::{Life, Scripted, World, auto};

#[test]
fn a_run_that_loses_its_daemon_after_any_commit_is_applied_once() {
    // the one that queues it, and one for each rule
    for commits in 1..=1 + ALL.len() {
        let world = World::new();
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.after_commits(commits);
        life.die();
        assert_applied(&world, &world.live(), run);
    }
}

#[test]
fn a_run_that_loses_its_daemon_in_any_call_to_the_executor_is_applied_once() {
    for call in 0.. {
        let world = World::new();
        world.executor().hold_call(call);
        let life = world.live();
        let run = life.queue("guarded", &auto());
        if !life.until_held_or_over(run) {
            // of each stage: attach, launch, claimed, attach, wait, attach, settle, and who is woken looks once more
            assert!((21..40).contains(&call), "{call}");
            return assert_applied(&world, &life, run);
        }
        life.die();
        world.executor().disarm();
        assert_applied(&world, &world.live(), run);
    }
}

#[test]
fn a_run_whose_every_daemon_dies_after_one_commit_is_applied_once() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.die();
    for _ in ALL {
        let life = world.live();
        life.after_commits(1);
        life.die();
    }
    assert_applied(&world, &world.live(), run);
}

fn lives_again(world: &World, life: Life) -> Life {
    life.die();
    world.executor().disarm();
    world.live()
}

/// Cancels and force-cancels a run, and has the daemon die in this call to its executor. False: there are not so many.
fn dies_while_it_cancels(stage: Stage, call: usize) -> bool {
    let world = World::new();
    let (mut life, run) = stubborn(&world, stage);
    world.executor().hold_call(call);
    let interrupted = |executor: &Scripted| executor.stops(run, stage).0 == 1;
    life.act(run, RunAction::Cancel);
    life.until("it is interrupted, or a call is held", |executor| executor.holds() || interrupted(executor));
    if world.executor().holds() {
        life = lives_again(&world, life);
        life.until("it is interrupted", interrupted);
    }
    life.act(run, RunAction::ForceCancel);
    if life.until_held_or_over(run) {
        life = lives_again(&world, life);
    }
    life.reaches(run, State::Canceled(stage));
    world.assert_over(&life, run);
    assert_eq!(world.executor().stops(run, stage), (1, 1));
    !world.executor().is_armed()
}

#[test]
fn a_run_that_loses_its_daemon_in_any_call_of_its_cancel_and_its_force_cancel_is_canceled() {
    for stage in Stage::EXECUTED {
        let calls = (0..).take_while(|call| dies_while_it_cancels(stage, *call)).count();
        // attach, interrupt, interrupted, wait, attach, kill, killed, wait, attach, settle
        assert!((10..20).contains(&calls), "{calls}");
    }
}

/// The wish to cancel is two changes of the record, and its end is a third.
#[test]
fn a_run_that_loses_its_daemon_after_any_commit_of_its_cancel_and_its_force_cancel_is_canceled() {
    for stage in Stage::EXECUTED {
        for dies_after in [RunAction::Cancel, RunAction::ForceCancel] {
            let world = World::new();
            let (mut life, run) = stubborn(&world, stage);
            for action in [RunAction::Cancel, RunAction::ForceCancel] {
                life.act(run, action);
                if action == dies_after {
                    life = lives_again(&world, life);
                }
            }
            life.reaches(run, State::Canceled(stage));
            life = lives_again(&world, life);
            world.assert_over(&life, run);
            assert_eq!(world.executor().stops(run, stage).1, 1);
        }
    }
}
