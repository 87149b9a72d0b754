//! What people type who know terraform and its kin: names, words and options lead where they expect.

use std::process::{Command, Output, Stdio};

use client::NewRun;
use serde_json::Value;

use crate::support::{Setup, Terminal, World, auto_apply, terraform, token};

fn cli(world: &World, user: &str, arguments: &[&str]) -> Output {
    world.cli(user).args(arguments).output().unwrap()
}

fn out(world: &World, arguments: &[&str]) -> String {
    let done = cli(world, "operator", arguments);
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn refusal(world: &World, user: &str, arguments: &[&str]) -> String {
    let done = cli(world, user, arguments);
    assert!(!done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stdout));
    String::from_utf8(done.stderr).unwrap()
}

#[tokio::test]
async fn a_run_is_meant_by_its_id_the_beginning_of_it_its_workspace_or_as_the_latest() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).workspace("idle", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    for meant in [run.id.as_str(), &run.id[..12], "net", "latest"] {
        assert!(out(&world, &["run", "show", meant]).starts_with(&run.id), "{meant}");
        assert!(out(&world, &["logs", meant]).contains("terraform_data.thing will be created"), "{meant}");
    }
    assert!(
        refusal(&world, "operator", &["run", "show", "run-00"]).contains("no run's id begins with run-00")
    );
    assert!(refusal(&world, "operator", &["run", "show", "idle"]).contains("idle has no runs yet"));
    let unknown = refusal(&world, "operator", &["run", "show", "nett"]);
    assert!(unknown.contains("did you mean net?"), "{unknown}");
    out(&world, &["run", "confirm", "net"]);
    world.reaches(&run, "Applied").await;
    // while it holds the workspace, that is the one which is meant, whatever came after
    let held = world.queue("net").await;
    world.reaches(&held, "No Changes").await;
    assert!(out(&world, &["run", "list", "net", "-n", "1"]).contains(&held.id));
    let listed = cli(&world, "operator", &["run", "list", "net", "-n", "1"]);
    assert!(String::from_utf8_lossy(&listed.stderr).contains("there are more: -n 2"));
    let two = cli(&world, "operator", &["run", "list", "net", "-n", "2"]);
    assert!(two.stderr.is_empty(), "{}", String::from_utf8_lossy(&two.stderr));
}

const OUTPUTS: &str = r#"
resource "terraform_data" "many" {
  for_each = toset(["a", "b"])
  input    = each.key
}
output "text" { value = "a \"b\"\n" }
output "number" { value = 12345678901234567890 }
output "list" { value = [1, "x"] }
output "secret" {
  value     = "hush-hush"
  sensitive = true
}
"#;

#[tokio::test]
async fn outputs_and_resources_are_printed_as_terraform_prints_them() {
    let world = Setup::new().workspace("net", OUTPUTS).workspace("idle", OUTPUTS).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let all = out(&world, &["output", "net"]);
    for line in [
        "list = [\n  1,\n  \"x\"\n]",
        "number = 12345678901234567890",
        "secret = <sensitive>",
        "text = \"a \\\"b\\\"\\n\"",
    ] {
        assert!(all.contains(line), "{line:?} is not in:\n{all}");
    }
    assert_eq!(out(&world, &["output", "net", "text", "-raw"]), "a \"b\"\n");
    assert_eq!(out(&world, &["output", "net", "number", "--raw"]), "12345678901234567890");
    assert_eq!(out(&world, &["output", "net", "secret"]), "\"hush-hush\"\n");
    let json: Value = serde_json::from_str(&out(&world, &["output", "-json", "net"])).unwrap();
    assert_eq!(json["list"]["value"], serde_json::json!([1, "x"]));
    assert_eq!((&json["secret"]["sensitive"], &json["secret"]["value"]), (&Value::Bool(true), &Value::Null));
    assert!(refusal(&world, "operator", &["output", "net", "txt"]).contains("did you mean text?"));
    assert!(refusal(&world, "operator", &["output", "net", "list", "--raw"]).contains("--json prints it"));
    assert!(refusal(&world, "operator", &["output", "idle"]).contains("has no state"));
    let resources = out(&world, &["state", "list", "net"]);
    assert_eq!(resources, "terraform_data.many[\"a\"]\nterraform_data.many[\"b\"]\n");
}

#[tokio::test]
async fn a_state_is_pushed_from_a_pipe_by_who_may_write() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).workspace("copy", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let mut push = world.cli("operator");
    push.args(["state", "push", "copy", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut push = push.spawn().unwrap();
    let state = out(&world, &["state", "pull", "net"]);
    std::io::Write::write_all(&mut push.stdin.take().unwrap(), state.as_bytes()).unwrap();
    assert!(push.wait_with_output().unwrap().status.success());
    assert_eq!(world.resources("copy").await, ["terraform_data.thing"]);
    let run = world.queue("copy").await;
    world.reaches(&run, "No Changes").await;
}

#[tokio::test]
async fn variables_come_from_files_and_options_have_one_dash_as_terraform_has_them() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let file = world.path().join("large.tfvars");
    std::fs::write(&file, "# as for terraform\nsize = \"large\"\n").unwrap();
    let file = file.to_str().unwrap();
    let started = out(&world, &["run", "start", "net", "-auto-approve", "-var-file", file, "-follow"]);
    assert!(started.contains("size = \"large\""), "{started}");
    std::fs::write(file, "size = upper(\"x\")\n").unwrap();
    let refused = refusal(&world, "operator", &["run", "start", "net", &format!("-var-file={file}")]);
    assert!(refused.contains("large.tfvars:1:8:"), "{refused}");
}

#[tokio::test]
async fn what_may_surprise_who_queues_a_run_is_said() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let said =
        |user: &str, arguments: &[&str]| String::from_utf8(cli(&world, user, arguments).stderr).unwrap();
    assert!(said("planner", &["run", "start", "net", "--auto-apply"]).contains("takes write access"));
    let run = world.client("owner").runs(&client::RunFilter::default(), 1, 1).await.unwrap().items.remove(0);
    world.reaches(&run, "Needs Confirmation").await;
    world.act("owner", &run, client::RunAction::Discard).await.unwrap();
    out(&world, &["workspace", "lock", "net", "--reason", "maintenance"]);
    let locked = said("operator", &["run", "start", "net"]);
    assert!(locked.contains("net is locked by operator (maintenance)"), "{locked}");
}

