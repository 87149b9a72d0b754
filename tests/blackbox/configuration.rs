//! The config file while the daemon runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use client::{NewRun, RunAction};
use rustix::process::Signal;

use crate::support::{Setup, auto_apply, terraform, wait_for};

#[tokio::test]
async fn a_changed_file_is_taken_over_without_a_restart() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    let source = world.source("added");
    std::fs::create_dir_all(&source).unwrap();
    std::fs::write(source.join("main.tf"), terraform::SIMPLE).unwrap();
    let added = config.split("workspace \"net\"").nth(1).unwrap().replace("sources/net", "sources/added");
    std::fs::write(world.config_file(), format!("{config}\nworkspace \"added\"{added}")).unwrap();
    let run = world.queue("added").await;
    world.reaches(&run, "Needs Confirmation").await;
}

#[tokio::test]
async fn a_change_is_taken_over_although_something_beside_the_file_is_never_quiet() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let (noise, over) = (world.path().join("noise"), Arc::new(AtomicBool::new(false)));
    let busy = std::thread::spawn({
        let over = over.clone();
        move || {
            while !over.load(Ordering::Relaxed) {
                std::fs::write(&noise, "x").unwrap();
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    });
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    std::fs::write(world.config_file(), config.replace("acme", "umbrella")).unwrap();
    wait_for("the file is taken over", async || world.daemon().log().contains("taken over").then_some(()))
        .await;
    over.store(true, Ordering::Relaxed);
    busy.join().unwrap();
    // which is no reason for a restart
    assert_eq!(world.client("owner").organization().await.unwrap(), "umbrella");
    assert!(!world.daemon().log().contains("restart the daemon"));
}

#[tokio::test]
async fn a_bad_file_changes_nothing_and_is_reported_with_its_place() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    std::fs::write(
        world.config_file(),
        config.replace("auto_apply", "auto_aply").replace("operators = \"write\"", "operators = \"wriet\""),
    )
    .unwrap();
    world.daemon().signal(Signal::HUP);
    wait_for("the mistake is reported", async || world.daemon().log().contains("wriet").then_some(())).await;
    assert!(world.daemon().log().contains("signalbox.hcl:"));
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
}

