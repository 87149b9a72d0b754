//! Who decides about a plan sees what it would do, at a terminal, in a pipe and as JSON.

use std::process::Command;

use client::{NewRun, RunAction};
use serde_json::Value;

use crate::support::{Setup, Terminal, World, auto_apply, terraform};

const BEFORE: &str = r#"
resource "terraform_data" "kept" { input = "small" }
resource "terraform_data" "gone" { input = 1 }
resource "terraform_data" "replaced" {
  input            = 1
  triggers_replace = "one"
}
resource "terraform_data" "old_name" { input = 1 }
output "url" { value = "http://one" }
output "gone" { value = 1 }
"#;

const AFTER: &str = r#"
resource "terraform_data" "kept" { input = "large" }
resource "terraform_data" "replaced" {
  input            = 1
  triggers_replace = "two"
}
resource "terraform_data" "new" { input = 1 }
resource "terraform_data" "new_name" { input = 1 }
moved {
  from = terraform_data.old_name
  to   = terraform_data.new_name
}
variable "size" {
  type    = string
  default = "x"
}
output "url" { value = "http://two" }
check "health" {
  assert {
    condition     = terraform_data.kept.input == "x"
    error_message = "it does not answer"
  }
}
"#;

fn show(world: &World, user: &str, arguments: &[&str]) -> String {
    let shown = world.cli(user).args(["run", "show"]).args(arguments).output().unwrap();
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    String::from_utf8(shown.stdout).unwrap()
}

async fn changed(setup: Setup) -> (World, client::Run) {
    let world = setup.workspace("net", BEFORE).start();
    let first = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&first, "Applied").await;
    std::fs::write(world.source("net").join("main.tf"), AFTER).unwrap();
    let variables = vec![client::RunVariable { key: "size".into(), value: "\"planned\"".into() }];
    let run = NewRun { message: Some("grow".into()), variables, ..NewRun::default() };
    let run = world.queue_as("planner", "net", run).await;
    let run = world.reaches(&run, "Needs Confirmation").await;
    (world, run)
}

#[tokio::test]
async fn a_run_shows_what_its_plan_would_do_the_gravest_first() {
    let (world, run) = changed(Setup::new()).await;
    let shown = show(&world, "operator", &[&run.id]);
    for line in [
        "Message     grow",
        "by planner",
        "Variables   size = \"planned\"",
        "Plan        finished: 2 to add, 1 to change, 2 to destroy",
    ] {
        assert!(shown.contains(line), "{line:?} is not in:\n{shown}");
    }
    let changes: Vec<&str> = shown
        .lines()
        .skip_while(|line| *line != "Changes")
        .take_while(|line| *line != "Timeline")
        .map(str::trim)
        .collect();
    let expected = [
        "Changes",
        "- terraform_data.gone  it is not in the configuration any more",
        "-/+ terraform_data.replaced  it can't be changed in place: triggers_replace",
        "~ terraform_data.kept  input, output",
        "+ terraform_data.new",
        "> terraform_data.new_name  was terraform_data.old_name",
        "",
        "Outputs",
        "- gone",
        "~ url",
        "",
        "Failing checks",
        "check.health  it does not answer",
        "",
    ];
    assert_eq!(changes, expected, "{shown}");
    // for a program, and for somebody who may only read: without values
    let json: Value = serde_json::from_str(&show(&world, "reader", &[&run.id, "--json"])).unwrap();
    assert_eq!(json["review"]["changes"][1]["replaced_by"][0], "triggers_replace");
    assert_eq!(json["review"]["counts"]["destructions"], 2);
    assert_eq!(json["variables"][0]["value"], Value::Null);
}

#[tokio::test]
async fn an_errored_run_says_the_first_error_with_its_place() {
    let needs = "\n\nvariable \"must\" {\n  type = string\n}\n";
    let world = Setup::new().workspace("plan", needs).workspace("apply", terraform::BROKEN_APPLY).start();
    let plan = world.queue("plan").await;
    let plan = world.reaches(&plan, "Plan Errored").await;
    let error = plan.error().unwrap();
    assert!(error.contains("No value for required variable, on main.tf line 3"), "{error}");
    let apply = world.queue_as("operator", "apply", auto_apply()).await;
    let apply = world.reaches(&apply, "Apply Errored").await;
    let error = apply.error().unwrap();
    for words in
        ["local-exec provisioner error, with terraform_data.second", "on main.tf line 8", "exit status 3"]
    {
        assert!(error.contains(words), "{words:?} is not in {error}");
    }
}

