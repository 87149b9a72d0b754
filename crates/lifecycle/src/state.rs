use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A part of a run that is carried out as one execution, or the wait before the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Queued behind other runs of its workspace.
    Pending,
    /// `terraform init`, `plan` and `show`.
    Plan,
    /// Policies against the plan.
    PolicyCheck,
    /// `terraform apply` of the saved plan.
    Apply,
}

impl Stage {
    /// The stages that are executions, in the order in which a run goes through them.
    pub const EXECUTED: [Self; 3] = [Self::Plan, Self::PolicyCheck, Self::Apply];

    /// The name in paths, records and the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
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

/// An execution that may have a process behind it, and whether somebody wants it to stop.
///
/// The wish to stop is kept in the state, not in the process: a cancelled apply exits 1 like a failed
/// one, so only the recorded wish can tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Execution {
    /// Under way, and nobody asked it to stop.
    Running,
    /// Somebody cancelled: it gets one interrupt, and the grace period to end.
    Canceling,
    /// Somebody force-cancelled: its process tree is killed.
    ForceCanceling,
}

/// A stage that needs an execution slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Work {
    /// Nothing was started yet; this is certain, since leaving this state is recorded before the launch.
    Queued,
    /// Something may have been started.
    Executing(Execution),
}

/// Where a run is. Final states remember the stage in which they were reached, since the plan's and the
/// apply's own status follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// Waits for its place in the workspace's queue.
    Pending,
    /// The plan is being made.
    Planning(Work),
    /// A plan with changes waits for a person; there are no policies.
    NeedsConfirmation,
    /// Policies are being evaluated.
    PolicyCheck(Execution),
    /// A soft-mandatory policy failed: waits for an owner.
    PolicyOverride,
    /// Policies passed or were overridden.
    PolicyChecked,
    /// The saved plan is being applied.
    Applying(Work),
    /// Final: `terraform apply` exited 0.
    Applied,
    /// Final: the plan changes nothing.
    NoChanges,
    /// Final: a plan-only run whose plan has changes.
    PlannedAndFinished,
    /// Final: a plan-only run that failed a soft-mandatory policy, which nobody needs to override.
    PolicySoftFailed,
    /// Final: the plan failed (`Plan`), or a hard-mandatory policy did (`PolicyCheck`).
    PlanErrored(Stage),
    /// Final: the apply failed.
    ApplyErrored,
    /// Final: a person declined, while it was pending (`Pending`) or after the plan (`Plan`).
    Discarded(Stage),
    /// Final: a person stopped it, in this stage, or before it if only the apply was left: `PolicyCheck` only for a run
    /// that got into one.
    Canceled(Stage),
}

impl State {
    /// Every value there is. A test holds this list against [`State::as_str`].
    pub fn all() -> Vec<Self> {
        use Execution::{Canceling, ForceCanceling, Running};
        use Stage::{Apply, Pending, Plan, PolicyCheck};
        let executions = [Running, Canceling, ForceCanceling];
        let mut all = vec![Self::Pending, Self::Planning(Work::Queued)];
        all.extend(executions.map(|e| Self::Planning(Work::Executing(e))));
        all.push(Self::NeedsConfirmation);
        all.extend(executions.map(Self::PolicyCheck));
        all.extend([Self::PolicyOverride, Self::PolicyChecked, Self::Applying(Work::Queued)]);
        all.extend(executions.map(|e| Self::Applying(Work::Executing(e))));
        all.extend([Self::Applied, Self::NoChanges, Self::PlannedAndFinished, Self::PolicySoftFailed]);
        all.extend([Plan, PolicyCheck].map(Self::PlanErrored));
        all.push(Self::ApplyErrored);
        all.extend([Pending, Plan].map(Self::Discarded));
        all.extend([Pending, Plan, PolicyCheck, Apply].map(Self::Canceled));
        all
    }

