//! The dialect: errors, queries, users, addresses that carry a secret. Nothing here knows an operation.

mod auth;
mod error;
mod layers;
mod path;
mod query;
mod raw_json;
mod secret;

use axum::http::HeaderValue;

pub(crate) use auth::User;
pub(crate) use error::{ApiError, Fault, Result};
pub(crate) use layers::layered;
pub(crate) use path::{Identity, identity};
pub use query::Parameter;
pub(crate) use query::{Include, Query, cut, pagination, uncounted};
pub(crate) use raw_json::RawJson;
pub use secret::AddressKeyError;
pub(crate) use secret::{AddressKey, Secret, Subject};

/// The media type of every document.
pub(crate) const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/vnd.api+json");
