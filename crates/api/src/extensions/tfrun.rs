//! The run as policies see it.

use serde_json::Value;

use crate::jsonapi::Result;
use crate::operation::{Ask, OnRun, Plain};

/// The document behind `tfrun` and `input.run`, for those who may read the plan that it belongs to: it names
/// the variables.
pub(super) async fn show(on: OnRun, _: Ask) -> Result<Plain<Value>> {
    Ok(Plain(on.reader.api.engine().run_document(&on.run, &on.workspace).await?))
}
