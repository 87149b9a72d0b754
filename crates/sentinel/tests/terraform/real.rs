//! A plan of the real terraform.

use std::process::Command;

use sentinel::{Data, Documents, Environment, Secrets, imports, secrets};

use crate::support::{check_in, run_in};

const CONFIGURATION: &str = r#"
variable "name" {
  default = "web"
}

variable "token" {
  default   = "very-secret-token"
  sensitive = true
}

resource "terraform_data" "server" {
  count = 2
  input = {
    name  = var.name
    index = count.index
    token = var.token
  }
}

resource "terraform_data" "after" {
  input = terraform_data.server[0].id
}

output "id" {
  value = terraform_data.after.id
}
"#;

fn terraform(folder: &std::path::Path, args: &[&str]) -> Vec<u8> {
    let output = Command::new("terraform")
        .args(args)
        .current_dir(folder)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("terraform is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn plan() -> Data {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("main.tf"), CONFIGURATION).unwrap();
    terraform(folder.path(), &["init", "-input=false"]);
    terraform(folder.path(), &["plan", "-input=false", "-out=plan"]);
    let json = terraform(folder.path(), &["show", "-json", "plan"]);
    serde_json::from_slice(&json).unwrap()
}

#[test]
fn policies_see_a_plan_of_the_real_terraform() {
    let plan = plan();
    let mut environment = Environment::default();
    for (name, import) in imports(&Documents { plan: plan.clone(), schemas: None, run: None }) {
        environment.set_import(name, import);
    }
    let check = |expr: &str, expected: &str| {
        let source = format!(
            "import \"tfplan/v2\" as plan\nimport \"tfconfig/v2\" as config\nimport \"tfplan\" as old ;; {expr}"
        );
        check_in(&source, expected, &environment);
    };
    check(
        "keys(plan.resource_changes)",
        "[\"terraform_data.after\", \"terraform_data.server[0]\", \"terraform_data.server[1]\"]",
    );
    check(
        "all plan.resource_changes as _, rc { rc.change.actions is [\"create\"] and rc.type is \"terraform_data\" }",
        "true",
    );
    check("plan.resource_changes[\"terraform_data.server[1]\"].change.after.input.index", "1");
    check("plan.resource_changes[\"terraform_data.after\"].change.after.input", "undefined");
    check("plan.variables.name.value", "\"web\"");
    check(
        "config.resources[config.strip_index(\"terraform_data.server[1]\")].config.input.references contains \"var.name\"",
        "true",
    );
    check("old.resources.terraform_data.after[0].diff.input.computed", "true");
    check("keys(old.resources.terraform_data.server)", "[0, 1]");
    check("old.config.resources.terraform_data.server.references.input contains \"var.token\"", "true");

    let source = "import \"tfplan/v2\" as plan\nfor plan.resource_changes as _, rc { print(rc.change.after) }\nmain = true";
    let evaluation = run_in(source, &environment, &[]).unwrap();
    assert!(evaluation.trace.print.contains("very-secret-token"));
    let masked = evaluation.masked(&Secrets::new(secrets(&plan)));
    assert!(!masked.trace.print.contains("very-secret-token"), "{}", masked.trace.print);
}
