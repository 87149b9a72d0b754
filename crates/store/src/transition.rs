//! What a change makes of a run's record: pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::{Event, Execution, Illegal, Rule, Stage, State, Transition, Work, step};

use crate::record::{Cancel, NewRun, Run, RunEvent, RunUpdate};

/// The record of a run that was just queued; its place in the order is given by the database.
pub(crate) fn queued(new: NewRun) -> Run {
    let NewRun { id, workspace, facts, options, source, created_by, created_at, configuration_version } = new;
    Run {
        id,
        workspace,
        seq: 0,
        version: 1,
        state: State::Pending,
        facts,
        options,
        source,
        created_by,
        confirmed_by: None,
        created_at,
        updated_at: created_at,
        state_changed_at: created_at,
        timestamps: BTreeMap::new(),
        cancel: None,
        plan: None,
        configuration_version,
        error: None,
        policy: None,
        logs: BTreeMap::new(),
        damaged: None,
    }
}

/// The record after the event, and the row of the table that allowed it.
///
/// # Errors
/// [`Illegal`] when the event may not happen now; nothing is changed then.
pub(crate) fn after(mut run: Run, happened: &RunEvent) -> Result<(Run, Rule), Illegal> {
    let RunEvent { event, creator, by, at, update, .. } = happened;
    let Transition { to, rule, .. } = step(run.state, run.facts.held_by(*creator), as_of(*event, &run, *at))?;
    let from = run.state;
    let RunUpdate { force_cancel_from, plan, configuration_version, error, policy, log } = update.clone();
    if let (Some(force_available_at), Some(by)) = (force_cancel_from, by.user()) {
        run.cancel = Some(Cancel { by: by.to_owned(), at: *at, force_available_at, forced_at: None });
    }
    if let (Rule::ForceCancelRequested, Some(cancel)) = (rule, &mut run.cancel) {
        cancel.forced_at = Some(*at);
    }
    run.plan = plan.or(run.plan);
    run.configuration_version = configuration_version.or(run.configuration_version);
    run.error = error.or(run.error);
    run.policy = policy.or(run.policy);
    run.logs.extend(log);
    run.updated_at = *at;
    run.version += 1;
    run.state = to;
    run.state_changed_at = *at;
    for key in status_timestamps(from, to, rule) {
        run.timestamps.entry((*key).to_owned()).or_insert(*at);
    }
    if is_confirmation(to, rule) {
        run.confirmed_by = by.user().map(str::to_owned);
    }
    Ok((run, rule))
}

/// The event with what the run's own record says about it.
fn as_of(event: Event, run: &Run, at: Timestamp) -> Event {
    match event {
        Event::ForceCancel { .. } => Event::ForceCancel {
            cool_off_over: run.cancel.as_ref().is_some_and(|cancel| cancel.force_available_at <= at),
        },
        other => other,
    }
}

/// A person said yes to the plan.
fn is_confirmation(to: State, rule: Rule) -> bool {
    matches!((to, rule), (State::Applying(Work::Queued), Rule::T9 | Rule::T17))
}

