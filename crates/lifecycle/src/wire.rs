//! The status strings of the Terraform Enterprise API for each state (docs/api.md, "Run status").
//!
//! Plan, apply and policy check have no state of their own: theirs follows from the run's, so they can
//! never disagree with it.

use crate::{Execution, Stage, State, Work};

/// The run's `status`.
pub const fn run_status(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Planning(Work::Queued) => "plan_queued",
        State::Planning(Work::Executing(_)) => "planning",
        State::NeedsConfirmation => "planned",
        State::PolicyCheck(_) => "policy_checking",
        State::PolicyOverride => "policy_override",
        State::PolicyChecked => "policy_checked",
        State::Applying(Work::Queued) => "apply_queued",
        State::Applying(Work::Executing(_)) => "applying",
        State::Applied => "applied",
        State::NoChanges | State::PlannedAndFinished => "planned_and_finished",
        State::PolicySoftFailed => "policy_soft_failed",
        State::PlanErrored(_) | State::ApplyErrored => "errored",
        State::Discarded(_) => "discarded",
        State::Canceled(_) => "canceled",
    }
}

/// The states whose wire status this is; empty for a status that is never emitted.
///
/// `force_canceled` is accepted as another word for `canceled`, `confirmed` for `apply_queued`.
pub fn states_with_status(status: &str) -> Vec<State> {
    let status = match status {
        "force_canceled" => "canceled",
        "confirmed" => "apply_queued",
        other => other,
    };
    State::all().into_iter().filter(|state| run_status(*state) == status).collect()
}

/// The plan's `status`.
pub const fn plan_status(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Planning(Work::Queued) => "queued",
        State::Planning(Work::Executing(_)) => "running",
        State::PlanErrored(Stage::Plan) => "errored",
        State::Canceled(Stage::Plan) => "canceled",
        State::Canceled(Stage::Pending) | State::Discarded(Stage::Pending) => "unreachable",
        _ => "finished",
    }
}

/// The apply's `status`.
pub const fn apply_status(state: State) -> &'static str {
    match state {
        State::Applying(Work::Queued) => "queued",
        State::Applying(Work::Executing(_)) => "running",
        State::Applied => "finished",
        State::ApplyErrored => "errored",
        State::Canceled(Stage::Apply) => "canceled",
        _ if state.is_final() => "unreachable",
        _ => "pending",
    }
}

/// The policy check's `status`; `outcome` is what its report said, once there is one.
pub const fn policy_check_status(state: State, outcome: Option<crate::PolicyOutcome>) -> &'static str {
    use crate::PolicyOutcome::{HardFailed, Passed, SoftFailed};
    match (state, outcome) {
        (State::PolicyOverride | State::PolicySoftFailed, _) => "soft_failed",
        (State::PolicyCheck(_), _) => "pending",
        (State::Canceled(Stage::PolicyCheck), None) => "canceled",
        (State::PlanErrored(Stage::PolicyCheck), None) => "errored",
        (_, Some(HardFailed)) => "hard_failed",
        // declined before anybody overrode it
        (State::Discarded(_) | State::Canceled(Stage::PolicyCheck), Some(SoftFailed)) => "soft_failed",
        (_, Some(SoftFailed)) => "overridden",
        (_, Some(Passed)) => "passed",
        (_, None) if state.is_final() => "unreachable",
        (_, None) => "pending",
    }
}

/// The run's `actions`: what a person could do now, if they have the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actions {
    /// `is-cancelable`: an execution or a queue can be stopped. False at rest, as clients expect, where
    /// a cancel is accepted all the same.
    pub is_cancelable: bool,
    /// `is-confirmable`.
    pub is_confirmable: bool,
    /// `is-discardable`.
    pub is_discardable: bool,
    /// `is-force-cancelable`: a cancel was asked for, and the cool-off is over.
    pub is_force_cancelable: bool,
}

/// The actions of a run in this state. Derived from the same rows as [`crate::step`]: a test holds them
/// together.
pub fn actions(state: State, cool_off_over: bool) -> Actions {
    let canceling = matches!(state.execution(), Some((_, Execution::Canceling)));
    Actions {
        is_cancelable: match state {
            State::Pending | State::Planning(Work::Queued) | State::Applying(Work::Queued) => true,
            _ => matches!(state.execution(), Some((_, Execution::Running))),
        },
        is_confirmable: matches!(state, State::NeedsConfirmation | State::PolicyChecked),
        is_discardable: state.waits_for_person() || state == State::Pending,
        is_force_cancelable: canceling && cool_off_over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Facts, step};

    #[test]
    fn a_status_that_is_emitted_is_found_again() {
        for state in State::all() {
            assert!(states_with_status(run_status(state)).contains(&state));
        }
        assert!(states_with_status("cost_estimating").is_empty());
        assert_eq!(states_with_status("force_canceled"), states_with_status("canceled"));
    }

    #[test]
    fn an_action_that_is_offered_is_legal() {
        for state in State::all() {
            for cool_off_over in [false, true] {
                let offered = actions(state, cool_off_over);
                let legal = |event| step(state, Facts::default(), event).is_ok();
                assert!(!offered.is_cancelable || legal(Event::Cancel), "{state:?}");
                assert_eq!(offered.is_confirmable, legal(Event::Confirm), "{state:?}");
                assert_eq!(offered.is_discardable, legal(Event::Discard), "{state:?}");
                assert_eq!(
                    offered.is_force_cancelable,
                    legal(Event::ForceCancel { cool_off_over }),
                    "{state:?}"
                );
            }
        }
    }

    /// The table in docs/api.md, "Plan, apply and policy check", on which the terraform CLI relies.
    #[test]
    fn plan_and_apply_agree_with_the_run() {
        let table = [
            (State::Pending, "pending", "pending", "pending"),
            (State::Planning(Work::Queued), "plan_queued", "queued", "pending"),
            (State::Planning(Work::Executing(Execution::Running)), "planning", "running", "pending"),
            (State::NeedsConfirmation, "planned", "finished", "pending"),
            (State::PolicyChecked, "policy_checked", "finished", "pending"),
            (State::Applying(Work::Queued), "apply_queued", "finished", "queued"),
            (State::Applying(Work::Executing(Execution::Running)), "applying", "finished", "running"),
            (State::Applied, "applied", "finished", "finished"),
            (State::NoChanges, "planned_and_finished", "finished", "unreachable"),
            (State::PolicySoftFailed, "policy_soft_failed", "finished", "unreachable"),
            (State::Discarded(Stage::Plan), "discarded", "finished", "unreachable"),
            (State::Discarded(Stage::Pending), "discarded", "unreachable", "unreachable"),
            (State::PlanErrored(Stage::Plan), "errored", "errored", "unreachable"),
            (State::PlanErrored(Stage::PolicyCheck), "errored", "finished", "unreachable"),
            (State::ApplyErrored, "errored", "finished", "errored"),
            (State::Canceled(Stage::Pending), "canceled", "unreachable", "unreachable"),
            (State::Canceled(Stage::Plan), "canceled", "canceled", "unreachable"),
            (State::Canceled(Stage::PolicyCheck), "canceled", "finished", "unreachable"),
            (State::Canceled(Stage::Apply), "canceled", "finished", "canceled"),
        ];
        for (state, run, plan, apply) in table {
            assert_eq!(
                (run_status(state), plan_status(state), apply_status(state)),
                (run, plan, apply),
                "{state:?}"
            );
        }
    }
}
