//! What a workspace calls sensitive is nowhere to be seen, but where docs/secrets.md says.

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::path::Path;

use client::Stage;
use serde_json::Value;

use crate::support::{Setup, World, auto_apply, processes, wait_for};

const PASSWORD: &str = "pa55-of-the-house";
const LINES: [&str; 2] = ["ada:pa55word1", "bob:hunter22"];
const INSIDE_JSON: &str = "zorro&<27>";
const TOKEN: &str = "t0ken-of-the-cloud";
const PIN: &str = "73519284";

/// Prints what it gets in every way that terraform has, and declares nothing sensitive.
const CARELESS: &str = r#"
variable "password" { type = string }
variable "users" { type = string }
variable "key" { type = string }
variable "pin" { type = number }

resource "terraform_data" "careless" {
  input = {
    password = var.password
    inside   = "begin-${var.password}-end"
    users    = var.users
    key      = var.key
    encoded  = jsonencode({ key = var.key, pin = var.pin })
    pin      = var.pin
  }
  provisioner "local-exec" {
    command = "echo \"$CLOUD_TOKEN\"; printf '%s\n' '${var.users}'; echo '${var.password}' ${var.pin}"
  }
}

output "password" { value = var.password }
output "users" { value = split("\n", var.users) }
output "key" { value = var.key }
output "pin" { value = var.pin }
output "open" { value = "everybody may know" }
"#;

fn assert_hidden(what: &str, text: &str) {
    for secret in [PASSWORD, LINES[0], LINES[1], INSIDE_JSON, "zorro\\u0026\\u003c27\\u003e", TOKEN, PIN] {
        assert!(!text.contains(secret), "{secret:?} is in {what}:\n{text}");
    }
}

fn world() -> World {
    let key = serde_json::to_string(&serde_json::json!({ "user": INSIDE_JSON })).unwrap();
    Setup::new()
        .workspace_with("net", CARELESS, |workspace| {
            workspace
                .with(&format!(
                    "sensitive_variables = {{\n    password = {PASSWORD:?}\n    users = {:?}\n    key = {key:?}\n    pin = {PIN}\n  }}",
                    LINES.join("\n")
                ))
                .with(&format!("sensitive_environment = {{\n    CLOUD_TOKEN = {TOKEN:?}\n  }}"))
        })
        .start()
}

async fn get(world: &World, path: &str) -> String {
    let url = format!("{}{path}", world.daemon().address);
    let request = reqwest::Client::new().get(url).bearer_auth("token-of-reader");
    request.send().await.unwrap().text().await.unwrap()
}

#[tokio::test]
async fn what_a_workspace_calls_sensitive_is_masked_in_logs_plans_and_outputs_whatever_the_configuration_says()
 {
    let world = world();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Applied").await;
    for stage in [Stage::Plan, Stage::Apply] {
        let log = world.log(&run, stage).await;
        assert!(log.contains("terraform_data.careless") && log.contains("everybody may know"), "{log}");
        assert_hidden(&format!("the log of the {stage}"), &log);
    }
    let plan = get(&world, &format!("/api/v2/plans/{}/json-output-redacted", run.plan_id().unwrap())).await;
    let document: Value = serde_json::from_str(&plan).expect("it is JSON all the same");
    assert_eq!(document["output_changes"]["open"]["after"], "everybody may know");
    assert_hidden("the redacted plan", &plan);
    let workspace = world.workspace("net").await;
    let outputs =
        get(&world, &format!("/api/v2/workspaces/{}/current-state-version-outputs", workspace.id)).await;
    assert!(outputs.contains("everybody may know"), "{outputs}");
    assert_hidden("the outputs", &outputs);
    for path in [
        format!("/api/v2/runs/{}", run.id),
        format!("/api/v2/runs/{}/run-events", run.id),
        format!("/api/v2/workspaces/{}/runs", workspace.id),
        "/api/v2/organizations/acme/workspaces".to_owned(),
    ] {
        assert_hidden(&path, &get(&world, &path).await);
    }
    assert_hidden("the daemon's own log", &world.daemon().log());
}

/// What is planted, by where: each is found nowhere but where docs/secrets.md and docs/encryption.md say.
const PLANTED: [(&str, &str); 9] = [
    ("a sensitive variable", "planted-variable-8f1"),
    ("a sensitive variable from a file", "planted-file-77a"),
    ("a sensitive environment", "planted-environment-c3d"),
    ("a sensitive parameter of a policy", "planted-parameter-19e"),
    ("the password of a git server", "planted-password-b40"),
    ("a token", "token-of-operator"),
    ("the daemon's environment", "not for terraform"),
    // what only encryption keeps from the disk, and only rights from people
    (CONFIGURATION, "planted-configuration-5d2"),
    (PUSHED, "planted-state-e06"),
];
const CONFIGURATION: &str = "a configuration";
const PUSHED: &str = "a state that is pushed";

