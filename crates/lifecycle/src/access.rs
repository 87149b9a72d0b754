//! Who may do what, as in Terraform Enterprise: rights are sets, one kind for each scope. The levels that a team is
//! given in a workspace are constants of it, and the owners have everything.

use bitflags::bitflags;
use serde::{Deserialize, Serialize};

use crate::{Event, Stage, State};

/// The name under which the daemon itself does what people do. No user has it.
pub const DAEMON: &str = "signalbox";

/// A team's level on a workspace. Each includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessLevel {
    /// See runs, logs, plans, policy checks and state.
    Read,
    /// Queue runs.
    Plan,
    /// Confirm, discard and cancel runs, lock the workspace, and bring states.
    Write,
    /// Force-cancel, force-unlock, and read the raw plan.
    Admin,
}

impl AccessLevel {
    /// All of them, lowest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Plan, Self::Write, Self::Admin];

    /// What one may do who has it.
    pub const fn rights(self) -> WorkspaceRights {
        match self {
            Self::Read => WorkspaceRights::READ,
            Self::Plan => WorkspaceRights::PLAN,
            Self::Write => WorkspaceRights::WRITE,
            Self::Admin => WorkspaceRights::ADMIN,
        }
    }

    /// The word in the config file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Plan => "plan",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

bitflags! {
    /// What one may do in a workspace. What a team has through the organization, and what it has in the workspace itself,
    /// add up.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct WorkspaceRights: u32 {
        /// See the workspace, its runs, their plans and logs, and its states.
        const READ_RUNS = 1;
        /// Queue runs.
        const PLAN_RUNS = 1 << 1;
        /// Confirm runs; have one's own applied by themselves.
        const APPLY_RUNS = 1 << 2;
        /// Kill runs.
        const FORCE_CANCEL = 1 << 3;
        /// Lock the workspace, and release one's own lock.
        const LOCK = 1 << 4;
        /// Release the lock of another.
        const FORCE_UNLOCK = 1 << 5;
        /// Read plans as JSON, with what they hold in the clear.
        const READ_PLAN_JSON = 1 << 6;
        /// Bring a state.
        const WRITE_STATE = 1 << 7;
        /// Override failed soft-mandatory policies. No level of a workspace has it: it comes from the organization.
        const OVERRIDE_POLICIES = 1 << 8;
        /// Discard and cancel runs.
        const STOP_RUNS = 1 << 9;
    }
}

impl WorkspaceRights {
    /// The workspace does not exist for whoever has none.
    pub const NONE: Self = Self::empty();
    /// The level `read`.
    pub const READ: Self = Self::READ_RUNS;
    /// The level `plan`.
    pub const PLAN: Self = Self::READ.union(Self::PLAN_RUNS);
    /// The level `write`.
    pub const WRITE: Self =
        Self::PLAN.union(Self::APPLY_RUNS).union(Self::STOP_RUNS).union(Self::LOCK).union(Self::WRITE_STATE);
    /// The level `admin`.
    pub const ADMIN: Self =
        Self::WRITE.union(Self::FORCE_CANCEL).union(Self::FORCE_UNLOCK).union(Self::READ_PLAN_JSON);
    /// What the owners have.
    pub const OWNER: Self = Self::all();

    /// What they are for one run: who queued it may take it back until it is applied.
    #[must_use]
    pub fn on_run(self, is_own: bool, state: State) -> Self {
        if is_own && self.contains(Self::PLAN_RUNS) && state.stage() != Stage::Apply {
            self.union(Self::STOP_RUNS)
        } else {
            self
        }
    }

    /// Whether they are enough for the action.
    pub const fn allows(self, action: Action) -> bool {
        self.contains(action.needs())
    }

    /// The least that one has to be or have for all of these, in words.
    pub fn words(self) -> &'static str {
        match AccessLevel::ALL.into_iter().find(|level| level.rights().contains(self)) {
            Some(AccessLevel::Read) => "read access",
            Some(AccessLevel::Plan) => "plan access",
            Some(AccessLevel::Write) => "write access",
            Some(AccessLevel::Admin) => "admin access",
            None => "a member of the owners team",
        }
    }
}

bitflags! {
    /// What one may do in the organization.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct OrganizationRights: u32 {
        /// `read` in every workspace.
        const READ_WORKSPACES = 1;
        /// `admin` in every workspace.
        const MANAGE_WORKSPACES = 1 << 1;
        /// Override failed soft-mandatory policies, in every workspace.
        const MANAGE_POLICY_OVERRIDES = 1 << 2;
    }
}

impl OrganizationRights {
    /// What a member of no team has: the organization is there for them.
    pub const MEMBER: Self = Self::empty();
    /// What the owners have.
    pub const OWNER: Self = Self::all();

    /// What they mean in each workspace.
    pub fn in_workspaces(self) -> WorkspaceRights {
        let of = |right, rights| if self.contains(right) { rights } else { WorkspaceRights::NONE };
        of(Self::READ_WORKSPACES, WorkspaceRights::READ)
            | of(Self::MANAGE_WORKSPACES, WorkspaceRights::ADMIN)
            | of(Self::MANAGE_POLICY_OVERRIDES, WorkspaceRights::OVERRIDE_POLICIES)
    }
}

