use std::fmt;

use jiff::Timestamp;
use lifecycle::id::{RunEventId, RunId};
use lifecycle::{Rule, State};
use serde::{Deserialize, Serialize};

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Actor {
    /// A person, by name.
    User(String),
    /// The daemon, by itself.
    System,
}

impl Actor {
    /// The person's name.
    pub fn user(&self) -> Option<&str> {
        match self {
            Self::User(name) => Some(name),
            Self::System => None,
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.user().unwrap_or("system"))
    }
}

/// One change of a run's state. Never changed, and there as long as its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    /// For the API's `run-events`.
    pub id: RunEventId,
    /// Whose state changed.
    pub run: RunId,
    /// Position in the journal of all runs: what was committed later has the higher number.
    pub seq: i64,
    /// When.
    pub at: Timestamp,
    /// Who.
    pub by: Actor,
    /// The state before; `None` for the creation of the run.
    pub from: Option<State>,
    /// The state after.
    pub to: State,
    /// The row of the transition table; `None` for the creation of the run.
    pub rule: Option<Rule>,
    /// A person's comment, or the reason in words.
    pub why: Option<String>,
}
