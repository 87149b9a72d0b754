//! Plan and apply: what the run's record says about these stages (tfe-api.md 5.6).

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::{Stage, State, wire};
use serde::Serialize;
use serde_json::{Value, json};
use store::{PlanSummary, Run};

use super::{policy_check, run};
use crate::jsonapi::{Identifier, Relationship, Resource};

/// `status-timestamps`, keys without a time left out.
pub(super) type Timestamps = BTreeMap<&'static str, Timestamp>;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Plan {
    status: &'static str,
    status_timestamps: Timestamps,
    has_changes: bool,
    generated_configuration: bool,
    #[serde(flatten)]
    counts: Counts,
    execution_details: Value,
    log_read_url: String,
    permissions: Value,
    actions: Value,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Apply {
    status: &'static str,
    status_timestamps: Timestamps,
    #[serde(flatten)]
    counts: Counts,
    execution_details: Value,
    log_read_url: String,
}

/// `null` until they are known.
#[derive(Default, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Counts {
    resource_additions: Option<u64>,
    resource_changes: Option<u64>,
    resource_destructions: Option<u64>,
    resource_imports: Option<u64>,
}

impl From<&PlanSummary> for Counts {
    fn from(plan: &PlanSummary) -> Self {
        Self {
            resource_additions: Some(plan.additions),
            resource_changes: Some(plan.changes),
            resource_destructions: Some(plan.destructions),
            resource_imports: Some(plan.imports),
        }
    }
}

/// The plan of a run.
pub(crate) fn plan(run: &Run, log_read_url: String) -> Resource {
    let path = format!("/api/v2/plans/{}", run.id.plan());
    let attributes = Plan {
        status: wire::plan_status(run.state),
        status_timestamps: plan_timestamps(run),
        has_changes: run::has_changes(run),
        generated_configuration: false,
        counts: run.plan.as_ref().map(Counts::from).unwrap_or_default(),
        execution_details: json!({ "mode": "remote" }),
        log_read_url,
        permissions: json!({ "can-export": false }),
        actions: json!({ "is-exportable": false }),
    };
    let mut plan = Resource::new("plans", run.id.plan(), attributes)
        .with("state-versions", Relationship::many(vec![]))
        .with("exports", Relationship::many(vec![]))
        .link("self", path.clone());
    if run.plan.as_ref().is_some_and(|plan| plan.plan_json.is_some()) {
        plan = plan
            .link("json-output", format!("{path}/json-output"))
            .link("json-output-redacted", format!("{path}/json-output-redacted"));
    }
    plan
}

/// The apply of a run. `states` are the state versions that it wrote.
pub(crate) fn apply(run: &Run, states: Vec<Identifier>, log_read_url: String) -> Resource {
    // what an apply that broke off did in the end is known to its log and its state alone
    let done = run.plan.as_ref().filter(|_| run.state == State::Applied);
    let attributes = Apply {
        status: wire::apply_status(run.state),
        status_timestamps: apply_timestamps(run),
        counts: done.map(Counts::from).unwrap_or_default(),
        execution_details: json!({ "mode": "remote" }),
        log_read_url,
    };
    Resource::new("applies", run.id.apply(), attributes)
        .with("state-versions", Relationship::many(states))
        .link("self", format!("/api/v2/applies/{}", run.id.apply()))
}

/// The run's timestamps under the names that they have in a part of it.
pub(super) fn renamed(run: &Run, names: &[(&'static str, &str)]) -> Timestamps {
    names.iter().filter_map(|(name, of_run)| Some((*name, *run.timestamps.get(*of_run)?))).collect()
}

fn plan_timestamps(run: &Run) -> Timestamps {
    let mut names =
        vec![("queued-at", "plan-queued-at"), ("started-at", "planning-at"), ("finished-at", "planned-at")];
    match wire::plan_status(run.state) {
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
    match wire::apply_status(run.state) {
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
        Stage::Plan => is_final_status(wire::plan_status(run.state)),
        Stage::Apply => is_final_status(wire::apply_status(run.state)),
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
        let state = Identifier::new("state-versions", "sv-1");
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
