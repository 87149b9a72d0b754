//! The keeping of state, and what reaches terraform.

use axum::http::{Method, StatusCode};
use client::{NewRun, PlanOptions, RunVariable, Stage};

use crate::support::{Setup, auto_apply, terraform, wait_for};

fn with_size(size: &str) -> NewRun {
    let variables = vec![RunVariable { key: "size".into(), value: format!("{size:?}") }];
    NewRun { variables, ..auto_apply() }
}

#[tokio::test]
async fn the_state_goes_on_from_run_to_run() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    for size in ["small", "large"] {
        let run = world.queue_as("operator", "net", with_size(size)).await;
        world.reaches(&run, "Applied").await;
    }
    let state = world.state("net").await.unwrap();
    assert_eq!(state["outputs"]["size"]["value"], "large");
    assert_eq!(state["resources"].as_array().unwrap().len(), 1, "changed, not made again");
}

#[tokio::test]
async fn a_configuration_for_another_server_is_run_here_and_its_state_is_kept_here() {
    let cloud = format!(
        "terraform {{\n  cloud {{\n    hostname     = \"app.example.com\"\n    organization = \"acme\"\n    workspaces {{\n      name = \"net\"\n    }}\n  }}\n}}\n{}",
        terraform::SIMPLE
    );
    let world = Setup::new().workspace("net", &cloud).start();
    let run = world.queue_as("operator", "net", NewRun { allow_new_state: true, ..auto_apply() }).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
}

#[tokio::test]
async fn a_backend_of_the_configuration_s_own_is_left_alone() {
    let setup = Setup::new();
    let own = setup.path().join("own.tfstate");
    let main =
        format!("terraform {{\n  backend \"local\" {{\n    path = {own:?}\n  }}\n}}\n{}", terraform::SIMPLE);
    let world = setup.workspace("net", &main).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    assert!(own.exists(), "the state is where the configuration wants it");
    assert_eq!(world.state("net").await, None);
}

#[tokio::test]
async fn terraform_gets_the_workspace_s_environment_and_nothing_of_the_daemon_s() {
    let setup = Setup::new();
    let seen = setup.path().join("environment");
    let main = format!(
        "variable \"given\" {{\n  type = string\n}}\nvariable \"secret\" {{\n  type = string\n  sensitive = true\n}}\nresource \"terraform_data\" \"thing\" {{\n  input = var.given\n  provisioner \"local-exec\" {{\n    command = \"env > {}\"\n  }}\n}}\n",
        seen.display()
    );
    let world = setup
        .workspace_with("net", &main, |workspace| {
            workspace
                .with("variables = { given = \"by the workspace\" }")
                .with("sensitive_variables = { secret = \"hidden-value\" }")
                .with("environment = { FROM_WORKSPACE = \"yes\" }")
        })
        .start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Applied").await;
    let environment = std::fs::read_to_string(seen).unwrap();
    let has = |name: &str| environment.lines().any(|line| line.starts_with(&format!("{name}=")));
    assert!(
        has("FROM_WORKSPACE") && has("TFC_RUN_ID") && has("TF_IN_AUTOMATION") && has("PATH") && has("HOME")
    );
    for name in ["DAEMON_SECRET", "TF_CLI_ARGS_plan", "TF_WORKSPACE", "TF_CLI_CONFIG_FILE", "RUST_LOG"] {
        assert!(!has(name), "{name} must not reach terraform");
    }
    let logs =
        world.log(&run, Stage::Plan).await + &world.log(&run, Stage::Apply).await + &world.daemon().log();
    assert!(!logs.contains("hidden-value"));
}

#[tokio::test]
async fn secrets_and_plans_do_not_outlive_their_run() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| {
            workspace.with("sensitive_environment = { TOKEN = \"very-secret\" }")
        })
        .start();
    let applied = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&applied, "Applied").await;
    let discarded =
        world.queue_as("operator", "net", NewRun { auto_apply: None, ..with_size("large") }).await;
    world.reaches(&discarded, "Needs Confirmation").await;
    world.act("operator", &discarded, client::RunAction::Discard).await.unwrap();
    for run in [applied, discarded] {
        let directory = world.data_dir().join("runs").join(&run.id);
        wait_for("the run is cleaned up after", async || {
            (!directory.join("settings.json").exists() && !directory.join("work").exists()).then_some(())
        })
        .await;
    }
    let found = std::process::Command::new("grep")
        .args(["-rl", "very-secret"])
        .arg(world.data_dir())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(found.stdout).unwrap(), "");
}

