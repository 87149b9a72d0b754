//! Cleaning up after runs that are over, now and again for what could not be removed at once.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lifecycle::Stage;
use lifecycle::id::RunId;

use crate::RunDir;
use crate::context::Context;

/// The runs after which something is left that could not be removed, with the stages whose logs are blobs. Memory only:
/// the next start finds them again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unclean(Arc<Mutex<BTreeMap<RunId, BTreeSet<Stage>>>>);

impl Unclean {
    /// A panic leaves nothing half done in it.
    fn runs(&self) -> MutexGuard<'_, BTreeMap<RunId, BTreeSet<Stage>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is something to try again.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs().is_empty()
    }
}

/// Removes what must not outlive the run. What can't be removed keeps nothing else from it, is told once, and is tried
/// again now and then: a run that is over waits for nothing.
pub(crate) async fn clean_up(unclean: &Unclean, run_dir: RunDir, run: RunId, logs: BTreeSet<Stage>) {
    match run_dir.clean_up_in_background(logs.clone()).await {
        Ok(()) => {
            unclean.runs().remove(&run);
        }
        Err(error) => {
            if unclean.runs().insert(run, logs).is_none() {
                tracing::warn!(%run, %error, "can't remove all that the run left behind; trying again now and then");
            }
        }
    }
}

/// Tries again what could not be removed.
pub(crate) async fn clean_up_again(context: Arc<Context>) {
    let unclean = context.unclean.runs().clone();
    for (run, logs) in unclean {
        context.clean_up(run, logs).await;
    }
}

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
        context.clean_up(id, logs).await;
    }
}
