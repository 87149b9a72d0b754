//! The actors: thin shells that ask `lifecycle` what to do and do it.

mod root;
mod run;
mod workspace;
mod workspaces;

pub(crate) use root::{Root, RootMessage};
pub(crate) use run::urgency as run_urgency;
pub(crate) use workspace::WorkspaceMessage;
pub(crate) use workspaces::{WorkspacesMessage, bring_in_line};

/// How long a supervisor waits for its children to stop before it stops itself.
const STOP_GRACE: std::time::Duration = std::time::Duration::from_secs(5);
