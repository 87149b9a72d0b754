use std::ops::Deref;

use jiff::Timestamp;
use lifecycle::{Progress, Stage, State};
use wire::{
    ApplyAttributes, CommentAttributes, ConfigurationVersionAttributes, Included, IngressAttributes,
    IngressAttributesAttributes, One, PlanAttributes, RunAttributes, RunEventAttributes, UserAttributes,
    WorkspaceAttributes,
};

use crate::document::{FromDocument, Result, linked};

/// A run with what came along with it. Its own attributes are those of the document: `run.message`.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The run itself.
    pub resource: wire::Run,
    /// The name of its workspace, if it came along.
    pub workspace_name: Option<String>,
    /// Who queued it: a name; the id if the name was not told.
    pub created_by: Option<String>,
    /// The plan, if it came along.
    pub plan: Option<wire::Plan>,
    /// The apply, if it came along.
    pub apply: Option<wire::Apply>,
    /// The commit that it runs on, if it does and it came along.
    pub commit: Option<IngressAttributes>,
}

impl Deref for Run {
    type Target = wire::Run;

    fn deref(&self) -> &wire::Run {
        &self.resource
    }
}

impl Run {
    /// Reads a run from a document of the API, such as one that was kept.
    ///
    /// # Errors
    /// In words, if it is not a document of a run.
    pub fn from_document(json: &str) -> std::result::Result<Self, String> {
        let One { data, included, .. } = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Self::from_document_of(data, &included)
    }

    /// The state that the daemon names, if this release knows it.
    pub const fn state(&self) -> Option<State> {
        self.resource.attributes.signalbox.state.known()
    }

    /// The name of its state, as people see it everywhere.
    pub fn state_name(&self) -> &str {
        &self.signalbox.state_name
    }

    /// Whether it is over.
    pub const fn is_final(&self) -> bool {
        self.resource.attributes.signalbox.is_final
    }

    /// Whether a stage of it failed.
    pub const fn is_errored(&self) -> bool {
        matches!(self.state(), Some(State::PlanErrored(_) | State::ApplyErrored))
    }

    /// Why it errored, in the daemon's words.
    pub fn error(&self) -> Option<&str> {
        self.signalbox.error.as_deref()
    }

    /// What it waits for in its queue: completes "it waits for …". `None` for one that is not queued, or goes on at
    /// once.
    pub fn waits_for(&self) -> Option<&str> {
        self.signalbox.waits_for.as_deref()
    }

    /// Somebody cancelled it, and it has not ended yet.
    pub fn is_canceling(&self) -> bool {
        self.canceled_at.is_some() && !self.is_final()
    }

    /// Whether it waits for a person, and for nothing else.
    pub fn waits_for_person(&self) -> bool {
        self.state().map_or(self.actions.is_confirmable, State::waits_for_person)
    }

    /// Whether it waits for its failed policies to be overridden.
    pub fn waits_for_override(&self) -> bool {
        self.state() == Some(State::PolicyOverride)
    }

    /// When it came into the state that it is in, as far as its timestamps tell.
    pub fn state_since(&self) -> Timestamp {
        self.status_timestamps.values().copied().max().unwrap_or(self.created_at)
    }

    /// How far it is with the stage. For a final run never [`Progress::Ahead`]. Of a state that this release doesn't
    /// know it is taken to be in its plan, and a final one to have gone through everything.
    pub fn progress(&self, stage: Stage) -> Progress {
        let checked = self.policy_check_id().is_some();
        match self.state() {
            Some(state) => state.progress(stage, self.plan_only, checked),
            None if stage == Stage::Plan || self.is_final() => Progress::Begun,
            None => Progress::Ahead,
        }
    }

    /// The id of its workspace.
    pub fn workspace_id(&self) -> Option<&str> {
        linked(&self.relationships.workspace)
    }

    /// The id of its plan.
    pub fn plan_id(&self) -> Option<&str> {
        linked(&self.relationships.plan)
    }

    /// The id of its apply.
    pub fn apply_id(&self) -> Option<&str> {
        linked(&self.relationships.apply)
    }

    /// The id of its policy check; none where no policies apply.
    pub fn policy_check_id(&self) -> Option<&str> {
        self.relationships.policy_checks.to_many().first().map(|check| check.id.as_str())
    }
}

impl FromDocument for Run {
    type Attributes = RunAttributes;

    fn from_document_of(run: wire::Run, included: &Included) -> Result<Self> {
        let links = &run.relationships;
        let workspace = linked(&links.workspace).map(|id| included.get::<WorkspaceAttributes>(id));
        let plan = linked(&links.plan).map(|id| included.get::<PlanAttributes>(id));
        let apply = linked(&links.apply).map(|id| included.get::<ApplyAttributes>(id));
        let configuration = linked(&links.configuration_version)
            .map(|id| included.get::<ConfigurationVersionAttributes>(id))
            .transpose()?
            .flatten();
        let commit = configuration
            .and_then(|version| linked(&version.relationships.ingress_attributes).map(str::to_owned))
            .map(|id| included.get::<IngressAttributesAttributes>(&id));
        Ok(Self {
            commit: commit.transpose()?.flatten(),
            workspace_name: workspace.transpose()?.flatten().map(|workspace| workspace.name.clone()),
            created_by: user_name(linked(&links.created_by), included)?,
            plan: plan.transpose()?.flatten(),
            apply: apply.transpose()?.flatten(),
            resource: run,
        })
    }
}

/// The name of the user with this id; the id if the name was not told.
pub(crate) fn user_name(id: Option<&str>, included: &Included) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    let user = included.get::<UserAttributes>(id)?;
    Ok(Some(user.map_or_else(|| id.to_owned(), |user| user.username.clone())))
}

/// Something that happened to a run, with who did it and what they wrote.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// The event itself.
    pub resource: wire::RunEvent,
    /// The person's name; `None` for what happened by itself.
    pub actor: Option<String>,
    /// What they wrote.
    pub comment: Option<String>,
}

impl Deref for RunEvent {
    type Target = wire::RunEvent;

    fn deref(&self) -> &wire::RunEvent {
        &self.resource
    }
}

impl FromDocument for RunEvent {
    type Attributes = RunEventAttributes;

    fn from_document_of(event: wire::RunEvent, included: &Included) -> Result<Self> {
        let links = &event.relationships;
        let comment = linked(&links.comment).map(|id| included.get::<CommentAttributes>(id));
        Ok(Self {
            actor: user_name(linked(&links.actor), included)?,
            comment: comment.transpose()?.flatten().map(|comment| comment.body.clone()),
            resource: event,
        })
    }
}
