use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use lifecycle::id::{RunEventId, RunId, WorkspaceId};
use lifecycle::{Rule, State, queue};

use super::{Change, Records, Store};
use crate::record::{
    Actor, JournalEntry, NewRun, Page, PageRequest, Run, RunEvent, RunFilter, Slice, Waiting,
};
use crate::{Error, RecordError, sql, transition};

impl Store {
    /// Queues a run: it gets its place in the queue and the first row of its journal.
    ///
    /// # Errors
    /// [`Error::NotFound`] and [`Error::WorkspaceRemoved`] for its workspace; [`Error::Refused`] for a
    /// configuration version that is another workspace's; [`Error::Exists`] for an id that was used;
    /// [`Error`] of the database.
    pub async fn create_run(&self, new: NewRun) -> Result<Run, Error> {
        self.write(move |tx| {
            Box::pin(async move {
                let workspace = sql::workspaces::by_id(tx.sql(), new.workspace).await?;
                if workspace.removed_at.is_some() {
                    return Err(Error::WorkspaceRemoved(workspace.name));
                }
                if let Some(configuration) = new.configuration_version
                    && sql::configurations::by_id(tx.sql(), configuration).await?.workspace != workspace.id
                {
                    return Err(Error::Refused(format!("{configuration} belongs to another workspace")));
                }
                let run = sql::runs::insert(tx.sql(), &transition::queued(new)).await?;
                let by = Actor::User(run.created_by.clone());
                sql::journal::insert(tx.sql(), &run, by, None, None, None).await?;
                sql::workspaces::set_current_run(tx.sql(), run.workspace).await?;
                tx.changed(Change::Run { workspace: run.workspace, run: run.id });
                Ok(run)
            })
        })
        .await
    }

    /// Records what happened to a run: [`lifecycle::step`](fn@lifecycle::step) says what it makes of the state, inside of
    /// the write, so that no decision is older than what it decides about. Record, timestamps and journal change together.
    ///
    /// A start (T1) is also held against the queue and the workspace's lock.
    ///
    /// # Errors
    /// [`RecordError`]: nothing was changed.
    pub async fn record(&self, happened: RunEvent) -> Result<Run, RecordError> {
        self.write(move |tx| {
            Box::pin(async move {
                let run = sql::runs::by_id(tx.sql(), happened.run).await?;
                let from = run.state;
                let (run, rule) = transition::after(run, &happened)?;
                if rule == Rule::T1 {
                    let entries = sql::runs::queue(tx.sql(), run.workspace).await?;
                    let locked = sql::workspaces::by_id(tx.sql(), run.workspace).await?.lock.is_some();
                    if !queue::startable(&entries, locked).contains(&run.id) {
                        return Err(RecordError::NotItsTurn(run.id));
                    }
                }
                sql::runs::update(tx.sql(), &run).await?;
                // the others change nothing about which run its workspace shows
                if rule == Rule::T1 || run.state.is_final() {
                    sql::workspaces::set_current_run(tx.sql(), run.workspace).await?;
                }
                let RunEvent { by, why, .. } = happened;
                sql::journal::insert(tx.sql(), &run, by, Some(from), Some(rule), why).await?;
                tx.changed(Change::Run { workspace: run.workspace, run: run.id });
                Ok(run)
            })
        })
        .await
    }

    /// Makes the record of a run readable, by giving up what of it is not ([`Run::damaged`]). One that can be read, or is
    /// over, stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn mend_run(&self, run: RunId, now: Timestamp) -> Result<(), Error> {
        self.write(move |tx| {
            Box::pin(async move {
                let workspace = sql::mend::workspace_of(tx.sql(), run).await?;
                sql::mend::mend(tx.sql(), run, now).await?;
                tx.changed(Change::Run { workspace, run });
                Ok(())
            })
        })
        .await
    }
}

