use std::fmt;

use crate::{ApplyOutcome, Event, Execution, Facts, PlanOutcome, PolicyOutcome, Stage, State, Work};

/// The row of the transition table that a change of state belongs to.
///
/// `T…` are the rows of the run lifecycle; the rest are rows that the table implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[rustfmt::skip]
pub enum Rule {
    /// Pending → Planning: first in its queue, unlocked workspace, free slot.
    T1,
    /// Pending → Discarded or Canceled: before it started.
    T2,
    /// Planning → Plan Errored.
    T3,
    /// Planning → Canceled.
    T4,
    /// Planning → No Changes.
    T5,
    /// Planning → Policy Check.
    T6,
    /// Planning → Applying, by itself.
    T7,
    /// Planning → Needs Confirmation.
    T8,
    /// Needs Confirmation → Applying.
    T9,
    /// Needs Confirmation → Discarded.
    T10,
    /// Policy Check → Plan Errored.
    T11,
    /// Policy Check → Policy Override.
    T12,
    /// Policy Override → Policy Checked.
    T13,
    /// Policy Override → Discarded.
    T14,
    /// Policy Check → Policy Checked.
    T15,
    /// Policy Checked → Applying, by itself.
    T16,
    /// Policy Checked → Applying or Discarded, by a person.
    T17,
    /// Applying → Applied.
    T18,
    /// Applying → Apply Errored.
    T19,
    /// Applying → Canceled.
    T20,
    /// A stage leaves its queue: recorded before anything is started.
    Launched,
    /// The configuration of a plan was fetched.
    Fetched,
    /// Somebody wants an execution to stop; it has not yet.
    CancelRequested,
    /// Somebody wants its process tree killed; it is not yet gone.
    ForceCancelRequested,
    /// A plan-only run is over after its last check: Planned and Finished, or Policy Soft Failed.
    PlanOnlyEnded,
    /// The policy check was cancelled.
    PolicyCheckCanceled,
    /// A run that waited for a person was cancelled.
    CanceledAtRest,
}

impl Rule {
    /// Every row. A test of the store's holds this list against the table.
    #[rustfmt::skip]
    pub const ALL: [Self; 27] = [
        Self::T1, Self::T2, Self::T3, Self::T4, Self::T5, Self::T6, Self::T7, Self::T8, Self::T9, Self::T10,
        Self::T11, Self::T12, Self::T13, Self::T14, Self::T15, Self::T16, Self::T17, Self::T18, Self::T19, Self::T20,
        Self::Launched, Self::Fetched, Self::CancelRequested, Self::ForceCancelRequested, Self::PlanOnlyEnded,
        Self::PolicyCheckCanceled, Self::CanceledAtRest,
    ];
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}"))
    }
}

/// What has to be going on while a run is in its state. Seeing to it twice must do no harm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Due {
    /// It is in line: behind other runs, a lock, or for an execution slot. Its workspace sees to that.
    Turn,
    /// The stage's execution is launched, and told what is wanted of it; its end is recorded.
    Execute(Stage, Execution),
    /// [`Event::AutoApply`] is recorded.
    AutoApply,
    /// The run is over, and what it left behind is cleaned up.
    CleanUp,
}

/// A legal change of state. Nothing but [`step`](fn@step) makes one:
///
/// ```
/// use lifecycle::{Event, Facts, Rule, State, Transition, step};
///
/// let transition: Transition = step(State::Pending, Facts::default(), Event::Discard)?;
/// assert_eq!(transition.rule, Rule::T2);
/// # Ok::<(), lifecycle::Illegal>(())
/// ```
///
/// ```compile_fail,E0639
/// use lifecycle::{Event, Facts, Rule, State, Transition, step};
///
/// let transition: Transition = Transition { to: State::Applied, rule: Rule::T18 };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[must_use = "a transition that is not recorded did not happen"]
pub struct Transition {
    /// The new state.
    pub to: State,
    /// The row of the table that allows it.
    pub rule: Rule,
}

/// The event may not happen in this state; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.reason())]
pub struct Illegal {
    /// The state the run is in.
    pub state: State,
    /// What was refused.
    pub event: Event,
}

