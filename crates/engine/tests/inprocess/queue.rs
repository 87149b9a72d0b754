//! Which runs may start: the queue of a workspace, its lock, the slots, and the configuration as it is then.

use std::time::Duration;

use engine::RunAction;
use lifecycle::Rule::{self, Launched};
use lifecycle::{Stage, State, Work};
use store::Actor;

use crate::support::{Script, Shape, World, auto, plain, plan_only};

#[test]
fn runs_of_a_workspace_go_one_after_the_other_in_the_order_in_which_they_were_queued() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let runs = [auto(), auto(), auto()].map(|request| life.queue("net", &request));
    for (at, run) in runs.into_iter().enumerate() {
        life.until("its apply runs", |executor| executor.is_running(run, Stage::Apply));
        life.quiet();
        let waiting = runs[at + 1..].iter().all(|later| life.run(*later).state == State::Pending);
        assert!(waiting, "those behind it wait");
        world.executor().end(run, Stage::Apply);
        life.reaches(run, State::Applied);
    }
    let expected = runs.map(|run| [(run, Stage::Plan), (run, Stage::Apply)]).concat();
    assert_eq!(world.executor().all_started(), expected);
}

#[test]
fn the_instant_a_run_is_over_the_next_one_starts_whoever_ended_it() {
    let world = World::new();
    let life = world.live();
    let first = life.queue("net", &plain());
    let second = life.queue("net", &plain());
    life.reaches(first, State::NeedsConfirmation);
    life.act(first, RunAction::Discard);
    life.reaches(second, State::NeedsConfirmation);
}

#[test]
fn a_locked_workspace_starts_nothing_but_plan_only_runs_until_it_is_unlocked() {
    let world = World::new();
    let life = world.live();
    let workspace = life.workspace("net").id;
    life.wait("a lock", life.engine().lock_workspace("operator", workspace, "hands off".into())).unwrap();
    let run = life.queue("net", &auto());
    let beside = life.queue("net", &plan_only());
    life.reaches(beside, State::PlannedAndFinished);
    life.quiet();
    assert_eq!((life.run(run).state, world.executor().started(run)), (State::Pending, vec![]));
    life.wait("no lock", life.engine().unlock_workspace("operator", workspace)).unwrap();
    life.reaches(run, State::Applied);
}

#[test]
fn plan_only_runs_go_beside_the_run_that_holds_the_workspace_and_are_never_applied() {
    let world = World::new();
    let life = world.live();
    let holder = life.queue("net", &plain());
    life.reaches(holder, State::NeedsConfirmation);
    let behind = life.queue("net", &plain());
    let beside = life.queue("net", &plan_only());
    life.ends_as(beside, State::PlannedAndFinished, &[Rule::T1, Launched, Rule::PlanOnlyEnded]);
    assert!(life.try_act("owner", beside, RunAction::Apply).is_err());
    let spec = world.executor().spec(beside, Stage::Plan);
    assert!(spec.steps.iter().any(|step| step.arguments.contains(&"-lock=false".to_owned())));
    assert_eq!(life.run(behind).state, State::Pending);
    assert_eq!(life.run(holder).state, State::NeedsConfirmation);
    world.assert_over(&life, beside);
}

#[test]
fn no_more_executions_than_slots_and_applies_go_first_then_plans_then_plan_only_runs() {
    let workspaces = ["net", "other", "third"].map(str::to_owned).to_vec();
    let world = World::of(Shape { slots: 1, workspaces, ..Shape::default() });
    let executor = world.executor();
    let life = world.live();
    let apply = life.queue("third", &plain());
    life.reaches(apply, State::NeedsConfirmation);
    executor.script(Stage::Plan, Script::gated());
    executor.script(Stage::Apply, Script::gated());
    let first = life.queue("net", &plain());
    life.until("the slot is taken", |executor| executor.is_running(first, Stage::Plan));
    let beside = life.queue("net", &plan_only());
    let plan = life.queue("other", &plain());
    life.quiet();
    life.act(apply, RunAction::Apply);
    life.until_seen("all wait in line", || life.engine().slot_counts() == (1, 3));
    let states = [beside, plan, apply].map(|run| life.run(run).state);
    assert_eq!(states, [State::Pending, State::Pending, State::Applying(Work::Queued)]);
    for (ends, next) in [
        ((first, Stage::Plan), (apply, Stage::Apply)),
        ((apply, Stage::Apply), (plan, Stage::Plan)),
        ((plan, Stage::Plan), (beside, Stage::Plan)),
    ] {
        executor.end(ends.0, ends.1);
        life.until("the next one runs", |executor| executor.is_running(next.0, next.1));
    }
    assert_eq!(executor.most_at_once(), 1);
}

