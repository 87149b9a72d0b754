//! Removing what is not kept any more, now and then: runs and states by the retention of their workspaces, then what nothing
//! refers to (docs/years.md).

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use lifecycle::id::RunId;
use store::{Error, Expired, Swept};

use crate::RunDir;
use crate::context::Context;

/// What a directory of a run without a record has to be older than: a record may be about to come.
const ORPHAN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Removed {
    /// Runs, with their logs, plans and configurations.
    pub runs: usize,
    /// State versions.
    pub states: usize,
    /// Files with contents that nothing refers to any more.
    pub blobs: Swept,
}

/// Removes it, a part at a time, so that others get their turn in between. One that goes on already is not joined: `None`.
///
/// # Errors
/// Of the store. What was removed by then is.
pub(crate) async fn sweep(context: Arc<Context>) -> Result<Option<Removed>, Error> {
    let Ok(_alone) = context.sweeping.try_lock() else { return Ok(None) };
    // somebody copies what is there: it may be among what would go
    let Some(_unwatched) = store::SweepLock::try_alone(&context.data_dir)? else { return Ok(None) };
    let mut removed = Removed::default();
    for workspace in context.store.workspaces().await? {
        loop {
            let config = context.config();
            let of_workspace = config.workspaces.get(&workspace.name).map(|workspace| workspace.retention);
            let retention = of_workspace.unwrap_or(config.server.retention);
            let Expired { runs, states, more } =
                context.store.expire(workspace.id, retention, context.now()).await?;
            removed.runs += runs.len();
            removed.states += states;
            remove_directories(&context, runs).await;
            if !more {
                break;
            }
        }
    }
    remove_orphans(&context).await;
    removed.blobs = context.store.sweep_blobs(SystemTime::now()).await?;
    if removed != Removed::default() {
        tracing::info!(
            runs = removed.runs,
            states = removed.states,
            files = removed.blobs.files,
            freed = %text::bytes(removed.blobs.bytes),
            "what is not kept any more was removed"
        );
    }
    Ok(Some(removed))
}

async fn remove_directories(context: &Context, runs: Vec<RunId>) {
    if runs.is_empty() {
        return;
    }
    let data_dir = context.data_dir.clone();
    let remove = move || {
        for run in runs {
            let run_dir = RunDir::new(&data_dir, run);
            match std::fs::remove_dir_all(run_dir.root()) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    // one without a record is found again
                    tracing::warn!(%run, %error, "the directory of a run that is not kept any more can't be removed");
                }
                _ => {}
            }
        }
    };
    if let Err(error) = tokio::task::spawn_blocking(remove).await {
        tracing::error!(%error, "directories of runs could not be removed");
    }
}

/// A daemon that died in between left directories whose runs have no record any more.
async fn remove_orphans(context: &Context) {
    let runs = context.data_dir.join("runs");
    let listed = move || -> Vec<RunId> {
        let old = |entry: &std::fs::DirEntry| {
            let modified = entry.metadata().and_then(|metadata| metadata.modified());
            modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= ORPHAN_AGE))
        };
        let entries = std::fs::read_dir(runs).into_iter().flatten().flatten().filter(old);
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    };
    let Ok(old) = tokio::task::spawn_blocking(listed).await else { return };
    let mut orphans = Vec::new();
    for run in old {
        if matches!(context.store.run(run).await, Err(Error::NotFound(_))) {
            orphans.push(run);
        }
    }
    remove_directories(context, orphans).await;
}