impl Illegal {
    /// The refusal in words, with what would be right where there is something.
    fn reason(&self) -> String {
        let name = self.state.name();
        match (self.event, self.state) {
            (event, state) if state.is_final() => {
                format!("{} is not possible: the run is over ({name})", event.name())
            }
            (Event::Cancel, State::Planning(_) | State::PolicyCheck(_) | State::Applying(_)) => {
                "the run is being canceled already; force-cancel kills its processes".to_owned()
            }
            (Event::ForceCancel { cool_off_over: false }, state) if state.execution().is_some() => {
                "force-cancel is possible only some time after a cancel: see force-cancel-available-at"
                    .to_owned()
            }
            (Event::ForceCancel { .. }, _) => {
                format!("force-cancel is not possible in {name}: cancel the run first")
            }
            (Event::Confirm, State::PolicyOverride) => {
                "confirm is not possible in Policy Override: a member of the owners team has to override first"
                    .to_owned()
            }
            (Event::Discard, State::Planning(_) | State::PolicyCheck(_) | State::Applying(_)) => {
                format!("discard is not possible in {name}: cancel the run instead")
            }
            (event, _) => format!("{} is not possible in {name}", event.name()),
        }
    }
}

/// What the state makes due; `None` while a person is waited for. Level-triggered: it depends on where the run is, not on
/// how it got there.
pub const fn due(state: State, facts: Facts) -> Option<Due> {
    match state {
        State::Pending | State::Planning(Work::Queued) | State::Applying(Work::Queued) => Some(Due::Turn),
        State::Planning(Work::Executing(wish)) => Some(Due::Execute(Stage::Plan, wish)),
        State::PolicyCheck(wish) => Some(Due::Execute(Stage::PolicyCheck, wish)),
        State::Applying(Work::Executing(wish)) => Some(Due::Execute(Stage::Apply, wish)),
        State::PolicyChecked if facts.can_be_auto_applied() => Some(Due::AutoApply),
        State::NeedsConfirmation | State::PolicyOverride | State::PolicyChecked => None,
        State::Applied
        | State::NoChanges
        | State::PlannedAndFinished
        | State::PolicySoftFailed
        | State::PlanErrored(_)
        | State::ApplyErrored
        | State::Discarded(_)
        | State::Canceled(_) => Some(Due::CleanUp),
    }
}

/// The one place where a run changes its state.
///
/// # Errors
/// [`Illegal`] when the event may not happen in this state: nothing changes, and the API answers 409.
pub fn step(state: State, facts: Facts, event: Event) -> Result<Transition, Illegal> {
    let (rule, to) = row(state, facts, event).ok_or(Illegal { state, event })?;
    Ok(Transition { to, rule })
}

