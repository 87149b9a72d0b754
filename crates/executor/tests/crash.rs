//! What survives the death of the launcher, and what is done after the death of the executor.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use executor::{Executor, Launched, Observation, Outcome, SalvagedFile, Stdout};
use support::{Bench, example, is_alive, shell, signal, until};

const UNTIL_END: &str = "echo $$ > pid; until test -e end; do sleep 0.02; done; echo done";

/// Launches from another process, in a session and with a standard output of its own, and kills that.
/// Returns when the launcher is dead.
fn launch_and_die(bench: &Bench, spec: &executor::Spec) {
    let file = bench.file("spec-for-the-launcher.json");
    std::fs::write(&file, serde_json::to_vec(spec).unwrap()).unwrap();
    let mut launcher = Command::new(example())
        .arg("launch")
        .arg(bench.directory())
        .arg(file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(launcher.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "launched\n");
    launcher.kill().unwrap();
    launcher.wait().unwrap();
    // would wait for ever if the executor held the launcher's output open
    assert_eq!(output.read_line(&mut line).unwrap(), 0);
}

#[tokio::test]
async fn an_execution_outlives_its_launcher_and_can_be_attached_to() {
    let bench = Bench::new();
    launch_and_die(&bench, &bench.spec([shell("apply", UNTIL_END), shell("next", "echo next")]));
    let pid = bench.written("pid").await;
    let recorded =
        || std::fs::read_to_string(bench.directory().join("state.json")).ok()?.contains(&pid).then_some(());
    until("the child is recorded", recorded).await;
    let Observation::Running(running) = bench.executor.attach(&bench.directory()).await.unwrap() else {
        panic!()
    };
    assert!(Path::new(&format!("/proc/{}", running.executor_pid)).exists());
    assert_eq!((running.step.as_deref(), running.child_pid), (Some("apply"), Some(pid.parse().unwrap())));
    bench.write("end", "");
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
    assert_eq!(bench.log(), "done\nnext\n");
}

#[tokio::test]
async fn another_process_can_wait_for_it_and_interrupt_it() {
    let bench = Bench::new();
    launch_and_die(&bench, &bench.spec([shell("apply", &format!("trap 'exit 1' INT; {UNTIL_END}"))]));
    bench.written("pid").await;
    let mut other = tokio::process::Command::new(example())
        .arg("wait")
        .arg(bench.directory())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    bench.executor.interrupt(&bench.directory(), support::PATIENCE).await.unwrap();
    let status = other.wait().await.unwrap();
    assert!(status.success());
    let result = bench.finish().await;
    assert_eq!(result.outcome, Outcome::Interrupted);
}

#[tokio::test]
async fn a_finished_execution_keeps_its_result() {
    let bench = Bench::new();
    launch_and_die(&bench, &bench.spec([shell("apply", "exit 7")]));
    let first = bench.finish().await;
    assert_eq!(first.exit_code, Some(7));
    assert_eq!(bench.finish().await, first);
    assert_eq!(
        bench.executor.launch(&bench.directory(), &bench.spec([shell("a", "true")])).await.unwrap(),
        Launched::Before
    );
    assert_eq!(bench.finish().await, first);
}

#[tokio::test]
async fn a_killed_executor_is_lost_its_leftovers_die_and_files_are_salvaged() {
    let bench = Bench::new();
    let script = "trap '' INT TERM HUP; echo state > terraform.tfstate; \
                  (setsid sh -c \"trap '' INT TERM HUP; echo \\$\\$ > marked; sleep 1000\" > /dev/null 2>&1 &) ; \
                  (env -i setsid sh -c \"echo \\$\\$ > logging; sleep 1000\" &) ; \
                  (env -i sh -c \"echo \\$\\$ > working; sleep 1000\" > /dev/null 2>&1 &) ; \
                  echo $$ > pid; wait; sleep 1000";
    let mut spec = bench.spec([shell("terraform apply", script)]);
    spec.salvage = vec!["terraform.tfstate".into(), "errored.tfstate".into()];
    bench.launch(&spec).await;
    let mut pids = Vec::new();
    for name in ["pid", "marked", "logging", "working"] {
        pids.push(bench.written(name).await);
    }
    signal(bench.executor_pid().await, "-KILL");
    let lost = bench.lose().await;
    for (pid, name) in pids.iter().zip(["pid", "marked", "logging", "working"]) {
        assert!(!is_alive(pid), "{name} is alive");
    }
    assert!(lost.swept >= 4, "{lost:?}");
    assert!(
        lost.reason.contains("ended without a result while terraform apply was running"),
        "{}",
        lost.reason
    );
    assert_eq!(lost.step.as_deref(), Some("terraform apply"));
    assert!(!lost.interrupted);
    assert!(matches!(lost.salvaged[0].file, SalvagedFile::Present { size: 6, .. }));
    assert_eq!(lost.salvaged[1].file, SalvagedFile::Absent);

    // still so when asked again, and never run again
    let again = bench.lose().await;
    assert_eq!((again.swept, &again.salvaged), (0, &lost.salvaged));
    assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Before);
    assert!(!bench.directory().join("spec.json").exists());
}

