//! The queue of a workspace.

use client::{NewRun, RunAction, RunVariable, Stage};

use crate::support::{Setup, terraform, wait_for};

#[tokio::test]
async fn ten_runs_are_applied_one_at_a_time_in_the_order_in_which_they_were_queued() {
    let setup = Setup::new();
    let order = setup.path().join("order");
    let main = format!(
        r#"
variable "number" {{
  type = string
}}

resource "terraform_data" "thing" {{
  input            = var.number
  triggers_replace = var.number
  provisioner "local-exec" {{
    command = "echo begin ${{var.number}} >> {0}; echo end ${{var.number}} >> {0}"
  }}
}}
"#,
        order.display()
    );
    let world = setup.workspace_with("net", &main, |workspace| workspace.with("auto_apply = true")).start();
    let mut runs = Vec::new();
    for number in 0..10 {
        let variables = vec![RunVariable { key: "number".into(), value: format!("\"{number}\"") }];
        runs.push(world.queue_as("operator", "net", NewRun { variables, ..NewRun::default() }).await);
    }
    for run in &runs {
        world.reaches(run, "Applied").await;
    }
    let expected: String = (0..10).map(|number| format!("begin {number}\nend {number}\n")).collect();
    assert_eq!(std::fs::read_to_string(order).unwrap(), expected);
}

#[tokio::test]
async fn plan_only_runs_go_beside_a_run_that_holds_the_workspace() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let holder = world.queue("net").await;
    world.reaches(&holder, "Needs Confirmation").await;
    let waiting = world.queue("net").await;
    let plan_only =
        world.queue_as("planner", "net", NewRun { plan_only: Some(true), ..NewRun::default() }).await;
    let plan_only = world.reaches(&plan_only, "Planned and Finished").await;
    assert!(world.act("owner", &plan_only, RunAction::Apply).await.is_err(), "it can never be applied");
    assert_eq!(world.run(&waiting).await.state_name(), "Pending");
    assert_eq!(world.run(&holder).await.state_name(), "Needs Confirmation");
}

#[tokio::test]
async fn an_errored_run_lets_the_next_one_start() {
    let world = Setup::new().workspace("net", terraform::BROKEN_PLAN).start();
    let (first, second) = (world.queue("net").await, world.queue("net").await);
    world.reaches(&first, "Plan Errored").await;
    world.reaches(&second, "Plan Errored").await;
}

