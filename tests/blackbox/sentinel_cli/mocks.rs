//! `signalbox sentinel mocks`, over plans of the real terraform.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Desk, Done};
use crate::support::{Setup, World};

const MAIN: &str = r#"
variable "size" {
  default = "small"
}

variable "password" {
  default   = "hunter2-hunter2"
  sensitive = true
}

variable "is_secret" {
  type      = bool
  default   = true
  sensitive = true
}

resource "terraform_data" "server" {
  count = 2
  input = {
    size     = var.size
    password = var.password
    secret   = var.is_secret
  }
}

output "password" {
  value     = var.password
  sensitive = true
}

output "address" {
  value = nonsensitive("https://user:${var.password}@example.com")
}
"#;

/// Servers of a size that one may have.
const SIZES: &str = r#"import "tfplan/v2" as tfplan
import "tfconfig/v2" as tfconfig
import "tfrun"

servers = filter tfplan.resource_changes as _, rc {
	rc.type is "terraform_data" and rc.change.actions contains "create"
}

small = rule { all servers as _, s { s.change.after.input.size is "small" } }
counted = rule { length(servers) is 2 and length(tfconfig.resources) is 1 }
masked = rule {
	all servers as _, s {
		s.change.after.input.password is "(sensitive value)" and
			s.change.after.input.secret is "(sensitive value)"
	} and
		tfplan.variables.is_secret.value is "(sensitive value)" and
		tfplan.planned_values.outputs.password.value is "(sensitive value)"
}
known = rule { tfrun.variables.password.sensitive and not tfrun.variables.size.sensitive }
main = rule { small and counted and masked and known }
"#;

fn terraform(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let output = Command::new("terraform")
        .args(arguments)
        .current_dir(folder)
        .env_remove("TF_CLI_CONFIG_FILE")
        .env("CHECKPOINT_DISABLE", "1")
        .output()
        .expect("terraform is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[track_caller]
fn assert_masked(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("hunter2"), "{}", path.display());
    }
}

#[test]
fn mocks_of_a_plan_can_be_tested_with_at_once() {
    let desk = Desk::new(&[("main.tf", MAIN), ("sizes.sentinel", SIZES)]);
    terraform(&desk.path(""), &["init", "-input=false"]);
    terraform(&desk.path(""), &["plan", "-input=false", "-out=plan"]);
    std::fs::write(desk.path("plan.json"), terraform(&desk.path(""), &["show", "-json", "plan"])).unwrap();

    desk.run("mocks plan.json -o mocks")
        .ended(0)
        .shown("mocks/sentinel.hcl\n")
        .said("sensitive values are masked")
        .said("texts that the plan does not mark are masked too")
        .said("tfrun has what a plan tells");
    assert_masked(&desk.path("mocks"));
    desk.run("apply -config=mocks/sentinel.hcl sizes.sentinel").ended(0);
    let mock = |import: &str, file: &str| {
        format!(
            "mock \"{import}\" {{\n  module {{\n    source = \"../../mocks/mock-{file}.sentinel\"\n  }}\n}}\n"
        )
    };
    let mocks =
        ["tfplan-v2", "tfconfig-v2", "tfrun"].map(|file| mock(&file.replace("-v2", "/v2"), file)).concat();
    desk.write("test/sizes/real.hcl", &mocks);
    desk.write("test/sizes/not.hcl", &(mocks + "test {\n  rules = { small = false }\n}\n"));
    desk.run("test").ended(1).shown("PASS - test/sizes/real.hcl").shown("FAIL - test/sizes/not.hcl");
    // what was written is formatted, so that it may be kept beside the policy
    let files = desk.run("mocks --json plan.json -o again").ended(0).json()["files"].clone();
    for file in
        files.as_array().unwrap().iter().filter_map(Value::as_str).filter(|file| file.ends_with("sentinel"))
    {
        desk.run(&format!("fmt -check {file}")).ended(0);
    }

    std::fs::write(desk.path("mocks/mock-tfrun.sentinel"), "changed by hand").unwrap();
    desk.run("mocks plan.json -o mocks").ended(2).said("is there already").said("--force");
    assert_eq!(desk.read("mocks/mock-tfrun.sentinel"), "changed by hand");
    desk.run("mocks plan.json -o mocks --force").ended(0);
    desk.run("apply -config=mocks sizes.sentinel").ended(0);
}

#[test]
fn what_is_no_plan_has_no_mocks() {
    let desk = Desk::new(&[
        ("state.json", "{\"format_version\": \"1.0\"}"),
        ("broken.json", "{"),
        ("large.json", "{\"planned_values\": {},\n\"variables\": {\"n\": {\"value\": 1e400}}}"),
    ]);
    desk.run("mocks gone.json -o m")
        .ended(2)
        .said("gone.json is not a plan: No such file")
        .said("terraform show -json");
    desk.run("mocks broken.json -o m").ended(2).said("broken.json is not a plan: EOF");
    desk.run("mocks large.json -o m").ended(2).said("the number at line 2 column 30 is too large");
    desk.run("mocks state.json -o m").ended(2).said("it has no `planned_values`");
    desk.run("mocks run-4444444444444444 -o m").ended(2).said("there is no token");
    assert!(!desk.path("m").exists());
}

fn mocks_of(world: &World, user: &str, run: &str, desk: &Desk) -> Done {
    tokio::task::block_in_place(|| {
        Done::of(world.cli(user).current_dir(desk.path("")).args(["sentinel", "mocks", run, "-o", "mocks"]))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn mocks_of_a_run_are_what_its_policies_see_and_are_for_admins() {
    let world = Setup::new()
        .workspace("net", MAIN)
        .workspace("broken", crate::support::terraform::BROKEN_PLAN)
        .start();
    let new_run = client::NewRun { message: Some("by hand".to_owned()), ..client::NewRun::default() };
    let run = world.queue_as("operator", "net", new_run).await;
    world.reaches(&run, "Needs Confirmation").await;
    let desk = Desk::new(&[("sizes.sentinel", &SIZES.replace("known = rule { ", "known = rule { true or "))]);

    mocks_of(&world, "operator", &run.id, &desk).ended(1).said("of which you are an admin");
    mocks_of(&world, "stranger", &run.id, &desk).ended(1).said("of which you are an admin");
    assert!(!desk.path("mocks").exists());
    mocks_of(&world, "admin", &run.id, &desk).ended(0).said("sensitive values are masked");
    assert_masked(&desk.path("mocks"));
    desk.run("apply -config=mocks sizes.sentinel").ended(0);
    let rule = format!(
        "import \"tfrun\"\nmain = rule {{ tfrun.id is \"{}\" and tfrun.workspace.name is \"net\" and tfrun.message is \"by hand\" and tfrun.organization.name is \"acme\" and not tfrun.is_destroy }}\n",
        run.id
    );
    desk.write("run.sentinel", &rule);
    desk.run("apply -config=mocks run.sentinel").ended(0);

    let broken = world.queue("broken").await;
    world.reaches(&broken, "Plan Errored").await;
    mocks_of(&world, "admin", &broken.id, &desk).ended(1).said("the run has to have a plan");
}
