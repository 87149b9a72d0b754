//! Users.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attributes, NoRelationships, Permissions, Resource, Text};

/// A user as others see them.
pub type User = Resource<UserAttributes>;
/// A user as they see themselves.
pub type Account = Resource<AccountAttributes>;

impl Attributes for UserAttributes {
    const TYPE: &'static str = "users";
    type Relationships = NoRelationships;
}

impl Attributes for AccountAttributes {
    const TYPE: &'static str = "users";
    type Relationships = NoRelationships;
}

/// What others see of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct UserAttributes {
    /// The name in the config file.
    pub username: String,
    /// Always false.
    pub is_service_account: bool,
    /// Always `null`.
    pub avatar_url: Option<String>,
}

impl UserAttributes {
    /// The user of that name.
    pub fn named(username: &str) -> Self {
        Self { username: username.to_owned(), is_service_account: false, avatar_url: None }
    }
}

/// What a user sees of themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct AccountAttributes {
    /// The name in the config file.
    pub username: String,
    /// Always `null`.
    pub email: Option<String>,
    /// Always false.
    pub is_service_account: bool,
    /// Always `token`.
    pub auth_method: Text,
    /// Always `null`.
    pub avatar_url: Option<String>,
    /// Always true.
    pub v2_only: bool,
    /// Always `null`.
    pub unconfirmed_email: Option<String>,
    /// Always off.
    pub two_factor: TwoFactor,
    /// What they may do with their account.
    pub permissions: Permissions,
}

/// A second factor at login, of which there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TwoFactor {
    /// Always false.
    pub enabled: bool,
    /// Always false.
    pub verified: bool,
}
