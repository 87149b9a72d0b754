//! What stands in a path.

use std::str::FromStr;

use lifecycle::id::Kind;

use super::ApiError;

/// What names something of one kind.
pub(crate) trait Identity: FromStr {
    /// What people call what it names: `run`.
    const NAME: &'static str;
}

impl<K: Kind> Identity for lifecycle::id::Id<K> {
    const NAME: &'static str = K::NAME;
}

/// The id that a text is. What is not an id of that kind is not found.
pub(crate) fn identity<T: Identity>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| ApiError::not_found(format_args!("{} {text:.64}", T::NAME)))
}
