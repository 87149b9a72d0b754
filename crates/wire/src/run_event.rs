//! What happened to runs.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attributes, NoRelationships, Relationship, Relationships, Resource, Text};

/// Something that happened to a run.
pub type RunEvent = Resource<RunEventAttributes>;
/// A comment that came with an action.
pub type CommentResource = Resource<CommentAttributes>;

impl Attributes for RunEventAttributes {
    const TYPE: &'static str = "run-events";
    type Relationships = RunEventRelationships;
}

impl Attributes for CommentAttributes {
    const TYPE: &'static str = "comments";
    type Relationships = NoRelationships;
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct RunEventAttributes {
    /// A status that was reached, or what was asked for.
    pub action: Text,
    /// In words.
    pub description: String,
    /// When.
    pub created_at: Timestamp,
}

/// What an event is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunEventRelationships {
    /// The run.
    pub run: Relationship,
    /// Who did it; nobody for what happened by itself.
    pub actor: Relationship,
    /// What they wrote.
    pub comment: Relationship,
}

impl Relationships for RunEventRelationships {}

/// What a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommentAttributes {
    /// Their words.
    pub body: String,
}
