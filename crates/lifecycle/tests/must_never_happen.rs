//! The seven rules of "what must never happen", as far as they are decided here, against random histories.

use lifecycle::{ApplyOutcome, Due, Event, Execution, Facts, State, Work, due, step};
use proptest::prelude::*;

fn facts() -> impl Strategy<Value = Facts> {
    proptest::sample::select(Facts::all().collect::<Vec<_>>())
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(prop::sample::select(Event::all()), 0..40)
}

/// The history of a run: each state with the event that led there.
fn live(facts: Facts, events: &[Event]) -> Vec<(Option<Event>, State)> {
    let mut history = vec![(None, State::Pending)];
    for event in events {
        let state = history[history.len() - 1].1;
        if let Ok(transition) = step(state, facts, *event) {
            history.push((Some(*event), transition.to));
        }
    }
    history
}

const APPLYING: State = State::Applying(Work::Executing(Execution::Running));

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn an_apply_is_of_a_plan_that_was_approved_or_may_be_auto_applied(facts in facts(), events in events()) {
        let history = live(facts, &events);
        if history.iter().any(|(_, state)| *state == APPLYING) {
            let confirmed = history.iter().any(|(event, _)| *event == Some(Event::Confirm));
            prop_assert!(!facts.plan_only);
            prop_assert!(confirmed || facts.can_be_auto_applied());
        }
    }

    #[test]
    fn an_apply_is_launched_at_most_once(facts in facts(), events in events()) {
        let launches = live(facts, &events).windows(2).filter(|pair| {
            pair[0].1 == State::Applying(Work::Queued) && pair[1].1 == APPLYING
        }).count();
        prop_assert!(launches <= 1);
    }

    #[test]
    fn a_soft_failure_is_passed_only_by_an_override(facts in facts(), events in events()) {
        let history = live(facts, &events);
        if let Some(at) = history.iter().position(|(_, state)| *state == State::PolicyOverride) {
            for (_, state) in &history[at..] {
                if *state == State::PolicyChecked {
                    prop_assert!(history[at..].iter().any(|(event, _)| *event == Some(Event::Override)));
                }
            }
        }
    }

    #[test]
    fn a_final_run_never_changes(facts in facts(), events in events(), late in events()) {
        let last = live(facts, &events).last().unwrap().1;
        if last.is_final() {
            for event in late {
                prop_assert!(step(last, facts, event).is_err());
            }
        }
    }

    #[test]
    fn a_run_is_applied_exactly_when_its_apply_succeeded(facts in facts(), events in events()) {
        for (event, state) in live(facts, &events) {
            prop_assert_eq!(state == State::Applied, event == Some(Event::ApplyEnded(ApplyOutcome::Succeeded)));
        }
    }

    #[test]
    fn a_run_that_nobody_cancelled_does_not_end_canceled(facts in facts(), events in events()) {
        let history = live(facts, &events);
        if let (_, State::Canceled(_)) = history.last().unwrap() {
            prop_assert!(history.iter().any(|(event, _)| *event == Some(Event::Cancel)));
        }
    }

    #[test]
    fn an_event_given_twice_changes_nothing_the_second_time(facts in facts(), events in events()) {
        let mut state = State::Pending;
        for event in events {
            if let Ok(first) = step(state, facts, event) {
                // a configuration that has come changes what is known, and not the state: it is the same one again
                if let Ok(second) = step(first.to, facts, event) && (event != Event::Fetched || second.to != first.to) {
                    prop_assert!(false, "{event:?} led from {state:?} to {:?} and on to {:?}", first.to, second.to);
                }
                state = first.to;
            }
        }
    }
}

#[test]
fn nothing_rests_without_something_due_or_somebody_to_wait_for() {
    for facts in Facts::all() {
        for state in State::all() {
            let due = due(state, facts);
            assert!(state.waits_for_person() || due.is_some(), "{state:?}");
            assert_eq!(state.is_final(), due == Some(Due::CleanUp), "{state:?}");
        }
    }
}

#[test]
fn a_cancel_is_accepted_in_every_state_that_is_not_final_and_not_canceling() {
    for state in State::all() {
        let stopping = state.execution().is_some_and(|(_, e)| e != Execution::Running);
        let accepted = step(state, Facts::default(), Event::Cancel).is_ok();
        assert_eq!(accepted, !state.is_final() && !stopping, "{state:?}");
    }
}