#[tokio::test]
async fn a_token_is_kept_by_a_login_and_used_until_the_logout() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let address = &world.daemon().address;
    let without = || {
        let mut command = crate::support::command(&world.home());
        command.env_remove("RUST_LOG");
        command
    };
    let mut asking = without();
    asking.args(["login", address]);
    let mut terminal = Terminal::start(asking);
    terminal.shows(&format!("Your token for {address}: "), 1).await;
    terminal.types(&format!("{}\n", token("operator")));
    assert!(terminal.ends().await.success(), "{}", terminal.screen());
    assert!(!terminal.screen().contains(&token("operator")), "it is not shown: {}", terminal.screen());
    let kept = world.home().join(".config/signalbox/credentials.json");
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let listed = without().args(["workspace", "list"]).output().unwrap();
    assert!(String::from_utf8_lossy(&listed.stdout).contains("net"), "{listed:?}");
    // one that is not accepted is not kept
    let mut wrong = without();
    wrong.args(["login", address]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut wrong = wrong.spawn().unwrap();
    std::io::Write::write_all(&mut wrong.stdin.take().unwrap(), b"nobody's\n").unwrap();
    let wrong = wrong.wait_with_output().unwrap();
    assert!(!wrong.status.success() && String::from_utf8_lossy(&wrong.stderr).contains("does not accept"));
    assert!(without().args(["workspace", "list"]).output().unwrap().status.success());
    assert!(without().args(["logout"]).output().unwrap().status.success());
    let out = without().args(["workspace", "list", "--address", address]).output().unwrap();
    let words = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && words.contains("signalbox login"), "{words}");
}

#[test]
fn verbs_of_terraform_lead_to_the_commands_of_here() {
    let home = tempfile::tempdir().unwrap();
    for (verb, command) in
        [("plan", "signalbox run start WORKSPACE --plan-only"), ("approve", "signalbox run confirm RUN")]
    {
        let mut typed: Command = crate::support::command(home.path());
        let typed = typed.arg(verb).output().unwrap();
        let words = String::from_utf8_lossy(&typed.stderr).into_owned();
        assert!(typed.status.code() == Some(2) && words.contains(command), "{words}");
    }
}

#[tokio::test]
async fn a_reader_is_told_that_queuing_takes_more() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let refused = refusal(&world, "reader", &["run", "start", "net"]);
    assert!(refused.contains("plan access"), "{refused}");
    assert!(world.try_queue("reader", "net", NewRun::default()).await.is_err());
}

#[tokio::test]
async fn what_is_wrong_with_an_address_is_said_with_what_would_be_right() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let address = world.daemon().address.replace("http://", "");
    let asked = |address: &str| refusal(&world, "operator", &["workspace", "list", "--address", address]);
    assert!(asked(&address).contains(&format!("as http://{address}")), "{}", asked(&address));
    let secure = asked(&format!("https://{address}"));
    assert!(secure.contains("write http:// instead of https://"), "{secure}");
    out(&world, &["workspace", "lock", "net"]);
    let twice = refusal(&world, "operator", &["workspace", "lock", "net"]);
    assert!(twice.contains("which is you"), "{twice}");
    out(&world, &["workspace", "unlock", "net"]);
    // a state is not pushed below a run that waits, and that is said
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let state = world.path().join("some.tfstate");
    std::fs::write(
        &state,
        r#"{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[]}"#,
    )
    .unwrap();
    let pushed = refusal(&world, "operator", &["state", "push", "net", state.to_str().unwrap()]);
    assert!(pushed.contains(&run.id), "{pushed}");
}

#[tokio::test]
async fn a_shell_completes_names_of_workspaces_and_ids_of_runs() {
    let world =
        Setup::new().workspace("network", terraform::SIMPLE).workspace("storage", terraform::SIMPLE).start();
    let run = world.queue("network").await;
    world.reaches(&run, "Needs Confirmation").await;
    // as the script of bash asks
    let complete = |words: &[&str]| {
        let mut command = world.cli("operator");
        let index = (words.len() - 1).to_string();
        command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index).env("_CLAP_IFS", "\n");
        let output = command.arg("--").args(words).output().unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["signalbox", "run", "start", "net"]), ["network"]);
    assert_eq!(complete(&["signalbox", "workspace", "show", "s"]), ["storage"]);
    assert!(complete(&["signalbox", "run", "confirm", "run-"]).contains(&run.id));
    assert!(complete(&["signalbox", "run", "con"]).contains(&"confirm".to_owned()));
    // without a daemon nothing is offered, and nothing is said
    let mut alone = world.cli("operator");
    alone
        .env("SIGNALBOX_ADDRESS", "http://127.0.0.1:9")
        .env("COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", "3");
    let alone = alone.env("_CLAP_IFS", "\n").args(["--", "signalbox", "run", "start", "n"]).output().unwrap();
    assert!(alone.stdout.is_empty() && alone.stderr.is_empty(), "{alone:?}");
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&world, &["completions", shell]).contains("signalbox"), "{shell}");
    }
}
