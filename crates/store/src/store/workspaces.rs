use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;
use lifecycle::id::WorkspaceId;
use lifecycle::{AccessLevel, queue};

use super::{Change, Records, Store};
use crate::record::{
    Lock, NewWorkspace, Origin, Page, PageRequest, Settings, StateKeeper, Workspace, WorkspaceFilter,
    WorkspaceOrder,
};
use crate::sync::{self, Step};
use crate::{Error, LockError, sql};

/// What a [`Store::sync_workspaces`] did that people should know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Synced {
    /// Names of workspaces that are in the config file no more.
    pub removed: Vec<String>,
    /// Names in the config file that workspaces of another origin have.
    pub foreign: Vec<String>,
}

impl Store {
    /// Makes a workspace that is not the config file's.
    ///
    /// # Errors
    /// [`Error::Exists`] for a name that is taken; [`Error`] of the database.
    pub async fn create_workspace(&self, new: NewWorkspace) -> Result<Workspace, Error> {
        self.write(move |tx| {
            Box::pin(async move {
                sql::workspaces::insert(tx.sql(), &new, Origin::Api).await?;
                tx.changed(Change::Workspace { id: new.id });
                sql::workspaces::by_id(tx.sql(), new.id).await
            })
        })
        .await
    }

    /// Makes the workspaces of the config file what the file says: their names, and what each team may do there. One that
    /// was never seen is made; one that is in the file no more is removed, and its runs go on to their end; one that comes
    /// back is the one it was. Workspaces of another origin are left alone.
    ///
    /// # Errors
    /// [`Error`] of the database: nothing was changed.
    pub async fn sync_workspaces(
        &self,
        configured: BTreeMap<String, BTreeMap<String, AccessLevel>>,
        now: Timestamp,
    ) -> Result<Synced, Error> {
        // most starts change nothing, and need not wait for the writer
        if sync::steps(&self.workspaces().await?, &configured).is_empty() {
            return Ok(Synced::default());
        }
        self.write(move |tx| {
            Box::pin(async move {
                let mut synced = Synced::default();
                for step in sync::steps(&sql::workspaces::all(tx.sql()).await?, &configured) {
                    let id = match step {
                        Step::Insert { name, access } => {
                            let (id, settings) = (WorkspaceId::generate(), Settings::default());
                            let new = NewWorkspace { id, name, settings, access, created_at: now };
                            sql::workspaces::insert(tx.sql(), &new, Origin::ConfigFile).await?;
                            id
                        }
                        Step::Return { id } => {
                            sql::workspaces::set_removed(tx.sql(), id, None, now).await?;
                            id
                        }
                        Step::SetAccess { id, access } => {
                            sql::workspaces::set_access(tx.sql(), id, &access).await?;
                            id
                        }
                        Step::Remove { id, name } => {
                            sql::workspaces::set_removed(tx.sql(), id, Some(now), now).await?;
                            synced.removed.push(name);
                            id
                        }
                        Step::Foreign { name } => {
                            synced.foreign.push(name);
                            continue;
                        }
                    };
                    tx.changed(Change::Workspace { id });
                }
                Ok(synced)
            })
        })
        .await
    }

