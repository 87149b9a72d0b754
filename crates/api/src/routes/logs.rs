//! Logs without a token: the secret is in the path (tfe-api.md 4.10).

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::RunId;

use crate::document::stage;
use crate::jsonapi::{ApiError, Names, Query, Result, Secret};
use crate::{ApiState, log};

pub(super) fn router() -> Router<ApiState> {
    Router::new().route("/logs/{run}/{stage}/{secret}", get(read))
}

async fn read(
    State(api): State<ApiState>,
    Names((run, stage, secret)): Names<(String, String, String)>,
    query: Query,
) -> Result<impl IntoResponse> {
    let not_found = || ApiError::not_found("log");
    let run: RunId = run.parse().map_err(|_| not_found())?;
    let stage = stage_of(&stage).ok_or_else(not_found)?;
    match api.log_key().check(run, stage, &secret, Timestamp::now()) {
        Secret::Good => {}
        Secret::Expired => return Err(ApiError::expired()),
        Secret::Wrong => return Err(not_found()),
    }
    let offset = query.number("offset")?.unwrap_or(0);
    let limit = query.number::<u64>("limit")?.map(|limit| limit.min(log::MAX_LIMIT));
    // the record before the file: when it says that the stage is over, the file is complete
    let run = api.store().run(run).await?;
    let policies = stage == Stage::PolicyCheck && policies(&api, &run).await?;
    let over = stage::is_over(&run, stage, policies);
    let file = api.engine().open_log(&run, stage).await?;
    let length = file.as_ref().map_or(Ok(0), |log| log.len(over))?;
    let part = log::Framed::new(length, over).part(offset, limit);
    let headers: [(HeaderName, HeaderValue); 3] = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CONTENT_LENGTH, part.len().into()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Ok((headers, log::body(file, part).await?))
}

/// A stage that has a log, by its name in paths.
pub(crate) fn stage_of(name: &str) -> Option<Stage> {
    Stage::EXECUTED.into_iter().find(|stage| stage.as_str() == name)
}

async fn policies(api: &ApiState, run: &store::Run) -> Result<bool> {
    let workspace = api.store().workspace(run.workspace).await?;
    Ok(api.engine().config().policy_sets_of(&workspace.name).next().is_some())
}