const PLANTS: &str = r#"
variable "password" { type = string }
variable "from_file" { type = string }

resource "terraform_data" "thing" {
  input = [var.password, var.from_file, sensitive("planted-configuration-5d2")]
  provisioner "local-exec" {
    command = "GATE"
  }
  # a command that a configuration makes of a secret has it in its arguments
  provisioner "local-exec" {
    command = "echo \"$PLACE\" '${var.password}'"
  }
}
"#;

const POLICY: &str = r#"
param token
print("with", token)
main = rule { token is not "" }
"#;

fn planted() -> impl Iterator<Item = &'static str> {
    PLANTED.into_iter().map(|(_, secret)| secret)
}

fn holds(bytes: &[u8], secret: &str) -> bool {
    bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
}

/// The planted secrets in the files of the data directory, with the first name of the path of each.
fn in_files(directory: &Path) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        for entry in std::fs::read_dir(&path).into_iter().flatten().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => left.push(entry.path()),
                kind if kind.is_file() => {
                    let bytes = std::fs::read(entry.path()).unwrap_or_default();
                    let path = entry.path();
                    let first = path.strip_prefix(directory).unwrap().iter().next().unwrap();
                    let place = first.to_string_lossy().into_owned();
                    found.extend(
                        PLANTED
                            .iter()
                            .filter(|(_, secret)| holds(&bytes, secret))
                            .map(|(what, _)| (*what, place.clone())),
                    );
                }
                _ => {}
            }
        }
    }
    found
}

/// The planted secrets that any process of this world is given as an argument or in its environment, with its program.
fn in_processes(world: &World) -> BTreeSet<(&'static str, &'static str, String)> {
    let mut found = BTreeSet::new();
    for process in processes::alive_below(world.path(), Some(world.daemon().pid())) {
        let read = |name: &str| std::fs::read(format!("/proc/{}/{name}", process.pid)).unwrap_or_default();
        let name = String::from_utf8_lossy(&read("comm")).trim().to_owned();
        for (how, bytes) in [("argument", read("cmdline")), ("environment", read("environ"))] {
            let secrets = PLANTED.iter().filter(|(_, secret)| holds(&bytes, secret));
            found.extend(secrets.map(|(what, _)| (*what, how, name.clone())));
        }
    }
    found
}