impl Records {
    /// The run with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn run(&self, id: RunId) -> Result<Run, Error> {
        sql::runs::by_id(&mut *self.reader().await?, id).await
    }

    /// The runs that pass the filter, newest first.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn runs(&self, filter: &RunFilter, page: PageRequest) -> Result<Page<Run>, Error> {
        sql::runs::page(&mut *self.snapshot().await?, filter, page).await
    }

    /// The same without a count, which would take the longer the more runs there ever were.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn newest_runs(&self, filter: &RunFilter, page: PageRequest) -> Result<Slice<Run>, Error> {
        sql::runs::slice(&mut *self.snapshot().await?, filter, page).await
    }

    /// The workspace's runs that are not over, in the order in which they were queued.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn queue(&self, workspace: WorkspaceId) -> Result<Vec<queue::Entry>, Error> {
        sql::runs::queue(&mut *self.reader().await?, workspace).await
    }

    /// Where a run lies, whatever else of it can be read.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn workspace_of_run(&self, run: RunId) -> Result<WorkspaceId, Error> {
        sql::mend::workspace_of(&mut *self.reader().await?, run).await
    }

    /// The runs of all workspaces that are not over, in the order in which they were queued; but for those that can't be
    /// read.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn non_final_runs(&self) -> Result<Vec<Run>, Error> {
        sql::runs::non_final(&mut *self.reader().await?).await
    }

    /// The workspaces that have a run which is not over. Reads no run, so that one that is damaged hides no other.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn busy_workspaces(&self) -> Result<Vec<WorkspaceId>, Error> {
        sql::runs::busy_workspaces(&mut *self.reader().await?).await
    }

    /// The run that each of these workspaces shows, if it has any: the one that holds it, or else the newest final one, or
    /// else the first that waits. Plan-only runs never are.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn current_runs(&self, workspaces: &[WorkspaceId]) -> Result<HashMap<WorkspaceId, Run>, Error> {
        let runs = sql::runs::current_of(&mut *self.reader().await?, workspaces).await?;
        Ok(runs.into_iter().map(|run| (run.workspace, run)).collect())
    }

    /// What the queue of the organization is made of, all seen at the same moment: the runs that are not over, in the
    /// order in which they were queued, and the workspaces that somebody locked.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn waiting(&self) -> Result<(Vec<Waiting>, HashSet<WorkspaceId>), Error> {
        let mut snapshot = self.snapshot().await?;
        let waiting = sql::runs::waiting(&mut snapshot).await?;
        Ok((waiting, sql::workspaces::locked(&mut snapshot).await?.into_iter().collect()))
    }

    /// The runs with these ids that are there.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn runs_with(&self, ids: &[RunId]) -> Result<HashMap<RunId, Run>, Error> {
        let runs = sql::runs::by_ids(&mut *self.reader().await?, ids).await?;
        Ok(runs.into_iter().map(|run| (run.id, run)).collect())
    }

    /// How many runs are in which state; states without runs are left out.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn counts(&self) -> Result<HashMap<State, u64>, Error> {
        sql::runs::counts(&mut *self.reader().await?).await
    }

    /// Everything that happened to a run, oldest first; empty for a run that is not there.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn journal(&self, run: RunId) -> Result<Vec<JournalEntry>, Error> {
        sql::journal::of_run(&mut *self.reader().await?, run).await
    }

    /// The entry with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn journal_entry(&self, id: RunEventId) -> Result<JournalEntry, Error> {
        sql::journal::by_id(&mut *self.reader().await?, id).await
    }

    /// What happened to any run after the entry with this [`JournalEntry::seq`] (0: from the beginning),
    /// oldest first: with this a reader of [`Records::changes`] that fell behind, or comes back, misses
    /// nothing.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn journal_after(&self, seq: i64, limit: u32) -> Result<Vec<JournalEntry>, Error> {
        sql::journal::after(&mut *self.reader().await?, seq, limit).await
    }

    /// The ids of the journal entries of each of these runs, oldest first.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn journal_ids(&self, runs: &[RunId]) -> Result<HashMap<RunId, Vec<RunEventId>>, Error> {
        sql::journal::ids_of_runs(&mut *self.reader().await?, runs).await
    }
}
