//! A run as it changes.

use axum::extract::State;
use axum::response::Response;
use lifecycle::id::RunId;
use tokio::time::timeout;

use super::sse::{self, REREAD};
use crate::ApiState;
use crate::ground::{Id, Query, Result, User};
use crate::routes::{RUN_INCLUDES, Reader, run_document};

/// `run` events: `id` is the version of the record, `data` the run's document. The first is the run as it
/// is now, the last is final.
pub(super) async fn stream(
    State(api): State<ApiState>,
    user: User,
    Id(id): Id<RunId>,
    query: Query,
) -> Result<Response> {
    let include = query.include(&RUN_INCLUDES)?;
    // refused before it is a stream
    Reader { api: &api, user: &user }.run(id).await?;
    let state = api.clone();
    Ok(sse::response(&api, |outlet| async move {
        let mut changes = state.store().changes();
        let mut sent = None;
        loop {
            let user = user.now(&state).ok_or(sse::Broken)?;
            let reader = Reader { api: &state, user: &user };
            let (run, workspace) = reader.run(id).await?;
            if sent != Some(run.version) {
                let document = run_document(&reader, &run, &workspace, &include).await?;
                outlet.send("run", Some(run.version.to_string()), &document).await?;
                sent = Some(run.version);
            }
            if run.state.is_final() {
                return Ok(());
            }
            if let Ok(changed) = timeout(REREAD, sse::changed(&mut changes, id)).await {
                changed?;
            }
        }
    }))
}
