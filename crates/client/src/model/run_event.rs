use jiff::Timestamp;
use serde::Deserialize;

use crate::document::{FromResource, Included, Resource, Result, null_is_default};

/// Something that happened to a run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunEvent {
    /// The id, `re-…`.
    #[serde(skip)]
    pub id: String,
    /// What: a status that was reached, or an action.
    pub action: String,
    /// In words.
    #[serde(default, deserialize_with = "null_is_default")]
    pub description: String,
    /// When.
    pub created_at: Timestamp,
    /// The person's name; `None` for what happened by itself.
    #[serde(skip)]
    pub actor: Option<String>,
    /// What they wrote.
    #[serde(skip)]
    pub comment: Option<String>,
}

impl FromResource for RunEvent {
    const KIND: &'static str = "run-events";

    fn from_resource(resource: &Resource, included: &Included<'_>) -> Result<Self> {
        let actor =
            resource.linked("actor").map(|id| included.attribute("users", &id, "username").unwrap_or(id));
        let comment = resource.linked("comment").and_then(|id| included.attribute("comments", &id, "body"));
        Ok(Self { id: resource.id.clone(), actor, comment, ..resource.attributes()? })
    }
}
