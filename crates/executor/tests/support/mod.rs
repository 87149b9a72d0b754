//! What the tests of this crate have in common. Every one works with real processes.
#![allow(dead_code, reason = "each test program uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use executor::{ExecutionResult, Executor, LocalExecutor, Lost, Observation, Spec, Step};

/// Longer than anything takes on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An execution directory, a working directory, and a way to run things in them.
pub(crate) struct Bench {
    folder: Arc<tempfile::TempDir>,
    serial: u32,
    pub(crate) executor: LocalExecutor,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let executor = LocalExecutor::new(example(), vec!["run".to_owned()]).unwrap();
        Self { folder: Arc::new(folder), serial: 1, executor }
    }

    /// The same working directory, for another execution.
    pub(crate) fn next(&self) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(2);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        Self { folder: Arc::clone(&self.folder), serial, executor: self.executor.clone() }
    }

    pub(crate) fn directory(&self) -> PathBuf {
        self.folder.path().join(format!("executions/{}", self.serial))
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.work().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        fs::write(self.file(name), content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap()
    }

    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&fs::read(self.directory().join("log")).unwrap()).into_owned()
    }

    /// What the executor said about itself; empty when all went well.
    pub(crate) fn diagnostics(&self) -> String {
        fs::read_to_string(self.directory().join("executor.err")).unwrap_or_default()
    }

    pub(crate) fn spec(&self, steps: impl IntoIterator<Item = Step>) -> Spec {
        let mut spec = Spec::new("test/1", self.work());
        spec.environment = environment();
        spec.steps = steps.into_iter().collect();
        spec
    }

    pub(crate) async fn launch(&self, spec: &Spec) {
        self.executor.launch(&self.directory(), spec).await.unwrap();
    }

    pub(crate) async fn wait(&self) -> Observation {
        tokio::time::timeout(PATIENCE, self.executor.wait(&self.directory())).await.expect("it ends").unwrap()
    }

    pub(crate) async fn finish(&self) -> ExecutionResult {
        match self.wait().await {
            Observation::Finished(result) => *result,
            other => panic!("it should have finished: {other:?}; {}", self.diagnostics()),
        }
    }

    pub(crate) async fn run(&self, spec: &Spec) -> ExecutionResult {
        self.launch(spec).await;
        self.finish().await
    }

    pub(crate) async fn lose(&self) -> Lost {
        match self.wait().await {
            Observation::Lost(lost) => lost,
            other => panic!("it should be lost: {other:?}; {}", self.diagnostics()),
        }
    }

    pub(crate) async fn executor_pid(&self) -> u32 {
        match self.executor.attach(&self.directory()).await.unwrap() {
            Observation::Running(running) => running.executor_pid,
            other => panic!("it should be running: {other:?}"),
        }
    }

    /// Waits until this file of the working directory has something in it, and returns that.
    pub(crate) async fn written(&self, name: &str) -> String {
        let path = self.file(name);
        until(&format!("{name} is written"), || {
            fs::read_to_string(&path).ok().filter(|content| content.ends_with('\n'))
        })
        .await
        .trim()
        .to_owned()
    }
}

/// The example of this crate, which cargo builds together with its tests.
pub(crate) fn example() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let path = tests.parent().and_then(Path::parent).unwrap().join("examples/executor");
    assert!(
        path.exists(),
        "{path:?} is missing: run all tests of the crate once, or `cargo build --examples`"
    );
    path
}

pub(crate) fn environment() -> BTreeMap<String, String> {
    let path = std::env::var("PATH").unwrap();
    [
        ("PATH", path.as_str()),
        ("HOME", "/nonexistent"),
        ("CHECKPOINT_DISABLE", "1"),
        ("TF_IN_AUTOMATION", "1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// A step that runs this shell script.
pub(crate) fn shell(name: &str, script: &str) -> Step {
    Step::new(name, "/bin/sh").arguments(["-c", script])
}

/// Waits on a condition.
pub(crate) async fn until<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        assert!(started.elapsed() < PATIENCE, "waited too long until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Whether a process with this pid exists and is not a zombie.
pub(crate) fn is_alive(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit_once(')').unwrap().1.trim_start().starts_with(['Z', 'X']))
}

pub(crate) fn signal(pid: u32, signal: &str) {
    assert!(Command::new("/bin/kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// The living processes that have `text` in their command line.
pub(crate) fn processes_with(text: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().map(str::to_owned))
        .filter(|pid| pid.parse::<u32>().is_ok() && is_alive(pid))
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).replace('\0', " ").contains(text))
        })
        .collect()
}
