//! Actors that fail, by faults that are compiled into test builds only.

use client::{NewRun, Run, RunAction};

use crate::support::{Gate, Setup, World, auto_apply, processes, terraform, wait_for};

#[tokio::test]
async fn a_run_actor_that_panics_is_restarted_and_attaches_to_its_terraform_again() {
    let (world, run, gate) = Setup::new().applying().await;
    world.arm("run-actor", 2);
    wait_for("the actor has panicked twice", async || world.has_struck("run-actor").then_some(())).await;
    gate.open();
    world.reaches(&run, "Applied").await;
    assert_eq!(gate.arrivals(), 1, "applied once");
}

#[tokio::test]
async fn a_run_actor_that_panics_before_the_launch_or_the_conclusion_loses_nothing() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    for point in ["run-actor-launch", "run-actor-conclude"] {
        world.arm(point, 1);
        let run = world.queue_as("operator", "net", auto_apply()).await;
        let run = world.ends(&run).await;
        assert!(["Applied", "No Changes"].contains(&run.state_name()), "{point}: {}", run.state_name());
        assert!(world.has_struck(point), "{point} was passed");
    }
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
}

#[tokio::test]
async fn a_workspace_actor_that_panics_is_restarted_and_its_queue_goes_on() {
    let setup = Setup::new();
    let gate = setup.gate("apply");
    let world = setup.workspace("net", &terraform::gated_apply(&gate)).start();
    let first = world.queue_as("operator", "net", auto_apply()).await;
    let second = world.queue_as("operator", "net", auto_apply()).await;
    gate.reached().await;
    world.arm("workspace-actor", 2);
    wait_for("the actor has panicked twice", async || world.has_struck("workspace-actor").then_some(()))
        .await;
    gate.open();
    world.reaches(&first, "Applied").await;
    world.reaches(&second, "No Changes").await;
    assert_eq!(gate.arrivals(), 1, "applied once");
}

/// As often as the supervisor restarts an actor, and once more.
const TOO_OFTEN: u32 = 6;

#[tokio::test]
async fn a_run_that_always_crashes_its_actor_ends_errored_and_its_workspace_goes_on() {
    let setup = Setup::new();
    let gate = setup.gate("plan");
    let script = format!("case \" $* \" in *\" plan \"*) {};; esac", gate.wait_command());
    let world = setup
        .workspace_with_script("net", terraform::SIMPLE, &script)
        .workspace("other", terraform::SIMPLE)
        .start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    gate.reached().await;
    world.arm("run-actor", TOO_OFTEN);
    let run = world.ends(&run).await;
    assert_eq!(run.state_name(), "Plan Errored");
    assert!(run.error().is_some_and(|error| error.contains("fault injected")), "{:?}", run.error());
    world.assert_nothing_is_left();
    gate.open();
    let next = world.queue("net").await;
    world.reaches(&next, "Needs Confirmation").await;
    let other = world.queue_as("operator", "other", auto_apply()).await;
    world.reaches(&other, "Applied").await;
}

#[tokio::test]
async fn an_apply_is_never_killed_for_a_fault_of_the_daemon() {
    let (world, run, gate) = Setup::new().applying().await;
    world.arm("run-actor", TOO_OFTEN);
    wait_for("the actor has panicked too often", async || world.has_struck("run-actor").then_some(())).await;
    assert!(!processes::with_command(world.path(), " apply ").is_empty(), "terraform runs on");
    gate.open();
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.first", "terraform_data.second"]);
}

#[tokio::test]
async fn a_state_that_was_taken_is_not_reported_lost_when_it_is_taken_again() {
    // a stand-in for an apply that could write its first state, and could not replace it with its last
    let world = Setup::new()
        .workspace_with_script(
            "net",
            terraform::SIMPLE,
            "case \" $* \" in *\" apply \"*) terraform \"$@\"; root=\"$PWD\"; \
             sed 's/\"serial\": [0-9]*/\"serial\": 9/' \"$root/terraform.tfstate\" > \"$root/errored.tfstate\"; exit 1;; esac",
        )
        .start();
    world.arm("run-actor-record", 1);
    let run =
        world.queue_as("operator", "net", NewRun { auto_apply: Some(false), ..NewRun::default() }).await;
    world.reaches(&run, "Needs Confirmation").await;
    assert!(world.has_struck("run-actor-record"), "the end of the plan was recorded the second time");
    world.arm("run-actor-record", 1);
    world.confirm(&run).await;
    let run = world.reaches(&run, "Apply Errored").await;
    assert!(world.has_struck("run-actor-record"), "the state was taken twice");
    assert_eq!(run.error(), Some("terraform apply exited with 1"));
    assert_eq!(world.state("net").await.unwrap()["serial"], 9);
    assert!(!world.workspace("net").await.locked);
}

