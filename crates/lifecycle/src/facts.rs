use serde::{Deserialize, Serialize};

use crate::access::{Action, WorkspaceRights};

/// What was fixed about a run when it was queued, as far as its transitions depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Facts {
    /// A speculative run: never holds the queue, never applied.
    pub plan_only: bool,
    /// The plan destroys everything: no setting of a workspace applies it.
    pub destroy: bool,
    /// Asked for on the run, or else switched on for the workspace, at the time of queueing.
    pub auto_apply: bool,
    /// Whether who queued it had the right to apply at that time. They have to have it still when the plan is applied:
    /// see [`Facts::held_by`].
    pub queued_with_apply_right: bool,
    /// A plan without changes may be applied as well (an upgrade of the state's format).
    pub allow_empty_apply: bool,
    /// Its configuration is fetched from elsewhere before it is planned, which may take as long as a stranger likes.
    #[serde(default)]
    pub fetches: bool,
    /// Auto-apply was asked for on the run itself: a person's confirmation, given in advance, for a destroy plan too.
    #[serde(default)]
    pub auto_apply_asked: bool,
}

impl Facts {
    /// Every combination, for whoever tries the whole table.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..128_u8).map(|bits| Self {
            plan_only: bits & 1 != 0,
            destroy: bits & 2 != 0,
            auto_apply: bits & 4 != 0,
            queued_with_apply_right: bits & 8 != 0,
            allow_empty_apply: bits & 16 != 0,
            fetches: bits & 32 != 0,
            auto_apply_asked: bits & 64 != 0,
        })
    }

    /// "Can be auto-applied" of the run lifecycle.
    pub const fn can_be_auto_applied(self) -> bool {
        let wanted = self.auto_apply && (!self.destroy || self.auto_apply_asked);
        wanted && self.queued_with_apply_right && !self.plan_only
    }

    /// The facts as they hold for a decision now, when who queued the run has these rights.
    #[must_use]
    pub fn held_by(self, rights: WorkspaceRights) -> Self {
        let queued_with_apply_right = self.queued_with_apply_right && rights.allows(Action::Apply);
        Self { queued_with_apply_right, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destroy_plan_waits_for_a_person_unless_one_has_confirmed_it_in_advance() {
        let by_setting =
            Facts { auto_apply: true, queued_with_apply_right: true, destroy: true, ..Facts::default() };
        assert!(!by_setting.can_be_auto_applied());
        let asked = Facts { auto_apply_asked: true, ..by_setting };
        assert!(asked.can_be_auto_applied());
        assert!(!Facts { queued_with_apply_right: false, ..asked }.can_be_auto_applied());
    }

    #[test]
    fn a_run_queued_without_the_right_to_apply_is_never_auto_applied() {
        let facts = Facts { auto_apply: true, ..Facts::default() };
        assert!(!facts.can_be_auto_applied());
    }

    #[test]
    fn who_has_lost_the_right_to_apply_or_never_had_it_is_not_auto_applied_for() {
        let queued = |then| Facts { auto_apply: true, queued_with_apply_right: then, ..Facts::default() };
        let table = [
            (true, WorkspaceRights::WRITE, true),
            (true, WorkspaceRights::OWNER, true),
            (true, WorkspaceRights::PLAN, false),
            (true, WorkspaceRights::NONE, false),
            (false, WorkspaceRights::OWNER, false),
        ];
        for (then, now, applied) in table {
            assert_eq!(queued(then).held_by(now).can_be_auto_applied(), applied, "{then} {now:?}");
        }
    }

    #[test]
    fn auto_apply_by_someone_who_may_apply_goes_on_by_itself() {
        let facts = Facts { auto_apply: true, queued_with_apply_right: true, ..Facts::default() };
        assert!(facts.can_be_auto_applied());
    }
}
