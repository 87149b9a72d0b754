//! Plans and applies (tfe-api.md 5.6).

use axum::Json;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lifecycle::access::Action;
use lifecycle::id::{ApplyId, Kind, PlanId, RunId};
use lifecycle::wire;
use store::{Digest, Run};

use super::{Reader, files};
use crate::ApiState;
use crate::jsonapi::{ApiError, Document, Id, RawJson, Result};
use crate::redact::redacted;

pub(super) fn router() -> Router<ApiState> {
    Router::new()
        .route("/api/v2/plans/{plan}", get(plan))
        .route("/api/v2/plans/{plan}/json-output", get(json_output))
        .route("/api/v2/plans/{plan}/json-output-redacted", get(json_output_redacted))
        .route("/api/v2/runs/{run}/plan/json-output", get(json_output_of_run))
        .route("/api/v2/applies/{apply}", get(apply))
}

async fn plan(reader: Reader, Id(plan): Id<PlanId>) -> Result<Document> {
    let (run, _) = reader.run(plan).await?;
    Ok(Document::one(reader.plan_resource(&run)))
}

async fn apply(reader: Reader, Id(apply): Id<ApplyId>) -> Result<Document> {
    let (run, _) = reader.run(apply).await?;
    Ok(Document::one(reader.apply_resource(&run).await?))
}

async fn json_output(reader: Reader, Id(plan): Id<PlanId>) -> Result<Response> {
    raw(&reader, plan).await
}

async fn json_output_of_run(reader: Reader, Id(run): Id<RunId>) -> Result<Response> {
    raw(&reader, run).await
}

/// With everything in it in the clear: for admins.
async fn raw<K: Kind>(reader: &Reader, id: lifecycle::id::Id<K>) -> Result<Response> {
    let (run, _) = reader.run_for(id, Action::ReadPlanJson).await?;
    match plan_json(&run)? {
        Some(digest) => Ok(files::blob(&reader.api, digest, "application/json").await?.into_response()),
        None => Ok(StatusCode::NO_CONTENT.into_response()),
    }
}

/// Without what is sensitive: for everybody who may see the run.
async fn json_output_redacted(reader: Reader, Id(plan): Id<PlanId>) -> Result<Response> {
    let (run, _) = reader.run(plan).await?;
    let Some(digest) = plan_json(&run)? else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let bytes = reader.api.store().blobs().read(digest).await?;
    let plan = files::parsed(move || RawJson::read(&bytes).map(|plan| redacted(&plan))).await?;
    Ok(Json(plan).into_response())
}

/// Where the plan's JSON is; `None` while it may still come.
fn plan_json(run: &Run) -> Result<Option<Digest>> {
    match run.plan.as_ref().and_then(|plan| plan.plan_json) {
        Some(digest) => Ok(Some(digest)),
        None if matches!(wire::plan_status(run.state), "pending" | "queued" | "running") => Ok(None),
        None => Err(ApiError::not_found(format_args!("JSON output of the plan of {}", run.id))),
    }
}