#[tokio::test]
async fn strangers_survive_the_sweep_after_a_lost_executor() {
    let bench = Bench::new();
    let mut stranger = Command::new("/bin/sleep").arg("1000").current_dir(bench.work()).spawn().unwrap();
    bench.launch(&bench.spec([shell("apply", UNTIL_END)])).await;
    bench.written("pid").await;
    signal(bench.executor_pid().await, "-KILL");
    bench.lose().await;
    assert!(stranger.try_wait().unwrap().is_none());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[tokio::test]
async fn a_wish_to_stop_is_remembered_by_a_lost_execution() {
    let bench = Bench::new();
    bench.launch(&bench.spec([shell("apply", &format!("trap '' INT; {UNTIL_END}"))])).await;
    bench.written("pid").await;
    bench.executor.interrupt(&bench.directory(), support::PATIENCE).await.unwrap();
    signal(bench.executor_pid().await, "-KILL");
    assert!(bench.lose().await.interrupted);
}

#[tokio::test]
async fn a_claim_of_a_dead_process_or_of_another_boot_is_lost_even_if_its_pid_is_in_use() {
    let bench = Bench::new();
    bench.run(&bench.spec([shell("a", "true")])).await;
    std::fs::remove_file(bench.directory().join("result.json")).unwrap();
    let path = bench.directory().join("claim.json");
    let mut claim: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    // pid 1 is always in use, and never started when an executor did
    claim["executor"]["pid"] = 1.into();
    std::fs::write(&path, claim.to_string()).unwrap();
    assert!(bench.lose().await.reason.contains("it was killed or crashed"));
    claim["boot_id"] = "another".into();
    std::fs::write(&path, claim.to_string()).unwrap();
    assert!(bench.lose().await.reason.contains("the machine was restarted"));
}

#[tokio::test]
async fn a_claim_that_was_never_completed_claims_nothing() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory()).unwrap();
    std::fs::write(bench.directory().join("claim.json"), "").unwrap();
    assert_eq!(bench.executor.attach(&bench.directory()).await.unwrap(), Observation::NotStarted);
    assert_eq!(bench.run(&bench.spec([shell("a", "true")])).await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn what_a_repeated_execution_writes_does_not_reach_what_was_kept_of_it_before() {
    let bench = Bench::new();
    let mut made = shell("make", "echo said again; echo made again > made");
    made.must_write = vec!["made".into()];
    let mut shown = shell("show", "echo shown again");
    shown.stdout = Stdout::File("shown".into());
    let mut spec = bench.spec([made, shown]);
    spec.repeatable = true;
    std::fs::create_dir_all(bench.directory()).unwrap();
    std::fs::write(bench.directory().join("claim.json"), "").unwrap();
    let files = [bench.directory().join("log"), bench.file("made"), bench.file("shown")];
    for (number, file) in files.iter().enumerate() {
        std::fs::write(file, "before").unwrap();
        std::fs::hard_link(file, bench.file(&format!("kept-{number}"))).unwrap();
    }
    assert_eq!(bench.run(&spec).await.outcome, Outcome::Succeeded);
    for (number, (file, now)) in files.iter().zip(["said again", "made again", "shown again"]).enumerate() {
        assert_eq!(std::fs::read_to_string(file).unwrap().trim_end(), now);
        assert_eq!(bench.read(&format!("kept-{number}")), "before", "{}", file.display());
    }
}

#[tokio::test]
async fn files_that_a_power_cut_left_incomplete_count_as_missing_and_damaged_ones_as_lost() {
    for (content, words) in
        [("", "without a result"), ("\0\0\0", "without a result"), ("{\0", "result that is damaged")]
    {
        let bench = Bench::new();
        let mut spec = bench.spec([shell("a", "echo state > state")]);
        spec.salvage = vec!["state".into()];
        bench.run(&spec).await;
        let executor = bench.directory().to_str().unwrap().to_owned();
        until("the executor has ended", || support::processes_with(&executor).is_empty().then_some(())).await;
        std::fs::write(bench.directory().join("result.json"), content).unwrap();
        let lost = bench.lose().await;
        assert!(lost.reason.contains(words), "{}", lost.reason);
        assert!(matches!(lost.salvaged[0].file, SalvagedFile::Present { size: 6, .. }));
        assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Before);
    }
}

