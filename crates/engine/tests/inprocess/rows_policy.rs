//! The rows of the table for policies: T11 to T17.

use engine::RunAction;
use lifecycle::Rule::{self, Launched, PlanOnlyEnded, PolicyCheckCanceled};
use lifecycle::{Stage, State};
use policy::EnforcementLevel::{Advisory, HardMandatory, SoftMandatory};
use store::Actor;

use crate::support::{End, Life, Script, World, auto, plain, plan_only};

const CHECKED: [Stage; 2] = [Stage::Plan, Stage::PolicyCheck];

/// The rules until the policies are checked, and more.
fn rules(more: &[Rule]) -> Vec<Rule> {
    [&[Rule::T1, Launched, Rule::T6], more].concat()
}

/// A run that a soft-mandatory policy stopped.
fn soft_failed(world: &World, life: &Life, request: &engine::RunRequest) -> lifecycle::id::RunId {
    let run = life.queue("guarded", request);
    world.executor().script_of(run, Stage::PolicyCheck, Script::ends(End::Objection(SoftMandatory)));
    life.reaches(run, State::PolicyOverride);
    run
}

#[test]
fn t11_a_hard_mandatory_failure_or_a_check_that_fails_itself_ends_the_run_errored() {
    let world = World::new();
    let life = world.live();
    for (end, why) in [
        (End::Objection(HardMandatory), "policy baseline/never failed (hard-mandatory)"),
        (End::Fails("policy-check"), "policy-check exited with 1"),
    ] {
        let run = life.queue("guarded", &auto());
        world.executor().script_of(run, Stage::PolicyCheck, Script::ends(end));
        let ended = life.ends_as(run, State::PlanErrored(Stage::PolicyCheck), &rules(&[Rule::T11]));
        assert_eq!(ended.error.as_deref(), Some(why));
        assert_eq!(world.executor().started(run), CHECKED);
        world.assert_over(&life, run);
    }
}

#[test]
fn t12_a_soft_mandatory_failure_waits_for_an_override_even_of_a_run_that_goes_on_by_itself() {
    let world = World::new();
    let life = world.live();
    let run = soft_failed(&world, &life, &auto());
    life.ends_as(run, State::PolicyOverride, &rules(&[Rule::T12]));
    assert!(life.try_act("owner", run, RunAction::Apply).is_err(), "an override comes first");
    assert_eq!(life.run(run).policy.unwrap().counts.soft_failed, 1);
    assert_eq!(world.executor().started(run), CHECKED);
}

#[test]
fn t13_an_owner_overrides_and_who_and_why_is_recorded() {
    let world = World::new();
    let life = world.live();
    let run = soft_failed(&world, &life, &plain());
    assert!(life.try_act("operator", run, RunAction::OverridePolicies).is_err());
    let why = Some("it is only a test".to_owned());
    life.wait("an override", life.engine().act("owner", run, RunAction::OverridePolicies, why.clone()))
        .unwrap();
    life.ends_as(run, State::PolicyChecked, &rules(&[Rule::T12, Rule::T13]));
    let entry = life.journal(run).pop().unwrap();
    assert_eq!((entry.by, entry.why), (Actor::User("owner".into()), why));
}

#[test]
fn t14_who_may_write_discards_a_run_whose_policies_failed() {
    let world = World::new();
    let life = world.live();
    for user in ["owner", "operator"] {
        let run = soft_failed(&world, &life, &plain());
        assert!(life.try_act("planner", run, RunAction::Discard).is_err());
        life.try_act(user, run, RunAction::Discard).unwrap();
        life.ends_as(run, State::Discarded(Stage::Plan), &rules(&[Rule::T12, Rule::T14]));
        assert_eq!(world.executor().started(run), CHECKED);
        world.assert_over(&life, run);
    }
}

#[test]
fn t15_policies_pass_also_if_an_advisory_one_failed() {
    let world = World::new();
    let life = world.live();
    for (end, advisory_failed) in [(End::Well, 0), (End::Objection(Advisory), 1)] {
        let run = life.queue("guarded", &plain());
        world.executor().script_of(run, Stage::PolicyCheck, Script::ends(end));
        let checked = life.ends_as(run, State::PolicyChecked, &rules(&[Rule::T15]));
        assert_eq!(checked.policy.unwrap().counts.advisory_failed, advisory_failed);
        assert_eq!(checked.error, None);
        life.act(run, RunAction::Discard);
        life.ends(run);
    }
}

#[test]
fn t16_a_plan_that_may_be_applied_by_itself_is_after_its_policies_passed_and_after_an_override() {
    let world = World::new();
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.ends_as(run, State::Applied, &rules(&[Rule::T15, Rule::T16, Launched, Rule::T18]));
    world.assert_over(&life, run);

    let run = soft_failed(&world, &life, &auto());
    life.act(run, RunAction::OverridePolicies);
    let after = [Rule::T12, Rule::T13, Rule::T16, Launched, Rule::T18];
    life.ends_as(run, State::Applied, &rules(&after));
    assert_eq!(world.executor().started(run), Stage::EXECUTED);
    world.assert_over(&life, run);
}

#[test]
fn t17_a_plan_that_may_not_be_applied_by_itself_waits_until_a_person_confirms_or_declines() {
    let world = World::new();
    let life = world.live();
    for (action, state, after) in [
        (RunAction::Apply, State::Applied, &[Rule::T15, Rule::T17, Launched, Rule::T18][..]),
        (RunAction::Discard, State::Discarded(Stage::Plan), &[Rule::T15, Rule::T17]),
    ] {
        let run = life.queue("guarded", &plain());
        life.ends_as(run, State::PolicyChecked, &rules(&[Rule::T15]));
        assert!(life.try_act("planner", run, action).is_err());
        life.try_act("operator", run, action).unwrap();
        life.ends_as(run, state, &rules(after));
        world.assert_over(&life, run);
    }
}

#[test]
fn policy_check_canceled_a_policy_check_that_is_canceled_gets_one_interrupt() {
    let world = World::new();
    world.executor().script(Stage::PolicyCheck, Script::gated());
    let life = world.live();
    let run = life.queue("guarded", &auto());
    life.until("its policies are checked", |executor| executor.is_running(run, Stage::PolicyCheck));
    life.act(run, RunAction::Cancel);
    let after = rules(&[Rule::CancelRequested, PolicyCheckCanceled]);
    life.ends_as(run, State::Canceled(Stage::PolicyCheck), &after);
    assert_eq!(world.executor().stops(run, Stage::PolicyCheck), (1, 0));
    world.assert_over(&life, run);
}

#[test]
fn plan_only_ended_a_plan_only_run_ends_with_its_policy_check() {
    let world = World::new();
    let life = world.live();
    for (end, state) in
        [(End::Well, State::PlannedAndFinished), (End::Objection(SoftMandatory), State::PolicySoftFailed)]
    {
        let run = life.queue("guarded", &plan_only());
        world.executor().script_of(run, Stage::PolicyCheck, Script::ends(end));
        life.ends_as(run, state, &rules(&[PlanOnlyEnded]));
        world.assert_over(&life, run);
    }
}
