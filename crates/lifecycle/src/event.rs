/// How the plan stage ended, read from exit status and plan file, never from a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlanOutcome {
    /// A step failed, or the plan file says that it can't be applied.
    Failed,
    /// `-detailed-exitcode` 0: nothing to change, outputs included.
    NoChanges,
    /// `-detailed-exitcode` 2.
    Changes,
}

/// What the policies say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PolicyOutcome {
    /// No mandatory policy failed.
    Passed,
    /// A soft-mandatory one failed, and no hard-mandatory one.
    SoftFailed,
    /// A hard-mandatory one failed, or the check itself did.
    HardFailed,
}

/// How the apply stage ended, by its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ApplyOutcome {
    /// `terraform apply` exited 0.
    Succeeded,
    /// It did not, whatever the reason; an apply that was lost counts here.
    Failed,
}

/// What can happen to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Event {
    /// The queue lets it go: it is first, the workspace is unlocked, a slot is free.
    Start,
    /// Its stage is about to be launched; comes before the launch, so that `Queued` means "nothing started".
    Launch,
    /// The configuration was fetched, and the plan can be made as soon as there is a slot for it.
    Fetched,
    /// The plan stage is over and everything that it started is gone.
    PlanEnded {
        /// How it ended.
        outcome: PlanOutcome,
        /// Whether a policy set applies to the workspace now.
        policies: bool,
    },
    /// The policy check is over.
    PolicyCheckEnded(PolicyOutcome),
    /// The apply stage is over and everything that it started is gone.
    ApplyEnded(ApplyOutcome),
    /// The plan can be auto-applied and nothing stands in its way.
    AutoApply,
    /// A person confirms the plan.
    Confirm,
    /// A person declines the plan.
    Discard,
    /// An owner overrides the failed soft-mandatory policies.
    Override,
    /// A person wants the run to stop.
    Cancel,
    /// A person wants it to stop at once.
    ForceCancel {
        /// Whether the time between a cancel and a force-cancel has passed.
        cool_off_over: bool,
    },
}

impl Event {
    /// Every value there is, for tests by enumeration.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Start, Self::Launch, Self::Fetched];
        for outcome in [PlanOutcome::Failed, PlanOutcome::NoChanges, PlanOutcome::Changes] {
            for policies in [false, true] {
                all.push(Self::PlanEnded { outcome, policies });
            }
        }
        all.extend(
            [PolicyOutcome::Passed, PolicyOutcome::SoftFailed, PolicyOutcome::HardFailed]
                .map(Self::PolicyCheckEnded),
        );
        all.extend([ApplyOutcome::Succeeded, ApplyOutcome::Failed].map(Self::ApplyEnded));
        all.extend([Self::AutoApply, Self::Confirm, Self::Discard, Self::Override, Self::Cancel]);
        all.extend([false, true].map(|cool_off_over| Self::ForceCancel { cool_off_over }));
        all
    }

    /// Whether a person asks for it, rather than something that happened.
    pub const fn is_action(self) -> bool {
        matches!(
            self,
            Self::Confirm | Self::Discard | Self::Override | Self::Cancel | Self::ForceCancel { .. }
        )
    }

    /// The word for it in records and refusals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Launch => "launch",
            Self::Fetched => "fetched",
            Self::PlanEnded { .. } => "plan-ended",
            Self::PolicyCheckEnded(_) => "policy-check-ended",
            Self::ApplyEnded(_) => "apply-ended",
            Self::AutoApply => "auto-apply",
            Self::Confirm => "confirm",
            Self::Discard => "discard",
            Self::Override => "override",
            Self::Cancel => "cancel",
            Self::ForceCancel { .. } => "force-cancel",
        }
    }
}