/// Has the actor of the run that is under way fail until it is given up.
async fn give_up(world: &World) {
    world.arm("run-actor", TOO_OFTEN);
    wait_for("the run is given up", async || world.daemon().log().contains("again and again").then_some(()))
        .await;
}

/// A run in the middle of its apply whose actor is given up, and waited for without one.
async fn given_up(setup: Setup) -> (World, Run, Gate) {
    let (world, run, gate) = setup.applying().await;
    give_up(&world).await;
    // a run that passes by the others shows that the daemon has gone on since
    let plan_only =
        world.queue_as("planner", "net", NewRun { plan_only: Some(true), ..NewRun::default() }).await;
    world.reaches(&plan_only, "Planned and Finished").await;
    (world, run, gate)
}

#[tokio::test]
async fn an_apply_whose_actor_was_given_up_is_still_canceled() {
    let (world, run, _gate) = given_up(Setup::new()).await;
    world.cancel(&run).await;
    world.reaches(&run, "Canceled").await;
    assert!(
        world.resources("net").await.contains(&"terraform_data.first".to_owned()),
        "one interrupt, and its state"
    );
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn an_apply_whose_actor_was_given_up_is_still_killed_by_a_force_cancel() {
    let setup = Setup::new().server("cancel_grace = \"1h\"");
    let gate = setup.gate("deaf");
    let deaf = format!(
        "case \" $* \" in *\" apply \"*) trap '' INT TERM; {}; while :; do sleep 0.1; done;; esac",
        gate.wait_command()
    );
    let world = setup.workspace_with_script("net", terraform::SIMPLE, &deaf).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    gate.reached().await;
    give_up(&world).await;
    world.cancel(&run).await;
    wait_for("the force-cancel is accepted", async || {
        world.act("admin", &run, RunAction::ForceCancel).await.ok()
    })
    .await;
    world.reaches(&run, "Canceled").await;
    world.assert_nothing_is_left();
}

/// A terraform that does this to the files of its own run, in its directory, when it runs the command.
fn meddling(command: &str, what: &str) -> String {
    format!(
        "case \" $* \" in *\" {command} \"*) terraform \"$@\"; code=$?; cd \"../../../runs/$TFC_RUN_ID\"; {what}; exit $code;; esac"
    )
}

#[tokio::test]
async fn a_plan_whose_files_are_gone_or_no_files_ends_errored_and_its_workspace_goes_on() {
    let table = [
        ("variables", "show", "rm terraform/variables.tfvars.json", "variables.tfvars.json is gone"),
        ("json", "show", "rm plan.json; mkfifo plan.json", "plan.json is not a regular file"),
        (
            "plan",
            "plan",
            "mv terraform/plan.tfplan p; ln -s ../p terraform/plan.tfplan",
            "plan.tfplan is not a regular file",
        ),
        (
            "archive",
            "show",
            "rm configuration.tar.gz; mkdir configuration.tar.gz",
            "configuration.tar.gz is not a regular file",
        ),
        ("report", "show", "rm taken.json; mkfifo taken.json", "taken.json is not a regular file"),
    ];
    // as on a kernel that can't keep them from it
    let mut setup = Setup::new().server("isolation = \"off\"");
    for (name, command, what, _) in table {
        setup = setup.workspace_with_script(name, terraform::SIMPLE, &meddling(command, what));
    }
    let world = setup.start();
    for (name, .., why) in table {
        let run = world.queue(name).await;
        let run = world.reaches(&run, "Plan Errored").await;
        assert!(run.error().is_some_and(|error| error.contains(why)), "{name}: {:?}", run.error());
        world.assert_nothing_is_left();
    }
}

#[tokio::test]
async fn an_apply_ends_whatever_became_of_its_log() {
    let world = Setup::new()
        .server("isolation = \"off\"")
        .workspace_with_script(
            "pipe",
            terraform::SIMPLE,
            &meddling("apply", "rm apply/log; mkfifo apply/log"),
        )
        .workspace_with_script(
            "link",
            terraform::SIMPLE,
            &meddling("apply", "rm apply/log; ln -s / apply/log"),
        )
        .start();
    for name in ["pipe", "link"] {
        let run = world.queue_as("operator", name, auto_apply()).await;
        world.reaches(&run, "Applied").await;
        assert_eq!(world.resources(name).await, ["terraform_data.thing"]);
        assert_eq!(world.client("reader").log(&run, client::Stage::Apply).await.unwrap(), b"", "{name}");
    }
}
