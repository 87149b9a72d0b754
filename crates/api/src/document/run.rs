//! Runs.

use jiff::Timestamp;
use lifecycle::access::{Action, WorkspaceRights};
use lifecycle::id::RunEventId;
use lifecycle::waiting::WaitsFor;
use lifecycle::{RunVariable, State, wire as status};
use store::{Cancel, Run};
use wire::{
    ApplyAttributes, ConfigurationVersionAttributes, Identifier, NullIfEmpty, PlanAttributes,
    PolicyCheckAttributes, Relationship, RunActions, RunAttributes, RunEventAttributes, RunExtension,
    RunPermissions, RunRelationships, RunState, ShownVariable, WorkspaceAttributes,
};

use super::{policy_check, user};

/// What a run's document shows beside the run itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    /// What the reader may do with it.
    pub(crate) access: WorkspaceRights,
    /// Who reads.
    pub(crate) reader: &'a str,
    /// Its workspace as the config file has it now, which says what is sensitive.
    pub(crate) configured: Option<&'a config::WorkspaceConfig>,
    pub(crate) now: Timestamp,
    /// Whether policy sets apply to its workspace now.
    pub(crate) policies: bool,
    /// How many are ahead of it in the organization's queue, those that run included.
    pub(crate) position: usize,
    /// What it waits for in its queue.
    pub(crate) waits_for: Option<WaitsFor<'a>>,
    /// Its journal; left out of lists, where a link leads to it.
    pub(crate) events: Option<&'a [RunEventId]>,
}

/// The document of a run.
pub(crate) fn resource(run: &Run, view: &View) -> wire::Run {
    let path = format!("/api/v2/runs/{}", run.id);
    let events = view.events.map(|events| events.iter().map(Identifier::of::<RunEventAttributes>).collect());
    let checks = policy_check::exists(run, view.policies)
        .then(|| Identifier::of::<PolicyCheckAttributes>(run.id.policy_check()));
    let configuration = run.configuration_version.map(Identifier::of::<ConfigurationVersionAttributes>);
    let canceled_by = cancel(run).map(|cancel| user::identifier(&cancel.by));
    let relationships = RunRelationships {
        workspace: Relationship::one::<WorkspaceAttributes>(run.workspace),
        plan: Relationship::one::<PlanAttributes>(run.id.plan()).and_related(format!("{path}/plan")),
        apply: Relationship::one::<ApplyAttributes>(run.id.apply()).and_related(format!("{path}/apply")),
        configuration_version: Relationship::optional(configuration),
        policy_checks: Relationship::many(checks.into_iter().collect())
            .and_related(format!("{path}/policy-checks")),
        run_events: events
            .map(Relationship::many)
            .unwrap_or_default()
            .and_related(format!("{path}/run-events")),
        created_by: Relationship::optional(Some(user::identifier(&run.created_by))),
        confirmed_by: Relationship::optional(run.confirmed_by.as_deref().map(user::identifier)),
        canceled_by: Relationship::optional(canceled_by),
        cost_estimate: Relationship::none(),
        task_stages: Relationship::many(vec![]),
        comments: Relationship::many(vec![]),
    };
    wire::Run::new(run.id, attributes(run, view)).related(relationships).link("self", path)
}

/// Somebody's wish that it stops, unless it ended otherwise before that was carried out.
fn cancel(run: &Run) -> Option<&Cancel> {
    run.cancel.as_ref().filter(|_| !run.state.is_final() || matches!(run.state, State::Canceled(_)))
}

fn attributes(run: &Run, view: &View) -> RunAttributes {
    let cancel = cancel(run);
    let cool_off_over = cancel.is_some_and(|cancel| cancel.force_available_at <= view.now);
    let actions = status::actions(run.state, cool_off_over);
    let is_own = view.reader == run.created_by;
    let access = view.access.on_run(is_own, run.state);
    let may = |action| access.allows(action);
    // the raw plan has the same values in it, and needs the same right; who decides sees what is not sensitive
    let all = may(Action::ReadPlanJson) || is_own;
    let open = |name: &str| {
        may(Action::Apply)
            && view.configured.is_some_and(|workspace| !workspace.sensitive_variables.contains_key(name))
    };
    let variable = |RunVariable { key, value }: &RunVariable| ShownVariable {
        key: key.clone(),
        value: (all || open(key)).then(|| value.clone()),
    };
    RunAttributes {
        status: status::run_status(run.state).into(),
        status_timestamps: run.timestamps.clone(),
        actions: RunActions {
            is_cancelable: actions.is_cancelable,
            is_confirmable: actions.is_confirmable,
            is_discardable: actions.is_discardable,
            is_force_cancelable: actions.is_force_cancelable,
        },
        permissions: RunPermissions {
            can_apply: may(Action::Apply),
            can_cancel: may(Action::Cancel),
            can_comment: false,
            can_discard: may(Action::Discard),
            can_force_execute: false,
            can_force_cancel: may(Action::ForceCancel),
            can_override_policy_check: may(Action::OverridePolicies),
        },
        allow_config_generation: false,
        allow_empty_apply: run.facts.allow_empty_apply,
        allow_new_state: run.options.allow_new_state,
        auto_apply: run.facts.auto_apply,
        // nobody's wish, when its workspace was taken away under it
        canceled_at: cancel.map(|cancel| cancel.at).or_else(|| run.timestamps.get("canceled-at").copied()),
        created_at: run.created_at,
        updated_at: run.updated_at,
        debugging_mode: false,
        force_cancel_available_at: cancel.map(|cancel| cancel.force_available_at),
        has_changes: has_changes(run),
        is_destroy: run.facts.destroy,
        message: run.options.message.clone(),
        plan_only: run.facts.plan_only,
        policy_paths: vec![],
        position_in_queue: view.position,
        options: NullIfEmpty(run.options.plan.clone()),
        save_plan: false,
        source: run.source.clone(),
        terraform_version: run.plan.as_ref().map(|plan| plan.terraform_version.clone()),
        trigger_reason: "manual".into(),
        variables: run.options.variables.iter().map(variable).collect(),
        signalbox: RunExtension {
            state: RunState::Known(run.state),
            state_name: run.state.name().into(),
            is_final: run.state.is_final(),
            waits_for: view.waits_for.map(|waits| waits.to_string()),
            error: run.error.clone(),
        },
    }
}

