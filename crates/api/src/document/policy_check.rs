//! The policy check of a run.

use lifecycle::access::{Action, WorkspaceRights};
use lifecycle::{PolicyOutcome, Stage, State, wire as status};
use serde_json::Value;
use store::Run;
use wire::{
    PolicyCheck, PolicyCheckActions, PolicyCheckAttributes, PolicyCheckPermissions, PolicyCheckRelationships,
    PolicyResult, Relationship, RunAttributes, Timestamps,
};

use super::stage::renamed;

/// Whether the run has a policy check: it went through one, or will if its plan gets there. `policies`:
/// whether policy sets apply to its workspace now.
///
/// Once the plan has ended, the record alone decides, so that an old run doesn't change with the
/// configuration.
pub(crate) fn exists(run: &Run, policies: bool) -> bool {
    match run.state {
        _ if run.policy.is_some() || run.state.stage() == Stage::PolicyCheck => true,
        State::NeedsConfirmation
        | State::Applying(_)
        | State::Applied
        | State::ApplyErrored
        | State::PlannedAndFinished
        | State::Canceled(Stage::Apply) => false,
        // it waited for confirmation, and there was no check before that
        State::Discarded(stage) if stage != Stage::Pending => false,
        _ => policies,
    }
}

/// Its `status`.
pub(crate) fn status(run: &Run) -> &'static str {
    status::policy_check_status(run.state, run.policy.as_ref().map(|policy| policy.outcome))
}

/// The document. `report` is what the check reported, if it did.
pub(crate) fn resource(run: &Run, access: WorkspaceRights, report: Option<Value>) -> PolicyCheck {
    let id = run.id.policy_check();
    let path = format!("/api/v2/policy-checks/{id}");
    let duration = report.as_ref().and_then(|report| report.get("duration_ms")?.as_u64());
    let result = run.policy.as_ref().map(|policy| {
        let counts = policy.counts;
        PolicyResult {
            // true when no mandatory policy failed
            result: policy.outcome == PolicyOutcome::Passed,
            passed: counts.passed,
            total_failed: counts.hard_failed + counts.soft_failed + counts.advisory_failed,
            hard_failed: counts.hard_failed,
            soft_failed: counts.soft_failed,
            advisory_failed: counts.advisory_failed,
            duration,
            duration_ms: duration,
            sentinel: report,
        }
    });
    let attributes = PolicyCheckAttributes {
        status: status(run).into(),
        status_timestamps: timestamps(run),
        scope: "organization".into(),
        actions: PolicyCheckActions { is_overridable: run.state == State::PolicyOverride },
        permissions: PolicyCheckPermissions { can_override: access.allows(Action::OverridePolicies) },
        result,
    };
    PolicyCheck::new(id, attributes)
        .related(PolicyCheckRelationships { run: Relationship::one::<RunAttributes>(run.id) })
        .link("self", path.clone())
        .link("output", format!("{path}/output"))
}

fn timestamps(run: &Run) -> Timestamps {
    let outcome = run.policy.as_ref().map(|policy| policy.outcome);
    let reached = outcome.is_some() || run.state.stage() == Stage::PolicyCheck;
    let mut names = Vec::new();
    if reached {
        // the check is launched by the very change of state that ends the plan
        names.push(("queued-at", "planned-at"));
    }
    match outcome {
        Some(PolicyOutcome::Passed) => names.push(("passed-at", "policy-checked-at")),
        Some(PolicyOutcome::SoftFailed) => {
            names.extend([
                ("soft-failed-at", "policy-soft-failed-at"),
                ("overridden-at", "policy-checked-at"),
            ]);
        }
        Some(PolicyOutcome::HardFailed) => names.push(("hard-failed-at", "errored-at")),
        None if status(run) == "errored" => names.push(("errored-at", "errored-at")),
        None if status(run) == "canceled" => names.push(("canceled-at", "canceled-at")),
        None => {}
    }
    renamed(run, &names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::fixture;
    use super::*;

    #[test]
    fn the_document_of_a_check_that_waits_for_an_override() {
        let report = json!({ "format": 1, "duration_ms": 12, "sets": [] });
        let run = fixture::soft_failed_run();
        fixture::snapshot("policy_check_soft_failed", &resource(&run, WorkspaceRights::OWNER, Some(report)));
    }

    #[test]
    fn a_check_that_has_not_said_anything_has_no_result() {
        let run = fixture::run_in(State::Pending, None);
        let document = serde_json::to_value(resource(&run, WorkspaceRights::NONE, None)).unwrap();
        assert_eq!(document["attributes"]["status"], "pending");
        assert_eq!(document["attributes"]["result"], Value::Null);
        assert_eq!(document["attributes"]["permissions"]["can-override"], false);
    }

    #[test]
    fn only_a_run_in_policy_override_is_overridable() {
        for state in State::all() {
            let run = fixture::run_in(state, Some(PolicyOutcome::SoftFailed));
            let document = serde_json::to_value(resource(&run, WorkspaceRights::OWNER, None)).unwrap();
            let legal = lifecycle::step(state, run.facts, lifecycle::Event::Override).is_ok();
            assert_eq!(document["attributes"]["actions"]["is-overridable"], legal, "{state:?}");
        }
    }
}
