//! Interrupt, kill, and what is left alive afterwards: nothing.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use executor::{Delivery, Executor, Observation, Outcome, StepEnd};
use support::{Bench, is_alive, processes_with, shell, signal, until};

const LONG: Duration = Duration::from_secs(600);

/// Counts its interrupts, and ends after the file `end` has appeared.
const COUNTING: &str =
    "trap 'echo interrupted' INT; echo $$ > pid; until test -e end; do sleep 0.02; done; exit 1";

#[tokio::test]
async fn an_interrupt_is_one_sigint_however_often_it_is_asked_for() {
    let bench = Bench::new();
    bench.launch(&bench.spec([shell("apply", COUNTING), shell("never", "true")])).await;
    bench.written("pid").await;
    for _ in 0..5 {
        let delivery = bench.executor.interrupt(&bench.directory(), LONG).await.unwrap();
        assert_eq!(delivery, Delivery::Accepted);
    }
    until("the interrupt arrives", || bench.log().contains("interrupted").then_some(())).await;
    let Observation::Running(running) = bench.executor.attach(&bench.directory()).await.unwrap() else {
        panic!()
    };
    assert!(running.interrupted);
    assert_eq!(running.step.as_deref(), Some("apply"));
    bench.write("end", "");
    let result = bench.finish().await;
    assert_eq!(bench.log().matches("interrupted\n").count(), 1);
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert!(result.interrupted && !result.killed);
    assert_eq!(result.exit_code, Some(1));
    assert!(matches!(result.steps[1].ended, StepEnd::NotStarted { .. }));
}

#[tokio::test]
async fn an_interrupt_reaches_the_process_alone_and_not_its_group() {
    let bench = Bench::new();
    let script = "sh -c 'trap \"echo provider hit > hit\" INT TERM; until test -e end; do sleep 0.02; done' & \
                  trap 'touch end; wait; exit 1' INT; echo $$ > pid; while true; do sleep 0.02; done";
    bench.launch(&bench.spec([shell("apply", script)])).await;
    bench.written("pid").await;
    bench.executor.interrupt(&bench.directory(), LONG).await.unwrap();
    assert_eq!(bench.finish().await.outcome, Outcome::Interrupted);
    assert!(!bench.file("hit").exists());
}

#[tokio::test]
async fn a_step_that_succeeds_in_spite_of_an_interrupt_has_succeeded() {
    let bench = Bench::new();
    let script = "trap '' INT; echo $$ > pid; until test -e end; do sleep 0.02; done";
    bench.launch(&bench.spec([shell("apply", script)])).await;
    bench.written("pid").await;
    bench.executor.interrupt(&bench.directory(), LONG).await.unwrap();
    bench.write("end", "");
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert!(result.interrupted);
}

#[tokio::test]
async fn after_an_interrupt_no_further_step_starts_even_if_the_first_ended_well() {
    let bench = Bench::new();
    let script = "trap '' INT; echo $$ > pid; until test -e end; do sleep 0.02; done";
    bench.launch(&bench.spec([shell("init", script), shell("plan", "touch planned")])).await;
    bench.written("pid").await;
    bench.executor.interrupt(&bench.directory(), LONG).await.unwrap();
    bench.write("end", "");
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert_eq!(result.steps[0].exit_code(), Some(0));
    assert!(!bench.file("planned").exists());
    assert!(bench.log().contains("plan was not started: the execution was asked to stop"));
}

#[tokio::test]
async fn what_ignores_the_interrupt_is_killed_after_the_grace_period() {
    let bench = Bench::new();
    let script = "trap '' INT TERM; echo $$ > pid; while true; do sleep 0.02; done";
    bench.launch(&bench.spec([shell("apply", script)])).await;
    let pid = bench.written("pid").await;
    let asked = Instant::now();
    bench.executor.interrupt(&bench.directory(), Duration::from_millis(400)).await.unwrap();
    let result = bench.finish().await;
    assert!(asked.elapsed() >= Duration::from_millis(400));
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert!(result.killed);
    assert_eq!(result.steps[0].ended, StepEnd::Signaled { signal: 9 });
    assert!(!is_alive(&pid));
}

