//! The rows of the table up to a plan without policies: T1 to T10.

use engine::{RunAction, RunRequest};
use lifecycle::Rule::{self, CancelRequested, ForceCancelRequested, Launched};
use lifecycle::{Execution, Stage, State, Work};
use store::Actor;

use crate::support::{Action, End, Point, Script, Shape, World, auto, plain};

const PLANNING: State = State::Planning(Work::Executing(Execution::Running));

#[test]
fn t01_the_first_run_of_a_queue_starts_by_itself() {
    let world = World::new();
    world.executor().script(Stage::Plan, Script::gated());
    let life = world.live();
    let run = life.queue("net", &plain());
    life.until("its plan runs", |executor| executor.is_running(run, Stage::Plan));
    life.quiet();
    assert_eq!((life.run(run).state, life.rules(run)), (PLANNING, vec![Rule::T1, Launched]));
    assert!(life.journal(run)[1..].iter().all(|entry| entry.by == Actor::System));
}

#[test]
fn t02_a_run_that_has_not_started_is_discarded_or_canceled_and_nothing_is_launched() {
    let world = World::new();
    let life = world.live();
    let holder = life.queue("net", &plain());
    life.reaches(holder, State::NeedsConfirmation);
    for (action, state) in [
        (RunAction::Discard, State::Discarded(Stage::Pending)),
        (RunAction::Cancel, State::Canceled(Stage::Pending)),
    ] {
        let run = life.queue("net", &plain());
        life.try_act("operator", run, action).unwrap();
        life.ends_as(run, state, &[Rule::T2]);
        assert_eq!(life.journal(run)[1].by, Actor::User("operator".into()));
        assert_eq!(world.executor().started(run), []);
        world.assert_over(&life, run);
    }
    assert_eq!(life.run(holder).state, State::NeedsConfirmation);
}

#[test]
fn t03_a_failed_step_or_a_plan_file_that_says_so_ends_the_run_errored_with_the_reason() {
    let world = World::new();
    let life = world.live();
    for (end, why) in [
        (End::Fails("take-configuration"), "take-configuration exited with 1"),
        (End::Fails("terraform init"), "terraform init exited with 1"),
        (End::Fails("terraform plan"), "terraform plan exited with 1"),
        (End::Fails("terraform show"), "terraform show exited with 1"),
        (End::PlanErrored, "the plan file says that planning failed, so it can't be applied"),
    ] {
        let run = life.queue("guarded", &auto());
        world.executor().script_of(run, Stage::Plan, Script::ends(end));
        let ended = life.ends_as(run, State::PlanErrored(Stage::Plan), &[Rule::T1, Launched, Rule::T3]);
        assert_eq!(ended.error.as_deref(), Some(why));
        assert_eq!(world.executor().started(run), [Stage::Plan]);
        world.assert_over(&life, run);
    }
}

#[test]
fn t04_a_plan_that_is_canceled_gets_one_interrupt() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &auto());
    world.executor().script_of(run, Stage::Plan, Script::gated());
    life.until("its plan runs", |executor| executor.is_running(run, Stage::Plan));
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Canceled(Stage::Plan), &[Rule::T1, Launched, CancelRequested, Rule::T4]);
    assert_eq!(world.executor().stops(run, Stage::Plan), (1, 0));
    assert_eq!(life.run(run).error, None);
    world.assert_over(&life, run);
}

#[test]
fn t04_a_plan_that_ends_after_its_cancel_is_canceled_however_it_ended() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &auto());
    world.executor().script_of(run, Stage::Plan, Script::undeterred());
    life.until("its plan runs", |executor| executor.is_running(run, Stage::Plan));
    life.act(run, RunAction::Cancel);
    life.ends_as(run, State::Canceled(Stage::Plan), &[Rule::T1, Launched, CancelRequested, Rule::T4]);
    world.assert_over(&life, run);
}

#[test]
fn t04_a_plan_that_ignores_its_interrupt_is_killed_by_a_force_cancel() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &auto());
    world.executor().script_of(run, Stage::Plan, Script::stubborn());
    life.until("its plan runs", |executor| executor.is_running(run, Stage::Plan));
    assert!(life.try_act("owner", run, RunAction::ForceCancel).is_err(), "it was not canceled before");
    life.act(run, RunAction::Cancel);
    life.until("it was interrupted", |executor| executor.stops(run, Stage::Plan) == (1, 0));
    life.quiet();
    assert_eq!(life.run(run).state, State::Planning(Work::Executing(Execution::Canceling)));
    life.act(run, RunAction::ForceCancel);
    let rules = [Rule::T1, Launched, CancelRequested, ForceCancelRequested, Rule::T4];
    life.ends_as(run, State::Canceled(Stage::Plan), &rules);
    assert_eq!(world.executor().stops(run, Stage::Plan), (1, 1));
    world.assert_over(&life, run);
}

