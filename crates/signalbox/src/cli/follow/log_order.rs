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
        let stages: Vec<_> = Stage::ALL.into_iter().filter(|stage| *stage >= first).collect();
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
    use super::*;
    use crate::cli::sample;

    fn run(status: &str) -> Run {
        sample::run(|attributes| {
            attributes["status"] = status.into();
            attributes["status-timestamps"] = match status {
                "errored" | "applied" | "applying" => serde_json::json!({
                    "planning-at": "2026-01-01T00:00:00Z", "applying-at": "2026-01-01T00:00:00Z" }),
                _ => serde_json::json!({ "planning-at": "2026-01-01T00:00:00Z" }),
            };
        })
    }

    fn plot(first: Stage, statuses: &[&str]) -> Vec<Next> {
        let mut plot = Plot::new(first);
        statuses.iter().map(|status| plot.next(&run(status))).collect()
    }

    #[test]
    fn logs_come_in_order_and_once() {
        use Next::{Done, Log, Wait};
        let statuses = ["pending", "planning", "planned", "apply_queued", "applying", "applying", "applied"];
        let expected = [Wait, Log(Stage::Plan), Wait, Wait, Log(Stage::Apply), Wait, Done];
        assert_eq!(plot(Stage::Plan, &statuses), expected);
    }

    #[test]
    fn whoever_comes_late_gets_all_of_them() {
        use Next::{Done, Log};
        assert_eq!(plot(Stage::Plan, &["errored"; 3]), [Log(Stage::Plan), Log(Stage::Apply), Done]);
    }

    #[test]
    fn what_was_read_before_is_left_out() {
        use Next::{Done, Log, Wait};
        assert_eq!(plot(Stage::Apply, &["planned", "applying", "applied"]), [Wait, Log(Stage::Apply), Done]);
    }

    #[test]
    fn a_run_that_ends_without_a_log_is_done() {
        assert_eq!(plot(Stage::Apply, &["discarded"]), [Next::Done]);
    }
}
