//! Fetching a configuration is the first part of a plan, and has slots of its own: whoever waits for a stranger keeps nobody
//! waiting.

use std::time::Duration;

use engine::RunAction;
use lifecycle::{Execution, Stage, State, Work};

use crate::support::{Action, End, FETCH, Point, Script, Scripted, Shape, World, auto, plain, plan_only};

const PLANNING: State = State::Planning(Work::Executing(Execution::Running));

fn many(slots: usize) -> World {
    let names = ["net", "guarded", "fetched-1", "fetched-2", "fetched-3", "fetched-4", "fetched-5"];
    World::of(Shape { slots, workspaces: names.map(str::to_owned).to_vec(), ..Shape::default() })
}

#[test]
fn a_configuration_is_fetched_once_and_the_plan_goes_on_from_it() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("fetched", &auto());
    life.reaches(run, State::Applied);
    assert_eq!(world.executor().started(run), [FETCH, Stage::Plan, Stage::Apply]);
    let steps =
        |stage| world.executor().spec(run, stage).steps.into_iter().map(|step| step.name).collect::<Vec<_>>();
    assert_eq!(steps(FETCH), ["take-configuration"]);
    assert_eq!(steps(Stage::Plan), ["terraform init", "terraform plan", "terraform show"]);
    // one log, which the plan goes on with
    let log = |stage| world.executor().spec(run, stage).log;
    assert_eq!(log(FETCH), Some(life.engine().run_dir(run).log(Stage::Plan)));
    assert_eq!(log(FETCH), log(Stage::Plan));
    assert!(life.run(run).configuration_version.is_some());
    world.assert_over(&life, run);
}

#[test]
fn runs_that_fetch_keep_no_other_waiting() {
    let world = many(1);
    world.executor().script(FETCH, Script::gated());
    let life = world.live();
    let confirmed = life.queue("net", &plain());
    life.reaches(confirmed, State::NeedsConfirmation);
    let strangers = [1, 2, 3, 4, 5].map(|n| life.queue(&format!("fetched-{n}"), &auto()));
    // whose workspace asks first gets a slot first
    let fetching =
        |executor: &Scripted| strangers.iter().filter(|run| executor.is_running(**run, FETCH)).count();
    life.until("four of them fetch", |executor| fetching(executor) == 4);
    let (first, last): (Vec<_>, Vec<_>) =
        strangers.into_iter().partition(|run| world.executor().is_running(*run, FETCH));
    // an apply that somebody confirmed, and a plan with policies
    life.act(confirmed, RunAction::Apply);
    life.reaches(confirmed, State::Applied);
    let other = life.queue("guarded", &auto());
    life.reaches(other, State::Applied);
    // there are as many slots for them as are configured
    assert_eq!(life.run(last[0]).state, State::Pending);
    world.executor().end(first[0], FETCH);
    life.until("the next one fetches", |executor| executor.is_running(last[0], FETCH));
    life.reaches(first[0], State::Applied);
}

#[test]
fn what_was_fetched_waits_for_a_slot_of_terraform() {
    let world = many(1);
    world.executor().script(Stage::Plan, Script::gated());
    let life = world.live();
    let first = life.queue("net", &auto());
    life.until("it plans", |executor| executor.is_running(first, Stage::Plan));
    let run = life.queue("fetched-1", &auto());
    life.until("it was fetched", |executor| executor.passed(FETCH, Point::Settle) > 0);
    life.advance(Duration::from_secs(5));
    assert!(life.run(run).configuration_version.is_some());
    assert_eq!(life.run(run).state, PLANNING);
    assert!(!world.executor().started(run).contains(&Stage::Plan));
    assert!(life.engine().slots_beside(run).waits);
    world.executor().end(first, Stage::Plan);
    life.until("its plan runs", |executor| executor.is_running(run, Stage::Plan));
    world.executor().end(run, Stage::Plan);
    life.reaches(run, State::Applied);
    assert_eq!(world.executor().most_at_once(), 1 + 1, "one terraform and one fetch");
}

