//! The HTTP interface: the dialect of the Terraform Enterprise API v2 that terraform, go-tfe, pytfe and
//! their like speak, and streams of logs and events beside it.
//!
//! ```text
//! operation   declarations of operations: their route, the check of their right and their description follow
//! routes      the operations of the dialect: what is read, what is asked of the engine
//! extensions  those that the dialect lacks, under /api/signalbox/v1: SSE, the run as policies see it
//! reader      what a document needs beside its record, for one user
//! document    records to resources of `wire`: pure
//! openapi     the description of all operations
//! jsonapi     the dialect: errors, queries, users: the same for every operation
//! budget      memory that requests may have together
//! spool       large contents on their way in and out
//! serve       connections and their limits
//! ```
//!
//! Invariants:
//! * A route is made of a declaration ([`operations`]), and of nothing else. A handler starts with a scope, which is
//!   only there for who has the declared right.
//! * Run, plan, apply and policy check are views of one record, read once for each document; a log's end
//!   mark is given only after the record said that its stage is over (docs/api.md, "One record").
//! * 401 is for a missing or unknown token alone. What one may not see, or not do, is 404; what is not
//!   legal now is 409 and changes nothing; what is not done here is refused with 422 and its place.
//! * Who may do what is decided by the rules of `lifecycle`: before the handler runs, and for what changes something by
//!   the engine again, in the same call that acts.
//! * No token, no secret of a log's address and no value of a variable gets into a log of the daemon.
//!
//! Failure modes: a store that fails is 500 or 503 with its reason in the daemon's log alone; a panic in a
//! handler is 500 and ends nothing else; a stream that breaks is gone on with by `Last-Event-ID`.

mod budget;
mod compound;
mod document;

mod extensions;
mod jsonapi;
mod log;
mod openapi;
mod operation;
mod org_queue;
mod reader;
mod redact;
mod routes;
mod serve;
mod spool;
mod state;

use axum::Router;

pub use crate::jsonapi::AddressKeyError;
use crate::jsonapi::ApiError;
pub use crate::operation::{BodyInfo, Content, Operation, Parameter, Right, SchemaOf, Success, Variable};
pub use crate::serve::serve;
pub use crate::state::ApiState;

/// Everything that a client can ask for.
pub fn operations() -> Vec<Operation> {
    routes::operations().into_iter().chain(extensions::operations()).collect()
}

/// Every operation at its address. There is no other way to an address.
pub fn router(state: ApiState) -> Router {
    let routes = operations()
        .into_iter()
        .fold(Router::new(), |router, operation| router.route(operation.path, operation.route()));
    let router = routes
        .fallback(async || ApiError::no_such_endpoint())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .with_state(state);
    jsonapi::layered(router)
}
