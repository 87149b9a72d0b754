//! What a workspace calls sensitive is nowhere to be seen, but where docs/secrets.md says.

use client::Stage;
use serde_json::Value;

use crate::support::{Setup, World, auto_apply};

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
