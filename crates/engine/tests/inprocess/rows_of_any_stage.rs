//! The rows that each stage has: its launch, and the wish to stop it. Each is in the record before anything is done.

use engine::RunAction;
use lifecycle::{Execution, Stage};

use crate::crashes::executing;
use crate::support::{Action, Point, Script, World, auto};

#[test]
fn launched_a_stage_is_recorded_as_started_before_anything_is_started() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().at(stage, Point::Launch, Action::Hold);
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until_held();
        assert_eq!(life.run(run).state, executing(stage, Execution::Running));
        assert!(!world.executor().started(run).contains(&stage));
    }
}

#[test]
fn cancel_requested_the_wish_to_stop_is_recorded_before_the_interrupt_and_the_stage_runs_until_it_has_ended()
{
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().script(stage, Script::stubborn());
        world.executor().at(stage, Point::Interrupt, Action::Hold);
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it runs", |executor| executor.is_running(run, stage));
        life.act(run, RunAction::Cancel);
        life.until_held();
        assert_eq!(life.run(run).state, executing(stage, Execution::Canceling));
        assert_eq!(world.executor().stops(run, stage), (0, 0));
        assert!(world.executor().is_running(run, stage));
    }
}

#[test]
fn force_cancel_requested_the_wish_to_kill_is_recorded_before_the_kill() {
    for stage in Stage::EXECUTED {
        let world = World::new();
        world.executor().script(stage, Script::stubborn());
        world.executor().at(stage, Point::Kill, Action::Hold);
        let life = world.live();
        let run = life.queue("guarded", &auto());
        life.until("it runs", |executor| executor.is_running(run, stage));
        life.act(run, RunAction::Cancel);
        life.until("it is interrupted", |executor| executor.stops(run, stage) == (1, 0));
        life.act(run, RunAction::ForceCancel);
        life.until_held();
        assert_eq!(life.run(run).state, executing(stage, Execution::ForceCanceling));
        assert_eq!(world.executor().stops(run, stage), (1, 0));
        assert!(world.executor().is_running(run, stage));
    }
}
