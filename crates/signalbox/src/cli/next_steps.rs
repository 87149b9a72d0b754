//! What can be done with a run now, with the very command.

use client::{Progress, Run, RunStatus, Stage};

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
    let overridable = run.status == RunStatus::PolicyOverride && may.can_override_policy_check;
    step(overridable, format!("signalbox run override {id}"), "override the failed policies");
    step(can.is_confirmable && may.can_apply, format!("signalbox run confirm {id}"), "apply the plan");
    let works = !run.is_final() && !run.waits_for_person();
    step(works, format!("signalbox logs -f {id}"), "follow it");
    step(can.is_discardable && may.can_discard, format!("signalbox run discard {id}"), "decline it");
    step(can.is_cancelable && may.can_cancel, format!("signalbox run cancel {id}"), "stop it");
    let killable = run.is_canceling() && may.can_force_cancel;
    step(killable, format!("signalbox run cancel --force {id}"), "kill it");
    let has_log = Stage::ALL.into_iter().any(|stage| run.progress(stage) == Progress::Begun);
    step(!works && has_log, format!("signalbox logs {id}"), "read its log");
    steps
}

/// Whom a run waits for that the user can't decide on.
pub(crate) fn waits_for_others(run: &Run) -> Option<&'static str> {
    let may = run.permissions;
    match run.status {
        RunStatus::PolicyOverride if !may.can_override_policy_check => Some(
            "it waits for a member of the owners team to override the failed policies, or for somebody to discard it",
        ),
        _ if run.actions.is_confirmable && !may.can_apply => {
            Some("it waits for somebody with write access to confirm or discard it")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::sample::run;

    fn commands(run: &Run) -> Vec<String> {
        next_steps(run).into_iter().map(|step| step.command.replace(" run-1", "")).collect()
    }

    #[test]
    fn only_what_is_possible_and_permitted_is_offered() {
        let all = |value: bool| {
            serde_json::json!({
                "can-apply": value, "can-cancel": value, "can-discard": value, "can-force-cancel": value,
                "can-override-policy-check": value,
            })
        };
        let confirmable = serde_json::json!({ "is-confirmable": true, "is-discardable": true });
        let waiting = run(|attributes| {
            attributes["status"] = "planned".into();
            attributes["actions"] = confirmable.clone();
            attributes["permissions"] = all(true);
        });
        assert_eq!(commands(&waiting), ["signalbox run confirm", "signalbox run discard", "signalbox logs"]);
        assert_eq!(waits_for_others(&waiting), None);

        let reader = run(|attributes| {
            attributes["status"] = "planned".into();
            attributes["actions"] = confirmable.clone();
            attributes["permissions"] = all(false);
        });
        assert_eq!(commands(&reader), ["signalbox logs"]);
        assert!(waits_for_others(&reader).unwrap().contains("write access"));

        let overridable = run(|attributes| {
            attributes["status"] = "policy_override".into();
            attributes["actions"] = serde_json::json!({ "is-discardable": true });
            attributes["permissions"] = all(true);
        });
        assert_eq!(
            commands(&overridable),
            ["signalbox run override", "signalbox run discard", "signalbox logs"]
        );

        let planning = run(|attributes| {
            attributes["status"] = "planning".into();
            attributes["actions"] = serde_json::json!({ "is-cancelable": true });
            attributes["permissions"] = all(true);
        });
        assert_eq!(commands(&planning), ["signalbox logs -f", "signalbox run cancel"]);

        let canceling = run(|attributes| {
            attributes["status"] = "applying".into();
            attributes["canceled-at"] = "2026-01-01T00:00:00Z".into();
            attributes["permissions"] = all(true);
        });
        assert_eq!(commands(&canceling), ["signalbox logs -f", "signalbox run cancel --force"]);

        let applied = run(|attributes| {
            attributes["status"] = "applied".into();
            attributes["permissions"] = all(true);
        });
        assert_eq!(commands(&applied), ["signalbox logs"]);
    }
}
