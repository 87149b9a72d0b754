use lifecycle::id::UserId;
use serde_json::json;
use store::Digest;

use crate::jsonapi::{Identifier, Resource};

/// The id of a user: users are known by name, so the name makes it, and it is the same on every start.
pub(crate) fn id(name: &str) -> UserId {
    UserId::from_entropy(entropy("user", name))
}

/// Bytes for the id of something that is named rather than made.
pub(crate) fn entropy(kind: &str, name: &str) -> [u8; 16] {
    let digest = Digest::of(format!("{kind}/{name}").as_bytes());
    std::array::from_fn(|index| digest.as_bytes()[index])
}

pub(crate) fn identifier(name: &str) -> Identifier {
    Identifier::new("users", id(name))
}

/// A user as others see them.
pub(crate) fn resource(name: &str) -> Resource {
    let attributes = json!({ "username": name, "is-service-account": false, "avatar-url": null });
    Resource::new("users", id(name), attributes)
}

/// A user as they see themselves: `account/details`.
pub(crate) fn account(name: &str) -> Resource {
    let attributes = json!({
        "username": name,
        "email": null,
        "is-service-account": false,
        "auth-method": "token",
        "avatar-url": null,
        "v2-only": true,
        "unconfirmed-email": null,
        "two-factor": { "enabled": false, "verified": false },
        "permissions": {
            "can-create-organizations": false,
            "can-change-email": false,
            "can-change-username": false,
        },
    });
    Resource::new("users", id(name), attributes).link("self", format!("/api/v2/users/{}", id(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_one_id_and_nobody_else_has_it() {
        assert_eq!(id("owner"), id("owner"));
        assert_ne!(id("owner"), id("operator"));
    }
}
