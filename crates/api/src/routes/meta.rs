//! Discovery, ping and "who am I" (tfe-api.md 5.1).

use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use crate::ApiState;
use crate::document::user;
use crate::jsonapi::{Document, User};

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/.well-known/terraform.json", get(discovery))
        .route("/healthz", get(async || "ok"))
        .route("/api/v2/ping", get(async || StatusCode::NO_CONTENT))
        .route("/api/v2/account/details", get(account))
}

/// Without `modules.v1` some clients refuse to start; there are no modules there.
async fn discovery() -> Json<Value> {
    Json(json!({
        "tfe.v2": "/api/v2/",
        "tfe.v2.1": "/api/v2/",
        "tfe.v2.2": "/api/v2/",
        "state.v2": "/api/v2/",
        "modules.v1": "/api/registry/v1/modules/",
    }))
}

async fn account(user: User) -> Document {
    Document::one(user::account(&user.name))
}
