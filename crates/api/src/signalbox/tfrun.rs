//! The run as policies see it.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use lifecycle::access::Action;
use lifecycle::id::RunId;

use crate::ApiState;
use crate::ground::{Id, Result, User};

/// The document behind `tfrun` and `input.run`, for those who may read the plan that it belongs to: it names
/// the variables.
pub(super) async fn show(State(api): State<ApiState>, user: User, Id(run): Id<RunId>) -> Result<Response> {
    let (run, workspace) = api.engine().run_for(&user.name, run, Action::ReadPlanJson).await?;
    Ok(Json(api.engine().run_document(&run, &workspace).await?).into_response())
}
