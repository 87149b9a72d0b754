use serde::Deserialize;

use crate::document::{FromResource, Included, Resource, Result};

/// The user that a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Account {
    /// The id, `user-…`.
    #[serde(skip)]
    pub id: String,
    /// The name, as in the config file.
    pub username: String,
}

impl FromResource for Account {
    const KIND: &'static str = "users";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        Ok(Self { id: resource.id.clone(), ..resource.attributes()? })
    }
}
