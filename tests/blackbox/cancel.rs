//! Stopping runs: gracefully, and when nothing else helps.

use client::RunAction;

use crate::support::{Setup, auto_apply, terraform, wait_for};

#[tokio::test]
async fn a_local_exec_that_ignores_signals_and_its_grandchild_are_gone_and_the_state_is_kept() {
    let setup = Setup::new();
    let gate = setup.gate("apply");
    // the child ignores what terraform may send, and so does a grandchild in a session of its own
    let stubborn = format!(
        "trap '' INT TERM HUP; setsid sh -c \\\"trap '' INT TERM HUP; while :; do sleep 0.1; done\\\" & {}",
        gate.wait_command()
    );
    let main = terraform::gated_apply(&gate).replace(&gate.wait_command(), &stubborn);
    let world = setup.workspace("net", &main).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    gate.reached().await;
    world.cancel(&run).await;
    world.reaches(&run, "Canceled").await;
    world.assert_nothing_is_left();
    let resources = world.resources("net").await;
    assert!(resources.contains(&"terraform_data.first".to_owned()), "{resources:?}");
}

#[tokio::test]
async fn a_terraform_that_hangs_is_killed_by_a_force_cancel() {
    let setup = Setup::new().server("cancel_grace = \"1h\"");
    let gate = setup.gate("plan");
    let script = format!(
        "case \" $* \" in *\" plan \"*) trap '' INT TERM; {}; while :; do sleep 0.1; done;; esac",
        gate.wait_command()
    );
    let world = setup.workspace_with_script("net", terraform::SIMPLE, &script).start();
    let run = world.queue("net").await;
    gate.reached().await;
    gate.open();
    let too_early = world.act("admin", &run, RunAction::ForceCancel).await;
    assert!(too_early.is_err(), "a run has to be cancelled first");
    world.cancel(&run).await;
    assert!(world.act("operator", &run, RunAction::ForceCancel).await.is_err(), "it takes an admin");
    wait_for("the force-cancel is accepted", async || {
        world.act("admin", &run, RunAction::ForceCancel).await.ok()
    })
    .await;
    let run = world.reaches(&run, "Canceled").await;
    assert!(run.status_timestamps.contains_key("force-canceled-at"));
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_terraform_that_hangs_is_killed_when_the_grace_period_is_over() {
    let setup = Setup::new().server("cancel_grace = \"200ms\"");
    let fifo = setup.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // the real terraform, which reads a pipe that nobody writes, deaf to signals
    let main = format!("resource \"terraform_data\" \"thing\" {{\n  input = file({fifo:?})\n}}\n");
    let world = setup.workspace("net", &main).start();
    let run = world.queue("net").await;
    wait_for("terraform plan runs", async || {
        let plans = crate::support::processes::with_command(world.path(), " plan ");
        (!plans.is_empty()).then_some(())
    })
    .await;
    world.cancel(&run).await;
    world.reaches(&run, "Canceled").await;
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_second_cancel_is_refused_and_changes_nothing() {
    let (world, run, _gate) = Setup::new().applying().await;
    world.cancel(&run).await;
    // either it is being cancelled, or it is canceled: both say no
    assert!(world.act("operator", &run, RunAction::Cancel).await.is_err());
    world.reaches(&run, "Canceled").await;
    let resources = world.resources("net").await;
    assert!(resources.contains(&"terraform_data.first".to_owned()), "one interrupt, so no state was lost");
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_can_be_cancelled_as_well() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.cancel(&run).await;
    let run = world.run(&run).await;
    assert_eq!(run.state_name(), "Canceled");
    assert!(run.canceled_at.is_some());
    let checks = world.client("operator").policy_checks(&run.id).await.unwrap();
    assert_eq!(checks.len(), 0, "there are no policies, and so there was no check");
}

#[tokio::test]
async fn a_final_run_is_never_relabelled() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let events = world.events(&run).await.len();
    for action in [RunAction::Apply, RunAction::Discard, RunAction::Cancel, RunAction::ForceCancel] {
        let refused = world.act("owner", &run, action).await;
        assert!(matches!(refused, Err(client::ClientError::Conflict(_))), "{action:?}: {refused:?}");
    }
    assert_eq!(world.run(&run).await.state_name(), "Applied");
    assert_eq!(world.events(&run).await.len(), events);
}
