//! What an executor writes down about itself: the claim once, the state whenever it changes.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::procfs::{self, Identity};

/// The name of the environment variable that every process of an execution is started with.
pub(crate) const MARK: &str = "SIGNALBOX_EXECUTION";

/// Proves that an executor has taken the execution over: `claim.json`. Durable before the first step starts unless the
/// steps are repeatable, and never changed; so whoever finds one must not run the steps again.
///
/// It repeats from the spec what is needed to clean up after a dead executor, since the spec is gone by then.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Claim {
    pub(crate) format: u32,
    pub(crate) label: String,
    pub(crate) executor: Identity,
    pub(crate) boot_id: String,
    /// Value of [`MARK`]; unique.
    pub(crate) token: String,
    pub(crate) working_dir: PathBuf,
    pub(crate) salvage: Vec<PathBuf>,
    /// The spec's log, if it is not the one in the directory.
    #[serde(default)]
    pub(crate) log: Option<PathBuf>,
    pub(crate) claimed_at: Timestamp,
}

/// How far the execution is: `state.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) format: u32,
    pub(crate) step: Option<CurrentStep>,
    /// Somebody asked to stop it.
    pub(crate) interrupted: bool,
    /// The step's process was sent its SIGINT, or is about to.
    pub(crate) interrupt_sent: bool,
    pub(crate) killed: bool,
}

/// The step that runs, or is about to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CurrentStep {
    pub(crate) name: String,
    /// Known a moment after its start; until then the mark tells its processes.
    pub(crate) child: Option<Identity>,
}

impl Claim {
    /// The assignment in the environment of each of its processes.
    pub(crate) fn mark(&self) -> String {
        format!("{MARK}={}", self.token)
    }

    /// Whether the machine has not been started anew since.
    pub(crate) fn is_of_this_boot(&self) -> Result<bool, Error> {
        let boot_id = procfs::boot_id().map_err(Error::io("read", "/proc/sys/kernel/random/boot_id"))?;
        Ok(boot_id == self.boot_id)
    }
}
