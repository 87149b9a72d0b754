//! What a test does to a call of the engine's to its executor.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use lifecycle::Stage;
use lifecycle::id::RunId;

use super::Scripted;

/// A moment in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// A launch that has claimed nothing yet.
    Launch,
    /// A launch that has claimed the execution, and has not said so.
    Claimed,
    Attach,
    Wait,
    Settle,
    Revoke,
    Interrupt,
    /// The interrupt is delivered, and that is not said yet.
    Interrupted,
    Kill,
    /// The kill is delivered, and that is not said yet.
    Killed,
    Destroy,
}

/// What happens there.
#[derive(Clone)]
pub enum Action {
    /// The call never goes on.
    Hold,
    /// It fails, this many times, with an error that can pass.
    Fail(u32),
    /// It fails, every time, with an error that can't pass.
    FailForGood,
    /// It panics in the caller, this many times.
    Panic(u32),
    /// Something else happens first, once.
    First(Arc<dyn Fn(&Scripted) + Send + Sync>),
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hold => f.write_str("Hold"),
            Self::Fail(times) => write!(f, "Fail({times})"),
            Self::FailForGood => f.write_str("FailForGood"),
            Self::Panic(times) => write!(f, "Panic({times})"),
            Self::First(_) => f.write_str("First"),
        }
    }
}

/// The next call that passes the point has the action happen to it.
#[derive(Debug, Clone)]
pub struct Trap {
    pub point: Point,
    pub stage: Stage,
    pub action: Action,
}

/// What a trap does to one call.
pub enum Sprung {
    Hold,
    Fail,
    FailForGood,
    Panic,
    First(Arc<dyn Fn(&Scripted) + Send + Sync>),
}

impl Trap {
    /// What it does to a call that passes; the trap is used up when the second value is true.
    pub fn spring(&mut self) -> (Sprung, bool) {
        match &mut self.action {
            Action::Hold => (Sprung::Hold, true),
            Action::Fail(times) => {
                *times = times.saturating_sub(1);
                (Sprung::Fail, *times == 0)
            }
            Action::FailForGood => (Sprung::FailForGood, false),
            Action::Panic(times) => {
                *times = times.saturating_sub(1);
                (Sprung::Panic, *times == 0)
            }
            Action::First(act) => (Sprung::First(act.clone()), true),
        }
    }
}

/// Fetching a configuration, which comes before the stages that are executed.
pub const FETCH: Stage = Stage::Pending;

/// Whose execution a directory is.
pub fn owner(directory: &Path) -> (RunId, Stage) {
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
    let stage = name(directory);
    let run = name(directory.parent().unwrap()).parse().unwrap();
    if stage == "fetch" {
        return (run, FETCH);
    }
    (run, Stage::EXECUTED.into_iter().find(|known| known.as_str() == stage).unwrap())
}