#[tokio::test]
async fn the_workspace_shows_the_run_that_holds_it_or_else_the_newest_final_one() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let first = world.queue("net").await;
    world.reaches(&first, "Needs Confirmation").await;
    let second = world.queue("net").await;
    let shown = async || world.workspace("net").await.current_run_id().map(str::to_owned);
    assert_eq!(shown().await.as_deref(), Some(first.id.as_str()));
    world.act("operator", &first, RunAction::Discard).await.unwrap();
    world.reaches(&second, "Needs Confirmation").await;
    wait_for("the second run is shown", async || {
        (shown().await.as_deref() == Some(second.id.as_str())).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_workspace_that_a_run_holds_can_not_be_locked() {
    let world = Setup::new().workspace("net", terraform::SIMPLE).start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let workspace = world.workspace("net").await;
    assert!(workspace.locked, "the run is its lock");
    assert!(world.client("operator").lock_workspace(&workspace.id, "").await.is_err());
}

#[tokio::test]
async fn a_run_that_is_locked_out_while_it_waits_for_a_slot_stands_in_nobody_s_way() {
    let setup = Setup::new().server("max_concurrent_runs = 1");
    let gate = setup.gate("plan");
    let script = format!("case \" $* \" in *\" plan \"*) {};; esac", gate.wait_command());
    let world = setup
        .workspace_with_script("busy", terraform::SIMPLE, &script)
        .workspace("locked", terraform::SIMPLE)
        .workspace("other", terraform::SIMPLE)
        .start();
    let busy = world.queue("busy").await;
    gate.reached().await;
    let locked_out = world.queue("locked").await;
    let workspace = world.workspace("locked").await;
    world.client("operator").lock_workspace(&workspace.id, "").await.unwrap();
    let other = world.queue("other").await;
    gate.open();
    world.reaches(&busy, "Needs Confirmation").await;
    world.reaches(&other, "Needs Confirmation").await;
    assert_eq!(world.run(&locked_out).await.state_name(), "Pending");
}

#[tokio::test]
async fn a_queued_run_says_what_it_waits_for() {
    let setup = Setup::new().server("max_concurrent_runs = 1");
    let gate = setup.gate("busy");
    let world = setup
        .workspace("net", terraform::SIMPLE)
        .workspace_with_script("busy", terraform::SIMPLE, &gate.wait_command())
        .start();
    let waits = async |run: &client::Run, words: &str| {
        wait_for(&format!("the run waits for {words}"), async || {
            world.run(run).await.waits_for().is_some_and(|what| what.contains(words)).then_some(())
        })
        .await;
    };
    let operator = world.client("operator");
    let net = world.workspace("net").await;
    operator.lock_workspace(&net.id, "maintenance").await.unwrap();
    let (first, second) = (world.queue("net").await, world.queue("net").await);
    waits(&first, "locked by operator since").await;
    waits(&first, "maintenance").await;
    let busy = world.queue("busy").await;
    gate.reached().await;
    assert_eq!(world.run(&busy).await.waits_for(), None, "it works, and waits for nothing");
    operator.unlock_workspace(&net.id).await.unwrap();
    waits(&first, "a free execution slot: 1 of 1 are taken").await;
    gate.open();
    world.reaches(&first, "Needs Confirmation").await;
    waits(&second, &format!("confirmation of {}", first.id)).await;
    assert_eq!(world.run(&first).await.waits_for(), None);
    // whoever follows it is told when it waits for something else
    let mut followed = operator.follow_run(&second.id);
    let mut told = async |words: &str| {
        loop {
            let update = futures::StreamExt::next(&mut followed).await.expect("it is not over").unwrap();
            if let client::Update::New(run) = update
                && run.waits_for().is_some_and(|what| what.contains(words))
            {
                return;
            }
        }
    };
    told("confirmation of").await;
    world.cancel(&first).await;
    world.reaches(&second, "Needs Confirmation").await;
}

#[tokio::test]
async fn inits_that_share_a_plugin_cache_work_on_it_one_at_a_time() {
    let setup = Setup::new();
    let (cache, order, gate) = (setup.path().join("cache"), setup.path().join("order"), setup.gate("init"));
    std::fs::create_dir(&cache).unwrap();
    let script = format!(
        "case \" $* \" in *\" init \"*) echo begin >> {0}; {1}; terraform \"$@\"; echo end >> {0}; exit;; esac",
        order.display(),
        gate.wait_command()
    );
    let environment = format!("environment = {{ TF_PLUGIN_CACHE_DIR = {cache:?} }}");
    let world = setup
        .workspace_with_script_and("one", terraform::SIMPLE, &script, |workspace| {
            workspace.with(&environment)
        })
        .workspace_with_script_and("two", terraform::SIMPLE, &script, |workspace| {
            workspace.with(&environment)
        })
        .start();
    let one = world.queue("one").await;
    gate.reached().await;
    let two = world.queue("two").await;
    wait_for("the second init waits for its turn", async || {
        world.log(&two, Stage::Plan).await.contains("waits for its turn").then_some(())
    })
    .await;
    let canceled =
        world.queue_as("operator", "two", NewRun { plan_only: Some(true), ..NewRun::default() }).await;
    wait_for("the third init waits as well", async || {
        world.log(&canceled, Stage::Plan).await.contains("waits for its turn").then_some(())
    })
    .await;
    world.cancel(&canceled).await;
    world.reaches(&canceled, "Canceled").await;
    gate.open();
    world.reaches(&one, "Needs Confirmation").await;
    world.reaches(&two, "Needs Confirmation").await;
    assert_eq!(std::fs::read_to_string(order).unwrap(), "begin\nend\nbegin\nend\n");
}
