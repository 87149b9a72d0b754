//! What has to change for the workspaces to be those of the config file: pure.

use std::collections::BTreeMap;

use lifecycle::AccessLevel;
use lifecycle::id::WorkspaceId;

use crate::record::{Origin, Workspace};

/// What each team may do in a workspace.
pub(crate) type TeamAccess = BTreeMap<String, AccessLevel>;

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// A name that was never seen.
    Insert { name: String, access: TeamAccess },
    /// One that was removed is in the file again.
    Return { id: WorkspaceId },
    /// The file says something else of its teams.
    SetAccess { id: WorkspaceId, access: TeamAccess },
    /// It is in the file no more.
    Remove { id: WorkspaceId, name: String },
    /// The file names a workspace that is not its own, which stays what it is.
    Foreign { name: String },
}

/// The steps that make the workspaces of the config file what the file says. Those of another origin are left alone.
pub(crate) fn steps(there: &[Workspace], configured: &BTreeMap<String, TeamAccess>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut seen: BTreeMap<&str, &Workspace> = BTreeMap::new();
    for workspace in there {
        seen.insert(&workspace.name, workspace);
        let own = workspace.origin == Origin::ConfigFile;
        if own && workspace.removed_at.is_none() && !configured.contains_key(&workspace.name) {
            steps.push(Step::Remove { id: workspace.id, name: workspace.name.clone() });
        }
    }
    for (name, access) in configured {
        match seen.get(name.as_str()) {
            None => steps.push(Step::Insert { name: name.clone(), access: access.clone() }),
            Some(workspace) if workspace.origin != Origin::ConfigFile => {
                steps.push(Step::Foreign { name: name.clone() });
            }
            Some(workspace) => {
                if workspace.removed_at.is_some() {
                    steps.push(Step::Return { id: workspace.id });
                }
                if workspace.access != *access {
                    steps.push(Step::SetAccess { id: workspace.id, access: access.clone() });
                }
            }
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn workspace(name: &str, origin: Origin, removed: bool) -> Workspace {
        Workspace {
            id: WorkspaceId::from_entropy([name.as_bytes()[0]; 16]),
            name: name.to_owned(),
            origin,
            lock: None,
            access: TeamAccess::new(),
            current_state_version: None,
            state_keeper: None,
            created_at: Timestamp::UNIX_EPOCH,
            updated_at: Timestamp::UNIX_EPOCH,
            removed_at: removed.then_some(Timestamp::UNIX_EPOCH),
        }
    }

    #[test]
    fn the_file_changes_its_own_workspaces_and_no_other() {
        let there = [
            workspace("kept", Origin::ConfigFile, false),
            workspace("left", Origin::ConfigFile, false),
            workspace("gone", Origin::ConfigFile, true),
            workspace("back", Origin::ConfigFile, true),
            workspace("made", Origin::Api, false),
            workspace("taken", Origin::Api, false),
        ];
        let [kept, left, _, back, ..] = there.clone().map(|workspace| workspace.id);
        let team: TeamAccess = [("ops".to_owned(), AccessLevel::Write)].into();
        let configured = [
            ("kept", team.clone()),
            ("new", team.clone()),
            ("back", TeamAccess::new()),
            ("taken", team.clone()),
        ]
        .map(|(name, access)| (name.to_owned(), access))
        .into();
        let expected = [
            Step::Remove { id: left, name: "left".to_owned() },
            Step::Return { id: back },
            Step::SetAccess { id: kept, access: team.clone() },
            Step::Insert { name: "new".to_owned(), access: team },
            Step::Foreign { name: "taken".to_owned() },
        ];
        assert_eq!(steps(&there, &configured), expected);
    }

    #[test]
    fn what_is_in_line_needs_no_write() {
        let there =
            [workspace("kept", Origin::ConfigFile, false), workspace("gone", Origin::ConfigFile, true)];
        assert_eq!(steps(&there, &[("kept".to_owned(), TeamAccess::new())].into()), []);
    }
}
