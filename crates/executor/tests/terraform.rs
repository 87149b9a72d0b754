//! The real terraform: its state survives every way of stopping it, and nothing of it stays alive.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use executor::{
    ExecutionResult, Executor, FileDigest, Outcome, Salvaged, SalvagedFile, Spec, Stdout, Step, StepEnd,
};
use support::{Bench, is_alive, signal, until};

/// Of Linux, whatever the architecture.
const O_NONBLOCK: i32 = 0o4000;

fn terraform(subcommand: &str, arguments: &[&str]) -> Step {
    let arguments = std::iter::once(subcommand).chain(arguments.iter().copied());
    Step::new(format!("terraform {subcommand}"), "terraform").arguments(arguments)
}

fn plan_steps() -> Vec<Step> {
    let mut plan = terraform("plan", &["-input=false", "-detailed-exitcode", "-out=tfplan"]);
    plan.continue_on = vec![0, 2];
    plan.must_write = vec!["tfplan".into()];
    let mut show = terraform("show", &["-json", "tfplan"]);
    show.stdout = Stdout::File("plan.json".into());
    vec![terraform("init", &["-input=false"]), plan, show]
}

fn apply_steps() -> Vec<Step> {
    vec![terraform("apply", &["-input=false", "tfplan"])]
}

fn sha256(salvaged: &Salvaged) -> String {
    match &salvaged.file {
        SalvagedFile::Present { sha256, .. } => sha256.clone(),
        other => panic!("{:?} is {other:?}", salvaged.path),
    }
}

/// Plans this configuration; the apply of the plan is to be run in the bench that is returned.
async fn planned(configuration: &str) -> (Bench, ExecutionResult) {
    let bench = Bench::new();
    bench.write("main.tf", configuration);
    let mut spec = bench.spec(plan_steps());
    spec.salvage = vec!["tfplan".into()];
    let result = bench.run(&spec).await;
    assert_eq!(result.outcome, Outcome::Succeeded, "{}", bench.log());
    (bench.next(), result)
}

fn apply_spec(bench: &Bench) -> Spec {
    let mut spec = bench.spec(apply_steps());
    spec.salvage = vec!["terraform.tfstate".into(), "errored.tfstate".into()];
    spec
}

/// The names of the resources in the state file; it must be whole.
fn resources(bench: &Bench) -> Vec<String> {
    let state: serde_json::Value =
        serde_json::from_str(&bench.read("terraform.tfstate")).expect("a whole state");
    let mut names: Vec<String> = state["resources"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|resource| {
            let name = resource["name"].as_str().unwrap().to_owned();
            resource["instances"].as_array().unwrap().iter().map(move |_| name.clone())
        })
        .collect();
    names.sort();
    names
}

const FAST_THEN_SLOW: &str = r#"
resource "terraform_data" "fast" { input = "fast" }
resource "terraform_data" "slow" {
  depends_on = [terraform_data.fast]
  provisioner "local-exec" { command = "echo $$ > slow; while true; do sleep 0.1; done" }
}
"#;

#[tokio::test]
async fn a_plan_and_the_apply_of_the_very_plan() {
    let (bench, plan) = planned("resource \"terraform_data\" \"a\" { input = \"b\" }").await;
    assert_eq!(plan.step("terraform plan").unwrap().exit_code(), Some(2));
    assert!(plan.steps.iter().all(|step| step.peak_memory_bytes > 30 << 20), "{:?}", plan.steps);
    let json: serde_json::Value = serde_json::from_str(&bench.read("plan.json")).unwrap();
    assert_eq!(json["applyable"], true);

    let mut spec = apply_spec(&bench);
    spec.steps[0].require = vec![FileDigest { path: "tfplan".into(), sha256: sha256(&plan.salvaged[0]) }];
    let apply = bench.run(&spec).await;
    assert_eq!(apply.outcome, Outcome::Succeeded, "{}", bench.log());
    assert_eq!(resources(&bench), ["a"]);
    sha256(&apply.salvaged[0]);
    assert_eq!(apply.salvaged[1].file, SalvagedFile::Absent);
}

