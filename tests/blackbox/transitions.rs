//! T1–T20: each row of the run lifecycle against the real binary and the real terraform.

use client::{NewRun, RunAction, Stage};

use crate::policies::{ADVISORY, HARD, PASSING, SOFT};
use crate::support::{Setup, World, auto_apply, terraform};

fn simple() -> World {
    Setup::new().workspace("net", terraform::SIMPLE).start()
}

/// A plan waits at the gate before terraform gets it.
fn gated_plan(setup: Setup) -> Setup {
    let gate = setup.gate("plan");
    let script = format!("case \" $* \" in *\" plan \"*) {};; esac", gate.wait_command());
    setup.workspace_with_script("net", terraform::SIMPLE, &script)
}

#[tokio::test]
async fn t1_the_first_run_of_a_queue_starts_by_itself_and_the_next_waits() {
    let world = simple();
    let first = world.queue("net").await;
    world.reaches(&first, "Needs Confirmation").await;
    let second = world.queue("net").await;
    queue_was_looked_at(&world).await;
    assert_eq!(world.run(&second).await.state_name(), "Pending");
    world.act("operator", &first, RunAction::Discard).await.unwrap();
    world.reaches(&second, "Needs Confirmation").await;
}

/// A plan-only run passes by whatever keeps the others pending: when it is over, the queue was looked at.
async fn queue_was_looked_at(world: &World) {
    let plan_only =
        world.queue_as("operator", "net", NewRun { plan_only: Some(true), ..NewRun::default() }).await;
    world.reaches(&plan_only, "Planned and Finished").await;
}

#[tokio::test]
async fn t1_nothing_starts_in_a_locked_workspace_until_it_is_unlocked() {
    let world = simple();
    let workspace = world.workspace("net").await;
    let client = world.client("operator");
    client.lock_workspace(&workspace.id, "maintenance").await.unwrap();
    let run = world.queue("net").await;
    queue_was_looked_at(&world).await;
    assert_eq!(world.run(&run).await.state_name(), "Pending");
    client.unlock_workspace(&workspace.id).await.unwrap();
    world.reaches(&run, "Needs Confirmation").await;
}

#[tokio::test]
async fn t1_no_more_runs_than_slots_at_once() {
    let setup = Setup::new().server("max_concurrent_runs = 1");
    let gate = setup.gate("plan");
    let script = format!("case \" $* \" in *\" plan \"*) {};; esac", gate.wait_command());
    let world = setup
        .workspace_with_script("first", terraform::SIMPLE, &script)
        .workspace("second", terraform::SIMPLE)
        .start();
    let first = world.queue("first").await;
    gate.reached().await;
    let second = world.queue("second").await;
    gate.open();
    // one that waits for a person takes no slot
    let first = world.reaches(&first, "Needs Confirmation").await;
    let second = world.reaches(&second, "Needs Confirmation").await;
    let (planned, started) =
        (first.status_timestamps["planned-at"], second.status_timestamps["plan-queued-at"]);
    assert!(started > planned, "it started at {started}, when the slot was free at {planned}");
}

#[tokio::test]
async fn t2_a_pending_run_is_discarded_or_canceled_before_it_starts() {
    let world = simple();
    let holder = world.queue("net").await;
    world.reaches(&holder, "Needs Confirmation").await;
    let (discarded, canceled) = (world.queue("net").await, world.queue("net").await);
    world.act("operator", &discarded, RunAction::Discard).await.unwrap();
    world.act("operator", &canceled, RunAction::Cancel).await.unwrap();
    assert_eq!(world.run(&discarded).await.state_name(), "Discarded");
    assert_eq!(world.run(&canceled).await.state_name(), "Canceled");
    assert_eq!(world.log(&canceled, Stage::Plan).await, "", "nothing ever ran");
}

#[tokio::test]
async fn t3_a_plan_that_fails_ends_plan_errored_with_the_words_in_its_log() {
    let world = Setup::new().workspace("net", terraform::BROKEN_PLAN).start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let error = run.error().unwrap();
    assert!(
        error.starts_with("terraform plan exited with 1: Resource precondition failed, on main.tf"),
        "{error}"
    );
    assert!(world.log(&run, Stage::Plan).await.contains("one is not two"));
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn t3_an_init_that_fails_ends_plan_errored_with_the_words_in_its_log() {
    let module = "module \"m\" {\n  source = \"./not-there\"\n}\n";
    let world = Setup::new().workspace("net", module).start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Plan Errored").await;
    assert!(run.error().unwrap().starts_with("terraform init exited with 1: "), "{:?}", run.error());
    assert!(world.log(&run, Stage::Plan).await.contains("not-there"));
}

#[tokio::test]
async fn t4_a_plan_is_canceled_and_its_processes_are_gone() {
    let setup = gated_plan(Setup::new());
    let gate = setup.gate("plan");
    let world = setup.start();
    let run = world.queue("net").await;
    gate.reached().await;
    world.cancel(&run).await;
    let run = world.reaches(&run, "Canceled").await;
    assert!(run.force_cancel_available_at.is_some());
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn t5_a_plan_without_changes_is_over() {
    let world = simple();
    let first = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&first, "Applied").await;
    let second = world.queue("net").await;
    let second = world.reaches(&second, "No Changes").await;
    assert!(!second.has_changes);
    assert!(world.act("operator", &second, RunAction::Apply).await.is_err());
}

#[tokio::test]
async fn t5_a_change_of_outputs_alone_is_a_change() {
    let world = simple();
    let first = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&first, "Applied").await;
    let more = format!("{}\noutput \"more\" {{\n  value = 1\n}}\n", terraform::SIMPLE);
    std::fs::write(world.source("net").join("main.tf"), more).unwrap();
    let second = world.queue("net").await;
    world.reaches(&second, "Needs Confirmation").await;
}

