//! Nobody waits for a stranger: what waits for others has slots of its own, and an end.

use std::net::TcpListener;

use client::{RunAction, Stage};

use crate::support::{Setup, auto_apply, terraform, wait_for};

/// A git server that takes every connection and says nothing, as long as the test lives.
fn silent_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let taken: Vec<_> = listener.incoming().collect();
        drop(taken);
    });
    format!("git://{address}/infra.git")
}

fn workspace(name: &str, url: &str) -> String {
    format!(
        "workspace {name:?} {{\n  source \"git\" {{ url = {url:?} }}\n  access = {{ operators = \"write\" }}\n}}"
    )
}

#[tokio::test]
async fn a_confirmed_apply_and_a_plan_go_on_beside_any_number_of_silent_git_servers() {
    let url = silent_server();
    let mut setup = Setup::new().server("max_concurrent_runs = 2").workspace("net", terraform::SIMPLE);
    let names: Vec<String> = (0..6).map(|n| format!("silent-{n}")).collect();
    for name in &names {
        setup = setup.block(&workspace(name, &url));
    }
    let world = setup.start();
    let run = world.queue("net").await;
    world.reaches(&run, "Needs Confirmation").await;
    let mut strangers = Vec::new();
    for name in &names {
        strangers.push(world.queue(name).await);
    }
    for stranger in &strangers[..4] {
        wait_for("it is fetched", async || {
            world.log(stranger, Stage::Plan).await.contains("Configuration: git://").then_some(())
        })
        .await;
    }
    world.confirm(&run).await;
    world.reaches(&run, "Applied").await;
    let next = world.queue("net").await;
    world.reaches(&next, "No Changes").await;
    // the fifth waits for a slot of its own kind, and says so
    let waiting = world.run(&strangers[5]).await;
    assert_eq!(waiting.state_name(), "Pending");
    assert_eq!(waiting.waits_for(), Some("a free slot to fetch its configuration: 4 of 4 are taken"));
    for stranger in &strangers {
        world.cancel(stranger).await;
        world.reaches(stranger, "Canceled").await;
    }
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_plan_and_an_apply_that_take_too_long_are_ended_and_keep_their_state() {
    let setup = Setup::new().server("plan_time_limit = \"1s\"").server("apply_time_limit = \"2s\"");
    let slow = "case \" $* \" in *\" plan \"*) sleep 60;; esac";
    let world = setup
        .workspace_with_script("plan", terraform::SIMPLE, slow)
        .workspace(
            "apply",
            &terraform::SIMPLE.replace(
                "  input = var.size\n",
                "  input = var.size\n  provisioner \"local-exec\" {\n    command = \"sleep 60\"\n  }\n",
            ),
        )
        .start();
    let plan = world.queue("plan").await;
    let apply = world.queue_as("operator", "apply", auto_apply()).await;
    let plan = world.reaches(&plan, "Plan Errored").await;
    assert!(plan.error().unwrap_or_default().contains("time limit"), "{:?}", plan.error());
    let apply = world.reaches(&apply, "Apply Errored").await;
    assert!(apply.error().unwrap_or_default().contains("time limit"), "{:?}", apply.error());
    assert_eq!(world.resources("apply").await, ["terraform_data.thing"]);
    assert!(world.act("operator", &apply, RunAction::Discard).await.is_err(), "it is over");
    world.assert_nothing_is_left();
}

#[tokio::test]
async fn a_fetch_that_takes_too_long_is_ended_in_words() {
    let url = silent_server();
    let world = Setup::new().server("fetch_time_limit = \"1s\"").block(&workspace("silent", &url)).start();
    let run = world.queue("silent").await;
    let run = world.reaches(&run, "Plan Errored").await;
    let error = run.error().unwrap_or_default();
    assert!(error.contains("time limit") && error.contains("fetch_time_limit"), "{error}");
    world.assert_nothing_is_left();
}