#[tokio::test]
async fn what_a_run_asks_of_terraform_is_done() {
    let main = r#"
resource "terraform_data" "one" {
  input = 1
}
resource "terraform_data" "two" {
  input = 2
}
"#;
    let world = Setup::new().workspace("net", main).start();
    let target = PlanOptions { target_addrs: vec!["terraform_data.one".into()], ..PlanOptions::default() };
    let targeted = NewRun { options: target, ..auto_apply() };
    let run = world.queue_as("operator", "net", targeted).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.one"]);
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let replace = PlanOptions { replace_addrs: vec!["terraform_data.two".into()], ..PlanOptions::default() };
    let replaced = NewRun { options: replace, ..NewRun::default() };
    let run = world.queue_as("operator", "net", replaced).await;
    let run = world.reaches(&run, "Needs Confirmation").await;
    let plan = run.plan.clone().unwrap();
    assert_eq!((plan.resources.additions, plan.resources.destructions), (Some(1), Some(1)));
    world.act("operator", &run, client::RunAction::Discard).await.unwrap();
    let options = PlanOptions { refresh_only: true, ..PlanOptions::default() };
    let refresh = world.queue_as("operator", "net", NewRun { options, ..NewRun::default() }).await;
    world.reaches(&refresh, "No Changes").await;
    let empty = world.queue_as("operator", "net", NewRun { allow_empty_apply: true, ..auto_apply() }).await;
    world.reaches(&empty, "Applied").await;
}

#[tokio::test]
async fn a_variable_that_no_plan_holds_is_there_at_the_apply() {
    let main = r#"
variable "password" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "thing" {
  input = 1
  provisioner "local-exec" {
    command = "test ${var.password} = hidden-value"
  }
}
"#;
    let world = Setup::new()
        .workspace_with("net", main, |workspace| {
            workspace.with("sensitive_variables = { password = \"hidden-value\" }")
        })
        .start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
}

#[tokio::test]
async fn a_state_that_can_not_be_kept_takes_its_workspace_out_of_service_and_its_bytes_stay() {
    // an apply that spoils its own state file after terraform has written it
    let world = Setup::new()
        .workspace_with_script(
            "net",
            terraform::SIMPLE,
            "state=\"$PWD/terraform.tfstate\"
case \" $* \" in *\" apply \"*)
  test -e \"$state\" && exec terraform \"$@\"
  terraform \"$@\"; cp \"$state\" \"$state.good\"; echo spoiled > \"$state\"; exit 0;;
esac",
        )
        .start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let next = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.ends(&run).await;
    assert!(
        run.error().is_some_and(|error| error.contains("terraform.tfstate can't be read")),
        "{:?}",
        run.error()
    );
    let workspace = world.workspace("net").await;
    assert!(workspace.locked && workspace.locked_reason.contains(&run.id), "{}", workspace.locked_reason);
    assert_eq!(world.run(&next).await.state_name(), "Pending", "it would make everything again");
    let work = world.data_dir().join("runs").join(&run.id).join("work");
    assert!(work.join("terraform.tfstate").exists());

    // who may write brings a state back, and only one; then the workspace goes on from it
    let push = |user: &str, file: &str| {
        let pushed = world.cli(user).args(["state", "push", "net"]).arg(work.join(file)).output().unwrap();
        (
            pushed.status.code(),
            String::from_utf8(pushed.stdout).unwrap() + &String::from_utf8(pushed.stderr).unwrap(),
        )
    };
    let (status, words) = push("planner", "terraform.tfstate.good");
    assert!(status == Some(1) && words.contains("not authorized"), "{words}");
    let (status, words) = push("operator", "terraform.tfstate");
    assert!(status == Some(2) && words.contains("not a terraform state"), "{words}");
    assert!(world.workspace("net").await.locked);
    let (status, words) = push("operator", "terraform.tfstate.good");
    assert!(status == Some(0) && words.contains("the workspace is not locked"), "{words}");
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
    let next = world.reaches(&next, "No Changes").await;
    assert_eq!(next.error(), None);
}

