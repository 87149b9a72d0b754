//! What the dialect lacks: streams over SSE, under `/api/signalbox/v1`.

mod changes;
mod log;
mod run;
mod sse;

use axum::Router;
use axum::routing::get;

use crate::ApiState;

pub(crate) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/signalbox/v1/runs/{run}/logs/{stage}/stream", get(log::stream))
        .route("/api/signalbox/v1/runs/{run}/events", get(run::stream))
        .route("/api/signalbox/v1/events", get(changes::stream))
}