#[tokio::test]
async fn t5_no_changes_end_a_run_where_there_are_policies_too() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set("rules", "net", PASSING.0, PASSING.1)
        .start();
    let first = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&first, "Applied").await;
    let second = world.queue("net").await;
    world.reaches(&second, "No Changes").await;
    assert_eq!(world.log(&second, Stage::PolicyCheck).await, "");
}

#[tokio::test]
async fn t6_a_plan_with_changes_goes_to_the_policy_check_by_itself() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set("rules", "net", PASSING.0, PASSING.1)
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    let actions: Vec<String> =
        world.events(&run).await.into_iter().map(|event| event.action.to_string()).collect();
    assert!(actions.iter().any(|action| action == "policy_checking"), "{actions:?}");
}

#[tokio::test]
async fn t7_a_plan_that_can_be_auto_applied_is_applied_by_itself() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| workspace.with("auto_apply = true"))
        .start();
    let run = world.queue("net").await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
}

#[tokio::test]
async fn t7_a_run_may_say_for_itself_whether_it_is_auto_applied() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| workspace.with("auto_apply = true"))
        .start();
    let run =
        world.queue_as("operator", "net", NewRun { auto_apply: Some(false), ..NewRun::default() }).await;
    world.reaches(&run, "Needs Confirmation").await;
}

#[tokio::test]
async fn t8_a_plan_with_changes_waits_for_a_person() {
    let world = simple();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Needs Confirmation").await;
    assert!(run.has_changes && run.actions.is_confirmable && run.actions.is_discardable);
    let plan = run.plan.expect("the plan is included");
    assert_eq!(
        (plan.resources.additions, plan.resources.changes, plan.resources.destructions),
        (Some(1), Some(0), Some(0))
    );
}

#[tokio::test]
async fn t8_a_destroy_plan_waits_even_where_auto_apply_is_on() {
    let world = Setup::new()
        .workspace_with("net", terraform::SIMPLE, |workspace| workspace.with("auto_apply = true"))
        .start();
    let made = world.queue("net").await;
    world.reaches(&made, "Applied").await;
    let run = world.queue_as("operator", "net", NewRun { is_destroy: true, ..NewRun::default() }).await;
    let run = world.reaches(&run, "Needs Confirmation").await;
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, [""; 0]);
}

#[tokio::test]
async fn t7_a_destroy_plan_is_applied_by_itself_where_that_was_asked_for_on_the_run() {
    let world = simple();
    let made = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&made, "Applied").await;
    let destroy = NewRun { is_destroy: true, ..auto_apply() };
    // not by who may not apply, whatever they ask for
    let waiting = world.queue_as("planner", "net", destroy.clone()).await;
    world.reaches(&waiting, "Needs Confirmation").await;
    world.act("planner", &waiting, RunAction::Discard).await.unwrap();
    let run = world.queue_as("operator", "net", destroy).await;
    world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, [""; 0]);
}

#[tokio::test]
async fn t9_a_confirmed_plan_is_applied() {
    let world = simple();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.client("operator").act_on_run(&run.id, RunAction::Apply, Some("looks good")).await.unwrap();
    world.reaches(&run, "Applied").await;
    let events = world.events(&run).await;
    let confirmed =
        events.iter().find(|event| event.comment.as_deref() == Some("looks good")).expect("the comment");
    assert_eq!(confirmed.actor.as_deref(), Some("operator"));
}

#[tokio::test]
async fn t10_a_declined_plan_is_never_applied() {
    let world = simple();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.act("operator", &run, RunAction::Discard).await.unwrap();
    assert_eq!(world.run(&run).await.state_name(), "Discarded");
    assert!(world.act("operator", &run, RunAction::Apply).await.is_err());
    assert_eq!(world.state("net").await, None);
}

#[tokio::test]
async fn t11_a_failed_hard_mandatory_policy_ends_the_run() {
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", HARD.0, HARD.1).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Plan Errored").await;
    assert_eq!(run.error(), Some("policy rules/never failed (hard-mandatory)"));
    assert!(world.log(&run, Stage::PolicyCheck).await.contains("nothing is ever good enough"));
    assert!(world.override_policies("owner", &run).await.is_err(), "nobody can override it");
    assert_eq!(world.state("net").await, None);
}

