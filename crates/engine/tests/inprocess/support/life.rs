//! A life of the daemon: an engine with a runtime of its own, in which nothing happens unless a test waits for it.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use config::Config;
use engine::{Engine, HostEnvironment, Parts, Refusal, RunAction, RunRequest};
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Rule, State};
use store::{Change, JournalEntry, NewRun, Run, Store, Workspace};
use tokio::runtime::Runtime;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;

use super::Scripted;
use crate::rows;

/// How long a life may take by the clock on the wall: a test that waits for something that never happens fails then.
const LIMIT: Duration = Duration::from_secs(30);

/// A step of [`Life::advance`]: much shorter than the patience of anything that waits for the database.
const STEP: Duration = Duration::from_millis(500);

/// How long something may take by the clock that stands still.
const PATIENCE: Duration = Duration::from_secs(60);

/// The rows of the table that were recorded.
pub type Rows = Arc<Mutex<BTreeSet<Rule>>>;

/// A daemon that lives. Between two calls of its methods the whole of it stands still.
///
/// Its clock stands still for good, and moves in [`Life::advance`] alone. When this is dropped the daemon is dead as after
/// `kill -9`: every task is gone at once, wherever it was.
pub struct Life {
    runtime: Option<Runtime>,
    engine: Option<Engine>,
    /// Resolves when the engine can't go on.
    ended: JoinHandle<()>,
    store: Option<Store>,
    executor: Arc<Scripted>,
    rows: Rows,
    data_dir: PathBuf,
    found: HashMap<RunId, State>,
    /// The runs that may change: those that were found, and those that were queued.
    known: RefCell<HashSet<RunId>>,
    commits: RefCell<broadcast::Receiver<Change>>,
    alarm: watch::Receiver<bool>,
    /// Ends what keeps the clock from moving.
    parked: Option<Sender<()>>,
}

