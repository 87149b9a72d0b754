use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};
use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::retention::Retention;

use super::{Change, Records, Store};
use crate::blobs::Swept;
use crate::sql::retention::In;
use crate::{Error, sql};

/// The most that one write removes: others wait for it.
const AT_ONCE: usize = 200;

/// What was removed of a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expired {
    /// Runs, whose directories are still there.
    pub runs: Vec<RunId>,
    /// State versions.
    pub states: usize,
    /// There is more that may go.
    pub more: bool,
}

impl Store {
    /// Removes a part of what is not kept of a workspace: the oldest runs and state versions. Nothing that goes on or that the
    /// current state needs is among them. Their blobs go with the next [`sweep_blobs`](Self::sweep_blobs).
    ///
    /// # Errors
    /// [`Error`] of the database: nothing was removed.
    pub async fn expire(
        &self,
        workspace: WorkspaceId,
        retention: Retention,
        now: Timestamp,
    ) -> Result<Expired, Error> {
        if !self.has_expired(workspace, retention, now).await? {
            return Ok(Expired::default());
        }
        self.write(move |tx| {
            Box::pin(async move {
                // asked for again in the write: since then a run may have begun that needs one of them
                let mut runs = sql::retention::expired_runs(tx.sql(), workspace, retention.runs, now).await?;
                let mut states =
                    sql::retention::expired_states(tx.sql(), workspace, retention.states, now).await?;
                let more = runs.len() > AT_ONCE || states.len() > AT_ONCE;
                // the oldest first
                runs.reverse();
                states.reverse();
                runs.truncate(AT_ONCE);
                states.truncate(AT_ONCE);
                if !runs.is_empty() {
                    sql::retention::remove_runs(tx.sql(), workspace, &runs).await?;
                }
                if !states.is_empty() {
                    sql::retention::remove_states(tx.sql(), &states).await?;
                }
                if let Some(before) = oldest(retention, now) {
                    sql::retention::remove_unused_configurations(tx.sql(), workspace, before).await?;
                }
                if !runs.is_empty() || !states.is_empty() {
                    tx.changed(Change::Workspace { id: workspace });
                }
                Ok(Expired { states: states.len(), runs, more })
            })
        })
        .await
    }

    /// Removes blobs that no record refers to, and that were put more than a day ago.
    ///
    /// # Errors
    /// [`Error`] of the database or of the directory of the blobs.
    pub async fn sweep_blobs(&self, now: SystemTime) -> Result<Swept, Error> {
        let referred_to = sql::retention::referred_to(&mut *self.snapshot().await?, In::Everything).await?;
        let blobs = self.blobs.clone();
        crate::blocking(move || blobs.sweep(&referred_to, now)).await
    }
}

impl Records {
    /// Whether anything may go. A write for nothing would be one for each of ten thousand workspaces.
    async fn has_expired(
        &self,
        workspace: WorkspaceId,
        retention: Retention,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let mut db = self.snapshot().await?;
        let unused = match oldest(retention, now) {
            Some(before) => sql::retention::has_unused_configurations(&mut db, workspace, before).await?,
            None => false,
        };
        Ok(unused
            || !sql::retention::expired_runs(&mut db, workspace, retention.runs, now).await?.is_empty()
            || !sql::retention::expired_states(&mut db, workspace, retention.states, now).await?.is_empty())
    }
}

/// What came before goes, if age counts.
fn oldest(retention: Retention, now: Timestamp) -> Option<Timestamp> {
    let age = SignedDuration::from_hours(24 * i64::from(retention.runs.days?));
    Some(now.checked_sub(age).unwrap_or(Timestamp::MIN))
}
