use std::ops::Deref;

use jiff::Timestamp;
use wire::{Attributes as _, Included, RunAttributes, WorkspaceAttributes, WorkspaceSource};

use crate::Run;
use crate::document::{FromDocument, Result, linked};
use crate::run::user_name;

/// A workspace with what came along with it. Its own attributes are those of the document: `workspace.name`.
#[derive(Debug, Clone, PartialEq)]
pub struct Workspace {
    /// The workspace itself.
    pub resource: wire::Workspace,
    /// Who locked it.
    pub locked_by: Option<LockedBy>,
    /// The run that it shows, if it came along: the one that holds it, or else the newest final one.
    pub current_run: Option<Box<Run>>,
}

/// Who holds a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockedBy {
    /// The run that holds the workspace.
    Run(String),
    /// A person, by name; by id if the name was not told.
    User(String),
}

impl Deref for Workspace {
    type Target = wire::Workspace;

    fn deref(&self) -> &wire::Workspace {
        &self.resource
    }
}

impl Workspace {
    /// Where its terraform configuration comes from; `None` for one that was removed from the config file.
    pub fn source(&self) -> Option<&WorkspaceSource> {
        self.signalbox.source.as_ref()
    }

    /// When a person locked it.
    pub const fn locked_at(&self) -> Option<Timestamp> {
        self.resource.attributes.signalbox.locked_at
    }

    /// Why the daemon does not know the version of its terraform.
    pub fn terraform_version_unknown(&self) -> Option<&str> {
        self.signalbox.terraform_version_unknown.as_deref()
    }

    /// The id of the run that it shows.
    pub fn current_run_id(&self) -> Option<&str> {
        linked(&self.relationships.current_run)
    }
}

impl FromDocument for Workspace {
    type Attributes = WorkspaceAttributes;

    fn from_document_of(workspace: wire::Workspace, included: &Included) -> Result<Self> {
        let locked_by = match workspace.relationships.locked_by.to_one() {
            Some(run) if run.kind == RunAttributes::TYPE => Some(LockedBy::Run(run.id.clone())),
            Some(user) => user_name(Some(&user.id), included)?.map(LockedBy::User),
            None => None,
        };
        let run = linked(&workspace.relationships.current_run).map(|id| included.get(id));
        let run = run.transpose()?.flatten();
        let current_run = run.map(|run| Run::from_document_of(run, included).map(Box::new)).transpose()?;
        Ok(Self { resource: workspace, locked_by, current_run })
    }
}
