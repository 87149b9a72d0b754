//! T1–T20, row by row, and every pair of state and event.

use std::collections::BTreeSet;

use lifecycle::{
    ApplyOutcome, Due, Event, Execution, Facts, PlanOutcome, PolicyOutcome, Rule, Stage, State, Work, due,
    step,
};

const RUNNING: Execution = Execution::Running;
const QUEUED: Work = Work::Queued;
const EXECUTING: Work = Work::Executing(Execution::Running);
const STOPPING: Work = Work::Executing(Execution::Canceling);

fn plan(outcome: PlanOutcome, policies: bool) -> Event {
    Event::PlanEnded { outcome, policies }
}

fn auto() -> Facts {
    Facts { auto_apply: true, queued_with_apply_right: true, ..Facts::default() }
}

#[test]
#[rustfmt::skip]
fn each_row_of_the_lifecycle_leads_where_it_says() {
    use PlanOutcome::{Changes, NoChanges};
    let person = Facts::default();
    let rows = [
        (Rule::T1,  person, State::Pending,                Event::Start,                                 State::Planning(QUEUED)),
        (Rule::T2,  person, State::Pending,                Event::Discard,                               State::Discarded(Stage::Pending)),
        (Rule::T2,  person, State::Pending,                Event::Cancel,                                State::Canceled(Stage::Pending)),
        (Rule::T3,  person, State::Planning(EXECUTING),    plan(PlanOutcome::Failed, true),              State::PlanErrored(Stage::Plan)),
        (Rule::T4,  person, State::Planning(STOPPING),     plan(PlanOutcome::Failed, false),             State::Canceled(Stage::Plan)),
        (Rule::T4,  auto(), State::Planning(STOPPING),     plan(Changes, false),                         State::Canceled(Stage::Plan)),
        (Rule::T4,  person, State::Planning(QUEUED),       Event::Cancel,                                State::Canceled(Stage::Plan)),
        (Rule::T5,  auto(), State::Planning(EXECUTING),    plan(NoChanges, true),                        State::NoChanges),
        (Rule::T5,  auto(), State::Planning(EXECUTING),    plan(NoChanges, false),                       State::NoChanges),
        (Rule::T6,  auto(), State::Planning(EXECUTING),    plan(Changes, true),                          State::PolicyCheck(RUNNING)),
        (Rule::T7,  auto(), State::Planning(EXECUTING),    plan(Changes, false),                         State::Applying(QUEUED)),
        (Rule::T8,  person, State::Planning(EXECUTING),    plan(Changes, false),                         State::NeedsConfirmation),
        (Rule::T9,  person, State::NeedsConfirmation,      Event::Confirm,                               State::Applying(QUEUED)),
        (Rule::T10, person, State::NeedsConfirmation,      Event::Discard,                               State::Discarded(Stage::Plan)),
        (Rule::T11, person, State::PolicyCheck(RUNNING),   Event::PolicyCheckEnded(PolicyOutcome::HardFailed), State::PlanErrored(Stage::PolicyCheck)),
        (Rule::T12, auto(), State::PolicyCheck(RUNNING),   Event::PolicyCheckEnded(PolicyOutcome::SoftFailed), State::PolicyOverride),
        (Rule::T13, person, State::PolicyOverride,         Event::Override,                              State::PolicyChecked),
        (Rule::T14, person, State::PolicyOverride,         Event::Discard,                               State::Discarded(Stage::Plan)),
        (Rule::T15, person, State::PolicyCheck(RUNNING),   Event::PolicyCheckEnded(PolicyOutcome::Passed), State::PolicyChecked),
        (Rule::T16, auto(), State::PolicyChecked,          Event::AutoApply,                             State::Applying(QUEUED)),
        (Rule::T17, person, State::PolicyChecked,          Event::Confirm,                               State::Applying(QUEUED)),
        (Rule::T17, person, State::PolicyChecked,          Event::Discard,                               State::Discarded(Stage::Plan)),
        (Rule::T18, person, State::Applying(EXECUTING),    Event::ApplyEnded(ApplyOutcome::Succeeded),   State::Applied),
        (Rule::T18, person, State::Applying(STOPPING),     Event::ApplyEnded(ApplyOutcome::Succeeded),   State::Applied),
        (Rule::T19, person, State::Applying(EXECUTING),    Event::ApplyEnded(ApplyOutcome::Failed),      State::ApplyErrored),
        (Rule::T20, person, State::Applying(STOPPING),     Event::ApplyEnded(ApplyOutcome::Failed),      State::Canceled(Stage::Apply)),
        (Rule::T20, person, State::Applying(QUEUED),       Event::Cancel,                                State::Canceled(Stage::Apply)),
    ];
    for (rule, facts, from, event, to) in rows {
        let transition = step(from, facts, event).unwrap_or_else(|illegal| panic!("{rule}: {illegal}"));
        assert_eq!((transition.rule, transition.to), (rule, to), "{rule}");
    }
    let shown: BTreeSet<Rule> = rows.iter().map(|row| row.0).collect();
    assert_eq!(shown.len(), 20, "a row of the table is missing here");
}

