//! Who may do what (tfe-api.md 3): levels per workspace, owners over all.

use serde::{Deserialize, Serialize};

use crate::Event;

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
    /// Confirm, discard and cancel runs, lock the workspace.
    Write,
    /// Force-cancel, force-unlock, read the raw plan, and write states.
    Admin,
}

impl AccessLevel {
    /// All of them, lowest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Plan, Self::Write, Self::Admin];

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

/// What a user may do in a workspace: the highest level of their teams, or everything as an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// No team of theirs has access: the workspace does not exist for them.
    None,
    /// Through a team.
    Level(AccessLevel),
    /// A member of the owners team.
    Owner,
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
            | Event::PlanEnded { .. }
            | Event::PolicyCheckEnded(_)
            | Event::ApplyEnded(_)
            | Event::AutoApply => None,
        }
    }

    /// The least access that is enough for it.
    pub const fn needs(self) -> Access {
        match self {
            Self::Read => Access::Level(AccessLevel::Read),
            Self::QueueRun => Access::Level(AccessLevel::Plan),
            Self::Apply | Self::Discard | Self::Cancel | Self::Lock => Access::Level(AccessLevel::Write),
            Self::ForceCancel | Self::ForceUnlock | Self::ReadPlanJson | Self::WriteState => {
                Access::Level(AccessLevel::Admin)
            }
            Self::OverridePolicies => Access::Owner,
        }
    }
}

impl Access {
    /// Whether it is enough for the action.
    pub fn allows(self, action: Action) -> bool {
        self >= action.needs()
    }

    /// What somebody has who has it, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::None => "no access",
            Self::Level(AccessLevel::Read) => "read access",
            Self::Level(AccessLevel::Plan) => "plan access",
            Self::Level(AccessLevel::Write) => "write access",
            Self::Level(AccessLevel::Admin) => "admin access",
            Self::Owner => "a member of the owners team",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Access::{Level, None, Owner};
    use super::AccessLevel::{Admin, Plan, Read, Write};
    use super::*;

    #[test]
    fn each_action_needs_its_level_and_no_less() {
        let table = [
            (Action::Read, Level(Read), None),
            (Action::QueueRun, Level(Plan), Level(Read)),
            (Action::Apply, Level(Write), Level(Plan)),
            (Action::Discard, Level(Write), Level(Plan)),
            (Action::Cancel, Level(Write), Level(Plan)),
            (Action::Lock, Level(Write), Level(Plan)),
            (Action::ForceCancel, Level(Admin), Level(Write)),
            (Action::ForceUnlock, Level(Admin), Level(Write)),
            (Action::ReadPlanJson, Level(Admin), Level(Write)),
            (Action::WriteState, Level(Admin), Level(Write)),
            // overriding is the owners' alone: admin of a workspace is not enough
            (Action::OverridePolicies, Owner, Level(Admin)),
        ];
        for (action, enough, too_little) in table {
            assert!(enough.allows(action) && Owner.allows(action), "{action:?}");
            assert!(!too_little.allows(action), "{action:?}");
        }
    }
}
