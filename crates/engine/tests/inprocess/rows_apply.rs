//! The rows of the table for applies: T18 to T20.

use engine::RunAction;
use lifecycle::Rule::{self, CancelRequested, CanceledAtRest, ForceCancelRequested, Launched};
use lifecycle::id::RunId;
use lifecycle::{Stage, State};

use crate::support::{End, Life, Script, Shape, World, auto, plain};

/// The rules until the apply runs, and more.
fn rules(more: &[Rule]) -> Vec<Rule> {
    [&[Rule::T1, Launched, Rule::T7, Launched], more].concat()
}

/// A run whose apply is under way.
fn applying(world: &World, life: &Life, script: Script) -> RunId {
    let run = life.queue("net", &auto());
    world.executor().script_of(run, Stage::Apply, script);
    life.until("its apply runs", |executor| executor.is_running(run, Stage::Apply));
    run
}

/// The serial of the workspace's state, and whether it is this run's.
fn state(life: &Life, run: RunId) -> (u64, bool) {
    let workspace = life.run(run).workspace;
    let state = life.wait("the state is read", life.store().current_state(workspace)).unwrap().unwrap();
    (state.meta.serial, state.run == Some(run))
}

#[test]
fn t18_an_apply_that_exits_with_0_is_applied_and_its_state_is_kept() {
    let world = World::new();
    let life = world.live();
    for serial in [1, 2] {
        let run = applying(&world, &life, Script::gated());
        let spec = world.executor().spec(run, Stage::Apply);
        let approved = life.run(run).plan.unwrap().plan_digest.to_string();
        assert_eq!(spec.steps[0].require[0].sha256, approved, "only the plan that was approved");
        world.executor().end(run, Stage::Apply);
        life.ends_as(run, State::Applied, &rules(&[Rule::T18]));
        assert_eq!(state(&life, run), (serial, true));
        world.assert_over(&life, run);
    }
}

#[test]
fn t19_an_apply_that_fails_is_errored_and_what_it_wrote_is_kept() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &auto());
    world.executor().script_of(run, Stage::Apply, Script::ends(End::Fails("terraform apply")));
    let ended = life.ends_as(run, State::ApplyErrored, &rules(&[Rule::T19]));
    assert_eq!(ended.error.as_deref(), Some("terraform apply exited with 1"));
    assert_eq!(state(&life, run), (1, true));
    world.assert_over(&life, run);
}

#[test]
fn t19_an_apply_whose_plan_file_was_exchanged_does_not_start() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &plain());
    life.reaches(run, State::NeedsConfirmation);
    let plan = life.engine().run_dir(run).plan();
    std::fs::remove_file(&plan).unwrap();
    std::fs::write(&plan, "another plan").unwrap();
    life.act(run, RunAction::Apply);
    life.reaches(run, State::ApplyErrored);
    life.quiet();
    let workspace = life.run(run).workspace;
    assert_eq!(life.wait("the state", life.store().current_state(workspace)).unwrap(), None);
    world.assert_over(&life, run);
}

#[test]
fn t20_an_apply_that_is_canceled_gets_one_interrupt_and_what_it_wrote_is_kept() {
    let world = World::new();
    let life = world.live();
    let run = applying(&world, &life, Script::gated());
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Canceled(Stage::Apply), &rules(&[CancelRequested, Rule::T20]));
    assert_eq!(world.executor().stops(run, Stage::Apply), (1, 0));
    assert_eq!(state(&life, run), (1, true));
    assert_eq!(life.run(run).error, None);
    world.assert_over(&life, run);
}

#[test]
fn t20_an_apply_that_ignores_its_interrupt_is_killed_when_its_grace_is_over_or_by_a_force_cancel() {
    let world = World::new();
    let life = world.live();
    for (forced, serial) in [(false, 1), (true, 2)] {
        let run = applying(&world, &life, Script::stubborn());
        life.act(run, RunAction::Cancel);
        life.until("it was interrupted", |executor| executor.stops(run, Stage::Apply) == (1, 0));
        let mut after = vec![CancelRequested];
        if forced {
            life.act(run, RunAction::ForceCancel);
            after.push(ForceCancelRequested);
        } else {
            world.executor().grace_is_over(run, Stage::Apply);
        }
        after.push(Rule::T20);
        let ended = life.ends_as(run, State::Canceled(Stage::Apply), &rules(&after));
        assert_eq!(ended.error.as_deref(), Some("its processes were killed"));
        assert_eq!(world.executor().stops(run, Stage::Apply), (1, u32::from(forced)));
        assert_eq!(state(&life, run), (serial, true));
        world.assert_over(&life, run);
    }
}

#[test]
fn t18_an_apply_that_came_to_its_own_good_end_is_applied_although_it_was_canceled() {
    let world = World::new();
    let life = world.live();
    let run = applying(&world, &life, Script::undeterred());
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Applied, &rules(&[CancelRequested, Rule::T18]));
    world.assert_over(&life, run);
}

#[test]
fn t20_an_apply_that_is_canceled_in_its_queue_never_starts() {
    let world = World::of(Shape { slots: 1, ..Shape::default() });
    let life = world.live();
    let run = life.queue("net", &plain());
    life.reaches(run, State::NeedsConfirmation);
    world.executor().script(Stage::Plan, Script::gated());
    let other = life.queue("other", &plain());
    life.until("the slot is taken", |executor| executor.is_running(other, Stage::Plan));
    life.act(run, RunAction::Apply);
    life.quiet();
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Canceled(Stage::Apply), &[Rule::T1, Launched, Rule::T8, Rule::T9, Rule::T20]);
    assert_eq!(world.executor().started(run), [Stage::Plan]);
    world.assert_over(&life, run);
}

#[test]
fn canceled_at_rest_a_run_that_waits_for_a_person_is_canceled_at_once() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &plain());
    life.reaches(run, State::NeedsConfirmation);
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Canceled(Stage::Apply), &[Rule::T1, Launched, Rule::T8, CanceledAtRest]);
    assert_eq!(world.executor().started(run), [Stage::Plan]);
    world.assert_over(&life, run);
}