/// The table. `None`: not legal.
#[rustfmt::skip]
fn row(state: State, facts: Facts, event: Event) -> Option<(Rule, State)> {
    use Event::{ApplyEnded, AutoApply, Cancel, Confirm, Discard, Fetched, ForceCancel, Launch, Override, PlanEnded, PolicyCheckEnded, Start};
    use Execution::{Canceling, ForceCanceling, Running};
    use Rule::{CancelRequested, CanceledAtRest, ForceCancelRequested, Launched, PlanOnlyEnded, PolicyCheckCanceled, T1, T2, T4, T9, T10, T11,
        T12, T13, T14, T15, T16, T17, T18, T19, T20};
    use State::{Applied, ApplyErrored, Applying, Canceled, Discarded, NeedsConfirmation, NoChanges, Pending, PlanErrored,
        PlannedAndFinished, Planning, PolicyCheck, PolicyChecked, PolicyOverride, PolicySoftFailed};
    use Work::{Executing, Queued};

    let stopping = |e: Execution| e != Running;

    Some(match (state, event) {
        // 1 Pending
        (Pending, Start)                                   => (T1, Planning(Queued)),
        (Pending, Discard)                                 => (T2, Discarded(Stage::Pending)),
        (Pending, Cancel)                                  => (T2, Canceled(Stage::Pending)),

        // 2 Plan
        (Planning(Queued), Launch)                         => (Launched, Planning(Executing(Running))),
        (Planning(Executing(Running)), Fetched) if facts.fetches
                                                           => (Rule::Fetched, Planning(Executing(Running))),
        (Planning(Queued), Cancel)                         => (T4, Canceled(Stage::Plan)),
        (Planning(Executing(Running)), Cancel)             => (CancelRequested, Planning(Executing(Canceling))),
        (Planning(Executing(e)), PlanEnded { .. }) if stopping(e)
                                                           => (T4, Canceled(Stage::Plan)),
        (Planning(Executing(_)), PlanEnded { outcome, policies }) => after_plan(outcome, policies, facts),
        (NeedsConfirmation, Confirm)                       => (T9, Applying(Queued)),
        (NeedsConfirmation, Discard)                       => (T10, Discarded(Stage::Plan)),

        // 3 Policy check
        (PolicyCheck(Running), Cancel)                     => (CancelRequested, PolicyCheck(Canceling)),
        (PolicyCheck(e), PolicyCheckEnded(_)) if stopping(e)
                                                           => (PolicyCheckCanceled, Canceled(Stage::PolicyCheck)),
        (PolicyCheck(_), PolicyCheckEnded(PolicyOutcome::HardFailed)) => (T11, PlanErrored(Stage::PolicyCheck)),
        (PolicyCheck(_), PolicyCheckEnded(PolicyOutcome::SoftFailed)) if facts.plan_only
                                                           => (PlanOnlyEnded, PolicySoftFailed),
        (PolicyCheck(_), PolicyCheckEnded(PolicyOutcome::SoftFailed)) => (T12, PolicyOverride),
        (PolicyCheck(_), PolicyCheckEnded(PolicyOutcome::Passed)) if facts.plan_only
                                                           => (PlanOnlyEnded, PlannedAndFinished),
        (PolicyCheck(_), PolicyCheckEnded(PolicyOutcome::Passed)) => (T15, PolicyChecked),
        (PolicyOverride, Override)                         => (T13, PolicyChecked),
        (PolicyOverride, Discard)                          => (T14, Discarded(Stage::Plan)),
        (PolicyChecked, AutoApply) if facts.can_be_auto_applied()
                                                           => (T16, Applying(Queued)),
        (PolicyChecked, Confirm)                           => (T17, Applying(Queued)),
        (PolicyChecked, Discard)                           => (T17, Discarded(Stage::Plan)),

        // 4 Apply
        (Applying(Queued), Launch)                         => (Launched, Applying(Executing(Running))),
        (Applying(Queued), Cancel)                         => (T20, Canceled(Stage::Apply)),
        (Applying(Executing(Running)), Cancel)             => (CancelRequested, Applying(Executing(Canceling))),
        // an apply that came to its own good end before the interrupt did is applied: the exit status decides
        (Applying(Executing(_)), ApplyEnded(ApplyOutcome::Succeeded)) => (T18, Applied),
        (Applying(Executing(e)), ApplyEnded(ApplyOutcome::Failed)) if stopping(e)
                                                           => (T20, Canceled(Stage::Apply)),
        (Applying(Executing(_)), ApplyEnded(ApplyOutcome::Failed)) => (T19, ApplyErrored),

        // in any stage
        (Planning(Executing(Canceling)), ForceCancel { cool_off_over: true }) => (ForceCancelRequested, Planning(Executing(ForceCanceling))),
        (PolicyCheck(Canceling), ForceCancel { cool_off_over: true })         => (ForceCancelRequested, PolicyCheck(ForceCanceling)),
        (Applying(Executing(Canceling)), ForceCancel { cool_off_over: true }) => (ForceCancelRequested, Applying(Executing(ForceCanceling))),
        // there are no policies, and all that was left is the apply
        (NeedsConfirmation, Cancel)                        => (CanceledAtRest, Canceled(Stage::Apply)),
        (PolicyOverride | PolicyChecked, Cancel)           => (CanceledAtRest, Canceled(Stage::PolicyCheck)),

        (Applied | NoChanges | PlannedAndFinished | PolicySoftFailed | PlanErrored(_) | ApplyErrored | Discarded(_) | Canceled(_), _)
        | (_, Start | Launch | Fetched | PlanEnded { .. } | PolicyCheckEnded(_) | ApplyEnded(_) | AutoApply)
        | (_, Confirm | Discard | Override | Cancel | ForceCancel { .. }) => return None,
    })
}

/// Where a plan that ended by itself leads: T3, T5, T6, T7, T8.
fn after_plan(outcome: PlanOutcome, policies: bool, facts: Facts) -> (Rule, State) {
    match outcome {
        PlanOutcome::Failed => (Rule::T3, State::PlanErrored(Stage::Plan)),
        PlanOutcome::NoChanges if facts.plan_only || !facts.allow_empty_apply => (Rule::T5, State::NoChanges),
        PlanOutcome::NoChanges | PlanOutcome::Changes => match (policies, facts.plan_only) {
            (true, _) => (Rule::T6, State::PolicyCheck(Execution::Running)),
            (false, true) => (Rule::PlanOnlyEnded, State::PlannedAndFinished),
            (false, false) if facts.can_be_auto_applied() => (Rule::T7, State::Applying(Work::Queued)),
            (false, false) => (Rule::T8, State::NeedsConfirmation),
        },
    }
}
