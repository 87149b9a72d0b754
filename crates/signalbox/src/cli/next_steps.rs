//! What can be done with a run now, with the very command.

use client::{Progress, Run, Stage};

/// Something to do, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) does: &'static str,
}

/// What the user may do with the run, the most likely first.
pub(crate) fn next_steps(run: &Run) -> Vec<Step> {
    let (can, may, id) = (run.actions, run.permissions, &run.id);
    let mut steps = Vec::new();
    let mut step = |possible: bool, command: String, does| {
        if possible {
            steps.push(Step { command, does });
        }
    };
    let overridable = run.waits_for_override() && may.can_override_policy_check;
    step(overridable, format!("signalbox run override {id}"), "override the failed policies");
    step(can.is_confirmable && may.can_apply, format!("signalbox run confirm {id}"), "apply the plan");
    let works = !run.is_final() && !run.waits_for_person();
    step(works, format!("signalbox logs -f {id}"), "follow it");
    step(can.is_discardable && may.can_discard, format!("signalbox run discard {id}"), "decline it");
    step(can.is_cancelable && may.can_cancel, format!("signalbox run cancel {id}"), "stop it");
    let killable = run.is_canceling() && may.can_force_cancel;
    step(killable, format!("signalbox run cancel --force {id}"), "kill it");
    let has_log = Stage::EXECUTED.into_iter().any(|stage| run.progress(stage) == Progress::Begun);
    step(!works && has_log, format!("signalbox logs {id}"), "read its log");
    steps
}

/// Whom a run waits for that the user can't decide on.
pub(crate) fn waits_for_others(run: &Run) -> Option<&'static str> {
    let may = run.permissions;
    if run.waits_for_override() && !may.can_override_policy_check {
        return Some(
            "it waits for a member of the owners team to override the failed policies, or for somebody to discard it",
        );
    }
    let confirmable = run.actions.is_confirmable && !may.can_apply;
    confirmable.then_some("it waits for somebody with write access to confirm or discard it")
}

#[cfg(test)]
mod tests {
    use lifecycle::{Execution, State, Work};
    use wire::samples;

    use super::*;
    use crate::cli::sample::run;

    fn commands(run: &Run) -> Vec<String> {
        next_steps(run).into_iter().map(|step| step.command.replace(" run-1", "")).collect()
    }

    #[test]
    fn only_what_is_possible_and_permitted_is_offered() {
        let allowed = |state, all| run(state, |run| run.permissions = samples::permissions(all));
        let waiting = allowed(State::NeedsConfirmation, true);
        assert_eq!(commands(&waiting), ["signalbox run confirm", "signalbox run discard", "signalbox logs"]);
        assert_eq!(waits_for_others(&waiting), None);

        let reader = allowed(State::NeedsConfirmation, false);
        assert_eq!(commands(&reader), ["signalbox logs"]);
        assert!(waits_for_others(&reader).unwrap().contains("write access"));

        let overridable = allowed(State::PolicyOverride, true);
        assert_eq!(
            commands(&overridable),
            ["signalbox run override", "signalbox run discard", "signalbox logs"]
        );
        let reader = allowed(State::PolicyOverride, false);
        assert!(waits_for_others(&reader).unwrap().contains("owners team"));

        let planning = allowed(State::Planning(Work::Executing(Execution::Running)), true);
        assert_eq!(commands(&planning), ["signalbox logs -f", "signalbox run cancel"]);

        let canceling = run(State::Applying(Work::Executing(Execution::Canceling)), |run| {
            run.canceled_at = Some(samples::start());
            run.permissions = samples::permissions(true);
        });
        assert_eq!(commands(&canceling), ["signalbox logs -f", "signalbox run cancel --force"]);

        assert_eq!(commands(&allowed(State::Applied, true)), ["signalbox logs"]);
    }
}
