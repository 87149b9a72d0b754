//! Whatever dies, at whatever moment: every run goes on to its right end, applied once, with its state.

use client::{RunAction, Stage};

use crate::policies::{ENDLESS, SOFT};
use crate::support::{Setup, World, auto_apply, processes, terraform, wait_for};

#[tokio::test]
async fn an_apply_survives_the_death_of_the_daemon() {
    let (mut world, run, gate) = Setup::new().applying().await;
    world.kill_daemon();
    assert!(!processes::with_command(world.path(), " apply ").is_empty(), "terraform runs on");
    world.start_daemon();
    assert_eq!(world.run(&run).await.state_name(), "Applying");
    gate.open();
    world.reaches(&run, "Applied").await;
    assert_eq!(gate.arrivals(), 1, "applied once");
    assert_eq!(world.resources("net").await, ["terraform_data.first", "terraform_data.second"]);
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn an_apply_that_ended_while_no_daemon_ran_is_found_with_its_state() {
    let (mut world, run, gate) = Setup::new().applying().await;
    world.kill_daemon();
    gate.open();
    wait_for("the apply is over", async || {
        processes::alive_below(world.path(), None).is_empty().then_some(())
    })
    .await;
    world.start_daemon();
    world.reaches(&run, "Applied").await;
    assert_eq!(gate.arrivals(), 1, "applied once");
    assert_eq!(world.resources("net").await, ["terraform_data.first", "terraform_data.second"]);
}

#[tokio::test]
async fn a_plan_survives_the_death_of_the_daemon() {
    let setup = Setup::new();
    let gate = setup.gate("plan");
    let script = format!("case \" $* \" in *\" plan \"*) {};; esac", gate.wait_command());
    let mut world = setup.workspace_with_script("net", terraform::SIMPLE, &script).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    gate.reached().await;
    world.kill_daemon();
    world.start_daemon();
    gate.open();
    world.reaches(&run, "Applied").await;
    assert_eq!(gate.arrivals(), 1, "planned once");
}

#[tokio::test]
async fn a_run_that_waits_for_confirmation_waits_on_after_the_death_of_the_daemon() {
    let mut world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.kill_daemon();
    world.start_daemon();
    assert_eq!(world.run(&run).await.state_name(), "Needs Confirmation");
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
}

#[tokio::test]
async fn a_policy_check_survives_the_death_of_the_daemon() {
    // so that it is met at work
    let mut world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", SOFT.0, ENDLESS).start();
    let run = world.queue("net").await;
    let checks = |world: &World| {
        let found = processes::with_command(world.path(), " policy-check ");
        found.iter().map(|process| process.pid).collect::<Vec<_>>()
    };
    let at_work =
        wait_for("the check is at work", async || Some(checks(&world)).filter(|pids| !pids.is_empty())).await;
    world.kill_daemon();
    assert_eq!(checks(&world), at_work, "it goes on");
    world.start_daemon();
    assert_eq!(
        (world.run(&run).await.state_name(), checks(&world)),
        ("Policy Check", at_work),
        "and is not begun again"
    );
    world.reaches(&run, "Policy Override").await;
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_cancel_is_carried_out_although_the_daemon_died_right_after_it() {
    let (mut world, run, _gate) = Setup::new().applying().await;
    world.cancel(&run).await;
    world.kill_daemon();
    world.start_daemon();
    world.reaches(&run, "Canceled").await;
    assert!(world.resources("net").await.contains(&"terraform_data.first".to_owned()));
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_daemon_that_is_asked_to_stop_leaves_an_apply_running() {
    let (mut world, run, gate) = Setup::new().applying().await;
    assert!(world.stop_daemon().success());
    assert!(!processes::with_command(world.path(), " apply ").is_empty(), "terraform runs on");
    world.start_daemon();
    gate.open();
    world.reaches(&run, "Applied").await;
}

#[tokio::test]
async fn an_executor_that_is_killed_ends_its_run_errored_with_the_reason_and_the_state_is_kept() {
    let (world, run, _gate) = Setup::new().applying().await;
    processes::kill(world.executor(&run, Stage::Apply));
    let run = world.reaches(&run, "Apply Errored").await;
    assert!(run.error().is_some_and(|error| error.contains("ended without a result")), "{:?}", run.error());
    world.assert_nothing_is_left();
    assert!(world.resources("net").await.contains(&"terraform_data.first".to_owned()));
}

#[tokio::test]
async fn a_terraform_that_is_killed_ends_its_run_errored_and_the_state_is_kept() {
    let (world, run, gate) = Setup::new().applying().await;
    let terraform = processes::with_command(world.path(), " apply ");
    processes::kill(terraform.first().expect("terraform runs").pid);
    let run = world.reaches(&run, "Apply Errored").await;
    assert!(run.error().is_some_and(|error| error.contains("signal 9")), "{:?}", run.error());
    world.assert_nothing_is_left();
    assert!(world.resources("net").await.contains(&"terraform_data.first".to_owned()));
    // and the workspace is not stuck: terraform's own lock file does not outlive the run
    let next = world.queue("net").await;
    gate.open();
    world.reaches(&next, "Needs Confirmation").await;
}

#[tokio::test]
async fn a_second_daemon_on_the_same_data_is_refused() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let output = crate::support::command(&world.home())
        .args(["serve", "--config"])
        .arg(world.config_file())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("is in use by process"), "{words}");
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.act("operator", &run, RunAction::Discard).await.unwrap();
}

#[tokio::test]
async fn a_log_that_nobody_reads_any_more_ends_no_daemon() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.daemon().close_log();
    for last in ["Applied", "No Changes"] {
        let run = world.queue_as("operator", "net", auto_apply()).await;
        world.reaches(&run, last).await;
    }
}