#[test]
fn policy_checks_keep_no_other_waiting() {
    let world = many(1);
    world.executor().script(Stage::PolicyCheck, Script::gated());
    let life = world.live();
    let checked = life.queue("guarded", &auto());
    life.until("it is checked", |executor| executor.is_running(checked, Stage::PolicyCheck));
    let other = life.queue("net", &auto());
    life.reaches(other, State::Applied);
    world.executor().end(checked, Stage::PolicyCheck);
    life.reaches(checked, State::Applied);
}

#[test]
fn a_fetch_that_fails_ends_the_plan_errored_and_one_that_is_canceled_ends_it_canceled() {
    for (script, canceled, state) in [
        (Script::ends(End::Fails("take-configuration")), false, State::PlanErrored(Stage::Plan)),
        (Script::ends(End::Lost), false, State::PlanErrored(Stage::Plan)),
        (Script::gated(), true, State::Canceled(Stage::Plan)),
        // it came to its good end all the same: nobody wants the plan any more
        (Script::undeterred(), true, State::Canceled(Stage::Plan)),
    ] {
        let world = World::new();
        let what = format!("{script:?}");
        world.executor().script(FETCH, script);
        let life = world.live();
        let run = life.queue("fetched", &auto());
        if canceled {
            life.until("it fetches", |executor| executor.is_running(run, FETCH));
            life.act(run, RunAction::Cancel);
        }
        let ended = life.ends(run);
        assert_eq!(ended.state, state, "{what}");
        assert_eq!(ended.error.is_some(), !canceled, "{what}: {:?}", ended.error);
        assert!(ended.logs.contains_key(&Stage::Plan), "its log is kept: {what}");
        assert_eq!(world.executor().started(run), [FETCH], "{what}");
        world.assert_over(&life, run);
    }
}

#[test]
fn a_daemon_that_dies_while_a_configuration_is_fetched_is_missed_by_nobody() {
    for point in [Point::Launch, Point::Claimed, Point::Attach, Point::Wait, Point::Settle] {
        for stage in [FETCH, Stage::Plan] {
            let world = World::new();
            world.executor().at(stage, point, Action::Hold);
            let life = world.live();
            let run = life.queue("fetched", &auto());
            life.until_held();
            life.die();
            world.executor().disarm();
            let life = world.live();
            life.reaches_in_time(run, State::Applied);
            let started = world.executor().started(run);
            assert_eq!(started, [FETCH, Stage::Plan, Stage::Apply], "{stage} {point:?}");
            world.assert_over(&life, run);
        }
    }
}

#[test]
fn a_run_whose_fetch_can_not_be_had_ends_at_once_and_a_force_cancel_ends_it_always() {
    for point in [Point::Attach, Point::Launch, Point::Wait, Point::Settle] {
        for (action, state) in [
            (Action::FailForGood, State::PlanErrored(Stage::Plan)),
            (Action::Fail(u32::MAX), State::Canceled(Stage::Plan)),
        ] {
            let world = World::new();
            world.executor().script(FETCH, Script::stubborn());
            world.executor().at(FETCH, point, action);
            let life = world.live();
            let run = life.queue("fetched", &auto());
            life.advance(Duration::from_secs(2));
            world.executor().end_all();
            life.advance(Duration::from_secs(2));
            if !life.run(run).state.is_final() {
                life.act(run, RunAction::Cancel);
                life.advance(Duration::from_secs(1));
            }
            if !life.run(run).state.is_final() {
                life.act(run, RunAction::ForceCancel);
            }
            life.advance_by(Duration::from_secs(5), Duration::from_secs(120));
            let ended = life.run(run).state;
            let went_on = point == Point::Wait && ended.is_final();
            assert!(ended == state || went_on, "{point:?}: {ended:?}");
            assert!(world.executor().running().is_empty());
        }
    }
}

#[test]
fn a_plan_only_run_fetches_beside_the_run_that_holds_the_workspace_in_a_place_of_its_own() {
    let world = World::new();
    let life = world.live();
    let holder = life.queue("fetched", &plain());
    life.reaches(holder, State::NeedsConfirmation);
    let beside = life.queue("fetched", &plan_only());
    life.reaches(beside, State::PlannedAndFinished);
    let place = |run| world.executor().spec(run, Stage::Plan).working_dir;
    assert_ne!(place(holder), place(beside));
    life.act(holder, RunAction::Apply);
    life.reaches(holder, State::Applied);
}
