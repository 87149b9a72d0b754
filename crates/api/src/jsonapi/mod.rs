//! What every endpoint stands on: documents, errors, bodies, queries, users. Nothing here knows an endpoint.

mod auth;
mod body;
mod document;
mod error;
mod layers;
mod path;
mod query;
mod raw_json;
mod secret;

pub(crate) use auth::User;
pub(crate) use body::{Comment, Json, Reason, StateJson};
pub(crate) use document::Document;
pub(crate) use error::{ApiError, Fault, Result};
pub(crate) use layers::layered;
pub(crate) use path::{Id, Identity, Name, Names, identity};
pub(crate) use query::{Include, Query};
pub(crate) use raw_json::RawJson;
pub use secret::LogKeyError;
pub(crate) use secret::{LogKey, Secret};