    /// The settings of a workspace that is not the config file's. Not among what [`Records`] shows: they hold secrets.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn workspace_settings(&self, id: WorkspaceId) -> Result<Option<Settings>, Error> {
        sql::workspaces::settings(&mut *self.reader().await?, id).await
    }

    /// The same of each of these workspaces that is not the config file's.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn settings_with(&self, ids: &[WorkspaceId]) -> Result<HashMap<WorkspaceId, Settings>, Error> {
        sql::workspaces::settings_with(&mut *self.reader().await?, ids).await
    }

    /// Locks the workspace. That nobody and no run holds it is checked in the same transaction.
    ///
    /// # Errors
    /// [`LockError::Locked`], [`LockError::HeldByRun`]; [`Error::NotFound`]; [`Error`] of the database.
    pub async fn lock_workspace(&self, id: WorkspaceId, lock: Lock) -> Result<Workspace, LockError> {
        self.write(move |tx| {
            Box::pin(async move {
                if let Some(held) = sql::workspaces::by_id(tx.sql(), id).await?.lock {
                    return Err(LockError::Locked(held));
                }
                if let Some(run) = queue::holder(&sql::runs::queue(tx.sql(), id).await?) {
                    return Err(LockError::HeldByRun(run));
                }
                sql::workspaces::set_lock(tx.sql(), id, Some(&lock), lock.at).await?;
                tx.changed(Change::Workspace { id });
                Ok(sql::workspaces::by_id(tx.sql(), id).await?)
            })
        })
        .await
    }

    /// Locks the workspace although a run holds it: nothing else starts in it when that run is over. One that is
    /// locked already stays as it is.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn lock_out(&self, id: WorkspaceId, lock: Lock) -> Result<(), Error> {
        self.write(move |tx| {
            Box::pin(async move {
                if sql::workspaces::by_id(tx.sql(), id).await?.lock.is_none() {
                    sql::workspaces::set_lock(tx.sql(), id, Some(&lock), lock.at).await?;
                    tx.changed(Change::Workspace { id });
                }
                Ok(())
            })
        })
        .await
    }

    /// Remembers who keeps the workspace's state.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn set_state_keeper(&self, id: WorkspaceId, keeper: StateKeeper) -> Result<(), Error> {
        self.write(move |tx| {
            Box::pin(async move {
                sql::workspaces::set_state_keeper(tx.sql(), id, &keeper).await?;
                tx.changed(Change::Workspace { id });
                Ok(())
            })
        })
        .await
    }

    /// Takes the user's own lock off.
    ///
    /// # Errors
    /// [`LockError::NotLocked`], [`LockError::LockedByAnother`], [`LockError::HeldByRun`];
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn unlock_workspace(
        &self,
        id: WorkspaceId,
        by: &str,
        now: Timestamp,
    ) -> Result<Workspace, LockError> {
        self.unlock(id, Some(by.to_owned()), now).await
    }

    /// Takes anybody's lock off.
    ///
    /// # Errors
    /// [`LockError::NotLocked`], [`LockError::HeldByRun`]; [`Error::NotFound`]; [`Error`] of the database.
    pub async fn force_unlock_workspace(
        &self,
        id: WorkspaceId,
        now: Timestamp,
    ) -> Result<Workspace, LockError> {
        self.unlock(id, None, now).await
    }

    async fn unlock(
        &self,
        id: WorkspaceId,
        by: Option<String>,
        now: Timestamp,
    ) -> Result<Workspace, LockError> {
        self.write(move |tx| {
            Box::pin(async move {
                match (sql::workspaces::by_id(tx.sql(), id).await?.lock, by) {
                    (Some(held), Some(by)) if held.by != by => return Err(LockError::LockedByAnother(held)),
                    (Some(_), _) => {}
                    (None, _) => {
                        let holder = queue::holder(&sql::runs::queue(tx.sql(), id).await?);
                        return Err(holder.map_or(LockError::NotLocked, LockError::HeldByRun));
                    }
                }
                sql::workspaces::set_lock(tx.sql(), id, None, now).await?;
                tx.changed(Change::Workspace { id });
                Ok(sql::workspaces::by_id(tx.sql(), id).await?)
            })
        })
        .await
    }
}

impl Records {
    /// All workspaces by name, with those that were removed.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn workspaces(&self) -> Result<Vec<Workspace>, Error> {
        sql::workspaces::all(&mut *self.reader().await?).await
    }

    /// The workspaces that are there and pass the filter.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn list_workspaces(
        &self,
        filter: &WorkspaceFilter,
        order: WorkspaceOrder,
        descending: bool,
        page: PageRequest,
    ) -> Result<Page<Workspace>, Error> {
        sql::workspaces::page(&mut *self.snapshot().await?, filter, order, descending, page).await
    }

    /// The workspaces with these ids.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn workspaces_with(
        &self,
        ids: &[WorkspaceId],
    ) -> Result<HashMap<WorkspaceId, Workspace>, Error> {
        let workspaces = sql::workspaces::by_ids(&mut *self.snapshot().await?, ids).await?;
        Ok(workspaces.into_iter().map(|workspace| (workspace.id, workspace)).collect())
    }

    /// The workspace with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn workspace(&self, id: WorkspaceId) -> Result<Workspace, Error> {
        sql::workspaces::by_id(&mut *self.reader().await?, id).await
    }

    /// The workspace of this name, if it was ever seen.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn workspace_by_name(&self, name: &str) -> Result<Option<Workspace>, Error> {
        sql::workspaces::by_name(&mut *self.reader().await?, name).await
    }
}
