//! What can be seen of an execution from outside, and the contract of those who run one.

use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use crate::error::Error;
use crate::result::{ExecutionResult, Salvaged};
use crate::spec::Spec;

/// A future that can be stored in a trait object's method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What is behind an execution directory now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// No executor has ever claimed it: nothing of it has run, and to launch it is safe.
    NotStarted,
    /// Its executor is alive.
    Running(Running),
    /// It is over; nothing that it started is alive.
    Finished(Box<ExecutionResult>),
    /// Its executor died without a result. Whatever it had left running was killed before this was said.
    Lost(Lost),
}

/// An execution whose executor is alive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The executor.
    pub executor_pid: u32,
    /// The name of the step that started last; `None` before the first.
    pub step: Option<String>,
    /// The process of that step; `None` for a moment until it is recorded.
    pub child_pid: Option<u32>,
    /// Somebody asked to stop it.
    pub interrupted: bool,
}

/// An execution that has lost its executor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// In words, fit to be shown as they are.
    pub reason: String,
    /// The step that ran when the executor died, as far as it was recorded.
    pub step: Option<String>,
    /// Somebody had asked to stop it.
    pub interrupted: bool,
    /// Processes that were still alive and were killed by this observation.
    pub swept: u32,
    /// The files of the spec's `salvage`, made durable.
    pub salvaged: Vec<Salvaged>,
}

/// What a launch did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launched {
    /// The execution was claimed by the executor of this launch.
    Now,
    /// It had been claimed before; nothing was started.
    Before,
}

/// What became of a request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The executor has taken it, and will act on it even if the caller dies.
    Accepted,
    /// No executor is alive: the execution has not started, or is over. Observe it.
    NotRunning,
}

/// Runs executions so that they outlive who asked for them.
///
/// Every method may be called again at any time, from any process, in any order; each is cancel-safe: a dropped
/// future stops neither the execution nor a request that was already sent.
pub trait Executor: Send + Sync {
    /// Starts the execution in `directory` (absolute; created if need be, mode 0700), unless it was ever started
    /// before. When this returns it is claimed, durably unless [`Spec::repeatable`].
    fn launch<'a>(&'a self, directory: &'a Path, spec: &'a Spec) -> BoxFuture<'a, Result<Launched, Error>>;

    /// Says what is behind `directory` now. If that is [`Observation::Lost`], what was left running has been killed.
    fn attach<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>>;

    /// Asks for a graceful end: no further step starts, the running step's process gets one SIGINT (ever, however
    /// often this is called), and after `grace` everything is killed. A repeated call may shorten the grace period,
    /// and never prolongs it.
    fn interrupt<'a>(
        &'a self,
        directory: &'a Path,
        grace: Duration,
    ) -> BoxFuture<'a, Result<Delivery, Error>>;

    /// Kills everything that the execution runs, at once. Files are salvaged and a result is written all the same.
    fn kill<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Delivery, Error>>;

    /// Ends the execution without the help of its executor, for one that does not answer or does not end: kills that, and
    /// what it left. What comes of it says [`attach`](Self::attach).
    fn destroy<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>>;

    /// Sees that an execution which was never claimed can't be started any more: it is over then, as one that was
    /// interrupted before its first step. False: it was claimed; observe it.
    ///
    /// A launch may still be under way when its caller is dead: without this, "not started" is no answer for ever.
    fn revoke<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<bool, Error>>;

    /// Waits while the execution runs, and says what it is then: never [`Observation::Running`]. Its result may not be
    /// durable yet.
    fn wait<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<Observation, Error>>;

    /// Waits until the executor of an execution that is over is gone, and with that its result durable.
    fn settle<'a>(&'a self, directory: &'a Path) -> BoxFuture<'a, Result<(), Error>>;
}
