//! The names that people see and the progress of stages are read from the wire. The daemon writes the wire from its
//! states: both ways have to lead to the same words.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

use client::{Client, Progress, Run, Stage};
use lifecycle::{Execution, PolicyOutcome, State, Work, wire};
use serde_json::{Value, json};

mod server;
use server::Server;

/// The document of a run in that state, as the daemon writes it.
fn document(state: State, policies: bool, included: bool) -> Value {
    let has_changes = !matches!(
        state,
        State::NoChanges
            | State::Pending
            | State::Planning(_)
            | State::PlanErrored(lifecycle::Stage::Plan)
            | State::Discarded(lifecycle::Stage::Pending)
            | State::Canceled(lifecycle::Stage::Pending | lifecycle::Stage::Plan)
    );
    let at = "2026-01-01T00:00:00Z";
    let mut timestamps = serde_json::Map::new();
    if wire::plan_status(state) != "unreachable" && state != State::Pending {
        timestamps.insert("planning-at".into(), json!(at));
    }
    if !matches!(wire::apply_status(state), "unreachable" | "pending" | "queued") {
        timestamps.insert("applying-at".into(), json!(at));
    }
    let checks = if policies { json!([{ "type": "policy-checks", "id": "polchk-1" }]) } else { json!([]) };
    let parts = json!([
        { "type": "plans", "id": "plan-1", "attributes": { "status": wire::plan_status(state) } },
        { "type": "applies", "id": "apply-1", "attributes": { "status": wire::apply_status(state) } },
    ]);
    json!({
        "data": {
            "type": "runs",
            "id": "run-1",
            "attributes": {
                "status": wire::run_status(state),
                "status-timestamps": timestamps,
                "created-at": at,
                "has-changes": has_changes,
            },
            "relationships": {
                "plan": { "data": { "type": "plans", "id": "plan-1" } },
                "apply": { "data": { "type": "applies", "id": "apply-1" } },
                "policy-checks": { "data": checks },
            },
        },
        "included": if included { parts } else { json!([]) },
    })
}

/// What the client makes of it.
async fn read(state: State, policies: bool, included: bool) -> Run {
    let body = document(state, policies, included).to_string();
    let server = Server::start(move |_| vec![server::json("200 OK", &body)]).await;
    Client::new(&server.address(), "token").unwrap().run("run-1").await.unwrap()
}

#[tokio::test]
async fn every_state_has_the_name_that_the_daemon_gives_it() {
    for state in State::all() {
        for included in [true, false] {
            let run = read(state, false, included).await;
            assert_eq!(run.state_name(), state.name(), "{state:?}, included: {included}");
            assert_eq!(run.is_final(), state.is_final(), "{state:?}");
        }
    }
}

/// How far a run in that state is with a stage, as its state says.
fn progress(state: State, stage: Stage, policies: bool) -> Progress {
    use lifecycle::Stage::{Apply, Pending, Plan, PolicyCheck};
    let of = |begun| if begun { Progress::Begun } else { Progress::Never };
    let reached = match state {
        State::Pending | State::Planning(Work::Queued) => Pending,
        State::Applying(Work::Queued) => PolicyCheck,
        State::NeedsConfirmation => Plan,
        other => other.stage(),
    };
    match stage {
        Stage::Plan if reached == Pending && !state.is_final() => Progress::Ahead,
        // canceled in the queue for a slot counts as canceled in the plan
        Stage::Plan => of(reached >= Plan),
        Stage::PolicyCheck if !policies => Progress::Never,
        Stage::PolicyCheck
            if !state.is_final() && reached < PolicyCheck && state != State::NeedsConfirmation =>
        {
            Progress::Ahead
        }
        // declined after the check, which is why there is one
        Stage::PolicyCheck if state == State::Discarded(Plan) => Progress::Begun,
        Stage::PolicyCheck if state == State::PlannedAndFinished => Progress::Begun,
        Stage::PolicyCheck => of(reached >= PolicyCheck),
        Stage::Apply if !state.is_final() && !matches!(state, State::Applying(Work::Executing(_))) => {
            Progress::Ahead
        }
        Stage::Apply => of(reached == Apply),
    }
}

#[tokio::test]
async fn every_state_says_which_logs_there_are() {
    for state in State::all() {
        for policies in [true, false] {
            for included in [true, false] {
                let run = read(state, policies, included).await;
                for stage in Stage::ALL {
                    assert_eq!(
                        run.progress(stage),
                        progress(state, stage, policies),
                        "{state:?} {stage} policies: {policies} included: {included}"
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_final_run_has_nothing_ahead() {
    for state in State::all().into_iter().filter(|state| state.is_final()) {
        let run = read(state, true, true).await;
        assert!(Stage::ALL.into_iter().all(|stage| run.progress(stage) != Progress::Ahead), "{state:?}");
    }
}

#[test]
fn stages_have_the_names_of_the_daemon() {
    let ours = Stage::ALL.map(Stage::as_str);
    assert_eq!(ours, lifecycle::Stage::EXECUTED.map(lifecycle::Stage::as_str));
    assert_eq!("apply".parse(), Ok(Stage::Apply));
    assert!("Apply".parse::<Stage>().is_err());
    // both are in the wire's words for an execution
    assert_eq!(wire::run_status(State::PolicyCheck(Execution::Running)), "policy_checking");
    assert_eq!(
        wire::policy_check_status(State::PolicyOverride, Some(PolicyOutcome::SoftFailed)),
        "soft_failed"
    );
}
