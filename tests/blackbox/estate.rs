//! An estate that exists comes in without being built twice.

use std::path::{Path, PathBuf};

use client::{NewRun, Run, Stage};
use serde_json::json;

use crate::support::{Setup, World, auto_apply, terraform};

fn state(serial: u64) -> String {
    json!({
        "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "of-the-estate",
        "outputs": { "size": { "value": "small", "type": "string" } },
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "thing",
            "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{ "schema_version": 0, "attributes": {
                "id": "made-by-hand", "input": { "value": "small", "type": "string" },
                "output": { "value": "small", "type": "string" }, "triggers_replace": null,
            } }],
        }],
        "check_results": null,
    })
    .to_string()
}

fn with_backend(block: &str) -> String {
    format!("terraform {{\n{block}\n}}\n{}", terraform::SIMPLE)
}

/// A world with one workspace whose source has these files beside its configuration.
fn world(main: &str, files: &[(&str, &str)]) -> World {
    let world = Setup::new().workspace("net", main).start();
    for (name, content) in files {
        let path = world.source("net").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
    world
}

/// A run that could apply by itself stops before it plans.
async fn assert_stops(world: &World, found: &str, command: &str) -> Run {
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Plan Errored").await;
    let words = run.error().unwrap_or_default();
    assert!(words.contains(found), "{words}");
    assert!(words.contains(command) && words.contains("--allow-new-state"), "{words}");
    let log = world.log(&run, Stage::Plan).await;
    assert!(log.contains(command) && !log.contains("terraform_data.thing"), "{log}");
    run
}

fn cli(world: &World, arguments: &[&str]) -> String {
    let done = world.cli("admin").args(arguments).output().unwrap();
    let words = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert!(done.status.success(), "{arguments:?}: {words}");
    words
}

fn bring_in(world: &World, file: &Path) {
    cli(world, &["workspace", "lock", "net"]);
    cli(world, &["state", "push", "net", file.to_str().unwrap()]);
    cli(world, &["workspace", "unlock", "net"]);
}

#[tokio::test]
async fn a_workspace_without_state_stops_where_its_source_has_one_and_goes_on_from_it_when_it_is_brought_in()
{
    let estate = state(5);
    for (file, main) in [
        ("terraform.tfstate", terraform::SIMPLE.to_owned()),
        ("errored.tfstate", terraform::SIMPLE.to_owned()),
        ("terraform.tfstate.backup", terraform::SIMPLE.to_owned()),
        ("terraform.tfstate.d/prod/terraform.tfstate", terraform::SIMPLE.to_owned()),
        ("state/prod.tfstate", with_backend("  backend \"local\" {\n    path = \"state/prod.tfstate\"\n  }")),
        ("terraform.tfstate", with_backend("  cloud {\n    organization = \"acme\"\n  }")),
    ] {
        // also where it is not part of the configuration
        let world = world(&main, &[(file, &estate), (".terraformignore", "*.tfstate\nstate/\n")]);
        let path = world.source("net").join(file);
        let command = format!("signalbox state push net {}", path.display());
        assert_stops(&world, "serial 5, 1 resource", &command).await;
        bring_in(&world, &path);
        let run = world.queue("net").await;
        world.reaches(&run, "No Changes").await;
    }
}

#[tokio::test]
async fn what_keeps_the_state_elsewhere_stops_the_first_run() {
    let remote = "  backend \"remote\" {\n    organization = \"acme\"\n    workspaces {\n      name = \"net\"\n    }\n  }";
    for (main, files, found) in [
        (with_backend("  cloud {\n    organization = \"acme\"\n  }"), vec![], "the cloud block"),
        (with_backend(remote), vec![], "the backend \"remote\""),
        (
            terraform::SIMPLE.to_owned(),
            vec![(".terraform/terraform.tfstate", r#"{"version":3,"backend":{"type":"s3","config":{}}}"#)],
            "the backend \"s3\"",
        ),
        (terraform::SIMPLE.to_owned(), vec![("terraform.tfstate", "{ not a state")], "can't be read"),
    ] {
        let world = world(&main, &files);
        assert_stops(&world, found, "signalbox state push net ").await;
        // a person who knows better goes on, once
        let run = NewRun { allow_new_state: true, ..auto_apply() };
        let run = world.queue_as("operator", "net", run).await;
        world.reaches(&run, "Applied").await;
        let run = world.queue("net").await;
        world.reaches(&run, "No Changes").await;
    }
}

#[tokio::test]
async fn an_empty_state_and_one_of_something_else_stop_nothing() {
    let empty =
        json!({ "version": 4, "serial": 9, "lineage": "x", "outputs": {}, "resources": [] }).to_string();
    let world = world(
        terraform::SIMPLE,
        &[
            ("terraform.tfstate", &empty),
            ("data/other.tfstate", &state(1)),
            ("modules/x/terraform.tfstate", &state(1)),
        ],
    );
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
}

#[tokio::test]
async fn a_state_in_a_repository_stops_the_first_run_too() {
    let setup = Setup::new();
    let repository = setup.path().join("repository");
    std::fs::create_dir_all(&repository).unwrap();
    std::fs::write(repository.join("main.tf"), terraform::SIMPLE).unwrap();
    std::fs::write(repository.join("terraform.tfstate"), state(7)).unwrap();
    for arguments in [
        vec!["init", "--quiet", "--initial-branch=main"],
        vec!["add", "--force", "."],
        vec!["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "first"],
    ] {
        let git = std::process::Command::new("git").current_dir(&repository).args(arguments).status();
        assert!(git.unwrap().success());
    }
    let block = format!(
        "workspace \"net\" {{\n  source \"git\" {{ url = \"file://{}\" }}\n  access = {{ operators = \"write\" }}\n}}",
        repository.display()
    );
    let world = setup.block(&block).start();
    assert_stops(
        &world,
        "terraform.tfstate (serial 7, 1 resource)",
        "signalbox state push net terraform.tfstate",
    )
    .await;
}

/// A backend that keeps a state by itself: a file of this machine at an absolute path is one.
fn absolute(file: &Path) -> String {
    with_backend(&format!("  backend \"local\" {{\n    path = {file:?}\n  }}"))
}

#[tokio::test]
async fn a_state_is_neither_pushed_nor_pulled_where_a_backend_keeps_it() {
    let setup = Setup::new();
    let kept: PathBuf = setup.path().join("elsewhere.tfstate");
    let world = setup.workspace("net", &absolute(&kept)).start();
    let file = world.path().join("mine.tfstate");
    std::fs::write(&file, state(1)).unwrap();
    // before the first run as well as after it
    for run in [false, true] {
        if run {
            let run = world.queue_as("operator", "net", auto_apply()).await;
            world.reaches(&run, "Applied").await;
        }
        cli(&world, &["workspace", "lock", "net"]);
        for arguments in [vec!["state", "push", "net", file.to_str().unwrap()], vec!["state", "pull", "net"]]
        {
            let done = world.cli("admin").args(&arguments).output().unwrap();
            let words = String::from_utf8_lossy(&done.stderr).into_owned();
            assert!(!done.status.success(), "{arguments:?}");
            let told = words.contains("backend \"local\"");
            assert!(told || (!run && arguments[1] == "pull"), "{arguments:?}: {words}");
        }
        cli(&world, &["workspace", "unlock", "net"]);
    }
}

#[tokio::test]
async fn a_configuration_that_changes_who_keeps_the_state_stops_until_a_person_has_moved_it() {
    let setup = Setup::new();
    let kept = setup.path().join("elsewhere.tfstate");
    let world = setup.workspace("net", terraform::SIMPLE).start();
    let main = world.source("net").join("main.tf");
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;

    // from signalbox to a backend
    std::fs::write(&main, absolute(&kept)).unwrap();
    assert_stops(
        &world,
        "signalbox has kept the state of this workspace until now",
        "signalbox state pull net > net.tfstate",
    )
    .await;
    std::fs::write(&kept, cli(&world, &["state", "pull", "net"])).unwrap();
    let moved = NewRun { allow_new_state: true, ..NewRun::default() };
    let run = world.queue_as("operator", "net", moved).await;
    world.reaches(&run, "No Changes").await;
    let run = world.queue("net").await;
    world.reaches(&run, "No Changes").await;

    // and back
    std::fs::write(&main, terraform::SIMPLE).unwrap();
    let run = world.queue("net").await;
    let run = world.ends(&run).await;
    assert_eq!(run.state_name(), "No Changes", "it has the state still: {:?}", run.error());
}
