use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::id::WorkspaceId;
use lifecycle::{AccessLevel, queue};

use super::{Change, Records, Store};
use crate::record::{Lock, Workspace};
use crate::{Error, LockError, sql};

impl Store {
    /// The workspace of this name, made if it was never seen. One that was removed is back.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn ensure_workspace(&self, name: &str, now: Timestamp) -> Result<Workspace, Error> {
        let name = name.to_owned();
        self.write(move |tx| {
            Box::pin(async move {
                match sql::workspaces::by_name(tx.sql(), &name).await? {
                    None => {
                        let id = WorkspaceId::generate();
                        sql::workspaces::insert(tx.sql(), id, &name, now).await?;
                        tx.changed(Change::Workspace { id });
                    }
                    Some(Workspace { id, removed_at: Some(_), .. }) => {
                        sql::workspaces::set_removed(tx.sql(), id, None, now).await?;
                        tx.changed(Change::Workspace { id });
                    }
                    Some(there) => return Ok(there),
                }
                sql::workspaces::by_name(tx.sql(), &name).await?.ok_or_else(|| Error::not_found(&name))
            })
        })
        .await
    }

    /// Notes what each team may do in the workspace, as the config file says now.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn set_access(
        &self,
        id: WorkspaceId,
        access: BTreeMap<String, AccessLevel>,
    ) -> Result<Workspace, Error> {
        self.write(move |tx| {
            Box::pin(async move {
                sql::workspaces::set_access(tx.sql(), id, &access).await?;
                sql::workspaces::by_id(tx.sql(), id).await
            })
        })
        .await
    }

    /// Notes that the workspace is no longer in the config file. Its runs go on to their end.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn mark_removed(&self, id: WorkspaceId, now: Timestamp) -> Result<Workspace, Error> {
        self.write(move |tx| {
            Box::pin(async move {
                let workspace = sql::workspaces::by_id(tx.sql(), id).await?;
                if workspace.removed_at.is_some() {
                    return Ok(workspace);
                }
                sql::workspaces::set_removed(tx.sql(), id, Some(now), now).await?;
                tx.changed(Change::Workspace { id });
                sql::workspaces::by_id(tx.sql(), id).await
            })
        })
        .await
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
