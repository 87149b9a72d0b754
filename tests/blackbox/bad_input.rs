//! What is wrong gets clear words, and nothing is lost.

use std::os::unix::fs::symlink;

use client::Stage;
use reqwest::StatusCode;

use crate::support::{Setup, World, command, terraform};

#[tokio::test]
async fn a_missing_source_ends_plan_errored_with_the_words_in_the_log() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    std::fs::remove_dir_all(world.source("net")).unwrap();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::Plan).await;
    assert!(log.contains("sources/net"), "{log}");
    assert!(run.error().is_some_and(|error| error.contains("sources/net")), "{:?}", run.error());
}

#[tokio::test]
async fn a_missing_terraform_ends_plan_errored_with_the_words_in_the_log() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| {
            workspace.with("terraform = \"terraform-nowhere\"")
        })
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::Plan).await;
    assert!(log.contains("terraform-nowhere"), "{log}");
}

#[tokio::test]
async fn a_git_source_that_is_broken_ends_plan_errored_and_one_that_is_not_is_planned() {
    let setup = Setup::new();
    let repository = setup.path().join("repository");
    std::fs::create_dir_all(repository.join("network")).unwrap();
    std::fs::write(repository.join("network/main.tf"), terraform::SIMPLE).unwrap();
    for arguments in [
        vec!["init", "--quiet", "--initial-branch=main"],
        vec!["add", "."],
        vec!["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "first"],
    ] {
        let git =
            std::process::Command::new("git").current_dir(&repository).args(arguments).status().unwrap();
        assert!(git.success());
    }
    let block = |name: &str, reference: &str| {
        format!(
            "workspace {name:?} {{\n  source \"git\" {{\n    url = \"file://{}\"\n    ref = {reference:?}\n    path = \"network\"\n  }}\n  access = {{ operators = \"write\" }}\n}}",
            repository.display()
        )
    };
    let world = setup.block(&block("good", "main")).block(&block("bad", "no-such-branch")).start();
    let (good, bad) = (world.queue("good").await, world.queue("bad").await);
    world.reaches(&good, "Needs Confirmation").await;
    let bad = world.reaches(&bad, "Plan Errored").await;
    assert!(world.log(&bad, Stage::Plan).await.contains("no-such-branch"));
}

#[tokio::test]
async fn links_that_leave_the_configuration_and_pipes_are_refused_by_name() {
    let world =
        Setup::new().workspace("link", terraform::SIMPLE).workspace("pipe", terraform::SIMPLE).start();
    symlink("/etc/passwd", world.source("link").join("stolen.txt")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(world.source("pipe").join("x.tf"))
            .status()
            .unwrap()
            .success()
    );
    for (workspace, name) in [("link", "stolen.txt"), ("pipe", "x.tf")] {
        let run = world.queue(workspace).await;
        let run = world.reaches(&run, "Plan Errored").await;
        let log = world.log(&run, Stage::Plan).await;
        assert!(log.contains(name), "{log}");
    }
    world.assert_nothing_is_left();
}

/// Sends a body as it is, and gives the status and the answer.
async fn post(world: &World, path: &str, body: impl Into<reqwest::Body>) -> (StatusCode, serde_json::Value) {
    let answer = reqwest::Client::new()
        .post(format!("{}/api/v2/{path}", world.daemon().address))
        .bearer_auth("token-of-operator")
        .header("content-type", "application/vnd.api+json")
        .body(body)
        .send()
        .await
        .unwrap();
    let status = answer.status();
    (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap_or_default())
}

#[tokio::test]
async fn a_body_that_is_not_right_is_told_what_is_wrong_with_it() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let workspace = world.workspace("net").await;
    let run = |attributes: &str| {
        format!(
            "{{\"data\":{{\"type\":\"runs\",\"attributes\":{attributes},\"relationships\":{{\"workspace\":{{\"data\":{{\"type\":\"workspaces\",\"id\":\"{}\"}}}}}}}}}}",
            workspace.id
        )
    };
    let (status, _) = post(&world, "runs", "{no json").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let (status, _) = post(&world, "runs", vec![b' '; (1 << 20) + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    for (attributes, pointer) in [
        ("{\"is-destroy\":\"yes\"}", "/data/attributes/is-destroy"),
        ("{\"target-addrs\":[1]}", "/data/attributes/target-addrs"),
        ("{\"save-plan\":true}", "/data/attributes/save-plan"),
        ("{\"refresh-only\":true,\"is-destroy\":true}", "/data/attributes/refresh-only"),
    ] {
        let (status, answer) = post(&world, "runs", run(attributes)).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{attributes}");
        let place = answer["errors"][0]["source"]["pointer"].as_str().unwrap_or_default();
        assert!(place.starts_with(pointer), "{attributes}: {answer}");
        assert_eq!(answer["errors"][0]["status"], "422");
    }
    let (status, _) = post(&world, "runs/run-doesnotexist1234/actions/apply", "{}").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[test]
fn a_port_in_use_is_one_clear_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let setup = Setup::new().server(&format!("listen = \"{}\"", taken.local_addr().unwrap()));
    let setup = setup.workspace("net", terraform::SIMPLE);
    setup.write();
    let output = command(&setup.path().join("home"))
        .args(["serve", "--config"])
        .arg(setup.path().join("signalbox.hcl"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8(output.stderr).unwrap();
    let errors: Vec<&str> = words.lines().filter(|line| line.starts_with("error:")).collect();
    assert_eq!(errors.len(), 1, "{words}");
    assert!(errors[0].contains("can't listen on 127.0.0.1:"), "{words}");
}

#[test]
fn every_mistake_of_a_config_file_is_told_at_once_with_its_place() {
    let setup = Setup::new();
    let file = setup.path().join("bad.hcl");
    std::fs::write(
        &file,
        "organization = \"acme\"\n\nserver {\n  listen = 8080\n  max_runs = 4\n}\n\nworkspace \"net\" {\n  auto_apply = \"perhaps\"\n}\n",
    )
    .unwrap();
    let output = command(setup.path()).args(["config", "check"]).arg(&file).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let words = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    for place in ["bad.hcl:4:", "bad.hcl:5:", "bad.hcl:8:", "bad.hcl:9:"] {
        assert!(words.contains(place), "{place} is missing in\n{words}");
    }
}
