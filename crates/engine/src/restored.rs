//! What a backup that was brought back does not know: what became of the runs that were under way when it was taken.

use jiff::Timestamp;
use lifecycle::id::RunId;
use lifecycle::{Event, Stage, WorkspaceRights};
use store::{Actor, Error, Lock, RecordError, RunEvent, RunUpdate, Store};

/// Ends every run that was not over when the backup was taken, since none of them may be executed a second time, and takes the
/// workspaces out of service in which an apply was going on. Gives the runs.
///
/// # Errors
/// Of the store. Calling it again goes on.
pub async fn end_what_was_under_way(
    store: &Store,
    taken_at: Timestamp,
    now: Timestamp,
) -> Result<Vec<RunId>, Error> {
    let mut ended = Vec::new();
    for run in store.non_final_runs().await? {
        if run.state.stage() == Stage::Apply {
            let reason = format!(
                "restored from a backup of {}, when {} was applying: look whether the state knows what it made, bring the \
                 right one with signalbox state push, then unlock the workspace",
                taken_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
                run.id
            );
            let lock = Lock { by: Lock::DAEMON.to_owned(), reason, at: now };
            store.lock_out(run.workspace, lock).await?;
        }
        let words = format!(
            "restored from a backup of {}: what became of this run since then is not known",
            taken_at.strftime("%Y-%m-%d %H:%M:%S UTC")
        );
        let event = RunEvent {
            run: run.id,
            event: Event::Cancel,
            creator: WorkspaceRights::NONE,
            by: Actor::User(Lock::DAEMON.to_owned()),
            why: Some(words.clone()),
            at: now,
            update: RunUpdate { error: Some(words), force_cancel_from: Some(now), ..RunUpdate::default() },
        };
        match store.record(event).await {
            // one that is cancelled already ends by itself
            Ok(_) | Err(RecordError::Illegal(_)) => ended.push(run.id),
            Err(RecordError::Store(error)) => return Err(error),
            Err(error @ RecordError::NotItsTurn(_)) => return Err(Error::Refused(error.to_string())),
        }
    }
    Ok(ended)
}