async fn what_is_planted_everywhere_is_found_only_where_the_docs_say(keys: &str) {
    let git = TcpListener::bind("127.0.0.1:0").unwrap();
    let git_host = git.local_addr().unwrap();
    let setup = Setup::new().server(keys);
    let gate = setup.gate("apply");
    let secret_file = setup.path().join("secret.txt");
    std::fs::write(&secret_file, "planted-file-77a\n").unwrap();
    let mut world = setup
        .workspace_with("net", &PLANTS.replace("GATE", &gate.wait_command()), |workspace| {
            workspace
                .with("sensitive_variables = {\n    password = \"planted-variable-8f1\"\n    from_file = file(\"./secret.txt\")\n  }")
                .with("sensitive_environment = { PLACE = \"planted-environment-c3d\" }")
        })
        .workspace("pushed", "")
        .block(&format!(
            "workspace \"git\" {{\n  source \"git\" {{ url = \"http://ada:planted-password-b40@{git_host}/infra.git\" }}\n  \
             access = {{ operators = \"write\", readers = \"read\" }}\n}}"
        ))
        .policy_set_of(
            "rules",
            "net",
            "sensitive_parameters = { token = \"planted-parameter-19e\" }",
            &[("sentinel.hcl", "policy \"one\" {\n  enforcement_level = \"hard-mandatory\"\n}\n"), ("one.sentinel", POLICY)],
        )
        .start();
    let owner = world.client("owner");

    let state = world.path().join("planted.tfstate");
    let content = serde_json::json!({
        "version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "planted", "outputs": {},
        "resources": [{
            "mode": "managed", "type": "terraform_data", "name": "old", "provider": "provider[\"terraform.io/builtin/terraform\"]",
            "instances": [{ "schema_version": 0, "attributes": { "id": "planted-state-e06", "input": null, "output": null, "triggers_replace": null } }]
        }]
    });
    std::fs::write(&state, content.to_string()).unwrap();
    let pushed = world.workspace("pushed").await;
    owner.lock_workspace(&pushed.id, "to push").await.unwrap();
    owner.push_state(&pushed.id, &state, false).await.unwrap();

    // what git and terraform are given while they run
    let fetched = world.queue("git").await;
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let (connection, _) = tokio::task::spawn_blocking(move || git.accept().unwrap()).await.unwrap();
    gate.reached().await;
    let found = in_processes(&world);
    let environments =
        ["terraform", "sh", "sleep"].map(|name| ("a sensitive environment", "environment", name.to_owned()));
    let password = ("the password of a git server", "environment");
    let other: Vec<_> = found
        .iter()
        .filter(|one| {
            !environments.contains(one) && ((one.0, one.1) != password || !one.2.starts_with("git"))
        })
        .collect();
    assert!(other.is_empty(), "{other:?}");
    assert!(found.iter().any(|one| (one.0, one.1) == password), "git is asked: {found:?}");
    assert!(found.contains(&environments[0]), "so is terraform: {found:?}");
    drop(connection);
    gate.open();
    let run = world.reaches(&run, "Applied").await;
    let fetched = world.ends(&fetched).await;
    assert_eq!(fetched.state_name(), "Plan Errored");

    // what is kept: nothing with a key, and without one what terraform itself wrote, in blobs
    let blobs = |what| (what, "blobs".to_owned());
    let kept = match keys {
        "" => BTreeSet::from([PLANTED[0].0, PLANTED[1].0, CONFIGURATION, PUSHED].map(blobs)),
        _ => BTreeSet::new(),
    };
    wait_for("both runs are cleaned up after", async || {
        (!in_files(&world.data_dir()).iter().any(|(_, place)| place != "blobs")).then_some(())
    })
    .await;
    assert_eq!(in_files(&world.data_dir()), kept);

    // what is served to who may read, but for what docs/secrets.md names: states, and plans as terraform made them
    let workspace = world.workspace("net").await;
    let plan = run.plan_id().unwrap();
    let mut served = vec![("the daemon's own log".to_owned(), world.daemon().log())];
    for path in [
        "/api/v2/organizations/acme/workspaces".to_owned(),
        format!("/api/v2/workspaces/{}", workspace.id),
        format!("/api/v2/workspaces/{}/runs", workspace.id),
        format!("/api/v2/workspaces/{}/current-state-version-outputs", workspace.id),
        format!("/api/v2/workspaces/{}/current-state-version", pushed.id),
        format!("/api/v2/runs/{}", run.id),
        format!("/api/v2/runs/{}/run-events", run.id),
        format!("/api/v2/runs/{}/policy-checks", run.id),
        format!("/api/v2/runs/{}", fetched.id),
        format!("/api/v2/plans/{plan}"),
        format!("/api/v2/plans/{plan}/json-output-redacted"),
        "/".to_owned(),
    ] {
        served.push((path.clone(), get(&world, &path).await));
    }
    for (run, stage) in
        [(&run, Stage::Plan), (&run, Stage::PolicyCheck), (&run, Stage::Apply), (&fetched, Stage::Plan)]
    {
        served.push((format!("the {stage} log of {}", run.id), world.log(run, stage).await));
    }
    for (what, text) in &served {
        assert!(!text.is_empty(), "{what} is empty");
        for secret in planted() {
            assert!(!text.contains(secret), "{secret:?} is in {what}:\n{text}");
        }
    }
    assert!(served.iter().any(|(_, text)| text.contains("with (sensitive value)")), "the policy saw it");
    // and what a mistake in the config file shows
    world.stop_daemon();
    let broken = std::fs::read_to_string(world.config_file())
        .unwrap()
        .replace("sensitive_variables", "sensitive_variable");
    std::fs::write(world.config_file(), broken).unwrap();
    let checked = world.cli("admin").args(["config", "check"]).arg(world.config_file()).output().unwrap();
    let said = String::from_utf8(checked.stdout).unwrap() + &String::from_utf8(checked.stderr).unwrap();
    assert!(!checked.status.success() && said.contains("sensitive_variable"), "{said}");
    assert!(planted().all(|secret| !said.contains(secret)), "{said}");
}

#[tokio::test]
async fn without_a_key_what_is_planted_everywhere_is_found_only_where_the_docs_say() {
    Box::pin(what_is_planted_everywhere_is_found_only_where_the_docs_say("")).await;
}

#[tokio::test]
async fn with_a_key_what_is_planted_everywhere_is_found_only_where_the_docs_say() {
    let key = seal::Key::generate().unwrap();
    let setting = format!("encryption_key = {key:?}");
    Box::pin(what_is_planted_everywhere_is_found_only_where_the_docs_say(&setting)).await;
}