/// Every legal pair of state and event, for a run that waits for a person. What is not here is refused.
#[test]
fn every_pair_that_is_not_in_the_table_is_refused() {
    let mut legal = String::new();
    for state in State::all() {
        for event in Event::all() {
            match step(state, Facts::default(), event) {
                Ok(t) => {
                    legal += &format!(
                        "{:<28}{:<62}{:<22}{}\n",
                        state.as_str(),
                        format!("{event:?}"),
                        t.rule,
                        t.to.as_str()
                    )
                }
                Err(illegal) => {
                    assert_eq!((illegal.state, illegal.event), (state, event));
                    assert!(!illegal.to_string().is_empty());
                }
            }
        }
    }
    insta::assert_snapshot!(legal);
}

#[test]
fn a_plan_only_run_ends_after_its_last_check_and_is_never_applied() {
    let facts = Facts { plan_only: true, allow_empty_apply: true, ..auto() };
    let after = |state, event| step(state, facts, event).map(|t| t.to);
    let planning = State::Planning(EXECUTING);
    assert_eq!(after(planning, plan(PlanOutcome::Changes, false)), Ok(State::PlannedAndFinished));
    assert_eq!(after(planning, plan(PlanOutcome::NoChanges, true)), Ok(State::NoChanges));
    assert_eq!(after(planning, plan(PlanOutcome::Changes, true)), Ok(State::PolicyCheck(RUNNING)));
    let checked = |outcome| after(State::PolicyCheck(RUNNING), Event::PolicyCheckEnded(outcome));
    assert_eq!(checked(PolicyOutcome::Passed), Ok(State::PlannedAndFinished));
    assert_eq!(checked(PolicyOutcome::SoftFailed), Ok(State::PolicySoftFailed));
    assert_eq!(checked(PolicyOutcome::HardFailed), Ok(State::PlanErrored(Stage::PolicyCheck)));
}

#[test]
fn an_empty_plan_is_applied_only_where_that_was_asked_for() {
    let facts = Facts { allow_empty_apply: true, ..Facts::default() };
    let after = |policies| {
        step(State::Planning(EXECUTING), facts, plan(PlanOutcome::NoChanges, policies)).unwrap().to
    };
    assert_eq!(after(false), State::NeedsConfirmation);
    assert_eq!(after(true), State::PolicyCheck(RUNNING));
}

#[test]
fn a_cancel_interrupts_and_a_force_cancel_kills() {
    let applying = State::Applying(EXECUTING);
    let canceled = step(applying, Facts::default(), Event::Cancel).unwrap();
    let wanted = |state| due(state, Facts::default());
    assert_eq!(wanted(canceled.to), Some(Due::Execute(Stage::Apply, Execution::Canceling)));
    let too_early = step(canceled.to, Facts::default(), Event::ForceCancel { cool_off_over: false });
    assert!(too_early.unwrap_err().to_string().contains("force-cancel-available-at"));
    let forced = step(canceled.to, Facts::default(), Event::ForceCancel { cool_off_over: true }).unwrap();
    assert_eq!(wanted(forced.to), Some(Due::Execute(Stage::Apply, Execution::ForceCanceling)));
    assert!(step(applying, Facts::default(), Event::ForceCancel { cool_off_over: true }).is_err());
}

#[test]
fn a_destroy_plan_waits_even_where_auto_apply_is_on() {
    let facts = Facts { destroy: true, ..auto() };
    let planned = step(State::Planning(EXECUTING), facts, plan(PlanOutcome::Changes, false)).unwrap();
    assert_eq!((planned.rule, planned.to), (Rule::T8, State::NeedsConfirmation));
    assert!(step(State::PolicyChecked, facts, Event::AutoApply).is_err());
}
