//! What a plan would do, as the person reads it who is about to say yes.
//!
//! [`Review::read`] takes the JSON of `terraform show -json` for a saved plan and keeps what a decision needs: which
//! resources are destroyed, replaced, changed, created, moved, imported or forgotten, and why; which outputs change; what changed
//! outside of terraform; which checks fail. Values stay where they are: a review names attributes, and holds nothing of what is in
//! them, so that it can be shown to everybody who may see the run.
//!
//! Invariants:
//! - the gravest comes first: [`Action`] is ordered by how much it takes away;
//! - [`Review::counts`] counts as terraform does in `Plan: 1 to add, …`;
//! - at most one resource of the plan is in memory at a time, whatever its size.
//!
//! It fails on what is not the JSON of a plan ([`Error`]). What a newer terraform says beyond this is passed over, but for actions:
//! one that is not known is shown by its name ([`Action::Other`]), since silence would read as "nothing happens".

mod change;
mod counts;
mod read;
mod summary;

use std::io::Read;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use change::{Action, Change, OutputAction, OutputChange};
pub use counts::Counts;
pub use summary::Summary;

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
#[error("terraform show -json wrote something that is not a plan: {0}")]
pub struct Error(#[from] serde_json::Error);

impl Error {
    /// Whether it could not be read to its end, whatever it is.
    #[must_use]
    pub fn is_io(&self) -> bool {
        self.0.is_io()
    }
}

/// What a plan would do.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Review {
    /// The terraform that made the plan.
    pub terraform_version: String,
    /// Planning failed half-way: it can't be applied.
    pub errored: bool,
    /// How many resources it touches.
    pub counts: Counts,
    /// What it would do to resources, the gravest first.
    pub changes: Vec<Change>,
    /// What happened to resources outside of terraform since the last apply.
    pub drift: Vec<Change>,
    /// The outputs that it would change.
    pub outputs: Vec<OutputChange>,
    /// The checks and conditions that fail, or can't be worked out for an error.
    pub failed_checks: Vec<FailedCheck>,
}

/// A check block or a condition that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct FailedCheck {
    /// Whose it is: `check.health`, `output.url`, an address of a resource.
    pub address: String,
    /// What it says.
    pub messages: Vec<String>,
}

impl Review {
    /// Reads `terraform show -json` of a saved plan.
    ///
    /// # Errors
    /// [`Error`] when that is no plan, or can't be read.
    pub fn read(json: impl Read) -> Result<Self, Error> {
        let read::Plan { terraform_version, errored, changes, drift, outputs, checks } =
            serde_json::from_reader(json)?;
        let counts = changes.counts;
        Ok(Self {
            terraform_version,
            errored,
            counts,
            changes: changes.sorted(),
            drift: drift.sorted(),
            outputs: outputs.0,
            failed_checks: checks.into_iter().filter_map(read::Check::failed).collect(),
        })
    }

    /// Whether it would do nothing to resources and outputs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.outputs.is_empty()
    }

    /// How many resources meet this end.
    #[must_use]
    pub fn count(&self, action: &Action) -> usize {
        self.changes.iter().filter(|change| change.action == *action).count()
    }
}