impl Life {
    pub fn begin(executor: Arc<Scripted>, rows: Rows, config: Arc<Config>) -> Self {
        let data_dir = config.server.data_dir.canonicalize().unwrap();
        wait_for_the_dead(&data_dir);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            // a test that waits for something is told before anything else happens
            .event_interval(1)
            // one for what is parked, and one for all work on files, which is done in its order then
            .max_blocking_threads(2)
            .build()
            .unwrap();
        let (parked, ended) = channel();
        let (ring, alarm) = watch::channel(false);
        // tokio moves a paused clock by itself when it has nothing to do, but not while a blocking task runs: the database
        // has a thread of its own, which tokio does not know of
        runtime.spawn_blocking(move || {
            if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                ring.send_replace(true);
            }
        });
        let (store, engine, ended, found, commits) = runtime.block_on(async {
            let store = Store::open(&config.server.data_dir).await.unwrap();
            let found = store.non_final_runs().await.unwrap().into_iter().map(|run| (run.id, run.state));
            let found: HashMap<_, _> = found.collect();
            let commits = store.changes();
            let parts = Parts {
                store: store.clone(),
                executor: executor.clone(),
                config,
                program: "/bin/false".into(),
                hidden: Vec::new(),
                host: HostEnvironment { path: "/usr/bin:/bin".into(), home: "/nowhere".into() },
                sweeps: false,
            };
            // connections that are there wait for nothing but their work
            read_on_each_connection(&store).await;
            let (engine, ended) = Engine::start(parts).await.unwrap();
            (store, engine, ended, found, commits)
        });
        let (commits, known) = (RefCell::new(commits), RefCell::new(found.keys().copied().collect()));
        let (runtime, engine, store) = (Some(runtime), Some(engine), Some(store));
        Self {
            runtime,
            engine,
            ended,
            store,
            executor,
            rows,
            data_dir,
            found,
            known,
            commits,
            alarm,
            parked: Some(parked),
        }
    }

    /// Dies, as after `kill -9`.
    pub fn die(self) {}

    /// Where the run was when this life began; `None` if it was over, or not there.
    pub fn found(&self, run: RunId) -> Option<State> {
        self.found.get(&run).copied()
    }

    /// Whether the engine has ended by itself.
    pub fn has_ended(&self) -> bool {
        self.ended.is_finished()
    }

    pub fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    /// Has the daemon live until the work is done.
    pub fn wait<T>(&self, what: &str, work: impl Future<Output = T>) -> T {
        let mut alarm = self.alarm.clone();
        let done = self.runtime.as_ref().unwrap().block_on(async {
            tokio::select! {
                biased;
                done = work => Some(done),
                _ = alarm.wait_for(|rings| *rings) => None,
            }
        });
        done.unwrap_or_else(|| panic!("waited in vain: {what}\n{}", self.describe()))
    }

    /// Waits until something holds of what executes.
    pub fn until(&self, what: &str, holds: impl Fn(&Scripted) -> bool) {
        let mut changes = self.executor.changes();
        self.wait(what, async {
            while !holds(&self.executor) {
                changes.changed().await.unwrap();
            }
        });
    }

    /// Waits until a call is held.
    pub fn until_held(&self) {
        self.until("a call is held", Scripted::holds);
    }

    /// Waits until a call is held, or else the run is over: false.
    pub fn until_held_or_over(&self, run: RunId) -> bool {
        self.wait("a call is held, or the run is over", async {
            let (mut calls, mut changes) = (self.executor.changes(), self.store().changes());
            loop {
                if self.executor.holds() {
                    return true;
                }
                if self.store().run(run).await.unwrap().state.is_final() {
                    return false;
                }
                tokio::select! {
                    _ = calls.changed() => {}
                    _ = changes.recv() => {}
                }
            }
        })
    }

    /// Waits for as many changes of runs since the last one was queued, or else since this life began, or since the last
    /// that was waited for. The daemon stands still right after the last: nobody has done anything because of it.
    pub fn after_commits(&self, number: usize) {
        let mut commits = self.commits.borrow_mut();
        self.wait(&format!("{number} changes of runs"), async {
            let mut seen = 0;
            while seen < number {
                seen += usize::from(matches!(commits.recv().await.unwrap(), Change::Run { .. }));
            }
        });
    }

    /// Waits until the run is in the state. A run that is over in another fails the test.
    pub fn reaches(&self, run: RunId, state: State) -> Run {
        let found = self
            .until_run(run, &format!("{run} is {state:?}"), |run| run.state == state || run.state.is_final());
        assert_eq!(found.state, state, "{}\n{}", found.error.as_deref().unwrap_or_default(), self.describe());
        found
    }

    /// Waits until the run is over.
    pub fn ends(&self, run: RunId) -> Run {
        self.until_run(run, &format!("{run} is over"), |run| run.state.is_final())
    }

    fn until_run(&self, run: RunId, what: &str, holds: impl Fn(&Run) -> bool) -> Run {
        self.wait(what, async {
            let mut changes = self.store().changes();
            loop {
                let now = self.store().run(run).await.unwrap();
                if holds(&now) {
                    return now;
                }
                // one that has missed some reads again as well
                let _ = changes.recv().await;
            }
        })
    }

    /// Has the tasks that are ready do what they can, this many times.
    pub fn turns(&self, number: usize) {
        self.wait("tasks run", async {
            for _ in 0..number {
                tokio::task::yield_now().await;
            }
        });
    }

    /// Waits until nothing happens any more without the clock, as far as that can be told. For what has to happen there are
    /// conditions; this is for what must not.
    pub fn quiet(&self) {
        self.wait("nothing happens any more", self.settled());
    }

    async fn settled(&self) {
        let mut changes = self.store().changes();
        loop {
            let calls = self.executor.calls();
            for _ in 0..4 {
                self.round().await;
            }
            let mut changed = calls != self.executor.calls();
            while !matches!(changes.try_recv(), Err(broadcast::error::TryRecvError::Empty)) {
                changed = true;
            }
            if !changed {
                return;
            }
        }
    }

    /// Reads on each connection, this many times.
    pub async fn reads(&self, number: usize) {
        for _ in 0..number {
            read_on_each_connection(self.store()).await;
        }
    }

    /// Does each kind of work once that the engine waits for: on files, behind all that waits; a write that changes
    /// nothing, behind all others; and a read on each connection.
    async fn round(&self) {
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        let nobody = WorkspaceId::from_entropy([0; 16]);
        assert!(self.store().force_unlock_workspace(nobody, jiff::Timestamp::now()).await.is_err());
        read_on_each_connection(self.store()).await;
        for _ in 0..12 {
            tokio::task::yield_now().await;
        }
    }

    /// Moves the clock, in steps, in each of which everything is done that can be.
    pub fn advance(&self, time: Duration) {
        self.advance_by(STEP, time);
    }

    /// Moves the clock in steps of this length.
    pub fn advance_by(&self, step: Duration, time: Duration) {
        self.wait("time passes", async {
            let end = tokio::time::Instant::now() + time;
            self.settled().await;
            loop {
                let left = end - tokio::time::Instant::now();
                if left.is_zero() {
                    return;
                }
                tokio::time::advance(left.min(step)).await;
                self.settled().await;
            }
        });
    }

    /// Moves the clock until the run is in the state. A run that is over in another fails the test.
    pub fn reaches_in_time(&self, run: RunId, state: State) -> Run {
        let begun = self.wait("the time", async { tokio::time::Instant::now() });
        loop {
            let now = self.run(run);
            if now.state == state || now.state.is_final() {
                return self.reaches(run, state);
            }
            let passed = self.wait("the time", async { begun.elapsed() });
            assert!(passed < PATIENCE, "{run} is not {state:?} after {PATIENCE:?}\n{}", self.describe());
            self.advance(STEP);
        }
    }

    /// Waits until something holds of the world that nobody is told of.
    pub fn until_seen(&self, what: &str, holds: impl Fn() -> bool) {
        self.wait(what, async {
            while !holds() {
                self.round().await;
            }
        });
    }

    pub fn workspace(&self, name: &str) -> Workspace {
        self.wait(name, self.store().workspace_by_name(name)).unwrap().unwrap()
    }

    /// Queues a run as `operator`. Nothing has happened to it when this returns.
    pub fn queue(&self, workspace: &str, request: &RunRequest) -> RunId {
        self.queue_as("operator", workspace, request)
    }

    pub fn queue_as(&self, user: &str, workspace: &str, request: &RunRequest) -> RunId {
        self.try_queue_as(user, workspace, request).unwrap()
    }

    pub fn try_queue_as(&self, user: &str, workspace: &str, request: &RunRequest) -> Result<RunId, Refusal> {
        let workspace = self.workspace(workspace).id;
        let mut changes = self.store().changes();
        self.commits.replace(self.store().changes());
        let (engine, user, request) = (self.engine().clone(), user.to_owned(), request.clone());
        let run = self.wait("a run is queued", async {
            // whoever asked is told a little later, when the daemon may have done more
            let mut asked = tokio::spawn(async move { engine.queue_run(&user, workspace, &request).await });
            loop {
                let change = tokio::select! {
                    biased;
                    change = changes.recv() => change.unwrap(),
                    answer = &mut asked => return answer.unwrap().map(|run| run.id),
                };
                if let Change::Run { run, .. } = change
                    && !self.known.borrow().contains(&run)
                {
                    return Ok(run);
                }
            }
        })?;
        self.known.borrow_mut().insert(run);
        Ok(run)
    }

    /// Records a run as nobody but the engine does: without the files that it is made with.
    pub fn record_new(&self, new: NewRun) -> RunId {
        let run = self.wait("a run is queued", self.store().create_run(new)).unwrap().id;
        self.known.borrow_mut().insert(run);
        run
    }

    /// Does it as `owner`, who may do everything.
    pub fn act(&self, run: RunId, action: RunAction) -> Run {
        self.try_act("owner", run, action).unwrap()
    }

    pub fn try_act(&self, user: &str, run: RunId, action: RunAction) -> Result<Run, Refusal> {
        self.wait("it is recorded", self.engine().act(user, run, action, None))
    }

    pub fn run(&self, run: RunId) -> Run {
        self.wait("a run is read", self.store().run(run)).unwrap()
    }

    pub fn journal(&self, run: RunId) -> Vec<JournalEntry> {
        self.wait("a journal is read", self.store().journal(run)).unwrap()
    }

    /// The rows of the table that the run went through.
    pub fn rules(&self, run: RunId) -> Vec<Rule> {
        self.journal(run).iter().filter_map(|entry| entry.rule).collect()
    }

    /// The run ends in this state, after these rules and no others, and nothing more happens.
    pub fn ends_as(&self, run: RunId, state: State, rules: &[Rule]) -> Run {
        let ended = self.reaches(run, state);
        if !state.is_final() {
            self.quiet();
        }
        assert_eq!(self.rules(run), rules, "{}", self.describe());
        ended
    }

    /// Takes a changed configuration over.
    pub fn reconfigure(&self, config: Arc<Config>) {
        self.wait("the configuration is changed", async { self.engine().reconfigure(config) });
        self.quiet();
    }

    /// Tells which rows of the table were recorded, if the test is one of a row.
    fn tell_rows(&self) {
        if let (Some(_), Some(runtime), false) =
            (rows::of_this_test(), &self.runtime, std::thread::panicking())
        {
            let journal = runtime.block_on(self.store().journal_after(0, u32::MAX)).unwrap();
            self.rows.lock().unwrap().extend(journal.iter().filter_map(|entry| entry.rule));
        }
    }

    /// Everything that is known, for who has to find out why a test failed.
    fn describe(&self) -> String {
        let journal = self.runtime.as_ref().unwrap().block_on(self.store().journal_after(0, u32::MAX));
        let journal = journal.unwrap_or_default();
        let lines = journal.iter().map(|e| format!("{} {:?} {:?} {:?}", e.run, e.rule, e.to, e.why));
        format!("{}\n{:#?}", lines.collect::<Vec<_>>().join("\n"), self.executor)
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.tell_rows();
        self.parked.take();
        let Some(runtime) = self.runtime.take() else { return };
        {
            let _within = runtime.enter();
            self.engine.take();
            self.store.take();
        }
        // the tasks are gone at once; what a thread is doing to a file at this moment it does to its end, and that is over
        // when this returns
        runtime.shutdown_timeout(LIMIT);
        wait_for_the_dead(&self.data_dir);
    }
}

async fn read_on_each_connection(store: &Store) {
    let read = || async { drop(store.busy_workspaces().await.unwrap()) };
    tokio::join!(read(), read(), read(), read());
}

/// Waits until nothing of an earlier life is left in this process. The database has threads of its own, and what one of
/// them is about to commit could come after the next life has begun to read, which no other process would ever see.
fn wait_for_the_dead(data_dir: &Path) {
    let begun = Instant::now();
    let is_open = || {
        let files = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|file| file.starts_with(data_dir))
    };
    while is_open() {
        assert!(begun.elapsed() < LIMIT, "something of an earlier life is left");
        std::thread::yield_now();
    }
}
