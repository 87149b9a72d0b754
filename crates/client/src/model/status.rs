//! Status strings (tfe-api.md 1.1, 1.4). One that is not known is kept as it came.

macro_rules! statuses {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Deserialize)]
        #[serde(from = "String")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// One that this release does not know.
            Other(String),
        }

        impl $name {
            /// As it is on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

statuses! {
    /// The `status` of a run.
    RunStatus {
        /// Queued behind other runs, or the workspace is locked.
        Pending = "pending",
        /// The plan waits for an execution slot.
        PlanQueued = "plan_queued",
        /// `terraform plan` runs.
        Planning = "planning",
        /// A plan with changes waits for a person.
        Planned = "planned",
        /// Policies are being evaluated.
        PolicyChecking = "policy_checking",
        /// A soft-mandatory policy failed: waits for an override.
        PolicyOverride = "policy_override",
        /// Policies passed or were overridden.
        PolicyChecked = "policy_checked",
        /// Final: a plan-only run failed a soft-mandatory policy.
        PolicySoftFailed = "policy_soft_failed",
        /// Confirmed, and not yet under way.
        Confirmed = "confirmed",
        /// The apply waits for an execution slot.
        ApplyQueued = "apply_queued",
        /// `terraform apply` runs.
        Applying = "applying",
        /// Final: applied.
        Applied = "applied",
        /// Final: nothing to apply, or a plan-only run.
        PlannedAndFinished = "planned_and_finished",
        /// Final: a stage failed.
        Errored = "errored",
        /// Final: a person declined.
        Discarded = "discarded",
        /// Final: a person stopped it.
        Canceled = "canceled",
    }
}

impl RunStatus {
    /// Whether the run is over. One that is not known counts as not over.
    pub const fn is_final(&self) -> bool {
        match self {
            Self::Applied
            | Self::PlannedAndFinished
            | Self::PolicySoftFailed
            | Self::Errored
            | Self::Discarded
            | Self::Canceled => true,
            Self::Pending
            | Self::PlanQueued
            | Self::Planning
            | Self::Planned
            | Self::PolicyChecking
            | Self::PolicyOverride
            | Self::PolicyChecked
            | Self::Confirmed
            | Self::ApplyQueued
            | Self::Applying
            | Self::Other(_) => false,
        }
    }
}

statuses! {
    /// The `status` of a plan.
    PlanStatus {
        /// The run is pending.
        Pending = "pending",
        /// Waits for an execution slot.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// Done.
        Finished = "finished",
        /// Failed.
        Errored = "errored",
        /// Stopped.
        Canceled = "canceled",
        /// Will never begin.
        Unreachable = "unreachable",
    }
}

statuses! {
    /// The `status` of an apply.
    ApplyStatus {
        /// The run has not come to it.
        Pending = "pending",
        /// Waits for an execution slot.
        Queued = "queued",
        /// Under way.
        Running = "running",
        /// Done.
        Finished = "finished",
        /// Failed.
        Errored = "errored",
        /// Stopped.
        Canceled = "canceled",
        /// Will never begin.
        Unreachable = "unreachable",
    }
}

statuses! {
    /// The `status` of a policy check.
    PolicyCheckStatus {
        /// Not yet, or under way.
        Pending = "pending",
        /// Waits.
        Queued = "queued",
        /// No mandatory policy failed.
        Passed = "passed",
        /// A soft-mandatory policy failed.
        SoftFailed = "soft_failed",
        /// A hard-mandatory policy failed.
        HardFailed = "hard_failed",
        /// A soft-mandatory policy failed, and an owner overrode it.
        Overridden = "overridden",
        /// The check itself failed.
        Errored = "errored",
        /// Stopped.
        Canceled = "canceled",
        /// Will never begin.
        Unreachable = "unreachable",
    }
}