/// False until the plan has finished, then the truth.
pub(crate) fn has_changes(run: &Run) -> bool {
    status::plan_status(run.state) == "finished" && run.plan.as_ref().is_some_and(|plan| plan.has_changes)
}

/// Whether a run in this state has a place in the organization's queue that is worth finding out.
pub(crate) const fn waits(state: State) -> bool {
    matches!(
        state,
        State::Pending | State::Planning(lifecycle::Work::Queued) | State::Applying(lifecycle::Work::Queued)
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lifecycle::{PolicyOutcome, Stage};
    use serde_json::{Value, json};

    use super::super::fixture;
    use super::*;

    fn shown(run: &Run, access: WorkspaceRights) -> Value {
        serde_json::to_value(resource(run, &View { access, ..fixture::view() })).unwrap()
    }

    #[test]
    fn the_document_of_a_run_that_waits_for_confirmation() {
        let run = fixture::planned_run();
        fixture::snapshot("run_needs_confirmation", &resource(&run, &fixture::view()));
    }

    #[test]
    fn the_document_of_a_run_that_was_canceled_in_its_apply() {
        let run = fixture::canceled_run();
        let view = View { events: None, policies: false, ..fixture::view() };
        fixture::snapshot("run_canceled", &resource(&run, &view));
    }

    #[test]
    fn when_and_by_whom_a_run_was_canceled_is_told_of_runs_that_were() {
        let told = |run: &Run| {
            let shown = shown(run, WorkspaceRights::OWNER);
            let by = &shown["relationships"]["canceled-by"]["data"]["id"];
            (shown["attributes"]["canceled-at"].is_string(), by.is_string())
        };
        let canceled = fixture::canceled_run();
        assert_eq!(told(&canceled), (true, true));
        // its workspace was taken away, which nobody asked for
        assert_eq!(told(&Run { cancel: None, ..canceled.clone() }), (true, false));
        // the apply was over before it heard of the wish
        let late = Run { state: State::Applied, timestamps: BTreeMap::new(), ..canceled };
        assert_eq!(told(&late), (false, false));
    }

    #[test]
    fn values_of_variables_are_shown_to_who_may_read_the_raw_plan_and_to_who_gave_them() {
        let value = |reader: &'static str, access| {
            let view = View { access, reader, ..fixture::view() };
            let run = fixture::planned_run();
            serde_json::to_value(resource(&run, &view)).unwrap()["attributes"]["variables"][0].clone()
        };
        let shown = json!({ "key": "region", "value": "\"eu-west-1\"" });
        assert_eq!(value("reader", WorkspaceRights::WRITE), json!({ "key": "region", "value": null }));
        assert_eq!(value("admin", WorkspaceRights::ADMIN), shown);
        assert_eq!(value("operator", WorkspaceRights::PLAN), shown);
    }

    #[test]
    fn permissions_are_the_readers_and_actions_are_the_runs() {
        let run = fixture::planned_run();
        let read = shown(&run, WorkspaceRights::READ);
        let owner = shown(&run, WorkspaceRights::OWNER);
        assert_eq!(read["attributes"]["actions"], owner["attributes"]["actions"]);
        assert_eq!(read["attributes"]["permissions"]["can-apply"], false);
        assert_eq!(owner["attributes"]["permissions"]["can-override-policy-check"], true);
    }

    #[test]
    fn a_policy_check_is_listed_from_the_start_and_never_where_there_are_no_policies() {
        let listed = |state, policies, outcome: Option<PolicyOutcome>| {
            let run = fixture::run_in(state, outcome);
            let view = View { policies, ..fixture::view() };
            let resource = serde_json::to_value(resource(&run, &view)).unwrap();
            resource["relationships"]["policy-checks"]["data"].as_array().unwrap().len() == 1
        };
        assert!(listed(State::Pending, true, None));
        assert!(!listed(State::Pending, false, None));
        // the policies were taken away while it was checked
        assert!(listed(State::PolicyOverride, false, Some(PolicyOutcome::SoftFailed)));
        // policies came after its plan had ended without any
        assert!(!listed(State::NeedsConfirmation, true, None));
        assert!(!listed(State::Applied, true, None));
        // stopped in the check, before it said anything
        assert!(listed(State::Canceled(Stage::PolicyCheck), true, None));
        assert!(listed(State::PlanErrored(Stage::PolicyCheck), false, None));
    }
}
