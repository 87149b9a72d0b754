//! What the dialect lacks, under `/api/signalbox/v1`: streams over SSE, and the run as policies see it.

mod changes;
mod log;
mod run;
mod sse;
mod tfrun;

use axum::Router;
use axum::routing::get;

use crate::ApiState;

pub(crate) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/signalbox/v1/runs/{run}/logs/{stage}/stream", get(log::stream))
        .route("/api/signalbox/v1/runs/{run}/events", get(run::stream))
        .route("/api/signalbox/v1/runs/{run}/tfrun", get(tfrun::show))
        .route("/api/signalbox/v1/events", get(changes::stream))
}
