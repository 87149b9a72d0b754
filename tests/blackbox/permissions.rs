//! Who may do what.

use client::{ClientError, NewRun, RunAction};

use crate::policies::SOFT;
use crate::support::{Setup, auto_apply, terraform};

fn not_found<T: std::fmt::Debug>(result: Result<T, ClientError>) -> bool {
    matches!(result, Err(ClientError::NotFound(_)))
}

#[tokio::test]
async fn a_run_queued_with_plan_rights_is_never_auto_applied() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| workspace.with("auto_apply = true"))
        .start();
    let run = world.queue_as("planner", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    world.reaches(&run, "Needs Confirmation").await;
    assert!(not_found(world.act("planner", &run, RunAction::Apply).await), "nor may they confirm it");
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
}

#[tokio::test]
async fn each_action_needs_its_level() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    assert!(not_found(world.try_queue("reader", "net", NewRun::default()).await));
    let run = world.queue_as("operator", "net", NewRun::default()).await;
    world.reaches(&run, "Needs Confirmation").await;
    assert_eq!(world.client("reader").run(&run.id).await.unwrap().state_name(), "Needs Confirmation");
    for user in ["reader", "planner", "stranger"] {
        for action in [RunAction::Apply, RunAction::Discard, RunAction::Cancel, RunAction::ForceCancel] {
            assert!(not_found(world.act(user, &run, action).await), "{user} {action:?}");
        }
    }
    assert_eq!(world.run(&run).await.state_name(), "Needs Confirmation");
}

#[tokio::test]
async fn who_queued_a_run_may_take_it_back_until_it_is_applied() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    for (action, state) in [(RunAction::Discard, "Discarded"), (RunAction::Cancel, "Canceled")] {
        let run = world.queue_as("planner", "net", NewRun::default()).await;
        world.reaches(&run, "Needs Confirmation").await;
        assert!(not_found(world.act("planner", &run, RunAction::Apply).await), "it is no confirmation");
        world.act("planner", &run, action).await.unwrap();
        world.reaches(&run, state).await;
    }
}

#[tokio::test]
async fn who_has_no_access_sees_nothing() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let stranger = world.client("stranger");
    assert_eq!(stranger.all_workspaces().await.unwrap().len(), 0);
    assert!(not_found(stranger.workspace("net").await));
    assert!(not_found(stranger.run(&run.id).await));
    assert!(not_found(stranger.plan(run.plan_id().unwrap()).await));
    assert!(not_found(stranger.run_events(&run.id).await));
}

#[tokio::test]
async fn a_bad_token_is_told_apart_from_what_may_not_be_seen() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let client = client::Client::new(&world.daemon().address, "nobody's").unwrap();
    assert!(matches!(client.workspace("net").await, Err(ClientError::Unauthorized { .. })));
}

#[tokio::test]
async fn ones_own_lock_needs_write_and_another_s_needs_admin() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let workspace = world.workspace("net").await;
    assert!(not_found(world.client("planner").lock_workspace(&workspace.id, "").await));
    world.client("operator").lock_workspace(&workspace.id, "mine").await.unwrap();
    let refused = world.client("admin").unlock_workspace(&workspace.id).await;
    assert!(matches!(refused, Err(ClientError::Conflict(_))), "{refused:?}");
    assert!(not_found(world.client("operator").force_unlock_workspace(&workspace.id).await));
    world.client("admin").force_unlock_workspace(&workspace.id).await.unwrap();
    assert!(!world.workspace("net").await.locked);
}

#[tokio::test]
async fn a_run_is_not_auto_applied_for_somebody_who_has_lost_the_right() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .workspace("soft", terraform::SIMPLE)
        .policy_set("rules", "soft", SOFT.0, SOFT.1)
        .start();
    let holder = world.queue_as("owner", "net", NewRun::default()).await;
    world.reaches(&holder, "Needs Confirmation").await;
    let behind = world.queue_as("operator", "net", auto_apply()).await;
    let checked = world.queue_as("operator", "soft", auto_apply()).await;
    world.reaches(&checked, "Policy Override").await;
    world.change_config(|config| config.replace("operators = \"write\"", "operators = \"plan\"")).await;
    world.act("owner", &holder, RunAction::Discard).await.unwrap();
    world.reaches(&behind, "Needs Confirmation").await;
    world.override_policies("owner", &checked).await.unwrap();
    world.reaches(&checked, "Policy Checked").await;
    // what would be done by itself was done by now
    world.act("owner", &behind, RunAction::Apply).await.unwrap();
    world.reaches(&behind, "Applied").await;
    assert_eq!(world.run(&checked).await.state_name(), "Policy Checked");
}