#[tokio::test]
async fn a_run_of_a_workspace_that_is_removed_goes_on_to_its_end() {
    let setup = Setup::new();
    let gate = setup.gate("apply");
    let world =
        setup.workspace("stays", terraform::SIMPLE).workspace("goes", &terraform::gated_apply(&gate)).start();
    let run =
        world.queue_as("operator", "goes", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    let waiting = world.queue("goes").await;
    gate.reached().await;
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    let kept = config.split("workspace \"goes\"").next().unwrap();
    std::fs::write(world.config_file(), kept).unwrap();
    // what had not started can't start any more
    world.reaches(&waiting, "Canceled").await;
    gate.open();
    world.reaches(&run, "Applied").await;
    assert!(world.client("stranger").workspace("goes").await.is_err());
}

/// The configuration without the workspace, which is the last in the file.
fn without(workspace: &str) -> impl FnOnce(String) -> String {
    let block = format!("workspace {workspace:?}");
    move |config| config.split(&block).next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_workspace_that_is_removed_keeps_its_people_until_its_runs_are_over() {
    let world =
        Setup::new().workspace("stays", terraform::SIMPLE).workspace("goes", terraform::SIMPLE).start();
    let run = world.queue("goes").await;
    world.reaches(&run, "Needs Confirmation").await;
    let pending = world.queue("goes").await;
    world.change_config(without("goes")).await;
    let pending = world.reaches(&pending, "Canceled").await;
    assert!(pending.canceled_at.is_some());
    let operator = world.client("operator");
    assert_eq!(operator.run(&run.id).await.unwrap().state_name(), "Needs Confirmation");
    assert!(world.client("stranger").run(&run.id).await.is_err());
    let queued = operator.create_run(run.workspace_id().unwrap_or_default(), &NewRun::default()).await;
    assert!(queued.is_err(), "nothing new is queued there");
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(operator.run(&run.id).await.unwrap().state_name(), "Applied", "they see how it ended");
}

#[tokio::test]
async fn a_removed_workspace_costs_nothing_when_its_runs_are_over_and_works_when_it_is_back() {
    let world =
        Setup::new().workspace("stays", terraform::SIMPLE).workspace("goes", terraform::SIMPLE).start();
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    let run = world.queue("goes").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.change_config(without("goes")).await;
    world.act("operator", &run, RunAction::Discard).await.unwrap();
    wait_for("its actor has ended", async || {
        world.daemon().log().contains("nothing is left to do").then_some(())
    })
    .await;
    world.change_config(|_| config).await;
    let again = world.queue("goes").await;
    world.reaches(&again, "Needs Confirmation").await;
}

#[tokio::test]
async fn a_run_that_nobody_is_left_to_decide_on_is_canceled_when_its_workspace_is_removed() {
    let world =
        Setup::new().workspace("stays", terraform::SIMPLE).workspace("goes", terraform::SIMPLE).start();
    let run = world.queue("goes").await;
    world.reaches(&run, "Needs Confirmation").await;
    world
        .change_config(|config| {
            without("goes")(config)
                .replace("team \"owners\"", "team \"nobodies\"")
                .replace("team \"operators\"", "team \"former\"")
                .replace("team \"admins\"", "team \"onlookers\"")
                .replace("operators = \"write\"", "former = \"read\"")
                .replace("admins = \"admin\"", "onlookers = \"read\"")
        })
        .await;
    let reader = world.client("reader");
    let run =
        wait_for("the run is over", async || reader.run(&run.id).await.ok().filter(client::Run::is_final))
            .await;
    assert_eq!(run.state_name(), "Canceled");
    let events = reader.run_events(&run.id).await.unwrap();
    let why = events.iter().any(|event| event.description.contains("nobody is left"));
    assert!(why, "{events:?}");
}

#[tokio::test]
async fn a_run_keeps_the_settings_with_which_its_plan_started() {
    let setup = Setup::new();
    let seen = setup.path().join("seen");
    let main = format!(
        "resource \"terraform_data\" \"thing\" {{\n  provisioner \"local-exec\" {{\n    command = \"echo $COLOUR > {}\"\n  }}\n}}\n",
        seen.display()
    );
    let world = setup
        .workspace_with("net", &main, |workspace| workspace.with("environment = { COLOUR = \"red\" }"))
        .start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let config = std::fs::read_to_string(world.config_file()).unwrap();
    std::fs::write(world.config_file(), config.replace("red", "blue")).unwrap();
    wait_for("the file is taken over", async || world.daemon().log().contains("taken over").then_some(()))
        .await;
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(std::fs::read_to_string(seen).unwrap().trim(), "red");
}

#[tokio::test]
async fn terraform_runs_in_a_folder_of_the_source_with_modules_beside_it() {
    let setup = Setup::new().workspace_with("net", "this is no terraform", |workspace| {
        workspace.with("working_directory = \"live/prod\"")
    });
    let source = setup.path().join("sources/net");
    for (file, content) in [
        ("live/prod/main.tf", "module \"thing\" {\n  source = \"../../modules/thing\"\n}\n"),
        ("modules/thing/main.tf", terraform::SIMPLE),
    ] {
        let path = source.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    let world = setup.start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
    // the next one finds the state there
    let unchanged = world.queue("net").await;
    world.reaches(&unchanged, "No Changes").await;
    assert_eq!(world.workspace("net").await.working_directory, "live/prod");
}

#[tokio::test]
async fn a_workspace_says_which_terraform_it_uses_or_why_that_is_not_known() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .workspace_with("odd", terraform::SIMPLE, |workspace| {
            workspace.with("terraform = \"/nowhere/terraform\"")
        })
        .start();
    let known = wait_for("terraform was asked", async || {
        Some(world.workspace("net").await).filter(|workspace| workspace.terraform_version != "latest")
    })
    .await;
    let said = std::process::Command::new("terraform")
        .env_remove("TF_CLI_CONFIG_FILE")
        .args(["version", "-json"])
        .output()
        .expect("terraform runs");
    let said: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap();
    assert_eq!(known.terraform_version, said["terraform_version"].as_str().unwrap());
    assert_eq!(known.terraform_version_unknown(), None);
    let odd = world.workspace("odd").await;
    assert_eq!(odd.terraform_version, "latest");
    let why = odd.terraform_version_unknown().unwrap();
    assert!(why.contains("/nowhere/terraform is not there"), "{why}");
}

#[tokio::test]
async fn a_run_is_made_with_the_settings_that_its_workspace_had_when_it_was_queued() {
    let main = "variable \"color\" {}\noutput \"color\" {\n  value = var.color\n}\n";
    let world =
        Setup::new().workspace_with("net", main, |net| net.with("variables = { color = \"red\" }")).start();
    // a run that waits for a person holds the workspace while its settings change
    let first = world.queue("net").await;
    world.reaches(&first, "Needs Confirmation").await;
    let second = world.queue_as("operator", "net", auto_apply()).await;
    world.change_config(|config| config.replace("color = \"red\"", "color = \"blue\"")).await;
    world.act("operator", &first, RunAction::Discard).await.unwrap();
    world.reaches(&second, "Applied").await;
    let color = async || world.state("net").await.unwrap()["outputs"]["color"]["value"].clone();
    assert_eq!(color().await, "red", "it was queued before the change");
    let third = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&third, "Applied").await;
    assert_eq!(color().await, "blue");
}
