//! The policy stage beyond its rows in the lifecycle.

use client::{NewRun, Stage};

use crate::support::{Setup, terraform};

/// A set as `policies.hcl` and Rego.
type Set = (&'static str, &'static str);

const NEVER: &str = "package rules\nimport rego.v1\nnever contains message if {\n  message := \"nothing is ever good enough\"\n}\n";

pub const PASSING: Set = (
    "policy \"always\" {\n  query = \"data.rules.always\"\n  enforcement_level = \"hard-mandatory\"\n}\n",
    "package rules\nimport rego.v1\nalways contains message if {\n  count(input.plan.resource_changes) > 100\n  message := \"too many\"\n}\n",
);
pub const SOFT: Set = (
    "policy \"never\" {\n  query = \"data.rules.never\"\n  enforcement_level = \"soft-mandatory\"\n}\n",
    NEVER,
);
pub const HARD: Set = (
    "policy \"never\" {\n  query = \"data.rules.never\"\n  enforcement_level = \"hard-mandatory\"\n}\n",
    NEVER,
);
pub const ADVISORY: Set =
    ("policy \"never\" {\n  query = \"data.rules.never\"\n  enforcement_level = \"advisory\"\n}\n", NEVER);

/// For the query of the others: works until its time is over.
pub const ENDLESS: &str = "package rules\nimport rego.v1\nnever contains message if {\n  some a in numbers.range(1, 100000)\n  some b in numbers.range(1, 100000)\n  a * b == -1\n  message := \"x\"\n}\n";

#[tokio::test]
async fn an_error_inside_a_policy_is_its_failure_and_never_a_pass() {
    let rego = "package rules\nimport rego.v1\nnever contains message if {\n  to_number(\"no number\") == 1\n  message := \"x\"\n}\n";
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", HARD.0, rego).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Plan Errored").await;
}

#[tokio::test]
async fn a_policy_that_never_ends_is_ended_and_counts_as_failed() {
    let files = [("policies.hcl", SOFT.0), ("policy.rego", ENDLESS)];
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set_of("rules", "net", "time_limit = \"300ms\"", &files)
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Override").await;
    assert!(world.log(&run, Stage::PolicyCheck).await.contains("time"));
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_set_with_a_mistake_ends_the_run_errored_with_the_place_and_the_daemon_lives() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set("rules", "net", SOFT.0, "package rules\nnever contains {\n")
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("policy.rego:3:1"), "{log}");
    let again = world.queue("net").await;
    world.reaches(&again, "Plan Errored").await;
}

#[tokio::test]
async fn a_plan_only_run_is_checked_and_ends_without_waiting_for_anybody() {
    let world = Setup::new()
        .workspace("passing", terraform::SIMPLE)
        .workspace("soft", terraform::SIMPLE)
        .policy_set("passing", "passing", PASSING.0, PASSING.1)
        .policy_set("soft", "soft", SOFT.0, SOFT.1)
        .start();
    let plan_only = || NewRun { plan_only: Some(true), ..NewRun::default() };
    let passing = world.queue_as("planner", "passing", plan_only()).await;
    let soft = world.queue_as("planner", "soft", plan_only()).await;
    world.reaches(&passing, "Planned and Finished").await;
    world.reaches(&soft, "Policy Soft Failed").await;
}

#[tokio::test]
async fn policies_see_the_plan_and_the_run() {
    let rego = r#"package rules
import rego.v1
never contains message if {
  input.run.workspace.name == "net"
  input.run.organization.name == "acme"
  input.run.is_destroy == false
  some change in input.plan.resource_changes
  message := sprintf("%s by %s: %q", [change.address, input.run.created_by, input.run.message])
}
"#;
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", ADVISORY.0, rego).start();
    let run = NewRun { message: Some("for the record".into()), ..NewRun::default() };
    let run = world.queue_as("operator", "net", run).await;
    let run = world.reaches(&run, "Policy Checked").await;
    let log = world.log(&run, Stage::PolicyCheck).await;
    assert!(log.contains("terraform_data.thing by operator: \"for the record\""), "{log}");
}
