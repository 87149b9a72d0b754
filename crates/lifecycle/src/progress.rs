use crate::{Stage, State, Work};

/// How far a run is with a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It may come to it.
    Ahead,
    /// It is in it, or was: there may be a log.
    Begun,
    /// It will never come to it.
    Never,
}

impl State {
    /// How far a run in this state is with the stage. `plan_only` and `checked` are what else it depends on: whether the
    /// run is plan-only, and whether it has a policy check at all.
    pub fn progress(self, stage: Stage, plan_only: bool, checked: bool) -> Progress {
        let begun_or_never = |begun| if begun { Progress::Begun } else { Progress::Never };
        let in_queue = matches!(self, Self::Pending | Self::Planning(Work::Queued));
        match stage {
            Stage::Pending => Progress::Begun,
            Stage::Plan if in_queue => Progress::Ahead,
            Stage::Plan => begun_or_never(self.stage() != Stage::Pending),
            Stage::PolicyCheck if !checked => Progress::Never,
            Stage::PolicyCheck if matches!(self, Self::Pending | Self::Planning(_)) => Progress::Ahead,
            Stage::PolicyCheck => begun_or_never(match self {
                // a plan with changes that ends a run, or was declined: there would be no check if it had not begun
                Self::PlannedAndFinished | Self::Discarded(Stage::Plan) => true,
                other => other.stage() >= Stage::PolicyCheck,
            }),
            Stage::Apply => match self {
                Self::Applying(Work::Executing(_)) => Progress::Begun,
                Self::Applied | Self::ApplyErrored | Self::Canceled(Stage::Apply) => Progress::Begun,
                _ if self.is_final() || plan_only => Progress::Never,
                _ => Progress::Ahead,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Facts, step, wire};

    #[test]
    fn a_stage_that_has_begun_or_never_will_stays_so() {
        for plan_only in [false, true] {
            let facts = Facts { plan_only, ..Facts::default() };
            let mut reached = vec![State::Pending];
            let mut steps = Vec::new();
            while let Some(state) = reached.pop() {
                for transition in Event::all().into_iter().filter_map(|event| step(state, facts, event).ok())
                {
                    if !steps.contains(&(state, transition.to)) {
                        steps.push((state, transition.to));
                        reached.push(transition.to);
                    }
                }
            }
            for (from, to) in steps {
                for stage in Stage::EXECUTED {
                    let before = from.progress(stage, plan_only, true);
                    let after = to.progress(stage, plan_only, true);
                    // a run without a check waits for confirmation, and only one with a check is discarded after it
                    let other_run = stage == Stage::PolicyCheck && from == State::NeedsConfirmation;
                    let stays = before == Progress::Ahead || before == after || other_run;
                    assert!(stays, "{stage}: {from:?} to {to:?}: {before:?} to {after:?}");
                }
            }
        }
    }

    #[test]
    fn a_final_run_has_nothing_ahead_and_an_execution_has_begun() {
        for state in State::all() {
            for stage in Stage::EXECUTED {
                let progress = state.progress(stage, false, true);
                assert!(!state.is_final() || progress != Progress::Ahead, "{stage}: {state:?}");
                let executes = state.execution().is_some_and(|(executed, _)| executed == stage);
                assert!(!executes || progress == Progress::Begun, "{stage}: {state:?}");
            }
        }
    }

    #[test]
    fn plan_and_apply_are_as_far_as_their_own_status_says() {
        let of_status = |status| match status {
            "pending" | "queued" => Progress::Ahead,
            "unreachable" => Progress::Never,
            _ => Progress::Begun,
        };
        for state in State::all() {
            assert_eq!(state.progress(Stage::Plan, false, true), of_status(wire::plan_status(state)));
            assert_eq!(state.progress(Stage::Apply, false, true), of_status(wire::apply_status(state)));
        }
    }

    #[test]
    fn a_policy_check_comes_after_a_plan_with_changes() {
        let table = [
            (State::Pending, Progress::Ahead),
            (State::Planning(Work::Queued), Progress::Ahead),
            (State::NeedsConfirmation, Progress::Never),
            (State::PolicyOverride, Progress::Begun),
            (State::Applied, Progress::Begun),
            (State::NoChanges, Progress::Never),
            (State::PlannedAndFinished, Progress::Begun),
            (State::PlanErrored(Stage::Plan), Progress::Never),
            (State::PlanErrored(Stage::PolicyCheck), Progress::Begun),
            (State::Discarded(Stage::Pending), Progress::Never),
            (State::Discarded(Stage::Plan), Progress::Begun),
            (State::Canceled(Stage::Plan), Progress::Never),
        ];
        for (state, expected) in table {
            assert_eq!(state.progress(Stage::PolicyCheck, false, true), expected, "{state:?}");
            assert_eq!(state.progress(Stage::PolicyCheck, false, false), Progress::Never, "{state:?}");
        }
    }

    #[test]
    fn a_plan_only_run_never_comes_to_an_apply() {
        for state in [State::Pending, State::Planning(Work::Queued), State::PolicyChecked] {
            assert_eq!(state.progress(Stage::Apply, true, false), Progress::Never, "{state:?}");
            assert_eq!(state.progress(Stage::Apply, false, false), Progress::Ahead, "{state:?}");
        }
    }
}