/// Something that needs a right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See the workspace, its runs, logs and states.
    Read,
    /// Queue a run.
    QueueRun,
    /// Confirm a plan; whether one's runs may be auto-applied.
    Apply,
    /// Decline a plan.
    Discard,
    /// Stop a run.
    Cancel,
    /// Kill a run.
    ForceCancel,
    /// Override failed soft-mandatory policies.
    OverridePolicies,
    /// Lock the workspace, or release one's own lock.
    Lock,
    /// Release the lock of another.
    ForceUnlock,
    /// Read the plan as JSON, with what it holds in the clear.
    ReadPlanJson,
    /// Bring a state as the workspace's new state version.
    WriteState,
}

impl Action {
    /// The right that a person needs for this event; `None` for what happens by itself.
    pub const fn of(event: Event) -> Option<Self> {
        match event {
            Event::Confirm => Some(Self::Apply),
            Event::Discard => Some(Self::Discard),
            Event::Override => Some(Self::OverridePolicies),
            Event::Cancel => Some(Self::Cancel),
            Event::ForceCancel { .. } => Some(Self::ForceCancel),
            Event::Start
            | Event::Launch
            | Event::Fetched
            | Event::PlanEnded { .. }
            | Event::PolicyCheckEnded(_)
            | Event::ApplyEnded(_)
            | Event::AutoApply => None,
        }
    }

    /// The right that it takes.
    pub const fn needs(self) -> WorkspaceRights {
        match self {
            Self::Read => WorkspaceRights::READ_RUNS,
            Self::QueueRun => WorkspaceRights::PLAN_RUNS,
            Self::Apply => WorkspaceRights::APPLY_RUNS,
            Self::Discard | Self::Cancel => WorkspaceRights::STOP_RUNS,
            Self::Lock => WorkspaceRights::LOCK,
            Self::ForceCancel => WorkspaceRights::FORCE_CANCEL,
            Self::ForceUnlock => WorkspaceRights::FORCE_UNLOCK,
            Self::ReadPlanJson => WorkspaceRights::READ_PLAN_JSON,
            Self::WriteState => WorkspaceRights::WRITE_STATE,
            Self::OverridePolicies => WorkspaceRights::OVERRIDE_POLICIES,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_action_needs_its_level_and_no_less() {
        const R: WorkspaceRights = WorkspaceRights::READ;
        const P: WorkspaceRights = WorkspaceRights::PLAN;
        const W: WorkspaceRights = WorkspaceRights::WRITE;
        const A: WorkspaceRights = WorkspaceRights::ADMIN;
        let table = [
            (Action::Read, R, WorkspaceRights::NONE, "read access"),
            (Action::QueueRun, P, R, "plan access"),
            (Action::Apply, W, P, "write access"),
            (Action::Discard, W, P, "write access"),
            (Action::Cancel, W, P, "write access"),
            (Action::Lock, W, P, "write access"),
            (Action::ForceCancel, A, W, "admin access"),
            (Action::ForceUnlock, A, W, "admin access"),
            (Action::ReadPlanJson, A, W, "admin access"),
            (Action::WriteState, W, P, "write access"),
            // overriding is the owners' alone: admin of a workspace is not enough
            (Action::OverridePolicies, WorkspaceRights::OWNER, A, "a member of the owners team"),
        ];
        for (action, enough, too_little, words) in table {
            assert!(enough.allows(action) && WorkspaceRights::OWNER.allows(action), "{action:?}");
            assert!(!too_little.allows(action), "{action:?}");
            assert_eq!(action.needs().words(), words, "{action:?}");
        }
    }

    #[test]
    fn who_queued_a_run_may_take_it_back_until_it_is_applied() {
        for state in State::all() {
            for own in [true, false] {
                let rights = WorkspaceRights::PLAN.on_run(own, state);
                let may = own && state.stage() != Stage::Apply;
                assert_eq!(rights.allows(Action::Cancel), may, "{state:?}");
                assert_eq!(rights.allows(Action::Discard), may, "{state:?}");
                assert!(!rights.allows(Action::Apply), "{state:?}");
            }
            assert!(!WorkspaceRights::READ.on_run(true, state).allows(Action::Cancel));
        }
    }

    #[test]
    fn each_level_includes_those_before_it() {
        for pair in AccessLevel::ALL.windows(2) {
            let [lower, higher] = [pair[0].rights(), pair[1].rights()];
            assert!(higher.contains(lower) && higher != lower, "{pair:?}");
        }
    }

    #[test]
    fn what_one_may_in_the_organization_one_may_in_each_workspace() {
        assert_eq!(OrganizationRights::MEMBER.in_workspaces(), WorkspaceRights::NONE);
        assert_eq!(OrganizationRights::OWNER.in_workspaces(), WorkspaceRights::OWNER);
        let overrides = OrganizationRights::MANAGE_POLICY_OVERRIDES.in_workspaces();
        assert!(overrides.allows(Action::OverridePolicies) && !overrides.allows(Action::Apply));
    }
}