/// The `status-timestamps` of the API (docs/api.md, "Attributes of a run") that a change of state sets. A wish to
/// cancel sets none: the status stays what it is until the execution is gone.
pub(crate) fn status_timestamps(from: State, to: State, rule: Rule) -> &'static [&'static str] {
    use Execution::{Canceling, ForceCanceling, Running};
    use Work::{Executing, Queued};
    let planned = matches!(from, State::Planning(_));
    match to {
        State::Pending => &[],
        State::Planning(Queued) => &["plan-queued-at"],
        State::Planning(Executing(Running)) if rule == Rule::Fetched => &[],
        State::Planning(Executing(Running)) => &["planning-at"],
        State::NeedsConfirmation => &["planned-at"],
        State::PolicyCheck(Running) => &["planned-at"],
        State::PolicyOverride => &["policy-soft-failed-at"],
        State::PolicyChecked => &["policy-checked-at"],
        State::Applying(Queued) if is_confirmation(to, rule) => &["confirmed-at", "apply-queued-at"],
        State::Applying(Queued) if planned => &["planned-at", "apply-queued-at"],
        State::Applying(Queued) => &["apply-queued-at"],
        State::Applying(Executing(Running)) => &["applying-at"],
        State::Planning(Executing(Canceling | ForceCanceling))
        | State::PolicyCheck(Canceling | ForceCanceling)
        | State::Applying(Executing(Canceling | ForceCanceling)) => &[],
        State::Applied => &["applied-at"],
        State::NoChanges | State::PlannedAndFinished if planned => &["planned-at", "planned-and-finished-at"],
        State::NoChanges => &["planned-and-finished-at"],
        State::PlannedAndFinished => &["policy-checked-at", "planned-and-finished-at"],
        State::PolicySoftFailed => &["policy-soft-failed-at"],
        State::PlanErrored(Stage::Pending | Stage::Plan | Stage::PolicyCheck | Stage::Apply)
        | State::ApplyErrored => &["errored-at"],
        State::Discarded(_) => &["discarded-at"],
        State::Canceled(_) if matches!(from.execution(), Some((_, ForceCanceling))) => {
            &["canceled-at", "force-canceled-at"]
        }
        State::Canceled(_) => &["canceled-at"],
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::{Facts, PlanOutcome, PolicyOutcome};

    use super::*;

    /// Runs through the events and collects the keys in their order.
    fn keys(facts: Facts, events: &[Event]) -> Vec<&'static str> {
        let mut state = State::Pending;
        let mut keys = Vec::new();
        for event in events {
            let transition = step(state, facts, *event).unwrap();
            keys.extend(status_timestamps(state, transition.to, transition.rule));
            state = transition.to;
        }
        assert!(state.is_final(), "{state:?}");
        keys
    }

    #[test]
    fn every_way_through_a_run_leaves_the_timestamps_that_the_api_shows() {
        use Event::{
            ApplyEnded, AutoApply, Cancel, Confirm, Discard, ForceCancel, Launch, Override, PolicyCheckEnded,
            Start,
        };
        use PolicyOutcome::{HardFailed, Passed, SoftFailed};
        let plan = |outcome, policies| Event::PlanEnded { outcome, policies };
        let changes = |policies| plan(PlanOutcome::Changes, policies);
        let applied = ApplyEnded(lifecycle::ApplyOutcome::Succeeded);
        let failed = ApplyEnded(lifecycle::ApplyOutcome::Failed);
        let waits = Facts::default();
        let auto = Facts { auto_apply: true, queued_with_apply_right: true, ..waits };
        let plan_only = Facts { plan_only: true, ..waits };

        let table: &[(&str, Facts, &[Event], &str)] = &[
            ("discarded before it started", waits, &[Discard], "discarded-at"),
            ("canceled before it started", waits, &[Cancel], "canceled-at"),
            ("canceled before the launch", waits, &[Start, Cancel], "plan-queued-at canceled-at"),
            (
                "plan failed",
                waits,
                &[Start, Launch, plan(PlanOutcome::Failed, false)],
                "plan-queued-at planning-at errored-at",
            ),
            (
                "plan canceled",
                waits,
                &[Start, Launch, Cancel, plan(PlanOutcome::Failed, false)],
                "plan-queued-at planning-at canceled-at",
            ),
            (
                "plan force-canceled",
                waits,
                &[
                    Start,
                    Launch,
                    Cancel,
                    ForceCancel { cool_off_over: true },
                    plan(PlanOutcome::Failed, false),
                ],
                "plan-queued-at planning-at canceled-at force-canceled-at",
            ),
            (
                "no changes",
                waits,
                &[Start, Launch, plan(PlanOutcome::NoChanges, false)],
                "plan-queued-at planning-at planned-at planned-and-finished-at",
            ),
            (
                "confirmed",
                waits,
                &[Start, Launch, changes(false), Confirm, Launch, applied],
                "plan-queued-at planning-at planned-at confirmed-at apply-queued-at applying-at applied-at",
            ),
            (
                "auto-applied, which nobody confirmed",
                auto,
                &[Start, Launch, changes(false), Launch, applied],
                "plan-queued-at planning-at planned-at apply-queued-at applying-at applied-at",
            ),
            (
                "rejected",
                waits,
                &[Start, Launch, changes(false), Discard],
                "plan-queued-at planning-at planned-at discarded-at",
            ),
            (
                "hard-mandatory policy failed",
                waits,
                &[Start, Launch, changes(true), PolicyCheckEnded(HardFailed)],
                "plan-queued-at planning-at planned-at errored-at",
            ),
            (
                "overridden, confirmed, apply failed",
                waits,
                &[
                    Start,
                    Launch,
                    changes(true),
                    PolicyCheckEnded(SoftFailed),
                    Override,
                    Confirm,
                    Launch,
                    failed,
                ],
                "plan-queued-at planning-at planned-at policy-soft-failed-at policy-checked-at \
                 confirmed-at apply-queued-at applying-at errored-at",
            ),
            (
                "policies passed, auto-applied",
                auto,
                &[Start, Launch, changes(true), PolicyCheckEnded(Passed), AutoApply, Launch, applied],
                "plan-queued-at planning-at planned-at policy-checked-at apply-queued-at applying-at applied-at",
            ),
            (
                "plan-only",
                plan_only,
                &[Start, Launch, changes(false)],
                "plan-queued-at planning-at planned-at planned-and-finished-at",
            ),
            (
                "plan-only with policies",
                plan_only,
                &[Start, Launch, changes(true), PolicyCheckEnded(Passed)],
                "plan-queued-at planning-at planned-at policy-checked-at planned-and-finished-at",
            ),
            (
                "plan-only that failed a policy",
                plan_only,
                &[Start, Launch, changes(true), PolicyCheckEnded(SoftFailed)],
                "plan-queued-at planning-at planned-at policy-soft-failed-at",
            ),
        ];
        for (name, facts, events, expected) in table {
            assert_eq!(keys(*facts, events).join(" "), *expected, "{name}");
        }
    }

    #[test]
    fn every_change_of_the_wire_status_is_dated_and_no_other() {
        for facts in Facts::all() {
            for from in State::all() {
                for event in Event::all() {
                    let Ok(transition) = step(from, facts, event) else { continue };
                    let status = lifecycle::wire::run_status;
                    let dated = !status_timestamps(from, transition.to, transition.rule).is_empty();
                    assert_eq!(dated, status(from) != status(transition.to), "{from:?} {event:?}");
                }
            }
        }
    }
}
