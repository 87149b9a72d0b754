//! The report of a check: what the daemon stores and the API shows.

use std::{io::Write, path::Path, time::Duration};

use files::Replacement;
use serde::{Deserialize, Serialize};

use crate::{EnforcementLevel, EngineKind, LoadError, PolicyOutcome, PolicyResult, outcome, result::millis};

/// The format this build writes, and the only one it reads.
pub const REPORT_FORMAT: u32 = 1;

/// How many policies ended how. Every policy counts in `passed` or in exactly one of the three failures; a set
/// that could not be loaded counts once in `hard_failed`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Policies that passed.
    pub passed: u64,
    /// Failed or errored at hard-mandatory, and sets that could not be loaded.
    pub hard_failed: u64,
    /// Failed or errored at soft-mandatory.
    pub soft_failed: u64,
    /// Failed or errored at advisory.
    pub advisory_failed: u64,
    /// The sum of the three failures.
    pub total_failed: u64,
}

impl Counts {
    fn of(sets: &[SetReport]) -> Self {
        let mut counts = Self::default();
        for set in sets {
            counts.hard_failed += u64::from(set.error.is_some());
            for policy in &set.policies {
                *match (policy.verdict.is_passed(), policy.level) {
                    (true, _) => &mut counts.passed,
                    (false, EnforcementLevel::HardMandatory) => &mut counts.hard_failed,
                    (false, EnforcementLevel::SoftMandatory) => &mut counts.soft_failed,
                    (false, EnforcementLevel::Advisory) => &mut counts.advisory_failed,
                } += 1;
            }
        }
        counts.total_failed = counts.hard_failed + counts.soft_failed + counts.advisory_failed;
        counts
    }
}

/// What became of one policy set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetReport {
    /// The set's name in the configuration.
    pub name: String,
    /// The engine that evaluated it; none if the set could not be loaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineKind>,
    /// Why the set could not be loaded; then there are no policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<LoadError>,
    /// What of the set has no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Its policies in the set's order.
    pub policies: Vec<PolicyResult>,
}

/// The report of a check over all policy sets of a workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyReport {
    /// The report's format, [`REPORT_FORMAT`].
    pub format: u32,
    /// What the check means for the run.
    pub outcome: PolicyOutcome,
    /// The sets in the order of the request.
    pub sets: Vec<SetReport>,
    /// How many ended how.
    pub counts: Counts,
    /// Wall time of the whole check in milliseconds.
    pub duration_ms: u64,
}

/// A report that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The file could not be read or written.
    #[error("policy report {path}: {source}")]
    Io {
        /// The report's path.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a report.
    #[error("policy report {path} is damaged: {source}")]
    Damaged {
        /// The report's path.
        path: String,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A report of another version of Signalbox.
    #[error("policy report {path} has format {found}, this build reads format {REPORT_FORMAT}")]
    Format {
        /// The report's path.
        path: String,
        /// The format that was found.
        found: u32,
    },
}

impl PolicyReport {
    /// The report of these sets.
    pub fn new(sets: Vec<SetReport>, duration: Duration) -> Self {
        let of_policies = outcome(sets.iter().flat_map(|set| &set.policies));
        // nobody knows what a set that cannot be loaded would have forbidden
        let of_sets = match sets.iter().any(|set| set.error.is_some()) {
            true => PolicyOutcome::HardFailed,
            false => PolicyOutcome::Passed,
        };
        Self {
            format: REPORT_FORMAT,
            outcome: of_policies.max(of_sets),
            counts: Counts::of(&sets),
            sets,
            duration_ms: millis(duration),
        }
    }

    /// Reads a report that [`PolicyReport::write`] wrote.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is damaged or has another format.
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let shown = || path.display().to_string();
        let bytes = std::fs::read(path).map_err(|source| ReportError::Io { path: shown(), source })?;
        let damaged = |source| ReportError::Damaged { path: shown(), source };
        let Head { format } = serde_json::from_slice(&bytes).map_err(damaged)?;
        if format != REPORT_FORMAT {
            return Err(ReportError::Format { path: shown(), found: format });
        }
        serde_json::from_slice(&bytes).map_err(damaged)
    }

    /// Writes the report with mode 0600, so that after a crash there is the whole report or none.
    ///
    /// # Errors
    ///
    /// If the folder of `path` cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        let bytes = serde_json::to_vec(self)
            .map_err(|source| ReportError::Damaged { path: path.display().to_string(), source })?;
        let write = || {
            let mut new = Replacement::begin(path)?;
            new.file().write_all(&bytes)?;
            new.commit_durably()
        };
        write().map_err(|source| ReportError::Io { path: path.display().to_string(), source })
    }
}
