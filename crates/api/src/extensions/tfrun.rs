//! The run as policies see it.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use lifecycle::access::Action;
use lifecycle::id::RunId;

use crate::jsonapi::{Id, Result};
use crate::routes::Reader;

/// The document behind `tfrun` and `input.run`, for those who may read the plan that it belongs to: it names
/// the variables.
pub(super) async fn show(reader: Reader, Id(run): Id<RunId>) -> Result<Response> {
    let (run, workspace) = reader.run_for(run, Action::ReadPlanJson).await?;
    Ok(Json(reader.api.engine().run_document(&run, &workspace).await?).into_response())
}