    /// The name that people see, on the page, the command line and in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Planning(_) => "Planning",
            Self::NeedsConfirmation => "Needs Confirmation",
            Self::PolicyCheck(_) => "Policy Check",
            Self::PolicyOverride => "Policy Override",
            Self::PolicyChecked => "Policy Checked",
            Self::Applying(_) => "Applying",
            Self::Applied => "Applied",
            Self::NoChanges => "No Changes",
            Self::PlannedAndFinished => "Planned and Finished",
            Self::PolicySoftFailed => "Policy Soft Failed",
            Self::PlanErrored(_) => "Plan Errored",
            Self::ApplyErrored => "Apply Errored",
            Self::Discarded(_) => "Discarded",
            Self::Canceled(_) => "Canceled",
        }
    }

    /// Whether the run is over: nothing changes it any more, and the next run may start.
    pub const fn is_final(self) -> bool {
        match self {
            Self::Pending
            | Self::Planning(_)
            | Self::NeedsConfirmation
            | Self::PolicyCheck(_)
            | Self::PolicyOverride
            | Self::PolicyChecked
            | Self::Applying(_) => false,
            Self::Applied
            | Self::NoChanges
            | Self::PlannedAndFinished
            | Self::PolicySoftFailed
            | Self::PlanErrored(_)
            | Self::ApplyErrored
            | Self::Discarded(_)
            | Self::Canceled(_) => true,
        }
    }

    /// The stage that is, or was last, under way.
    pub const fn stage(self) -> Stage {
        match self {
            Self::Pending => Stage::Pending,
            Self::Planning(_) | Self::NeedsConfirmation | Self::NoChanges | Self::PlannedAndFinished => {
                Stage::Plan
            }
            Self::PolicyCheck(_) | Self::PolicyOverride | Self::PolicyChecked | Self::PolicySoftFailed => {
                Stage::PolicyCheck
            }
            Self::Applying(_) | Self::Applied | Self::ApplyErrored => Stage::Apply,
            Self::PlanErrored(stage) | Self::Discarded(stage) | Self::Canceled(stage) => stage,
        }
    }

    /// The execution that may have a process behind it now, with its stage.
    pub const fn execution(self) -> Option<(Stage, Execution)> {
        match self {
            Self::Planning(Work::Executing(e)) => Some((Stage::Plan, e)),
            Self::PolicyCheck(e) => Some((Stage::PolicyCheck, e)),
            Self::Applying(Work::Executing(e)) => Some((Stage::Apply, e)),
            _ => None,
        }
    }

    /// Whether it waits for a person, and for nothing else.
    ///
    /// `PolicyChecked` counts although a run that can be auto-applied leaves it by itself:
    /// [`due`](crate::due) knows the difference.
    pub const fn waits_for_person(self) -> bool {
        matches!(self, Self::NeedsConfirmation | Self::PolicyOverride | Self::PolicyChecked)
    }

    /// The name in records: stable, one for each value, read back by [`FromStr`].
    pub const fn as_str(self) -> &'static str {
        use Execution::{Canceling, ForceCanceling, Running};
        use Work::{Executing, Queued};
        match self {
            Self::Pending => "pending",
            Self::Planning(Queued) => "planning:queued",
            Self::Planning(Executing(Running)) => "planning:running",
            Self::Planning(Executing(Canceling)) => "planning:canceling",
            Self::Planning(Executing(ForceCanceling)) => "planning:force-canceling",
            Self::NeedsConfirmation => "needs-confirmation",
            Self::PolicyCheck(Running) => "policy-check:running",
            Self::PolicyCheck(Canceling) => "policy-check:canceling",
            Self::PolicyCheck(ForceCanceling) => "policy-check:force-canceling",
            Self::PolicyOverride => "policy-override",
            Self::PolicyChecked => "policy-checked",
            Self::Applying(Queued) => "applying:queued",
            Self::Applying(Executing(Running)) => "applying:running",
            Self::Applying(Executing(Canceling)) => "applying:canceling",
            Self::Applying(Executing(ForceCanceling)) => "applying:force-canceling",
            Self::Applied => "applied",
            Self::NoChanges => "no-changes",
            Self::PlannedAndFinished => "planned-and-finished",
            Self::PolicySoftFailed => "policy-soft-failed",
            Self::PlanErrored(Stage::PolicyCheck) => "plan-errored:policy-check",
            Self::PlanErrored(_) => "plan-errored:plan",
            Self::ApplyErrored => "apply-errored",
            Self::Discarded(Stage::Pending) => "discarded:pending",
            Self::Discarded(_) => "discarded:plan",
            Self::Canceled(Stage::Pending) => "canceled:pending",
            Self::Canceled(Stage::Plan) => "canceled:plan",
            Self::Canceled(Stage::PolicyCheck) => "canceled:policy-check",
            Self::Canceled(Stage::Apply) => "canceled:apply",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A record names a state that this release does not know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown run state {0:?}: the record was written by a newer release")]
pub struct UnknownState(pub String);

impl FromStr for State {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all()
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| UnknownState(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_is_read_back_from_its_record() {
        for state in State::all() {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
    }

    #[test]
    fn a_state_of_a_newer_release_is_refused_by_name() {
        assert_eq!("assessing".parse::<State>(), Err(UnknownState("assessing".into())));
    }

    #[test]
    fn a_final_run_has_no_execution_and_waits_for_nobody() {
        for state in State::all().into_iter().filter(|s| s.is_final()) {
            assert!(state.execution().is_none() && !state.waits_for_person(), "{state:?}");
        }
    }
}
