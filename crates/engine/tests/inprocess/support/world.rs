//! What outlives a daemon: its data, its configuration, and what executes.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use config::{Config, SystemHost, TokenDigest};
use lifecycle::Stage;
use lifecycle::id::RunId;
use store::Store;
use tempfile::TempDir;

use super::{Life, Rows, Scripted};
use crate::rows;

/// The configuration, as far as tests differ in it.
///
/// `owner` may do everything, `operator` has write access to all workspaces, `planner` may plan. The workspace `guarded`
/// has policies, and that whose name begins with `fetched` takes its configuration from elsewhere.
#[derive(Debug, Clone)]
pub struct Shape {
    /// `max_concurrent_runs`.
    pub slots: usize,
    pub workspaces: Vec<String>,
    /// Of every workspace.
    pub auto_apply: bool,
    /// Whether `operator` is in the team that has write access.
    pub operator_writes: bool,
    pub min_free_space: &'static str,
}

impl Default for Shape {
    fn default() -> Self {
        let workspaces = ["net", "guarded", "other", "fetched"].map(str::to_owned).to_vec();
        Self { slots: 4, workspaces, auto_apply: false, operator_writes: true, min_free_space: "1 MiB" }
    }
}

pub struct World {
    dir: TempDir,
    shape: Shape,
    executor: Arc<Scripted>,
    rows: Rows,
}

/// A test that is named after a row proves nothing if that row was never recorded.
impl Drop for World {
    fn drop(&mut self) {
        if let (Some(row), false) = (rows::of_this_test(), std::thread::panicking()) {
            assert!(self.rows.lock().unwrap().contains(&row), "{row} was never recorded");
        }
    }
}

impl World {
    pub fn new() -> Self {
        Self::of(Shape::default())
    }

    pub fn of(shape: Shape) -> Self {
        let dir = tempfile::Builder::new().prefix("signalbox-").tempdir_in(fast_disk()).unwrap();
        for name in ["data", "policies", "infra"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        let data = dir.path().join("data");
        // nothing is set aside for full disks, which takes longer than all that these tests do
        std::fs::create_dir(data.join("reserve")).unwrap();
        // and neither the tables of the database nor the length of its log are made each time
        std::fs::write(data.join("signalbox.db"), empty_database()).unwrap();
        std::fs::File::create(data.join("signalbox.db-wal")).unwrap().set_len(5 << 20).unwrap();
        Self { dir, shape, executor: Arc::new(Scripted::new()), rows: Rows::default() }
    }

    /// Has a daemon live.
    pub fn live(&self) -> Life {
        self.live_as(&self.shape)
    }

    /// Has a daemon live with another configuration.
    pub fn live_as(&self, shape: &Shape) -> Life {
        Life::begin(self.executor.clone(), self.rows.clone(), self.config(shape))
    }

    pub fn executor(&self) -> &Arc<Scripted> {
        &self.executor
    }

    pub fn data_dir(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub fn config(&self, shape: &Shape) -> Arc<Config> {
        let text = text(shape, &self.data_dir());
        let loaded = Config::parse(&text, &self.dir.path().join("signalbox.hcl"), &SystemHost);
        Arc::new(loaded.unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{text}")).config)
    }

    /// Has whoever passes this point of the engine's panic, this many times.
    pub fn arm(&self, point: &str, times: u32) {
        let faults = self.data_dir().join("faults");
        std::fs::create_dir_all(&faults).unwrap();
        std::fs::write(faults.join(point), times.to_string()).unwrap();
    }

    /// Nobody panics any more.
    pub fn disarm(&self) {
        let _ = std::fs::remove_dir_all(self.data_dir().join("faults"));
    }

    /// Whether somebody will still panic there.
    pub fn is_armed(&self, point: &str) -> bool {
        self.data_dir().join("faults").join(point).exists()
    }

    /// Nothing of the run executes, each stage of it was started once at most, and nothing is left but what stays.
    pub fn assert_over(&self, life: &Life, run: RunId) {
        let started = self.executor.started(run);
        let once: BTreeSet<Stage> = started.iter().copied().collect();
        assert_eq!(started.len(), once.len(), "{run} started {started:?}");
        assert!(self.executor.running().iter().all(|(of, _)| *of != run), "{run} still executes");
        life.until_seen("it is cleaned up after", || self.is_clean(run));
    }

    /// Whether nothing is left of the run but what stays for good.
    pub fn is_clean(&self, run: RunId) -> bool {
        let root = self.data_dir().join("runs").join(run.to_string());
        let Ok(entries) = std::fs::read_dir(&root) else { return true };
        let directories = Stage::EXECUTED.map(|stage| root.join(stage.as_str()));
        entries.flatten().all(|entry| directories.contains(&entry.path()))
            && directories
                .iter()
                .all(|stage| executor::expendable(stage).unwrap().is_empty() && !stage.join("log").exists())
    }
}

/// The file of a database with nothing in it.
fn empty_database() -> &'static [u8] {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    EMPTY.get_or_init(|| {
        let dir = tempfile::tempdir_in(fast_disk()).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { Store::open(dir.path()).await.unwrap().close().await });
        std::fs::read(dir.path().join("signalbox.db")).unwrap()
    })
}

/// What these tests write need not last.
fn fast_disk() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

fn text(shape: &Shape, data_dir: &Path) -> String {
    let mut text = format!(
        r#"
server {{
  data_dir            = "{}"
  terraform           = "/nowhere/terraform"
  max_concurrent_runs = {}
  force_cancel_after  = "0s"
  min_free_space      = "{}"
}}
organization = "acme"
team "owners" {{ members = ["owner"] }}
team "operators" {{ members = [{}] }}
team "planners" {{ members = ["planner"] }}
policy_set "baseline" {{
  path       = "./policies"
  workspaces = ["guarded"]
}}
"#,
        data_dir.display(),
        shape.slots,
        shape.min_free_space,
        if shape.operator_writes { "\"operator\"" } else { "" },
    );
    for user in ["owner", "operator", "planner"] {
        writeln!(text, "user {user:?} {{ token_sha256 = \"{}\" }}", TokenDigest::of(user)).unwrap();
    }
    for name in &shape.workspaces {
        let source = if name.starts_with("fetched") {
            "source \"git\" { url = \"https://git.example.com/infra.git\" }"
        } else {
            "source \"directory\" { path = \"./infra\" }"
        };
        write!(
            text,
            r#"
workspace {name:?} {{
  auto_apply = {}
  {source}
  access = {{ operators = "write", planners = "plan" }}
}}
"#,
            shape.auto_apply
        )
        .unwrap();
    }
    text
}
