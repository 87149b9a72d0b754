//! A run as it changes.

use tokio::time::timeout;
use wire::{One, RunAttributes};

use super::sse::{self, REREAD};
use crate::document::run::waits as is_queued;
use crate::jsonapi::Result;
use crate::operation::{Ask, EventStream, OnRun, Raw};
use crate::reader::Reader;

/// `run` events: `id` is the version of the record, `data` the run's document. The first is the run as it
/// is now, the last is final. While it is queued it is told again whenever it waits for something else.
pub(super) async fn stream(on: OnRun, ask: Ask) -> Result<Raw<EventStream<One<RunAttributes>>>> {
    let (id, include) = (on.run.id, ask.include);
    let Reader { api, user } = on.reader;
    let state = api.clone();
    Ok(sse::response(&api, |outlet| async move {
        let mut changes = state.store().changes();
        let mut sent: Option<(i64, Option<String>)> = None;
        loop {
            let user = user.now(&state).ok_or(sse::Broken)?;
            let reader = Reader { api: state.clone(), user };
            let (run, workspace) = reader.run(id).await?;
            let told = (run.version, reader.waits_for_what(&run, &workspace).await?);
            if sent.as_ref() != Some(&told) {
                let document = reader.run_document(&run, &workspace, &include).await?;
                outlet.send("run", Some(run.version.to_string()), &document).await?;
                sent = Some(told);
            }
            if run.state.is_final() {
                return Ok(());
            }
            // what a queued run waits for changes with the other runs of its workspace
            let place = if is_queued(run.state) { Some(run.workspace) } else { None };
            if let Ok(changed) = timeout(REREAD, sse::changed(&mut changes, id, place)).await {
                changed?;
            }
        }
    }))
}
