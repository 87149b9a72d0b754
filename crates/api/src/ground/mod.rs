//! What every endpoint stands on: documents, errors, bodies, queries, users. Nothing here knows an endpoint.

mod auth;
mod body;
mod document;
mod error;
mod exact;
mod layers;
mod path;
mod query;
mod secret;

pub(crate) use auth::User;
pub(crate) use body::{Comment, Json, Reason, StateJson};
pub(crate) use document::{Document, Identifier, Included, Relationship, Resource, null};
pub(crate) use error::{ApiError, Fault, Result};
pub(crate) use exact::Exact;
pub(crate) use layers::layered;
pub(crate) use path::{Id, Identity, Name, Names, identity};
pub(crate) use query::{Include, Query};
pub use secret::LogKeyError;
pub(crate) use secret::{LogKey, Secret};
