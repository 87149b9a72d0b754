//! The HTTP interface: the dialect of the Terraform Enterprise API v2 that terraform, go-tfe, pytfe and
//! their like speak, and streams of logs and events beside it.
//!
//! ```text
//! ground      documents, errors, bodies, queries, users: the same for every endpoint
//! document    records to resources: pure
//! routes      the dialect: who may, what is read, what is asked of the engine
//! signalbox   what the dialect lacks, under /api/signalbox/v1: SSE, the run as policies see it
//! serve       connections and their limits
//! ```
//!
//! Invariants:
//! * Run, plan, apply and policy check are views of one record, read once for each document; a log's end
//!   mark is given only after the record said that its stage is over (tfe-api.md 4.6).
//! * 401 is for a missing or unknown token alone. What one may not see, or not do, is 404; what is not
//!   legal now is 409 and changes nothing; what is not done here is refused with 422 and its place.
//! * Who may do what is decided by the engine, with the rules of `lifecycle`, in the same call that acts.
//! * No token, no secret of a log's address and no value of a variable gets into a log of the daemon.
//!
//! Failure modes: a store that fails is 500 or 503 with its reason in the daemon's log alone; a panic in a
//! handler is 500 and ends nothing else; a stream that breaks is gone on with by `Last-Event-ID`.

mod document;
mod extensions;
mod jsonapi;
mod log;
mod org_queue;
mod redact;
mod routes;
mod serve;
mod state;

use axum::Router;

use crate::jsonapi::ApiError;
pub use crate::jsonapi::LogKeyError;
pub use crate::serve::serve;
pub use crate::state::ApiState;

/// Every endpoint.
pub fn router(state: ApiState) -> Router {
    let router = Router::new()
        .merge(routes::router())
        .merge(extensions::router())
        .fallback(async || ApiError::no_such_endpoint())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .with_state(state);
    jsonapi::layered(router)
}
