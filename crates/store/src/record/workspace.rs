use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use lifecycle::id::{StateVersionId, WorkspaceId};
use lifecycle::{AccessLevel, State};
use serde::{Deserialize, Serialize};

use super::Settings;

/// Where a workspace comes from, and with it who says what its settings are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The config file, which is the one place where its settings live.
    ConfigFile,
    /// Somebody made it through the API; its settings are kept here.
    Api,
}

impl Origin {
    /// The word in records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConfigFile => "config-file",
            Self::Api => "api",
        }
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::ConfigFile, Self::Api]
            .into_iter()
            .find(|origin| origin.as_str() == text)
            .ok_or_else(|| format!("unknown origin {text:?}: the record was written by a newer release"))
    }
}

/// A workspace to be made that is not the config file's.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWorkspace {
    /// A fresh id, made by the caller.
    pub id: WorkspaceId,
    /// No other workspace has it.
    pub name: String,
    /// What its runs are made with.
    pub settings: Settings,
    /// What each team may do here.
    pub access: BTreeMap<String, AccessLevel>,
    /// When.
    pub created_at: Timestamp,
}

impl NewWorkspace {
    /// A workspace of this name with a fresh id, without a source and open to the owners alone.
    pub fn named(name: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            id: WorkspaceId::generate(),
            name: name.into(),
            settings: Settings::default(),
            access: BTreeMap::new(),
            created_at,
        }
    }
}

/// A workspace, but for its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// Given when the name was first seen, and kept when the workspace is removed and comes back.
    pub id: WorkspaceId,
    /// Unique, and never changed.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// A person's lock: runs that are not plan-only stay pending.
    pub lock: Option<Lock>,
    /// What each team may do here, as the config file said last. Of a workspace that was taken out of the file it stands
    /// while a run is under way, and for a day after the last of them has ended, so that its people see how; then it is
    /// empty.
    pub access: BTreeMap<String, AccessLevel>,
    /// The newest state version, if there is any.
    pub current_state_version: Option<StateVersionId>,
    /// Who kept the state of its last run; `None` before the first.
    pub state_keeper: Option<StateKeeper>,
    /// When the name was first seen.
    pub created_at: Timestamp,
    /// When the lock or the removal last changed.
    pub updated_at: Timestamp,
    /// When it was taken out of the config file. Its runs, states and locks stay; it takes no new runs.
    pub removed_at: Option<Timestamp>,
}

/// Who keeps the state of a workspace, as the configuration of its last run decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateKeeper {
    /// The daemon, as state versions.
    Daemon,
    /// The configuration's own backend, of this kind.
    Backend(String),
}

impl fmt::Display for StateKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daemon => f.write_str("signalbox"),
            Self::Backend(kind) => write!(f, "backend:{kind}"),
        }
    }
}

impl FromStr for StateKeeper {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("backend:")) {
            ("signalbox", _) => Ok(Self::Daemon),
            (_, Some(kind)) => Ok(Self::Backend(kind.to_owned())),
            _ => Err(format!("unknown keeper {text:?}: the record was written by a newer release")),
        }
    }
}

/// A person's lock on a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// The user's name.
    pub by: String,
    /// Why, in their words; may be empty.
    pub reason: String,
    /// Since when.
    pub at: Timestamp,
}

impl Lock {
    /// [`Lock::by`] of a lock that the daemon set itself, since a run left a state that it could not keep.
    pub const DAEMON: &str = lifecycle::access::DAEMON;
}

/// The workspaces that a reader sees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Visibility {
    /// All of them.
    #[default]
    All,
    /// Those in which one of these teams has any access.
    Teams(Vec<String>),
}

/// What a workspace's name has to be, capitals aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePattern {
    /// It has this in it.
    Contains(String),
    /// It begins with this.
    StartsWith(String),
    /// It ends with this.
    EndsWith(String),
    /// It is this.
    Is(String),
}

/// Which workspaces; an empty filter passes all that are there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkspaceFilter {
    /// That the reader sees.
    pub visible: Visibility,
    /// Whose names match all of these.
    pub names: Vec<NamePattern>,
    /// Whose current run is in one of these states.
    pub states: Option<Vec<State>>,
}

/// The order of a list of workspaces. Equal ones are in the order of their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkspaceOrder {
    /// By name.
    Name,
    /// By the time at which the current run was queued; those without one come first.
    CurrentRunCreatedAt,
    /// By the last change of the workspace or of its current run.
    LatestChange,
}
