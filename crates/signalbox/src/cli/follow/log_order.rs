use client::{Progress, Run, Stage};

/// Which log comes next. Each is shown once, in the order of the stages.
#[derive(Debug)]
pub(super) struct Plot {
    rest: std::vec::IntoIter<Stage>,
    next: Option<Stage>,
}

/// What to do when no log is being shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Show this one until its end.
    Log(Stage),
    /// Wait until the run changes.
    Wait,
    /// It is final, and every log was shown.
    Done,
}

impl Plot {
    pub(super) fn new(first: Stage) -> Self {
        let stages: Vec<_> = Stage::EXECUTED.into_iter().filter(|stage| *stage >= first).collect();
        let mut rest = stages.into_iter();
        let next = rest.next();
        Self { rest, next }
    }

    pub(super) fn next(&mut self, run: &Run) -> Next {
        while let Some(stage) = self.next {
            match run.progress(stage) {
                Progress::Ahead => return Next::Wait,
                Progress::Begun => {
                    self.next = self.rest.next();
                    return Next::Log(stage);
                }
                Progress::Never => self.next = self.rest.next(),
            }
        }
        if run.is_final() { Next::Done } else { Next::Wait }
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::{Execution, State, Work};

    use super::*;
    use crate::cli::sample;

    const PLANNING: State = State::Planning(Work::Executing(Execution::Running));
    const APPLYING: State = State::Applying(Work::Executing(Execution::Running));

    fn order(first: Stage, states: &[State]) -> Vec<Next> {
        let mut plot = Plot::new(first);
        states.iter().map(|state| plot.next(&sample::run(*state, |_| {}))).collect()
    }

    #[test]
    fn logs_come_in_order_and_once() {
        use Next::{Done, Log, Wait};
        let queued = State::Applying(Work::Queued);
        let states =
            [State::Pending, PLANNING, State::NeedsConfirmation, queued, APPLYING, APPLYING, State::Applied];
        let expected = [Wait, Log(Stage::Plan), Wait, Wait, Log(Stage::Apply), Wait, Done];
        assert_eq!(order(Stage::Plan, &states), expected);
    }

    #[test]
    fn whoever_comes_late_gets_all_of_them() {
        use Next::{Done, Log};
        let states = [State::ApplyErrored; 3];
        assert_eq!(order(Stage::Plan, &states), [Log(Stage::Plan), Log(Stage::Apply), Done]);
    }

    #[test]
    fn what_was_read_before_is_left_out() {
        use Next::{Done, Log, Wait};
        let states = [State::NeedsConfirmation, APPLYING, State::Applied];
        assert_eq!(order(Stage::Apply, &states), [Wait, Log(Stage::Apply), Done]);
    }

    #[test]
    fn a_run_that_ends_without_a_log_is_done() {
        assert_eq!(order(Stage::Apply, &[State::Discarded(Stage::Plan)]), [Next::Done]);
    }
}