#[tokio::test]
async fn a_second_interrupt_can_shorten_the_grace_period() {
    let bench = Bench::new();
    bench
        .launch(&bench.spec([shell("apply", "trap '' INT; echo $$ > pid; while true; do sleep 0.02; done")]))
        .await;
    bench.written("pid").await;
    bench.executor.interrupt(&bench.directory(), LONG).await.unwrap();
    bench.executor.interrupt(&bench.directory(), Duration::ZERO).await.unwrap();
    assert!(bench.finish().await.killed);
}

#[tokio::test]
async fn a_kill_ends_the_whole_tree_at_once_and_salvages() {
    let bench = Bench::new();
    let script = "trap '' INT TERM; echo state > terraform.tfstate; \
                  setsid sh -c \"trap '' INT TERM HUP; echo \\$\\$ > grandchild; sleep 1000\" & \
                  echo $$ > pid; wait";
    let mut spec = bench.spec([shell("apply", script), shell("never", "true")]);
    spec.salvage = vec!["terraform.tfstate".into()];
    bench.launch(&spec).await;
    let pids = [bench.written("pid").await, bench.written("grandchild").await];
    let asked = Instant::now();
    assert_eq!(bench.executor.kill(&bench.directory()).await.unwrap(), Delivery::Accepted);
    let result = bench.finish().await;
    assert!(asked.elapsed() < Duration::from_secs(10));
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert!(result.killed && result.interrupted);
    assert!(matches!(result.salvaged[0].file, executor::SalvagedFile::Present { size: 6, .. }));
    assert!(pids.iter().all(|pid| !is_alive(pid)));
    assert_eq!(bench.executor.kill(&bench.directory()).await.unwrap(), Delivery::NotRunning);
}

#[tokio::test]
async fn nothing_that_a_step_left_behind_is_alive_when_its_end_is_known() {
    let bench = Bench::new();
    // a daemon in the old style: its own session, its parent gone, deaf, its output elsewhere, no environment
    let script = "for i in 1 2 3; do \
                    setsid env -i sh -c \"trap '' INT TERM HUP; cd /; (sleep 1000 & echo \\$! > $PWD/pid$i) ; exec sleep 1000\" \
                      > /dev/null 2>&1 & \
                  done; until test -s pid1 -a -s pid2 -a -s pid3; do sleep 0.01; done";
    let check = "for i in 1 2 3; do kill -0 $(cat pid$i) && echo alive; done; true";
    let result = bench.run(&bench.spec([shell("apply", script), shell("check", check)])).await;
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!(result.swept, 6);
    assert!(!bench.log().contains("alive"), "{}", bench.log());
    assert!(!result.killed);
}

#[tokio::test]
async fn orphans_that_end_by_themselves_are_reaped_while_the_step_runs() {
    let bench = Bench::new();
    let script = "for i in 1 2 3; do (sh -c 'echo $$ > orphan'$i &) ; done; \
                  until test -s orphan1 -a -s orphan2 -a -s orphan3; do sleep 0.01; done; \
                  while test -d /proc/$(cat orphan1) -o -d /proc/$(cat orphan2) -o -d /proc/$(cat orphan3); \
                  do sleep 0.01; done";
    let result = bench.run(&bench.spec([shell("apply", script)])).await;
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!(result.swept, 0);
}

