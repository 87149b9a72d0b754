//! Plan and apply: what the run's record says about these stages.

use lifecycle::{Stage, State, wire as status};
use store::{PlanSummary, Run};
use wire::{
    Apply, ApplyAttributes, ApplyRelationships, ExecutionDetails, Identifier, Plan, PlanActions,
    PlanAttributes, PlanPermissions, PlanRelationships, Relationship, ResourceCounts, Timestamps,
};

use super::{policy_check, run};

const fn counts(plan: &PlanSummary) -> ResourceCounts {
    ResourceCounts {
        additions: Some(plan.additions),
        changes: Some(plan.changes),
        destructions: Some(plan.destructions),
        imports: Some(plan.imports),
    }
}

fn remote() -> ExecutionDetails {
    ExecutionDetails { mode: "remote".into() }
}

/// The plan of a run.
pub(crate) fn plan(run: &Run, log_read_url: String) -> Plan {
    let path = format!("/api/v2/plans/{}", run.id.plan());
    let attributes = PlanAttributes {
        status: status::plan_status(run.state).into(),
        status_timestamps: plan_timestamps(run),
        has_changes: run::has_changes(run),
        generated_configuration: false,
        resources: run.plan.as_ref().map(counts).unwrap_or_default(),
        execution_details: remote(),
        log_read_url,
        permissions: PlanPermissions { can_export: false },
        actions: PlanActions { is_exportable: false },
    };
    let plan = Plan::new(run.id.plan(), attributes)
        .related(PlanRelationships {
            state_versions: Relationship::many(vec![]),
            exports: Relationship::many(vec![]),
        })
        .link("self", path.clone());
    if run.plan.as_ref().is_none_or(|plan| plan.plan_json.is_none()) {
        return plan;
    }
    plan.link("json-output", format!("{path}/json-output"))
        .link("json-output-redacted", format!("{path}/json-output-redacted"))
}

/// The apply of a run. `states` are the state versions that it wrote.
pub(crate) fn apply(run: &Run, states: Vec<Identifier>, log_read_url: String) -> Apply {
    // what an apply that broke off did in the end is known to its log and its state alone
    let done = run.plan.as_ref().filter(|_| run.state == State::Applied);
    let attributes = ApplyAttributes {
        status: status::apply_status(run.state).into(),
        status_timestamps: apply_timestamps(run),
        resources: done.map(counts).unwrap_or_default(),
        execution_details: remote(),
        log_read_url,
    };
    Apply::new(run.id.apply(), attributes)
        .related(ApplyRelationships { state_versions: Relationship::many(states) })
        .link("self", format!("/api/v2/applies/{}", run.id.apply()))
}

/// The run's timestamps under the names that they have in a part of it.
pub(super) fn renamed(run: &Run, names: &[(&str, &str)]) -> Timestamps {
    let renamed = |(name, of_run): &(&str, &str)| Some(((*name).to_owned(), *run.timestamps.get(*of_run)?));
    names.iter().filter_map(renamed).collect()
}

fn plan_timestamps(run: &Run) -> Timestamps {
    let mut names =
        vec![("queued-at", "plan-queued-at"), ("started-at", "planning-at"), ("finished-at", "planned-at")];
    match status::plan_status(run.state) {
        "errored" => names.push(("errored-at", "errored-at")),
        "canceled" => {
            names.extend([("canceled-at", "canceled-at"), ("force-canceled-at", "force-canceled-at")])
        }
        _ => {}
    }
    renamed(run, &names)
}

fn apply_timestamps(run: &Run) -> Timestamps {
    let mut names =
        vec![("queued-at", "apply-queued-at"), ("started-at", "applying-at"), ("finished-at", "applied-at")];
    match status::apply_status(run.state) {
        "errored" => names.push(("errored-at", "errored-at")),
        "canceled" => {
            names.extend([("canceled-at", "canceled-at"), ("force-canceled-at", "force-canceled-at")])
        }
        _ => {}
    }
    renamed(run, &names)
}

/// Whether nothing will be added to the stage's log any more: its status is final. `policies`: whether
/// policy sets apply to the workspace now.
pub(crate) fn is_over(run: &Run, stage: Stage, policies: bool) -> bool {
    match stage {
        Stage::Pending => run.state != State::Pending,
        Stage::Plan => is_final_status(status::plan_status(run.state)),
        Stage::Apply => is_final_status(status::apply_status(run.state)),
        Stage::PolicyCheck => {
            let to_come = matches!(run.state, State::Pending | State::Planning(_) | State::PolicyCheck(_));
            !(to_come && policy_check::exists(run, policies))
        }
    }
}

fn is_final_status(status: &str) -> bool {
    matches!(status, "finished" | "errored" | "canceled" | "unreachable")
}

#[cfg(test)]
mod tests {
    use lifecycle::{Event, Facts, step};

    use super::super::fixture;
    use super::*;

    #[test]
    fn the_documents_of_plan_and_apply() {
        let url = || "https://signalbox.example/logs/run/stage/secret".to_owned();
        let run = fixture::planned_run();
        fixture::snapshot("plan_finished", &plan(&run, url()));
        fixture::snapshot("apply_pending", &apply(&run, vec![], url()));
        let run = fixture::canceled_run();
        let state = Identifier::of::<wire::StateVersionAttributes>("sv-1");
        fixture::snapshot("apply_canceled", &apply(&run, vec![state], url()));
    }

    #[test]
    fn a_log_that_is_over_stays_over_whatever_happens_to_the_run() {
        for facts in [Facts::default(), Facts { plan_only: true, ..Facts::default() }] {
            for state in State::all() {
                for event in Event::all() {
                    let Ok(transition) = step(state, facts, event) else { continue };
                    for stage in Stage::EXECUTED {
                        let over = |state| is_over(&fixture::run_in(state, None), stage, true);
                        assert!(!over(state) || over(transition.to), "{stage}: {state:?} {event:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_log_of_a_final_run_is_over_and_none_that_is_being_written() {
        for state in State::all() {
            for stage in Stage::EXECUTED {
                let over = is_over(&fixture::run_in(state, None), stage, true);
                assert!(over || !state.is_final(), "{stage}: {state:?}");
                assert!(
                    !over || state.execution().is_none_or(|(running, _)| running != stage),
                    "{stage}: {state:?}"
                );
            }
        }
    }
}