#[test]
fn a_higher_limit_lets_those_that_wait_for_a_slot_go_at_once() {
    let world = World::of(Shape { slots: 1, ..Shape::default() });
    world.executor().script(Stage::Plan, Script::gated());
    let life = world.live();
    let runs = ["net", "other", "guarded"].map(|workspace| life.queue(workspace, &plain()));
    life.until("one runs", |executor| executor.running().len() == 1);
    life.quiet();
    assert_eq!(world.executor().running().len(), 1);
    life.reconfigure(world.config(&Shape { slots: 3, ..Shape::default() }));
    life.until("all run", |executor| runs.iter().all(|run| executor.is_running(*run, Stage::Plan)));
}

#[test]
fn who_lost_the_right_to_apply_meanwhile_is_not_applied_for() {
    let world = World::new();
    world.executor().script(Stage::Plan, Script::gated());
    let life = world.live();
    let runs = ["net", "guarded"].map(|workspace| life.queue(workspace, &auto()));
    life.until("both plan", |executor| executor.running().len() == 2);
    life.reconfigure(world.config(&Shape { operator_writes: false, ..Shape::default() }));
    world.executor().end_all();
    for (run, state) in runs.into_iter().zip([State::NeedsConfirmation, State::PolicyChecked]) {
        life.reaches(run, state);
        life.advance(Duration::from_secs(5));
        assert_eq!(life.run(run).state, state);
        assert!(!world.executor().started(run).contains(&Stage::Apply));
        life.act(run, RunAction::Apply);
        life.reaches(run, State::Applied);
    }
}

#[test]
fn what_has_not_started_in_a_workspace_that_was_removed_is_canceled_and_what_runs_goes_on() {
    let world = World::new();
    world.executor().script(Stage::Apply, Script::gated());
    let life = world.live();
    let running = life.queue("net", &auto());
    life.until("it applies", |executor| executor.is_running(running, Stage::Apply));
    let pending = life.queue("net", &auto());
    life.reconfigure(world.config(&Shape { workspaces: vec!["other".into()], ..Shape::default() }));
    life.ends_as(pending, State::Canceled(Stage::Pending), &[Rule::T2]);
    let entry = life.journal(pending).pop().unwrap();
    assert_eq!(entry.by, Actor::System);
    assert_eq!(entry.why.as_deref(), Some("the workspace was removed from the configuration"));
    world.assert_over(&life, pending);
    world.executor().end(running, Stage::Apply);
    life.reaches(running, State::Applied);
    life.quiet();
    world.assert_over(&life, running);
    let workspace = life.run(running).workspace;
    assert!(life.wait("no run", life.engine().queue_run("owner", workspace, &plain())).is_err());
}

#[test]
fn a_run_that_left_pending_and_finds_no_slot_after_a_restart_waits_for_one_or_is_canceled() {
    for canceled in [false, true] {
        let world = World::new();
        world.executor().script(Stage::Plan, Script::gated());
        let life = world.live();
        let holds = life.queue("net", &plain());
        life.until("it plans", |executor| executor.is_running(holds, Stage::Plan));
        let run = life.queue("other", &plain());
        life.after_commits(2);
        life.die();
        let life = world.live_as(&Shape { slots: 1, ..Shape::default() });
        life.quiet();
        let queued = State::Planning(Work::Queued);
        assert_eq!((life.run(run).state, world.executor().started(run)), (queued, vec![]));
        if canceled {
            life.act(run, RunAction::Cancel);
            life.ends_as(run, State::Canceled(Stage::Plan), &[Rule::T1, Rule::T4]);
            world.assert_over(&life, run);
        } else {
            world.executor().end(holds, Stage::Plan);
            life.until("it plans", |executor| executor.is_running(run, Stage::Plan));
        }
    }
}
