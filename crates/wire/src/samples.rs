//! Documents for tests, as a daemon would write them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::{State, wire as status};

use crate::{
    ApplyAttributes, Document, Included, NullIfEmpty, One, PlanAttributes, Relationship, Run, RunActions,
    RunAttributes, RunExtension, RunPermissions, RunRelationships, RunState, SettingOverwrites, User,
    UserAttributes, Workspace, WorkspaceActions, WorkspaceAttributes, WorkspaceExtension,
    WorkspacePermissions,
};

/// The run `run-1` of `ws-1` in this state, which `user-1` queued at [`start`] and whose reader may do nothing.
pub fn run(state: State) -> Run {
    let mut run = Run::new("run-1", attributes());
    run.relationships = RunRelationships {
        workspace: Relationship::one::<WorkspaceAttributes>("ws-1"),
        plan: Relationship::one::<PlanAttributes>("plan-1"),
        apply: Relationship::one::<ApplyAttributes>("apply-1"),
        policy_checks: Relationship::many(vec![]),
        created_by: Relationship::one::<UserAttributes>("user-1"),
        ..RunRelationships::default()
    };
    enter(&mut run.attributes, state);
    run
}

/// When the run was queued.
pub fn start() -> Timestamp {
    Timestamp::from_second(1_767_225_600).unwrap_or_default()
}

/// Brings a run into this state, with what can be done in it.
pub fn enter(run: &mut RunAttributes, state: State) {
    run.status = status::run_status(state).into();
    let actions = status::actions(state, false);
    run.actions = RunActions {
        is_cancelable: actions.is_cancelable,
        is_confirmable: actions.is_confirmable,
        is_discardable: actions.is_discardable,
        is_force_cancelable: actions.is_force_cancelable,
    };
    run.signalbox.state = RunState::Known(state);
    run.signalbox.state_name = state.name().into();
    run.signalbox.is_final = state.is_final();
}

/// Whether the reader may do everything with the run, or nothing.
pub const fn permissions(all: bool) -> RunPermissions {
    RunPermissions {
        can_apply: all,
        can_cancel: all,
        can_comment: false,
        can_discard: all,
        can_force_execute: false,
        can_force_cancel: all,
        can_override_policy_check: all,
    }
}

fn attributes() -> RunAttributes {
    RunAttributes {
        status: "pending".into(),
        status_timestamps: BTreeMap::new(),
        actions: RunActions {
            is_cancelable: false,
            is_confirmable: false,
            is_discardable: false,
            is_force_cancelable: false,
        },
        permissions: permissions(false),
        allow_config_generation: false,
        allow_empty_apply: false,
        allow_new_state: false,
        auto_apply: false,
        canceled_at: None,
        created_at: start(),
        updated_at: start(),
        debugging_mode: false,
        force_cancel_available_at: None,
        has_changes: false,
        is_destroy: false,
        message: "why".into(),
        plan_only: false,
        policy_paths: vec![],
        position_in_queue: 0,
        options: NullIfEmpty::default(),
        save_plan: false,
        source: "tfe-api".into(),
        terraform_version: None,
        trigger_reason: "manual".into(),
        variables: vec![],
        signalbox: RunExtension {
            state: RunState::Known(State::Pending),
            state_name: "Pending".into(),
            is_final: false,
            waits_for: None,
            error: None,
        },
    }
}

/// The run with its workspace, `network-prod`, and who queued it, `operator`.
pub fn document(run: Run) -> One<RunAttributes> {
    let mut included = Included::default();
    included.add(&workspace("network-prod"));
    included.add(&User::new("user-1", UserAttributes::named("operator")));
    Document::from(run).including(included)
}

/// The workspace `ws-1`, without a run.
pub fn workspace(name: &str) -> Workspace {
    let attributes = WorkspaceAttributes {
        name: name.into(),
        description: None,
        environment: "default".into(),
        execution_mode: "remote".into(),
        operations: true,
        auto_apply: false,
        auto_apply_run_trigger: false,
        allow_destroy_plan: true,
        assessments_enabled: false,
        auto_destroy_at: None,
        file_triggers_enabled: false,
        global_remote_state: false,
        locked: false,
        locked_reason: String::new(),
        queue_all_runs: true,
        speculative_enabled: true,
        structured_run_output_enabled: false,
        terraform_version: "1.11.4".into(),
        trigger_prefixes: vec![],
        trigger_patterns: vec![],
        tag_names: vec![],
        vcs_repo: None,
        vcs_repo_identifier: None,
        working_directory: String::new(),
        source: "tfe-api".into(),
        source_name: None,
        source_url: None,
        setting_overwrites: SettingOverwrites { execution_mode: true, agent_pool: true },
        created_at: start(),
        updated_at: start(),
        latest_change_at: start(),
        actions: WorkspaceActions { is_destroyable: false },
        permissions: WorkspacePermissions::default(),
        signalbox: WorkspaceExtension {
            state_kept_by: None,
            source: None,
            terraform_version_unknown: None,
            locked_at: None,
            removed_at: None,
        },
    };
    Workspace::new("ws-1", attributes)
}