#[tokio::test]
async fn a_state_is_pushed_only_if_it_goes_on_from_the_current_one() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let state = world.state("net").await.unwrap();
    let file = world.path().join("state.json");
    let push = |force: bool, change: &dyn Fn(&mut serde_json::Value)| {
        let mut state = state.clone();
        change(&mut state);
        std::fs::write(&file, state.to_string()).unwrap();
        let mut command = world.cli("admin");
        command.args(["state", "push", "net"]).arg(&file);
        if force {
            command.arg("--force");
        }
        let pushed = command.output().unwrap();
        (pushed.status.code(), String::from_utf8(pushed.stderr).unwrap())
    };
    let serial = state["serial"].as_u64().unwrap();
    let (older, other) = (serial - 1, "b7e2c1d4-0000-4000-8000-000000000000");
    let (status, words) = push(false, &|state| state["serial"] = older.into());
    assert!(status == Some(1) && words.contains("older"), "{words}");
    let (status, words) = push(true, &|state| state["serial"] = older.into());
    assert!(status == Some(1) && words.contains("older"), "{words}");
    let (status, words) = push(false, &|state| state["lineage"] = other.into());
    assert!(status == Some(1) && words.contains("lineage"), "{words}");
    assert_eq!(world.state("net").await.unwrap(), state);
    assert_eq!(push(false, &|state| state["serial"] = (serial + 1).into()).0, Some(0));
    assert_eq!(
        push(true, &|state| {
            state["serial"] = (serial + 2).into();
            state["lineage"] = other.into();
        })
        .0,
        Some(0)
    );
    assert_eq!(world.state("net").await.unwrap()["lineage"], other);
    assert!(!world.workspace("net").await.locked, "it is locked only meanwhile");

    // somebody else's lock is respected
    let id = world.workspace("net").await.resource.id;
    world.client("owner").lock_workspace(&id, "moving").await.unwrap();
    let (status, words) = push(false, &|state| state["serial"] = (serial + 9).into());
    assert!(status == Some(1) && words.contains("locked"), "{words}");
}

/// A backend that knows no state and takes none; its address.
async fn backend_that_takes_nothing() -> String {
    let answer = async |method: Method| match method {
        Method::GET => StatusCode::NOT_FOUND,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    address
}

#[tokio::test]
async fn a_state_that_its_own_backend_does_not_take_is_kept_and_its_workspace_is_out_of_service() {
    let backend = backend_that_takes_nothing().await;
    let main = format!(
        "terraform {{\n  backend \"http\" {{\n    address   = {backend:?}\n    retry_max = 0\n  }}\n}}\n{}",
        terraform::SIMPLE
    );
    let world = Setup::new().workspace("net", &main).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let next = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Apply Errored").await;
    let error = run.error().expect("it says why").to_owned();
    assert!(error.starts_with("terraform apply exited with 1: Failed to save state"), "{error}");
    assert!(error.contains("to the backend \"http\"") && error.contains("terraform state push"), "{error}");
    let directory = world.data_dir().join("runs").join(&run.id);
    wait_for("the run is cleaned up after", async || {
        (!directory.join("settings.json").exists()).then_some(())
    })
    .await;
    let left =
        std::fs::read_to_string(directory.join("work/errored.tfstate")).expect("the working directory stays");
    assert!(left.contains("terraform_data"), "{left}");
    let digest =
        error.split("blob ").nth(1).and_then(|rest| rest.split(',').next()).expect("it names the blob");
    let blob = world.data_dir().join("blobs").join(&digest[..2]).join(digest);
    assert_eq!(std::fs::read_to_string(blob).unwrap(), left);
    let workspace = world.workspace("net").await;
    assert!(workspace.locked && workspace.locked_reason.contains(&run.id), "{}", workspace.locked_reason);
    assert_eq!(world.run(&next).await.state_name(), "Pending", "it would make everything again");
}

#[tokio::test]
async fn an_apply_ends_as_terraform_did_and_its_state_is_kept_although_the_files_of_its_run_are_damaged() {
    let (world, run, gate) = Setup::new().applying().await;
    for file in ["taken.json", "settings.json"] {
        std::fs::write(world.data_dir().join("runs").join(&run.id).join(file), "").unwrap();
    }
    gate.open();
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.first", "terraform_data.second"]);
    assert!(!world.workspace("net").await.locked);
}
