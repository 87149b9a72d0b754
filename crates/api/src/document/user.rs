use lifecycle::id::UserId;
use store::Digest;
use wire::{Account, AccountAttributes, Identifier, TwoFactor, User, UserAttributes};

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
    Identifier::of::<UserAttributes>(id(name))
}

/// A user as others see them.
pub(crate) fn resource(name: &str) -> User {
    User::new(id(name), UserAttributes::named(name))
}

/// A user as they see themselves: `account/details`.
pub(crate) fn account(name: &str) -> Account {
    let may_not = ["can-create-organizations", "can-change-email", "can-change-username"];
    let attributes = AccountAttributes {
        username: name.to_owned(),
        email: None,
        is_service_account: false,
        auth_method: "token".into(),
        avatar_url: None,
        v2_only: true,
        unconfirmed_email: None,
        two_factor: TwoFactor { enabled: false, verified: false },
        permissions: may_not.map(|name| (name.into(), false)).into(),
    };
    Account::new(id(name), attributes).link("self", format!("/api/v2/users/{}", id(name)))
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
