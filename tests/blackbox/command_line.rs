//! The command line, as people and scripts use it.

use std::io::{BufRead as _, BufReader};
use std::process::{Output, Stdio};

use client::NewRun;
use rustix::process::Signal;
use serde_json::Value;

use crate::policies::SOFT;
use crate::support::{Setup, World, terraform};

fn run(world: &World, user: &str, arguments: &[&str]) -> Output {
    world.cli(user).args(arguments).output().expect("the binary runs")
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Blocking commands beside an async world.
async fn cli(world: &World, user: &str, arguments: &[&str]) -> Output {
    tokio::task::block_in_place(|| run(world, user, arguments))
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_status_says_how_a_followed_run_ended() {
    let world =
        Setup::new().workspace("good", terraform::SIMPLE).workspace("bad", terraform::BROKEN_PLAN).start();
    world.workspace("good").await;
    world.workspace("bad").await;
    let applied = cli(&world, "operator", &["run", "start", "good", "--auto-apply", "--follow"]).await;
    assert_eq!(code(&applied), Some(0), "{}", text(&applied.stderr));
    let out = text(&applied.stdout) + &text(&applied.stderr);
    assert!(out.contains("Apply complete!") && out.contains("Applied"), "{out}");
    assert!(!out.contains('\u{1b}'), "no colours in a pipe");
    let unchanged = cli(&world, "operator", &["run", "start", "good", "--follow"]).await;
    assert_eq!(code(&unchanged), Some(0), "{}", text(&unchanged.stderr));
    let errored = cli(&world, "operator", &["run", "start", "bad", "--follow"]).await;
    assert_eq!(code(&errored), Some(1), "{}", text(&errored.stderr));
    let usage = cli(&world, "operator", &["run", "start"]).await;
    assert_eq!(code(&usage), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_confirmed_and_its_log_is_read() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let started = cli(&world, "operator", &["--json", "run", "start", "net", "--message", "by hand"]).await;
    assert_eq!(code(&started), Some(0), "{}", text(&started.stderr));
    let document: Value = serde_json::from_slice(&started.stdout).expect("one JSON document");
    let id = find(&document, "id").expect("an id");
    let id = id.as_str();
    let run = world.client("owner").run(id).await.unwrap();
    world.reaches(&run, "Needs Confirmation").await;
    let shown = text(&cli(&world, "reader", &["run", "show", id]).await.stdout);
    assert!(shown.contains("Needs Confirmation") && shown.contains("by hand"), "{shown}");
    let refused = cli(&world, "reader", &["run", "confirm", id]).await;
    assert_eq!(code(&refused), Some(1));
    assert!(text(&refused.stderr).starts_with("error: "));
    assert_eq!(code(&cli(&world, "operator", &["run", "confirm", id, "--comment", "go"]).await), Some(0));
    world.reaches(&run, "Applied").await;
    let log = text(&cli(&world, "reader", &["logs", "--stage", "apply", id]).await.stdout);
    assert!(log.contains("Apply complete!"), "{log}");
    let listed = text(&cli(&world, "reader", &["run", "list"]).await.stdout);
    assert!(listed.contains(id) && listed.contains("Applied"), "{listed}");
    let workspaces = text(&cli(&world, "reader", &["workspace", "list"]).await.stdout);
    assert!(workspaces.contains("net") && workspaces.contains("Applied"), "{workspaces}");
}

#[tokio::test(flavor = "multi_thread")]
async fn discarded_and_canceled_runs_end_with_3() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    for (verb, state) in [("discard", "Discarded"), ("cancel", "Canceled")] {
        let mut follower = world
            .cli("operator")
            .args(["run", "start", "net", "--follow"])
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let workspace = world.workspace("net").await;
        let run = crate::support::wait_for("the run waits", async || {
            let filter = client::RunFilter { workspace_id: Some(workspace.id.clone()), ..Default::default() };
            let page = world.client("owner").runs(&filter, 1, 1).await.ok()?;
            page.items.into_iter().next().filter(|run| run.state_name() == "Needs Confirmation")
        })
        .await;
        assert_eq!(code(&cli(&world, "operator", &["run", verb, &run.id]).await), Some(0));
        world.reaches(&run, state).await;
        let status = tokio::task::block_in_place(|| follower.wait()).unwrap();
        assert_eq!(status.code(), Some(3), "{verb}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_are_overridden_from_the_command_line() {
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", SOFT.0, SOFT.1).start();
    let started =
        world.queue_as("operator", "net", NewRun { auto_apply: Some(true), ..NewRun::default() }).await;
    world.reaches(&started, "Policy Override").await;
    let shown = text(&cli(&world, "owner", &["run", "show", &started.id]).await.stdout);
    assert!(shown.contains("override"), "{shown}");
    let overridden = cli(&world, "owner", &["run", "override", &started.id, "--comment", "I know"]).await;
    assert_eq!(code(&overridden), Some(0), "{}", text(&overridden.stderr));
    world.reaches(&started, "Applied").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_workspace_is_locked_and_unlocked() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    assert_eq!(
        code(&cli(&world, "operator", &["workspace", "lock", "net", "--reason", "holiday"]).await),
        Some(0)
    );
    let shown = text(&cli(&world, "reader", &["workspace", "show", "net"]).await.stdout);
    assert!(shown.contains("by operator since 2") && shown.contains(": holiday"), "{shown}");
    assert_eq!(code(&cli(&world, "operator", &["workspace", "unlock", "net"]).await), Some(0));
}

/// `run start`, and wait until the run that it queued is over.
async fn started(world: &World, arguments: &[&str]) -> client::Run {
    let output = cli(world, "operator", &[&["--json", "run", "start", "net"], arguments].concat()).await;
    assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
    let document: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    world.client("owner").run(&find(&document, "id").expect("an id")).await.expect("the run can be read")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_says_that_the_command_line_queued_it_and_what_its_apply_did() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let run = started(&world, &["--auto-apply"]).await;
    assert_eq!((run.message.as_str(), run.source.as_str()), ("Queued manually via the CLI", "signalbox-cli"));
    world.reaches(&run, "Applied").await;
    let shown = text(&cli(&world, "reader", &["run", "show", &run.id]).await.stdout);
    assert!(shown.contains("finished: 1 to add, 0 to change, 0 to destroy"), "{shown}");
    assert!(shown.contains("finished: 1 added, 0 changed, 0 destroyed"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_over_is_not_killed_and_that_is_said() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let run = started(&world, &[]).await;
    world.reaches(&run, "Needs Confirmation").await;
    assert_eq!(code(&cli(&world, "admin", &["run", "cancel", &run.id]).await), Some(0));
    let refused = cli(&world, "admin", &["run", "cancel", "--force", &run.id]).await;
    let said = text(&refused.stderr);
    assert_eq!((code(&refused), said.starts_with("error: ")), (Some(1), true), "{said}");
    assert!(said.contains("Canceled"), "it says in which state the run is: {said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_nobody_would_read_is_refused_with_its_place() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let long = "x".repeat(100_000);
    for (arguments, place) in [
        (&["run", "start", "net", "-m", &long][..], "/data/attributes/message"),
        (&["workspace", "lock", "net", "--reason", &long], "/reason"),
    ] {
        let refused = cli(&world, "operator", arguments).await;
        let said = text(&refused.stderr);
        assert_eq!(code(&refused), Some(2), "{said}");
        assert!(said.contains("at most 4096") && said.contains(place), "{said}");
    }
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let refused = cli(&world, "operator", &["run", "discard", &run.id, "--comment", &long]).await;
    assert!(text(&refused.stderr).contains("/comment"), "{}", text(&refused.stderr));
    assert_eq!(world.run(&run).await.state_name(), "Needs Confirmation", "nothing was changed");
}

#[test]
fn a_usage_line_asks_for_nothing_that_the_environment_gives() {
    let home = tempfile::tempdir().unwrap();
    let mut command = crate::support::command(home.path());
    command.env("SIGNALBOX_TOKEN", "t").env("SIGNALBOX_ADDRESS", "http://127.0.0.1:1");
    let said = text(&command.args(["run", "start"]).output().unwrap().stderr);
    assert!(said.contains("Usage: signalbox run start") && said.contains("<WORKSPACE>"), "{said}");
    assert!(!said.contains("--token") && !said.contains("--address"), "{said}");
}

#[test]
fn a_config_check_tells_mistakes_of_the_file_of_its_policy_sets_and_warnings_at_once() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("signalbox.hcl");
    std::fs::create_dir(home.path().join("rules")).unwrap();
    std::fs::write(home.path().join("rules/policies.hcl"), "policy \"a\" { query = ").unwrap();
    let sound = "organization = \"acme\"\nserver {}\npolicy_set \"rules\" {\n  path = \"./rules\"\n  workspaces = [\"*\"]\n}\n";
    let check = |content: &str| {
        std::fs::write(&file, content).unwrap();
        let output =
            crate::support::command(home.path()).args(["config", "check"]).arg(&file).output().unwrap();
        (code(&output), text(&output.stderr))
    };
    let (status, said) = check(sound);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("policy set \"rules\"") && said.contains("warning[no-owner]"), "{said}");
    assert!(said.contains("can't be used: 1 mistake, 2 warnings"), "{said}");
    let (status, said) = check(&format!("{sound}nonsense = 1\n"));
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("policy set \"rules\"") && said.contains("error[unknown-attribute]"), "{said}");
    assert!(said.contains("can't be used: 2 mistakes, 2 warnings"), "{said}");
}

#[test]
fn a_config_check_tells_what_of_a_policy_set_has_no_effect() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("signalbox.hcl");
    std::fs::create_dir(home.path().join("rules")).unwrap();
    std::fs::write(home.path().join("rules/sentinel.hcl"), "policy \"a\" {}\nmock \"tfrun\" { data = {} }\n")
        .unwrap();
    std::fs::write(home.path().join("rules/a.sentinel"), "main = rule { true }\n").unwrap();
    std::fs::write(&file, "organization = \"acme\"\npolicy_set \"rules\" {\n  path = \"./rules\"\n}\n")
        .unwrap();
    let output = crate::support::command(home.path()).args(["config", "check"]).arg(&file).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(code(&output), Some(0), "{said}");
    assert!(said.contains("sentinel.hcl: mock \"tfrun\" is for tests"), "{said}");
}

#[test]
fn a_new_token_comes_with_the_line_for_the_config_file() {
    let home = tempfile::tempdir().unwrap();
    let output = crate::support::command(home.path()).args(["token", "new", "ada"]).output().unwrap();
    assert!(output.status.success());
    let words = text(&output.stdout) + &text(&output.stderr);
    assert!(words.contains("token_sha256"), "{words}");
}

#[test]
fn the_demo_shows_what_it_promises_and_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let output = crate::support::command(home.path())
        .env("TMPDIR", home.path())
        .args(["demo", "--yes"])
        .output()
        .unwrap();
    let words = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words}");
    for state in ["Applied", "No Changes", "Policy Override", "Policy Checked"] {
        assert!(words.contains(state), "{state} is missing in\n{words}");
    }
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    assert!(crate::support::processes::alive_below(home.path(), None).is_empty());
}

#[test]
fn a_demo_that_is_told_to_end_leaves_nothing_behind() {
    let home = tempfile::tempdir().unwrap();
    let mut demo = crate::support::command(home.path())
        .env("TMPDIR", home.path())
        .args(["demo", "--yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let plan = BufReader::new(demo.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(plan.into_iter().any(|line| line.contains("Terraform will perform")), "it has begun");
    rustix::process::kill_process(rustix::process::Pid::from_child(&demo), Signal::TERM).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(130));
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    assert!(crate::support::processes::alive_below(home.path(), None).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_on_this_machine_is_reached_whatever_proxy_is_set() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    world.workspace("net").await;
    let output = tokio::task::block_in_place(|| {
        let mut command = world.cli("operator");
        command.env("http_proxy", "http://127.0.0.1:9").args(["workspace", "list"]).output().unwrap()
    });
    assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
}

/// The first string of this name anywhere in a document.
fn find(document: &Value, name: &str) -> Option<String> {
    match document {
        Value::Object(map) => map
            .get(name)
            .and_then(Value::as_str)
            .map(str::to_owned)
            .or_else(|| map.values().find_map(|value| find(value, name))),
        Value::Array(list) => list.iter().find_map(|value| find(value, name)),
        _ => None,
    }
}
