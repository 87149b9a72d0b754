//! What a plan would do, for who decides about it.

use std::io::BufReader;

use ::review::Review;

use crate::jsonapi::{ApiError, Result};
use crate::operation::{Ask, OnRun, Plain};
use crate::routes::plan_json;

/// Of the plan in which what the workspace calls sensitive is masked. Nothing while there is no plan yet.
pub(super) async fn show(on: OnRun, _: Ask) -> Result<Option<Plain<Review>>> {
    let Some(digest) = plan_json::shown(&on.run)? else { return Ok(None) };
    let plan = on.reader.api.store().blobs().open(digest).await?;
    // as large as the plan is, and gone through once
    let read = tokio::task::spawn_blocking(move || Review::read(BufReader::new(plan.reader())));
    let broken = |error: &dyn std::error::Error| {
        tracing::error!(%error, run = %on.run.id, "the JSON of a plan can't be read");
        ApiError::internal()
    };
    let review = read.await.map_err(|error| broken(&error))?.map_err(|error| broken(&error))?;
    Ok(Some(Plain(review)))
}