#[tokio::test]
async fn a_plan_that_was_exchanged_is_not_applied() {
    let (bench, plan) = planned("resource \"terraform_data\" \"a\" {}").await;
    let mut spec = apply_spec(&bench);
    spec.steps[0].require = vec![FileDigest { path: "tfplan".into(), sha256: sha256(&plan.salvaged[0]) }];
    let (other, _) = planned("resource \"terraform_data\" \"b\" {}").await;
    std::fs::copy(other.file("tfplan"), bench.file("tfplan")).unwrap();
    let apply = bench.run(&spec).await;
    assert!(
        matches!(apply.outcome, Outcome::Failed { ref why, .. } if why.contains("is not the file that was expected"))
    );
    assert!(!bench.file("terraform.tfstate").exists());
}

#[tokio::test]
async fn an_interrupted_apply_ends_by_itself_and_keeps_what_it_did() {
    let (bench, _) = planned(FAST_THEN_SLOW).await;
    bench.launch(&apply_spec(&bench)).await;
    let shell = bench.written("slow").await;
    bench.executor.interrupt(&bench.directory(), support::PATIENCE).await.unwrap();
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted, "{}", bench.log());
    assert_eq!(result.steps[0].ended, StepEnd::Exited { code: 1 });
    assert!(result.interrupted && !result.killed);
    assert!(bench.log().contains("Gracefully shutting down"), "{}", bench.log());
    assert_eq!(resources(&bench), ["fast", "slow"]);
    sha256(&result.salvaged[0]);
    assert!(!is_alive(&shell));
}

#[tokio::test]
async fn a_grandchild_that_ignores_signals_in_a_session_of_its_own_dies_with_the_stage() {
    let (bench, _) = planned(
        r#"
        resource "terraform_data" "fast" {}
        resource "terraform_data" "deaf" {
          depends_on = [terraform_data.fast]
          provisioner "local-exec" {
            command = <<-SCRIPT
              trap '' INT TERM HUP
              setsid sh -c "trap '' INT TERM HUP; echo \$\$ > grandchild; while true; do sleep 1; done" > /dev/null 2>&1 &
              until test -s grandchild; do sleep 0.01; done
              echo $$ > deaf
              while true; do sleep 1; done
            SCRIPT
          }
        }
        "#,
    )
    .await;
    bench.launch(&apply_spec(&bench)).await;
    let pids = [bench.written("deaf").await, bench.written("grandchild").await];
    bench.executor.interrupt(&bench.directory(), support::PATIENCE).await.unwrap();
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted, "{}", bench.log());
    assert!(!result.killed, "terraform itself ended gracefully");
    assert!(result.swept >= 1);
    assert!(pids.iter().all(|pid| !is_alive(pid)));
    assert_eq!(resources(&bench), ["deaf", "fast"]);
}

