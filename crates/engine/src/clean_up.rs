//! Cleaning up after runs whose daemon died before it could.

use std::collections::BTreeSet;
use std::sync::Arc;

use lifecycle::id::RunId;

use crate::RunDir;
use crate::context::Context;

/// A daemon that died between a run's end and the cleaning up after it, or before a run was recorded whose files were there
/// already, left files with secrets behind.
pub(crate) async fn clean_up_after_final_runs(context: Arc<Context>) {
    let data_dir = context.data_dir.clone();
    let unclean = move || -> Vec<RunId> {
        let Ok(entries) = std::fs::read_dir(data_dir.join("runs")) else { return Vec::new() };
        let runs = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        runs.filter(|run| !RunDir::new(&data_dir, *run).is_clean()).collect()
    };
    let Ok(unclean) = tokio::task::spawn_blocking(unclean).await else { return };
    for id in unclean {
        let run_dir = RunDir::new(&context.data_dir, id);
        let logs = match context.store.run(id).await {
            Ok(run) if run.state.is_final() => run.logs.into_keys().collect(),
            // one that is about to be recorded has its files already: it is never older than the daemon
            Err(store::Error::NotFound(_)) if run_dir.is_older_than(context.store.claimed_at()) => {
                BTreeSet::new()
            }
            _ => continue,
        };
        if let Err(error) = run_dir.clean_up_in_background(logs).await {
            tracing::warn!(run = %id, %error, "can't clean up after the run");
        }
    }
}
