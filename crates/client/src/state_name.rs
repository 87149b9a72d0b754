use crate::{ApplyStatus, Run, RunStatus};

impl Run {
    /// The name of its state, as people see it everywhere (run-lifecycle.md, column 2).
    ///
    /// The wire has one status for Plan Errored and Apply Errored: the apply's own status tells them apart, or, where
    /// the apply did not come along, whether the run ever came to its apply.
    pub fn state_name(&self) -> &str {
        match &self.status {
            RunStatus::Pending => "Pending",
            RunStatus::PlanQueued | RunStatus::Planning => "Planning",
            RunStatus::Planned => "Needs Confirmation",
            RunStatus::PolicyChecking => "Policy Check",
            RunStatus::PolicyOverride => "Policy Override",
            RunStatus::PolicyChecked => "Policy Checked",
            RunStatus::PolicySoftFailed => "Policy Soft Failed",
            RunStatus::Confirmed | RunStatus::ApplyQueued | RunStatus::Applying => "Applying",
            RunStatus::Applied => "Applied",
            RunStatus::PlannedAndFinished if self.has_changes => "Planned and Finished",
            RunStatus::PlannedAndFinished => "No Changes",
            RunStatus::Errored if self.apply_errored() => "Apply Errored",
            RunStatus::Errored => "Plan Errored",
            RunStatus::Discarded => "Discarded",
            RunStatus::Canceled => "Canceled",
            RunStatus::Other(status) => status,
        }
    }

    fn apply_errored(&self) -> bool {
        match &self.apply {
            Some(apply) => apply.status == ApplyStatus::Errored,
            None => self.came_to_apply(),
        }
    }

    pub(crate) fn came_to_apply(&self) -> bool {
        self.status_timestamps.contains_key("applying-at")
    }
}