#[tokio::test]
async fn the_commit_of_a_run_is_shown_with_its_message_and_author() {
    let setup = Setup::new();
    let repository = setup.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    std::fs::write(repository.join("main.tf"), terraform::SIMPLE).unwrap();
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(&repository).args(["-c", "user.name=Ada L.", "-c", "user.email=ada@example.com"]);
        assert!(git.args(arguments).status().unwrap().success(), "{arguments:?}");
    };
    git(&["init", "--quiet", "-b", "main"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "Widen the quay\n\nIt was too narrow."]);
    let block = format!(
        "workspace \"net\" {{\n  source \"git\" {{\n    url = {:?}\n    ref = \"main\"\n  }}\n  access = {{ operators = \"write\" }}\n}}",
        format!("file://{}", repository.display())
    );
    let world = setup.block(&block).start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Needs Confirmation").await;
    let shown = show(&world, "operator", &[&run.id]);
    let line = shown.lines().find(|line| line.starts_with("Commit")).expect("there is one");
    assert!(line.contains(" Widen the quay, by Ada L. (main of file://"), "{line}");
    let json: Value = serde_json::from_str(&show(&world, "operator", &[&run.id, "--json"])).unwrap();
    assert_eq!(json["commit"]["message"], "Widen the quay\n\nIt was too narrow.");
    assert_eq!(json["commit"]["author"], "Ada L.");
}

#[tokio::test]
async fn what_is_typed_before_a_question_decides_nothing_and_neither_does_the_end_of_input() {
    let setup = Setup::new();
    let gate = setup.gate("plan");
    let wait = format!("case \"$1\" in plan) {};; esac", gate.wait_command());
    let world = setup.workspace_with_script("net", terraform::SIMPLE, &wait).start();
    let mut command = world.cli("operator");
    command.args(["run", "start", "net", "--follow"]);
    let mut terminal = Terminal::start(command);
    gate.reached().await;
    terminal.types("yes\nyes\n");
    terminal.shows("yes\nyes\n", 1).await;
    gate.open();
    terminal.shows("Only \"yes\" does it, \"no\" discards the run: ", 1).await;
    assert!(
        terminal
            .screen()
            .contains("Apply this plan to net: 1 to add, 0 to change, 0 to destroy, and 1 output changes?")
    );
    terminal.types("y\n");
    terminal.shows("Nothing is decided. \"yes\" applies", 1).await;
    terminal.shows("Only \"yes\"", 2).await;
    terminal.types("\u{4}");
    terminal.shows("Nothing is decided.", 2).await;
    terminal.shows("Only \"yes\"", 3).await;
    terminal.types("yes\n");
    assert!(terminal.ends().await.success(), "{}", terminal.screen());
    assert!(terminal.screen().contains("Apply complete!"), "{}", terminal.screen());
}

#[tokio::test]
async fn who_sits_before_a_question_is_told_who_else_decided() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let mut command = world.cli("operator");
    command.args(["run", "start", "net", "--follow"]);
    let mut terminal = Terminal::start(command);
    terminal.shows("Only \"yes\"", 1).await;
    let runs = world.client("owner").runs(&client::RunFilter::default(), 1, 1).await.unwrap();
    let client = world.client("owner");
    client.act_on_run(&runs.items[0].id, RunAction::Discard, Some("not today")).await.unwrap();
    assert_eq!(terminal.ends().await.code(), Some(3));
    let screen = terminal.screen();
    let told = screen.lines().find(|line| line.contains("decided elsewhere")).expect("it is told");
    assert!(told.contains("owner") && told.contains("“not today”"), "{told}");
}

#[tokio::test]
async fn confirming_at_a_terminal_shows_the_plan_and_asks() {
    let (world, run) = changed(Setup::new()).await;
    let confirm = |arguments: &[&str]| {
        let mut command = world.cli("operator");
        command.args(["run", "confirm", &run.id]).args(arguments);
        Terminal::start(command)
    };
    let mut terminal = confirm(&[]);
    terminal.shows("Only \"yes\" does it", 1).await;
    let screen = terminal.screen();
    for words in
        ["terraform_data.gone", "by planner", "size = \"planned\"", "2 to add, 1 to change, 2 to destroy"]
    {
        assert!(screen.contains(words), "{words:?} is not in:\n{screen}");
    }
    terminal.types("\u{4}");
    assert_eq!(terminal.ends().await.code(), Some(3));
    world.reaches(&run, "Needs Confirmation").await;
    // whoever has read it elsewhere is not asked
    assert!(confirm(&["--yes", "--follow"]).ends().await.success());
    world.reaches(&run, "Applied").await;
}
