use std::fmt;
use std::str::FromStr;

use crate::{ApplyStatus, PlanStatus, Run, RunStatus};

/// A part of a run that has a log of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// `terraform init` and `terraform plan`.
    Plan,
    /// Policies against the plan.
    PolicyCheck,
    /// `terraform apply`.
    Apply,
}

impl Stage {
    /// All of them, in the order in which a run goes through them.
    pub const ALL: [Self; 3] = [Self::Plan, Self::PolicyCheck, Self::Apply];

    /// The name in addresses and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::PolicyCheck => "policy-check",
            Self::Apply => "apply",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|stage| stage.as_str() == text)
            .ok_or_else(|| format!("a stage is plan, policy-check or apply, not {text:?}"))
    }
}

/// How far a run is with a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It may come to it.
    Ahead,
    /// It is in it, or was: there may be a log.
    Begun,
    /// It will never come to it.
    Never,
}

impl Run {
    /// How far it is with the stage. For a final run never [`Progress::Ahead`].
    pub fn progress(&self, stage: Stage) -> Progress {
        match stage {
            Stage::Plan => self.plan_progress(),
            Stage::PolicyCheck => self.policy_check_progress(),
            Stage::Apply => self.apply_progress(),
        }
    }

    fn plan_progress(&self) -> Progress {
        match &self.status {
            RunStatus::Pending | RunStatus::PlanQueued => Progress::Ahead,
            RunStatus::Discarded | RunStatus::Canceled => match &self.plan {
                Some(plan) if plan.status == PlanStatus::Unreachable => Progress::Never,
                Some(_) => Progress::Begun,
                None => begun_or_never(self.status_timestamps.contains_key("planning-at")),
            },
            _ => Progress::Begun,
        }
    }

    fn policy_check_progress(&self) -> Progress {
        if self.policy_check_ids.is_empty() {
            return Progress::Never;
        }
        match &self.status {
            RunStatus::Pending | RunStatus::PlanQueued | RunStatus::Planning | RunStatus::Other(_) => {
                Progress::Ahead
            }
            RunStatus::PolicyChecking
            | RunStatus::PolicyOverride
            | RunStatus::PolicyChecked
            | RunStatus::PolicySoftFailed
            | RunStatus::Confirmed
            | RunStatus::ApplyQueued
            | RunStatus::Applying
            | RunStatus::Applied => Progress::Begun,
            RunStatus::Planned => Progress::Never,
            // policies are checked once the plan has finished with changes
            RunStatus::PlannedAndFinished
            | RunStatus::Errored
            | RunStatus::Discarded
            | RunStatus::Canceled => begun_or_never(self.has_changes),
        }
    }

    fn apply_progress(&self) -> Progress {
        match &self.status {
            RunStatus::Applying | RunStatus::Applied => Progress::Begun,
            RunStatus::PlannedAndFinished | RunStatus::PolicySoftFailed | RunStatus::Discarded => {
                Progress::Never
            }
            RunStatus::Errored | RunStatus::Canceled => begun_or_never(match &self.apply {
                Some(apply) => matches!(apply.status, ApplyStatus::Errored | ApplyStatus::Canceled),
                None => self.came_to_apply(),
            }),
            RunStatus::Pending
            | RunStatus::PlanQueued
            | RunStatus::Planning
            | RunStatus::Planned
            | RunStatus::PolicyChecking
            | RunStatus::PolicyOverride
            | RunStatus::PolicyChecked
            | RunStatus::Confirmed
            | RunStatus::ApplyQueued
            | RunStatus::Other(_) => {
                if self.plan_only {
                    Progress::Never
                } else {
                    Progress::Ahead
                }
            }
        }
    }
}

const fn begun_or_never(begun: bool) -> Progress {
    if begun { Progress::Begun } else { Progress::Never }
}
