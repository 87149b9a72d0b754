//! Policies over a plan that terraform itself wrote.
#![cfg(feature = "rego")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::{path::Path, process::Command};

use common::failed;
use policy::{Input, PolicySet, SetSettings, Verdict};
use serde_json::json;

const CONFIGURATION: &str = r#"
variable "size" { default = 3 }
resource "terraform_data" "small" { input = { size = 1 } }
resource "terraform_data" "large" {
  input            = { size = var.size }
  triggers_replace = terraform_data.small.id
}
"#;

const MANIFEST: &str = r#"
policy "size" { query = "terraform.policies.size.deny" }
policy "unknown" { query = "data.terraform.policies.unknown.deny" }
policy "kinds" { query = "data.terraform.policies.kinds.deny" }
"#;

const SIZE: &str = r#"package terraform.policies.size

import input.plan as tfplan

deny[msg] {
  r := tfplan.resource_changes[_]
  r.change.actions[_] == "create"
  r.change.after.input.size > 2
  msg := sprintf("%q has size %d", [r.address, r.change.after.input.size])
}
"#;

const REST: &str = r#"package terraform.policies

import rego.v1

unknown.deny contains r.address if {
  some r in input.plan.resource_changes
  r.change.after_unknown.triggers_replace
}

kinds.deny contains r.type if {
  some r in input.plan.resource_changes
  not r.type in {"terraform_data"}
}
"#;

fn terraform(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("terraform")
        .args(args)
        .current_dir(dir)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("TF_IN_AUTOMATION", "1")
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn policies_judge_the_plan_that_terraform_shows() {
    let configuration = common::folder(&[("main.tf", CONFIGURATION)]);
    terraform(configuration.path(), &["init", "-input=false", "-no-color"]);
    terraform(configuration.path(), &["plan", "-input=false", "-no-color", "-out=tfplan"]);
    let plan = terraform(configuration.path(), &["show", "-json", "tfplan"]);

    let set = common::folder(&[("policies.hcl", MANIFEST), ("size.rego", SIZE), ("rest.rego", REST)]);
    let set = PolicySet::load("real", set.path(), &SetSettings::default()).unwrap();
    let input = Input::new(plan, json!({})).unwrap().into();
    let verdicts: Vec<_> = set.evaluate(&input, common::SECOND).into_iter().map(|r| r.verdict).collect();
    assert_eq!(
        verdicts,
        [
            failed(&[r#""terraform_data.large" has size 3"#]),
            failed(&["terraform_data.large"]),
            Verdict::Passed,
        ]
    );
}
