//! Where terraform runs: in the directory of the configuration, with nothing of ours in it or above it.

use client::{NewRun, Stage};
use serde_json::json;

use crate::support::{Setup, auto_apply};

/// Depends on every path that a configuration can see.
const PATHS: &str = r#"
    resource "terraform_data" "paths" {
      input = [path.cwd, path.root, path.module, abspath("."), abspath(path.module)]
    }
    output "hook" { value = file("${path.cwd}/hook.sh") }
    output "files" { value = sort(fileset(path.cwd, "**.{sh,tf,json}")) }
    output "above" { value = sort(fileset("${path.cwd}/..", "*")) }
"#;

#[tokio::test]
async fn terraform_runs_in_the_directory_of_the_configuration_on_the_same_path_every_time() {
    let world = Setup::new().workspace("net", PATHS).start();
    std::fs::write(world.source("net").join("hook.sh"), "echo hello").unwrap();
    let run = world.queue_as("operator", "net", auto_apply()).await;
    world.reaches(&run, "Applied").await;
    let outputs = world.state("net").await.unwrap()["outputs"].clone();
    assert_eq!(outputs["hook"]["value"], "echo hello");
    assert_eq!(outputs["files"]["value"], json!(["hook.sh", "main.tf"]), "what the user wrote");
    assert_eq!(outputs["above"]["value"], json!([]));

    // nothing has changed, so the next run has nothing to do
    for _ in 0..2 {
        let again = world.queue("net").await;
        world.reaches(&again, "No Changes").await;
    }
    world.assert_nothing_is_left();

    // plan-only runs have a place of their own, which is the same for all of them as well
    let seen = async || {
        let plan_only = NewRun { plan_only: Some(true), ..NewRun::default() };
        let run = world.queue_as("operator", "net", plan_only).await;
        let run = world.reaches(&run, "Planned and Finished").await;
        let log = world.log(&run, Stage::Plan).await;
        log.lines().find(|line| line.contains("/work/")).unwrap().to_owned()
    };
    assert_eq!(seen().await, seen().await);
}
