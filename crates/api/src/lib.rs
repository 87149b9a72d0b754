//! The HTTP interface: the dialect of the Terraform Enterprise API v2 that terraform, go-tfe, pytfe and
//! their like speak, and streams of logs and events beside it.
//!
//! ```text
//! ground      documents, errors, bodies, queries, users: the same for every endpoint
//! document    records to resources: pure
//! routes      the dialect: who may, what is read, what is asked of the engine
//! signalbox   what the dialect lacks, under /api/signalbox/v1: SSE, the run as policies see it
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
mod ground;
mod log;
mod org_queue;
mod redact;
mod routes;
mod signalbox;
mod state;

use std::io;
use std::time::Duration;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::TcpListener;

use crate::ground::ApiError;
pub use crate::ground::LogKeyError;
pub use crate::state::ApiState;

/// How long requests that are under way may take after the shutdown has begun.
const DRAIN: Duration = Duration::from_secs(10);

/// Every endpoint.
pub fn router(state: ApiState) -> Router {
    let router = Router::new()
        .merge(routes::router())
        .merge(signalbox::router())
        .fallback(async || ApiError::no_such_endpoint())
        .method_not_allowed_fallback(async || ApiError::method_not_allowed())
        .with_state(state);
    ground::layered(router)
}

/// Serves until the state's shutdown is cancelled: then streams end, other requests get ten seconds, and
/// this returns.
///
/// # Errors
/// When the listener fails.
pub async fn serve(listener: TcpListener, state: ApiState) -> io::Result<()> {
    let shutdown = state.shutdown().clone();
    // small events are to leave at once
    let listener = listener.tap_io(|connection| {
        if let Err(error) = connection.set_nodelay(true) {
            tracing::debug!(%error, "a connection stays slow");
        }
    });
    let served =
        axum::serve(listener, router(state)).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    let drained = async {
        shutdown.cancelled().await;
        tokio::time::sleep(DRAIN).await;
    };
    tokio::select! {
        result = served => result,
        () = drained => {
            tracing::warn!("requests that did not end were cut off");
            Ok(())
        }
    }
}