#[tokio::test]
async fn sigterm_to_the_executor_is_an_interrupt_and_the_others_do_nothing() {
    let bench = Bench::new();
    bench.launch(&bench.spec([shell("apply", COUNTING)])).await;
    bench.written("pid").await;
    let executor = bench.executor_pid().await;
    signal(executor, "-HUP");
    signal(executor, "-TERM");
    signal(executor, "-TERM");
    until("the interrupt arrives", || bench.log().contains("interrupted").then_some(())).await;
    bench.write("end", "");
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert_eq!(bench.log().matches("interrupted\n").count(), 1);
}

#[tokio::test]
async fn requests_to_what_has_not_started_or_is_over_say_so() {
    let bench = Bench::new();
    assert_eq!(bench.executor.interrupt(&bench.directory(), LONG).await.unwrap(), Delivery::NotRunning);
    assert_eq!(bench.executor.attach(&bench.directory()).await.unwrap(), Observation::NotStarted);
    assert_eq!(bench.executor.wait(&bench.directory()).await.unwrap(), Observation::NotStarted);
    bench.run(&bench.spec([shell("a", "true")])).await;
    assert_eq!(bench.executor.interrupt(&bench.directory(), LONG).await.unwrap(), Delivery::NotRunning);
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn the_control_socket_answers_every_line_and_survives_nonsense() {
    let bench = Bench::new();
    bench.launch(&bench.spec([shell("apply", "echo $$ > pid; sleep 1000")])).await;
    let pid = bench.written("pid").await;
    let say = |line: &[u8]| {
        let mut stream = UnixStream::connect(bench.directory().join("control.sock")).unwrap();
        stream.set_read_timeout(Some(support::PATIENCE)).unwrap();
        stream.write_all(line).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        serde_json::from_str::<serde_json::Value>(&answer).unwrap()
    };
    let silent: Vec<_> =
        (0..8).map(|_| UnixStream::connect(bench.directory().join("control.sock")).unwrap()).collect();
    assert_eq!(say(b"nonsense\n")["reply"], "refused");
    assert_eq!(say(b"{\"request\":\"dance\"}\n")["reply"], "refused");
    assert_eq!(say(&[b'x'; 8000])["reply"], "refused");
    // who can't read the directory stops nothing
    for request in ["{\"request\":\"kill\"}\n", "{\"request\":\"interrupt\",\"grace_ms\":0,\"key\":\"x\"}\n"]
    {
        assert_eq!(say(request.as_bytes())["reply"], "refused", "{request}");
    }
    let status = until("the child is recorded", || {
        Some(say(b"{\"request\":\"status\",\"a_field_of_tomorrow\":1}\n"))
            .filter(|status| !status["child_pid"].is_null())
    })
    .await;
    assert_eq!(status["reply"], "accepted");
    assert_eq!(status["label"], "test/1");
    assert_eq!(status["step"], "apply");
    assert_eq!(status["child_pid"].to_string(), pid);
    assert_eq!(status["interrupted"], false);
    drop(silent);
    bench.executor.kill(&bench.directory()).await.unwrap();
    bench.finish().await;
    assert_eq!(bench.diagnostics(), "");
}

#[tokio::test]
async fn a_dropped_wait_stops_nothing() {
    let bench = Bench::new();
    bench
        .launch(&bench.spec([shell("apply", "echo $$ > pid; until test -e end; do sleep 0.02; done")]))
        .await;
    let pid = bench.written("pid").await;
    let waiting =
        tokio::time::timeout(Duration::from_millis(50), bench.executor.wait(&bench.directory())).await;
    assert!(waiting.is_err());
    assert!(is_alive(&pid));
    bench.write("end", "");
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn no_zombie_is_left_of_an_executor() {
    let bench = Bench::new();
    bench.launch(&bench.spec([shell("apply", "echo $$ > pid; sleep 0.1")])).await;
    let executor = bench.executor_pid().await;
    bench.finish().await;
    until("the executor is reaped", || {
        (!std::path::Path::new(&format!("/proc/{executor}")).exists()).then_some(())
    })
    .await;
    assert!(processes_with(bench.directory().to_str().unwrap()).is_empty());
}