#[tokio::test]
async fn t12_a_failed_soft_mandatory_policy_waits_for_an_override() {
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", SOFT.0, SOFT.1).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Policy Override").await;
    assert!(world.act("operator", &run, RunAction::Apply).await.is_err(), "it has to be overridden first");
}

#[tokio::test]
async fn t13_only_an_owner_overrides_and_the_journal_says_who_and_why() {
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", SOFT.0, SOFT.1).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Policy Override").await;
    assert!(world.override_policies("admin", &run).await.is_err(), "an admin of the workspace is no owner");
    world.override_policies("owner", &run).await.unwrap();
    world.reaches(&run, "Policy Checked").await;
    let events = world.events(&run).await;
    let overridden =
        events.iter().find(|e| e.comment.as_deref() == Some("I take it on me")).expect("the comment");
    assert_eq!(overridden.actor.as_deref(), Some("owner"));
}

#[tokio::test]
async fn t14_a_run_that_waits_for_an_override_is_discarded() {
    let world =
        Setup::new().workspace("net", terraform::SIMPLE).policy_set("rules", "net", SOFT.0, SOFT.1).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Policy Override").await;
    world.act("operator", &run, RunAction::Discard).await.unwrap();
    assert_eq!(world.run(&run).await.state_name(), "Discarded");
}

#[tokio::test]
async fn t15_a_failed_advisory_policy_is_shown_and_stops_nothing() {
    let world = Setup::new()
        .workspace("net", terraform::SIMPLE)
        .policy_set("rules", "net", ADVISORY.0, ADVISORY.1)
        .start();
    let run = world.queue("net").await;
    let run = world.reaches(&run, "Policy Checked").await;
    assert!(world.log(&run, Stage::PolicyCheck).await.contains("nothing is ever good enough"));
    let check = &world.client("owner").policy_checks(&run.id).await.unwrap()[0];
    assert_eq!(check.result.as_ref().map(|counts| counts.advisory_failed), Some(1));
}

#[tokio::test]
async fn t16_a_checked_run_that_can_be_auto_applied_goes_on_by_itself_after_an_override_too() {
    let world = Setup::new()
        .workspace("passing", terraform::SIMPLE)
        .workspace("soft", terraform::SIMPLE)
        .policy_set("passing", "passing", PASSING.0, PASSING.1)
        .policy_set("soft", "soft", SOFT.0, SOFT.1)
        .start();
    let passing = world.queue_as("operator", "passing", auto_apply()).await;
    let soft = world.queue_as("operator", "soft", auto_apply()).await;
    world.reaches(&passing, "Applied").await;
    world.reaches(&soft, "Policy Override").await;
    world.override_policies("owner", &soft).await.unwrap();
    world.reaches(&soft, "Applied").await;
}

#[tokio::test]
async fn t17_a_checked_run_waits_until_a_person_confirms_or_rejects() {
    let world = Setup::new()
        .workspace("one", terraform::SIMPLE)
        .workspace("two", terraform::SIMPLE)
        .policy_set("rules", "*", PASSING.0, PASSING.1)
        .start();
    let (confirmed, rejected) = (world.queue("one").await, world.queue("two").await);
    world.reaches(&confirmed, "Policy Checked").await;
    world.reaches(&rejected, "Policy Checked").await;
    world.confirm(&confirmed).await;
    world.act("operator", &rejected, RunAction::Discard).await.unwrap();
    world.reaches(&confirmed, "Applied").await;
    world.reaches(&rejected, "Discarded").await;
}

#[tokio::test]
async fn t18_an_apply_that_exits_0_is_applied_and_its_state_is_kept() {
    let world = simple();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    world.confirm(&run).await;
    let run = world.reaches(&run, "Applied").await;
    assert_eq!(world.resources("net").await, ["terraform_data.thing"]);
    assert!(world.log(&run, Stage::Apply).await.contains("Apply complete!"));
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn t19_an_apply_that_fails_ends_apply_errored_and_what_it_made_is_kept() {
    let world = Setup::new().workspace("net", terraform::BROKEN_APPLY).start();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    let run = world.reaches(&run, "Apply Errored").await;
    let error = run.error().unwrap();
    assert!(error.starts_with("terraform apply exited with 1: local-exec provisioner error"), "{error}");
    let resources = world.resources("net").await;
    assert!(resources.contains(&"terraform_data.first".to_owned()), "{resources:?}");
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn t20_an_apply_is_canceled_and_what_it_made_is_kept() {
    let (world, run, gate) = Setup::new().applying().await;
    world.cancel(&run).await;
    world.reaches(&run, "Canceled").await;
    let resources = world.resources("net").await;
    assert!(resources.contains(&"terraform_data.first".to_owned()), "{resources:?}");
    assert_eq!(gate.arrivals(), 1, "it was applied once");
    world.assert_nothing_is_left();
}
