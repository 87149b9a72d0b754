//! What stands in a path.

use std::str::FromStr;

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use lifecycle::id::Kind;
use serde::de::DeserializeOwned;

use super::ApiError;

/// What names something of one kind.
pub(crate) trait Identity: FromStr {
    /// What people call what it names: `run`.
    const NAME: &'static str;
}

impl<K: Kind> Identity for lifecycle::id::Id<K> {
    const NAME: &'static str = K::NAME;
}

/// The one variable of a path, as an id.
pub(crate) struct Id<T>(pub(crate) T);

impl<T: Identity, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let Name(text) = Name::from_request_parts(parts, state).await?;
        identity(&text).map(Self)
    }
}

/// The id that a text is. What is no id of that kind is not found.
pub(crate) fn identity<T: Identity>(text: &str) -> Result<T, ApiError> {
    text.parse().map_err(|_| ApiError::not_found(format_args!("{} {text:.64}", T::NAME)))
}

/// The one variable of a path, as it is.
pub(crate) struct Name(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Names::from_request_parts(parts, state).await.map(|Names(name)| Self(name))
    }
}

/// All variables of a path, as they are: a tuple of strings. What is no text names nothing.
pub(crate) struct Names<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Names<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(names)| Self(names)).map_err(|_| ApiError::no_such_endpoint())
    }
}
