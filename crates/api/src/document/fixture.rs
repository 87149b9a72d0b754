//! Records with fixed ids and times.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, RunEventId, RunId, StateVersionId, WorkspaceId};
use lifecycle::{Facts, PlanOptions, PolicyOutcome, RunVariable, Stage, State, WorkspaceRights};
use serde::Serialize;
use store::{Cancel, Digest, PlanSummary, PolicyCheckRecord, PolicyCounts, Run, RunOptions, Workspace};

use super::run::View;

pub(crate) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + seconds).unwrap()
}

pub(crate) fn run_id() -> RunId {
    RunId::from_entropy([1; 16])
}

pub(crate) fn workspace() -> Workspace {
    Workspace {
        origin: store::Origin::ConfigFile,
        id: WorkspaceId::from_entropy([2; 16]),
        name: "network-prod".into(),
        lock: None,
        current_state_version: Some(StateVersionId::from_entropy([3; 16])),
        state_keeper: None,
        created_at: at(-60),
        updated_at: at(-30),
        access: BTreeMap::new(),
        removed_at: None,
    }
}

pub(crate) fn plan() -> PlanSummary {
    PlanSummary {
        has_changes: true,
        additions: 2,
        changes: 1,
        destructions: 0,
        imports: 0,
        plan_digest: Digest::of(b"plan"),
        plan_json: Some(Digest::of(b"{}")),
        masked_plan_json: None,
        terraform_version: "1.11.4".into(),
    }
}

pub(crate) fn run_in(state: State, outcome: Option<PolicyOutcome>) -> Run {
    Run {
        id: run_id(),
        workspace: workspace().id,
        seq: 7,
        version: 3,
        state,
        facts: Facts { queued_with_apply_right: true, ..Facts::default() },
        options: RunOptions {
            allow_new_state: false,
            message: "a new region".into(),
            ..RunOptions::default()
        },
        source: "tfe-api".into(),
        created_by: "operator".into(),
        confirmed_by: None,
        created_at: at(0),
        updated_at: at(9),
        state_changed_at: at(9),
        timestamps: BTreeMap::new(),
        cancel: None,
        plan: None,
        configuration_version: None,
        error: None,
        logs: BTreeMap::new(),
        damaged: None,
        policy: outcome.map(|outcome| PolicyCheckRecord {
            outcome,
            report: Digest::of(b"report"),
            counts: PolicyCounts { passed: 3, hard_failed: 0, soft_failed: 1, advisory_failed: 2 },
        }),
    }
}

fn stamped(mut run: Run, keys: &[&str]) -> Run {
    run.timestamps = keys.iter().zip(1..).map(|(key, n)| ((*key).to_owned(), at(n))).collect();
    run
}

pub(crate) fn planned_run() -> Run {
    let run = Run {
        plan: Some(plan()),
        configuration_version: Some(ConfigurationVersionId::from_entropy([4; 16])),
        options: RunOptions {
            allow_new_state: false,
            message: "a new region".into(),
            plan: PlanOptions {
                target_addrs: vec!["module.a.terraform_data.b".into()],
                ..PlanOptions::default()
            },
            variables: vec![RunVariable { key: "region".into(), value: "\"eu-west-1\"".into() }],
        },
        ..run_in(State::NeedsConfirmation, None)
    };
    stamped(run, &["plan-queued-at", "planning-at", "planned-at"])
}

pub(crate) fn canceled_run() -> Run {
    let run = Run {
        cancel: Some(Cancel { by: "owner".into(), at: at(6), force_available_at: at(16), forced_at: None }),
        plan: Some(plan()),
        confirmed_by: Some("owner".into()),
        error: Some("terraform apply was interrupted".into()),
        ..run_in(State::Canceled(Stage::Apply), None)
    };
    let keys = [
        "plan-queued-at",
        "planning-at",
        "planned-at",
        "confirmed-at",
        "apply-queued-at",
        "applying-at",
        "canceled-at",
    ];
    stamped(run, &keys)
}

pub(crate) fn soft_failed_run() -> Run {
    let run = Run { plan: Some(plan()), ..run_in(State::PolicyOverride, Some(PolicyOutcome::SoftFailed)) };
    stamped(run, &["plan-queued-at", "planning-at", "planned-at", "policy-soft-failed-at"])
}

const EVENTS: [[u8; 16]; 2] = [[8; 16], [9; 16]];

pub(crate) fn view() -> View<'static> {
    static IDS: std::sync::LazyLock<[RunEventId; 2]> =
        std::sync::LazyLock::new(|| EVENTS.map(RunEventId::from_entropy));
    View {
        access: WorkspaceRights::OWNER,
        reader: "owner",
        configured: None,
        now: at(10),
        policies: false,
        position: 0,
        waits_for: None,
        events: Some(&*IDS),
    }
}

/// Holds a document against its snapshot, whatever order its keys come in.
pub(crate) fn snapshot(name: &str, document: &impl Serialize) {
    insta::with_settings!({ sort_maps => true, prepend_module_to_snapshot => false }, {
        // what is kept as text is JSON to readers
        insta::assert_json_snapshot!(name, serde_json::to_value(document).unwrap());
    });
}