#[test]
fn t05_a_plan_that_changes_nothing_ends_its_run_policies_or_not() {
    let world = World::new();
    world.executor().script(Stage::Plan, Script::ends(End::NoChanges));
    let life = world.live();
    for workspace in ["net", "guarded"] {
        let run = life.queue(workspace, &auto());
        life.ends_as(run, State::NoChanges, &[Rule::T1, Launched, Rule::T5]);
        assert_eq!(world.executor().started(run), [Stage::Plan]);
        world.assert_over(&life, run);
    }
    let request = RunRequest { allow_empty_apply: true, ..plain() };
    life.reaches(life.queue("net", &request), State::NeedsConfirmation);
}

#[test]
fn t06_a_plan_with_changes_goes_on_to_the_policies_by_itself() {
    let world = World::new();
    world.executor().script(Stage::PolicyCheck, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("its policies are checked", |executor| executor.is_running(run, Stage::PolicyCheck));
    life.quiet();
    assert_eq!(life.run(run).state, State::PolicyCheck(Execution::Running));
    assert_eq!(life.rules(run), [Rule::T1, Launched, Rule::T6]);
    assert_eq!(world.executor().started(run), [Stage::Plan, Stage::PolicyCheck]);
}

#[test]
fn t07_a_plan_that_may_be_applied_by_itself_is() {
    let world = World::of(Shape { auto_apply: true, ..Shape::default() });
    let life = world.live();
    for request in [plain(), auto()] {
        let run = life.queue("net", &request);
        life.ends_as(run, State::Applied, &[Rule::T1, Launched, Rule::T7, Launched, Rule::T18]);
        assert_eq!(world.executor().started(run), [Stage::Plan, Stage::Apply]);
        assert_eq!(life.run(run).confirmed_by, None);
        world.assert_over(&life, run);
    }
}

#[test]
fn t08_a_plan_that_may_not_be_applied_by_itself_waits_for_a_person() {
    let destroy = RunRequest { destroy: true, ..plain() };
    for (auto_apply, user, request) in [
        (false, "operator", plain()),
        (true, "operator", RunRequest { auto_apply: Some(false), ..plain() }),
        (true, "operator", destroy),
        (true, "planner", plain()),
    ] {
        let world = World::of(Shape { auto_apply, ..Shape::default() });
        let life = world.live();
        let run = life.queue_as(user, "net", &request);
        life.ends_as(run, State::NeedsConfirmation, &[Rule::T1, Launched, Rule::T8]);
        assert_eq!(world.executor().started(run), [Stage::Plan]);
    }
}

#[test]
fn t09_a_plan_that_a_person_confirms_is_applied_and_it_is_known_who_did() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &plain());
    life.reaches(run, State::NeedsConfirmation);
    assert!(life.try_act("planner", run, RunAction::Apply).is_err());
    life.try_act("operator", run, RunAction::Apply).unwrap();
    assert!(life.try_act("operator", run, RunAction::Apply).is_err(), "once");
    life.ends_as(run, State::Applied, &[Rule::T1, Launched, Rule::T8, Rule::T9, Launched, Rule::T18]);
    assert_eq!(life.run(run).confirmed_by.as_deref(), Some("operator"));
    assert_eq!(world.executor().started(run), [Stage::Plan, Stage::Apply]);
    world.assert_over(&life, run);
}

#[test]
fn t10_a_plan_that_a_person_declines_is_never_applied() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("net", &plain());
    life.reaches(run, State::NeedsConfirmation);
    life.try_act("operator", run, RunAction::Discard).unwrap();
    life.ends_as(run, State::Discarded(Stage::Plan), &[Rule::T1, Launched, Rule::T8, Rule::T10]);
    assert!(life.try_act("operator", run, RunAction::Apply).is_err());
    assert_eq!(world.executor().started(run), [Stage::Plan]);
    world.assert_over(&life, run);
}

#[test]
fn fetched_a_configuration_that_was_fetched_is_in_the_record_before_the_plan_starts() {
    let world = World::new();
    world.executor().at(Stage::Plan, Point::Launch, Action::Hold);
    let life = world.live();
    let run = life.queue("fetched", &plain());
    life.until_held();
    assert_eq!(life.rules(run), [Rule::T1, Rule::Launched, Rule::Fetched]);
    let fetched = life.run(run);
    assert_eq!(fetched.state, State::Planning(Work::Executing(Execution::Running)));
    assert!(fetched.configuration_version.is_some());
    assert!(!world.executor().started(run).contains(&Stage::Plan));
}