#[tokio::test]
async fn an_executor_without_a_spec_refuses_and_claims_nothing() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory()).unwrap();
    let output = Command::new(example()).arg("run").arg(bench.directory()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(bench.diagnostics().contains("spec.json\" does not exist"), "{}", bench.diagnostics());
    assert_eq!(bench.executor.attach(&bench.directory()).await.unwrap(), Observation::NotStarted);
}

#[tokio::test]
async fn a_program_that_is_no_executor_is_told_apart() {
    let bench = Bench::new();
    let spec = bench.spec([shell("a", "true")]);
    for (program, words) in
        [("/bin/true", "without the words of an executor"), ("/no/such/program", "No such file")]
    {
        let executor = executor::LocalExecutor::new(program, vec![]).unwrap();
        let error = executor.launch(&bench.directory(), &spec).await.unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(program), "{error}");
    }
    assert_eq!(bench.run(&spec).await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn a_full_disk_under_the_log_and_the_state_does_not_stop_the_work() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory().join("state.json/cannot be replaced")).unwrap();
    std::os::unix::fs::symlink("/dev/full", bench.directory().join("log")).unwrap();
    let mut spec =
        bench.spec([shell("apply", "echo lost; echo kept > kept"), shell("next", "echo next > next")]);
    spec.preamble = "hello".into();
    let result = bench.run(&spec).await;
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!((bench.read("kept").as_str(), bench.read("next").as_str()), ("kept\n", "next\n"));
    let diagnostics = bench.diagnostics();
    assert!(
        diagnostics.contains("cannot write to the log") && diagnostics.contains("cannot write the state")
    );
}

#[tokio::test]
async fn a_result_that_cannot_be_written_is_tried_again_while_the_lock_is_held() {
    let bench = Bench::new();
    let obstacle = bench.directory().join("result.json");
    bench.launch(&bench.spec([shell("apply", UNTIL_END)])).await;
    let executor = bench.executor_pid().await;
    std::fs::create_dir_all(obstacle.join("cannot be replaced")).unwrap();
    assert!(matches!(bench.executor.attach(&bench.directory()).await.unwrap(), Observation::Running(_)));
    bench.write("end", "");
    until("the first attempt fails", || {
        bench.diagnostics().contains("cannot write the result").then_some(())
    })
    .await;
    assert!(is_alive(&executor.to_string()));
    let locked =
        Command::new("flock").arg("-n").arg(bench.directory().join("lock")).arg("true").status().unwrap();
    assert!(!locked.success());
    std::fs::remove_dir_all(obstacle).unwrap();
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
}

#[tokio::test]
async fn stray_descriptors_and_ignored_signals_are_not_handed_down() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory()).unwrap();
    let spec = bench.spec([shell("look", "ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status")]);
    std::fs::write(bench.directory().join("spec.json"), serde_json::to_vec(&spec).unwrap()).unwrap();
    let started = Command::new("/bin/sh")
        .arg("-c")
        .arg("trap '' HUP INT TERM; exec 7<> /dev/null 9< /dev/null; exec \"$0\" run \"$1\" > /dev/null")
        .arg(example())
        .arg(bench.directory())
        .status()
        .unwrap();
    assert!(started.success());
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
    let log = bench.log();
    assert!(log.starts_with("4\n"), "{log}");
    let ignored = log.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    assert_eq!(u64::from_str_radix(ignored, 16).unwrap() & 0x7fff_ffff, 0, "{log}");
}

#[tokio::test]
async fn what_was_revoked_before_it_was_claimed_never_runs() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory()).unwrap();
    std::fs::write(bench.directory().join("claim.json"), "").unwrap();
    assert!(bench.executor.revoke(&bench.directory()).await.unwrap());
    let spec = bench.spec([shell("apply", "touch ran")]);
    assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Before);
    assert_eq!(bench.finish().await.outcome, Outcome::Interrupted);
    assert!(!bench.file("ran").exists());
}

#[tokio::test]
async fn a_disk_so_full_that_not_even_the_complaint_can_be_written_does_not_stop_the_work_either() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.directory()).unwrap();
    for name in ["log", "executor.err"] {
        std::os::unix::fs::symlink("/dev/full", bench.directory().join(name)).unwrap();
    }
    let mut spec = bench.spec([shell("apply", "echo kept > kept; exit 4")]);
    spec.preamble = "hello".into();
    let result = bench.run(&spec).await;
    assert!(matches!(result.outcome, Outcome::Failed { ref why, .. } if why == "apply exited with 4"));
    assert_eq!(bench.read("kept"), "kept\n");
}
