//! What an execution runs, and what it says about it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use executor::{Executor, FileDigest, Launched, Observation, Outcome, SalvagedFile, Stdout, Step, StepEnd};
use support::{Bench, shell};

fn why(outcome: &Outcome) -> (&str, &str) {
    match outcome {
        Outcome::Failed { step, why } => (step, why),
        other => panic!("it should have failed: {other:?}"),
    }
}

#[tokio::test]
async fn steps_run_in_order_and_their_output_is_one_log() {
    let bench = Bench::new();
    let mut spec = bench.spec([
        shell("first", "echo one; echo two >&2; echo three"),
        shell("second", "pwd; cat; echo state > terraform.tfstate"),
    ]);
    spec.preamble = "hello\n".into();
    spec.salvage = vec!["terraform.tfstate".into(), "errored.tfstate".into()];
    let result = bench.run(&spec).await;

    assert_eq!(bench.log(), format!("hello\none\ntwo\nthree\n{}\n", bench.work().display()));
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!(
        (result.exit_code, result.interrupted, result.killed, result.swept),
        (Some(0), false, false, 0)
    );
    assert_eq!(result.label, "test/1");
    assert_eq!(result.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    assert!(result.steps[0].started_at <= result.steps[1].started_at);
    assert!(matches!(result.salvaged[0].file, SalvagedFile::Present { size: 6, .. }));
    assert_eq!(result.salvaged[1].file, SalvagedFile::Absent);
    assert_eq!(bench.diagnostics(), "");
}

#[tokio::test]
async fn a_failed_step_ends_the_execution_and_the_rest_never_starts() {
    let bench = Bench::new();
    let result = bench
        .run(&bench.spec([shell("good", "true"), shell("terraform plan", "exit 3"), shell("never", "true")]))
        .await;
    assert_eq!(why(&result.outcome), ("terraform plan", "terraform plan exited with 3"));
    assert_eq!(result.exit_code, Some(3));
    assert_eq!(result.steps[1].ended, StepEnd::Exited { code: 3 });
    assert!(matches!(result.steps[2].ended, StepEnd::NotStarted { .. }));
    assert!(bench.log().contains("signalbox: terraform plan exited with 3\n"));
}

#[tokio::test]
async fn an_exit_code_of_continue_on_is_a_success() {
    let bench = Bench::new();
    let mut plan = shell("plan", "exit 2");
    plan.continue_on = vec![0, 2];
    let result = bench.run(&bench.spec([plan, shell("show", "echo shown")])).await;
    assert_eq!(result.outcome, Outcome::Succeeded);
    assert_eq!(result.step("plan").unwrap().exit_code(), Some(2));
    assert_eq!(bench.log(), "shown\n");
}

#[tokio::test]
async fn a_signal_is_told_in_words() {
    let bench = Bench::new();
    let result = bench.run(&bench.spec([shell("plan", "kill -9 $$")])).await;
    let words = "plan was killed by signal 9 (SIGKILL), perhaps by the kernel's out-of-memory killer";
    assert!(why(&result.outcome).1.starts_with(words), "{:?}", result.outcome);
    assert_eq!(result.steps[0].ended, StepEnd::Signaled { signal: 9 });
    assert!(!result.killed);
}

#[tokio::test]
async fn the_environment_is_the_given_one_and_the_mark() {
    let bench = Bench::new();
    let mut spec = bench.spec([Step::new("env", "/usr/bin/env")]);
    spec.environment = [("ONE", "1"), ("TWO", "a b\nc")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    bench.run(&spec).await;
    let log = bench.log();
    let (mark, rest): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.starts_with("SIGNALBOX_EXECUTION="));
    assert_eq!(mark.len(), 1);
    assert_eq!(rest, ["ONE=1", "TWO=a b", "c"]);
}

#[tokio::test]
async fn a_child_has_the_three_standard_descriptors_and_default_signals() {
    let bench = Bench::new();
    let script =
        "ls /proc/self/fd | wc -l; grep -E 'SigBlk|SigIgn|SigCgt' /proc/self/status; ls -l /proc/$$/fd";
    bench.run(&bench.spec([shell("look", script)])).await;
    let log = bench.log();
    // ls itself has one more: the directory that it lists
    assert!(log.starts_with("4\n"), "{log}");
    for name in ["SigBlk:", "SigIgn:"] {
        let mask = log.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
        // above 31 are the real-time signals, of which the C library keeps some to itself
        assert_eq!(u64::from_str_radix(mask, 16).unwrap() & 0x7fff_ffff, 0, "{log}");
    }
    assert!(log.contains("0 -> /dev/null"), "{log}");
}

#[tokio::test]
async fn standard_output_can_go_to_a_private_file_of_its_own() {
    let bench = Bench::new();
    let mut show = shell("show", "echo '{}'; echo warned >&2");
    show.stdout = Stdout::File("plan.json".into());
    bench.write("plan.json", "what was there before is gone");
    std::fs::set_permissions(bench.file("plan.json"), std::fs::Permissions::from_mode(0o600)).unwrap();
    bench.run(&bench.spec([show])).await;
    assert_eq!(bench.read("plan.json"), "{}\n");
    assert_eq!(bench.log(), "warned\n");
    let mode = bench.file("plan.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[tokio::test]
async fn what_the_executor_writes_is_private_and_the_spec_is_gone_at_the_end() {
    let bench = Bench::new();
    bench.run(&bench.spec([shell("look", "true")])).await;
    let mode = |name: &str| bench.directory().join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(""), 0o700);
    for name in ["log", "result.json", "state.json", "claim.json", "executor.err", "lock"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    assert!(!bench.directory().join("spec.json").exists());
    let names: Vec<_> =
        std::fs::read_dir(bench.directory()).unwrap().flatten().map(|e| e.file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().contains("tmp")), "{names:?}");
}

#[tokio::test]
async fn a_missing_program_is_told_with_how_to_fix_it() {
    for program in ["no-such-terraform", "/no/such/terraform", "./terraform"] {
        let bench = Bench::new();
        let result = bench.run(&bench.spec([Step::new("init", program)])).await;
        let (step, why) = why(&result.outcome);
        assert_eq!(step, "init");
        assert!(why.starts_with("init cannot start: the program") && why.contains("install it"), "{why}");
        assert!(bench.log().contains(why));
        assert_eq!(result.exit_code, None);
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_executed_or_a_missing_directory_is_told() {
    let bench = Bench::new();
    bench.write("tool", "no script");
    std::fs::set_permissions(bench.file("tool"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let result = bench.run(&bench.spec([Step::new("tool", "./tool")])).await;
    assert!(why(&result.outcome).1.contains("Exec format error"), "{:?}", result.outcome);

    let bench = Bench::new();
    let mut spec = bench.spec([shell("true", "true")]);
    spec.working_dir = "/no/such/directory".into();
    let result = bench.run(&spec).await;
    assert!(why(&result.outcome).1.contains("/no/such/directory does not exist"), "{:?}", result.outcome);
}

#[tokio::test]
async fn a_step_whose_required_file_changed_does_not_start() {
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for (content, runs) in [("abc", true), ("abd", false)] {
        let bench = Bench::new();
        bench.write("plan", content);
        let mut apply = shell("apply", "echo applied > applied");
        apply.require = vec![FileDigest { path: "plan".into(), sha256: ABC.into() }];
        let result = bench.run(&bench.spec([apply])).await;
        assert_eq!(bench.file("applied").exists(), runs);
        if !runs {
            let (_, why) = why(&result.outcome);
            assert!(
                why.contains("apply was not started") && why.contains("is not the file that was expected"),
                "{why}"
            );
            assert!(bench.log().contains(why));
        }
    }
}

#[tokio::test]
async fn a_step_must_have_written_what_it_promised() {
    for (script, good) in [("echo plan > plan; exit 2", true), ("exit 2", false)] {
        let bench = Bench::new();
        bench.write("plan", "an old one");
        let mut plan = shell("plan", script);
        plan.continue_on = vec![0, 2];
        plan.must_write = vec!["plan".into()];
        let result = bench.run(&bench.spec([plan, shell("show", "true")])).await;
        assert_eq!(result.outcome == Outcome::Succeeded, good, "{:?}", result.outcome);
        if !good {
            assert!(why(&result.outcome).1.starts_with("plan did not write"));
        }
    }
}

#[tokio::test]
async fn a_time_limit_interrupts_first_and_kills_later() {
    let bench = Bench::new();
    let mut polite = shell("plan", "trap 'echo stopping; exit 1' INT; while true; do sleep 0.05; done");
    polite.time_limit = Some(Duration::from_millis(300));
    polite.time_limit_grace = Duration::from_secs(50);
    let result = bench.run(&bench.spec([polite])).await;
    assert_eq!(why(&result.outcome).1, "plan was stopped: its time limit of 300ms was exceeded");
    assert_eq!(result.steps[0].ended, StepEnd::TimeLimit);
    assert!(bench.log().contains("stopping\n"));
    assert!(!result.killed && !result.interrupted);

    let bench = Bench::new();
    let mut deaf = shell("plan", "trap '' INT TERM; sleep 100");
    deaf.time_limit = Some(Duration::from_millis(100));
    deaf.time_limit_grace = Duration::from_millis(100);
    let result = bench.run(&bench.spec([deaf, shell("show", "true")])).await;
    assert_eq!(result.steps[0].ended, StepEnd::TimeLimit);
    assert!(result.killed && !result.interrupted);
    assert!(matches!(result.steps[1].ended, StepEnd::NotStarted { .. }));
}

#[tokio::test]
async fn a_memory_limit_holds_in_the_child_and_its_children() {
    let bench = Bench::new();
    let mut greedy = shell(
        "plan",
        "ulimit -v; until test $(ulimit -H -v) = 262144; do :; done; head -c 900M /dev/zero | tail -c 800M > /dev/null",
    );
    greedy.memory_limit = Some(256 << 20);
    greedy.arguments[1].push_str("; test $? = 0");
    let result = bench.run(&bench.spec([greedy, shell("unlimited", "ulimit -v")])).await;
    assert!(bench.log().starts_with("262144\n"), "{}", bench.log());
    assert!(why(&result.outcome).1.contains("(its memory limit was 256 MiB)"), "{:?}", result.outcome);

    let bench = Bench::new();
    let mut first = shell("limited", "ulimit -v");
    first.memory_limit = Some(1 << 30);
    bench.run(&bench.spec([first, shell("unlimited", "ulimit -v")])).await;
    assert_eq!(bench.log(), "1048576\nunlimited\n");

    let bench = Bench::new();
    let mut tiny = shell("plan", "true");
    tiny.memory_limit = Some(4096);
    let result = bench.run(&bench.spec([tiny])).await;
    assert!(why(&result.outcome).1.contains("memory limit of 4 KiB: it needs"), "{:?}", result.outcome);
}

#[tokio::test]
async fn what_a_step_used_is_measured() {
    let bench = Bench::new();
    let script =
        "head -c 100M /dev/zero | tail -c 60M > /dev/null; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let result = bench.run(&bench.spec([shell("busy", script), shell("idle", "sleep 0.2")])).await;
    let (busy, idle) = (&result.steps[0], &result.steps[1]);
    assert!(busy.peak_memory_bytes > 60 << 20, "{busy:?}");
    assert!(idle.peak_memory_bytes < 30 << 20, "a step's peak is its own: {idle:?}");
    assert!(busy.user_cpu_ms + busy.system_cpu_ms >= 20, "{busy:?}");
    assert!(idle.user_cpu_ms + idle.system_cpu_ms < 100 && idle.duration_ms >= 200, "{idle:?}");
}

#[tokio::test]
async fn a_large_log_with_nuls_and_without_a_newline_is_kept_byte_by_byte() {
    let bench = Bench::new();
    let script = "head -c 100M /dev/zero; printf end";
    let result = bench.run(&bench.spec([shell("loud", script), shell("next", "exit 1")])).await;
    let log = std::fs::read(bench.directory().join("log")).unwrap();
    let (zeros, rest) = log.split_at(100 << 20);
    assert!(zeros.iter().all(|byte| *byte == 0));
    assert_eq!(String::from_utf8_lossy(rest), "end\nsignalbox: next exited with 1\n");
    assert_eq!(why(&result.outcome).0, "next");
}

#[tokio::test]
async fn a_directory_may_be_longer_than_a_socket_address() {
    let bench = Bench::new();
    let directory = bench.directory().join("x".repeat(200)).join("y".repeat(200));
    bench.executor.launch(&directory, &bench.spec([shell("wait", "sleep 100")])).await.unwrap();
    bench.executor.kill(&directory).await.unwrap();
    let Observation::Finished(result) = bench.executor.wait(&directory).await.unwrap() else { panic!() };
    assert_eq!(result.outcome, Outcome::Interrupted);
}

#[tokio::test]
async fn a_spec_that_cannot_be_run_is_refused_with_every_reason() {
    let bench = Bench::new();
    let mut spec = bench.spec([]);
    spec.working_dir = "relative".into();
    spec.environment.insert("A=B".into(), String::new());
    let error = bench.executor.launch(&bench.directory(), &spec).await.unwrap_err().to_string();
    for reason in ["is not an absolute path", "has no steps", "\"A=B\" cannot be the name"] {
        assert!(error.contains(reason), "{error}");
    }
    assert!(!bench.directory().exists());
    let error =
        bench.executor.launch("relative".as_ref(), &bench.spec([shell("a", "true")])).await.unwrap_err();
    assert_eq!(error.to_string(), "\"relative\" is not an absolute path");
}

#[tokio::test]
async fn a_spec_that_cannot_be_read_or_is_of_a_newer_format_ends_failed_with_words() {
    for (content, words) in [
        ("{\"format\": 1, \"label\"", "is damaged"),
        (
            "{\"format\": 99, \"steps\": \"a new shape\"}",
            "has format 99, and this release knows formats up to 1",
        ),
    ] {
        let bench = Bench::new();
        std::fs::create_dir_all(bench.directory()).unwrap();
        std::fs::write(bench.directory().join("spec.json"), content).unwrap();
        let status = std::process::Command::new(support::example())
            .arg("run")
            .arg(bench.directory())
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        let result = bench.finish().await;
        let (step, why) = why(&result.outcome);
        assert!(step.is_empty() && why.contains(words), "{why}");
        assert!(bench.log().contains(words));
    }
}

#[tokio::test]
async fn unknown_fields_are_ignored_so_that_releases_can_live_side_by_side() {
    let bench = Bench::new();
    bench.run(&bench.spec([shell("a", "true")])).await;
    let path = bench.directory().join("result.json");
    let mut result: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    result["a_field_of_tomorrow"] = serde_json::json!({ "with": ["anything"] });
    std::fs::write(&path, result.to_string()).unwrap();
    assert_eq!(bench.finish().await.outcome, Outcome::Succeeded);
    result["format"] = 2.into();
    std::fs::write(&path, result.to_string()).unwrap();
    let error = bench.executor.wait(&bench.directory()).await.unwrap_err().to_string();
    assert!(error.contains("format 2") && error.contains("use the release that wrote it"), "{error}");
}

#[tokio::test]
async fn what_was_launched_once_never_runs_again() {
    let bench = Bench::new();
    let spec = bench.spec([shell("once", "echo ran >> ran")]);
    assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Now);
    assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Before);
    bench.finish().await;
    assert_eq!(bench.executor.launch(&bench.directory(), &spec).await.unwrap(), Launched::Before);
    assert_eq!(bench.read("ran"), "ran\n");
    assert!(!bench.directory().join("spec.json").exists());
}

#[tokio::test]
async fn of_many_launches_at_once_exactly_one_runs_it() {
    let bench = Bench::new();
    let spec = bench.spec([shell("once", "echo ran >> ran; sleep 0.2")]);
    let directory = bench.directory();
    let launches = (0..10).map(|_| {
        let (executor, directory, spec) = (bench.executor.clone(), directory.clone(), spec.clone());
        tokio::spawn(async move { executor.launch(&directory, &spec).await.unwrap() })
    });
    let mut now = 0;
    for launch in launches.collect::<Vec<_>>() {
        now += u32::from(launch.await.unwrap() == Launched::Now);
    }
    bench.finish().await;
    assert_eq!(now, 1);
    assert_eq!(bench.read("ran"), "ran\n");
    assert!(!directory.join("spec.json").exists());
}

#[tokio::test]
async fn a_launch_takes_the_executor_that_stands_by() {
    let first = Bench::new();
    let started = std::time::Instant::now();
    // the first has none, and the next is started beside it
    for bench in std::iter::once(first.next()).chain(std::iter::repeat_with(|| first.next())) {
        bench.write("gate", "");
        let spec = bench.spec([shell("wait", "while test -e gate; do sleep 0.01; done")]);
        bench.executor.launch(&bench.directory(), &spec).await.unwrap();
        let Observation::Running(running) = bench.executor.attach(&bench.directory()).await.unwrap() else {
            panic!("it waits for its gate");
        };
        let process = Path::new("/proc").join(running.executor_pid.to_string());
        let stood_by = std::fs::read_to_string(process.join("cmdline")).unwrap().ends_with("\0-\0");
        assert_eq!(
            std::fs::read_link(process.join("cwd")).unwrap(),
            bench.directory().canonicalize().unwrap()
        );
        std::fs::remove_file(bench.file("gate")).unwrap();
        let ended = bench.executor.wait(&bench.directory()).await.unwrap();
        assert!(matches!(ended, Observation::Finished(result) if result.outcome == Outcome::Succeeded));
        bench.executor.settle(&bench.directory()).await.unwrap();
        assert!(std::fs::read_link(process.join("cwd")).is_err(), "who has settled is gone");
        if stood_by {
            return;
        }
        assert!(started.elapsed() < support::PATIENCE, "none ever stood by");
    }
}

#[test]
fn an_executor_whose_launcher_is_gone_before_it_told_a_directory_ends_without_a_trace() {
    let bench = Bench::new();
    for told in [String::new(), bench.directory().display().to_string()] {
        let mut child = std::process::Command::new(support::example())
            .args(["run", "-"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), told.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(!bench.directory().exists(), "half a line is not a directory");
    }
}
