//! Where the JSON of a plan is.

use lifecycle::wire as status;
use store::{Digest, Run};

use crate::jsonapi::{ApiError, Result};

/// With everything in it in the clear; `None` while it may still come.
pub(crate) fn whole(run: &Run) -> Result<Option<Digest>> {
    match run.plan.as_ref().and_then(|plan| plan.plan_json) {
        Some(digest) => Ok(Some(digest)),
        None if matches!(status::plan_status(run.state), "pending" | "queued" | "running") => Ok(None),
        None => Err(ApiError::not_found(format_args!("JSON output of the plan of {}", run.id))),
    }
}

/// The one that documents are made of for everybody who may see the run: without what its workspace calls sensitive.
pub(crate) fn shown(run: &Run) -> Result<Option<Digest>> {
    let whole = whole(run)?;
    Ok(run.plan.as_ref().and_then(|plan| plan.masked_plan_json).or(whole))
}