#[tokio::test]
async fn a_terraform_that_hangs_is_killed_after_the_grace_period() {
    // a pipe for a configuration file blocks terraform for ever, deaf to every signal but SIGKILL
    let bench = Bench::new();
    let pipe = bench.file("main.tf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    bench.launch(&bench.spec([terraform("plan", &[])])).await;
    // the pipe can be opened for writing once terraform is at it, with its signal handlers in place; it waits for
    // something to read as long as this end is open
    let _writer = until("terraform reads the pipe", || {
        OpenOptions::new().write(true).custom_flags(O_NONBLOCK).open(&pipe).ok()
    })
    .await;
    let asked = Instant::now();
    bench.executor.interrupt(&bench.directory(), Duration::from_secs(1)).await.unwrap();
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert!(result.killed && asked.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_killed_apply_keeps_what_terraform_had_written() {
    let (bench, _) = planned(FAST_THEN_SLOW).await;
    bench.launch(&apply_spec(&bench)).await;
    let shell = bench.written("slow").await;
    bench.executor.kill(&bench.directory()).await.unwrap();
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert!(result.killed);
    assert_eq!(result.steps[0].ended, StepEnd::Signaled { signal: 9 });
    assert!(!is_alive(&shell));
    // terraform keeps the state in memory for seconds: what the file says is described, whatever it is
    assert!(!matches!(result.salvaged[0].file, SalvagedFile::Unreadable { .. }), "{result:?}");
}

#[tokio::test]
async fn a_killed_executor_takes_terraform_with_it_and_the_state_file_is_described() {
    let (bench, _) = planned(FAST_THEN_SLOW).await;
    bench.launch(&apply_spec(&bench)).await;
    let shell = bench.written("slow").await;
    signal(bench.executor_pid().await, "-KILL");
    let lost = bench.lose().await;
    assert!(!is_alive(&shell));
    assert!(lost.swept >= 2, "{lost:?}");
    assert_eq!(lost.step.as_deref(), Some("terraform apply"));
    assert_eq!(lost.salvaged.len(), 2);
}

/// At whatever moment the interrupt arrives: if the resource was made, the state says so.
#[tokio::test]
async fn an_interrupt_at_any_moment_of_an_apply_loses_no_state() {
    let (template, _) = planned(
        r#"resource "terraform_data" "made" {
             provisioner "local-exec" { command = "echo made > made" }
           }"#,
    )
    .await;
    let mut ends = std::collections::BTreeMap::<String, u32>::new();
    for moment in (0..200).step_by(10) {
        let bench = template.next();
        for leftover in ["made", "terraform.tfstate", ".terraform.tfstate.lock.info"] {
            let _ = std::fs::remove_file(bench.file(leftover));
        }
        bench.launch(&apply_spec(&bench)).await;
        tokio::time::sleep(Duration::from_millis(moment)).await;
        bench.executor.interrupt(&bench.directory(), support::PATIENCE).await.unwrap();
        let result = bench.finish().await;
        let made = bench.file("made").exists();
        *ends.entry(format!("{:?} made: {made}", result.steps[0].ended)).or_default() += 1;
        assert!(!result.killed, "it ends by itself");
        if made {
            assert_eq!(resources(&bench), ["made"], "after {moment} ms: {}", bench.log());
        }
        if let StepEnd::Signaled { signal } = result.steps[0].ended {
            assert_eq!(signal, 2);
            assert!(!made && !bench.file("terraform.tfstate").exists(), "nothing had been done yet");
            assert!(!bench.file(".terraform.tfstate.lock.info").exists(), "no lock is left");
        }
    }
    eprintln!("{ends:#?}");
}

#[tokio::test]
async fn out_of_memory_is_a_failed_plan_and_not_a_plan_with_changes() {
    let mut succeeded = 0;
    // a Go program reserves far more address space than it uses: terraform needs some 800 MiB to start at all
    for limit in [96 << 20, 512 << 20, 8 << 30] {
        let bench = Bench::new();
        bench.write("main.tf", "resource \"terraform_data\" \"a\" { count = 3000 }");
        let mut steps = plan_steps();
        steps[1].memory_limit = Some(limit);
        let result = bench.run(&bench.spec(steps)).await;
        eprintln!("limit {} MiB: {:?} {:?}", limit >> 20, result.outcome, result.steps[1]);
        match result.outcome {
            Outcome::Succeeded => succeeded += 1,
            Outcome::Failed { step, why } => {
                assert_eq!(step, "terraform plan");
                assert!(why.contains("its memory limit was"), "{why}");
                assert!(!bench.file("plan.json").exists());
            }
            Outcome::Interrupted => panic!("nobody asked"),
        }
    }
    assert_eq!(succeeded, 1);
}
