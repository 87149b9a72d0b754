use std::collections::HashMap;

use jiff::SignedDuration;
use lifecycle::id::{RunId, StateVersionId, WorkspaceId};
use lifecycle::queue;

use super::{Change, Records, Store};
use crate::record::{Lock, NewStateVersion, Page, PageRequest, StateUpload, StateVersion};
use crate::state_file::{Succession, announced_succession, forced_succession, succession};
use crate::writer::Tx;
use crate::{AddStateError, Digest, Error, LockError, PushStateError, StateConflict, StateMeta, sql};

impl Store {
    /// Makes a state the workspace's current one, if it continues the current one. The state that is
    /// current already (same serial, same content) is returned as it is, so that taking a state back
    /// twice does no harm.
    ///
    /// # Errors
    /// [`AddStateError::Conflict`] for an older serial, another lineage, or another content with the same
    /// serial; [`Error::NotFound`] for its workspace or run; [`Error::Refused`] for a run of another
    /// workspace; [`Error`] of the database.
    pub async fn add_state_version(&self, new: NewStateVersion) -> Result<StateVersion, AddStateError> {
        self.write(move |tx| {
            Box::pin(async move {
                sql::workspaces::by_id(tx.sql(), new.workspace).await?;
                if let Some(run) = new.run
                    && sql::runs::by_id(tx.sql(), run).await?.workspace != new.workspace
                {
                    return Err(Error::Refused(format!("{run} belongs to another workspace")).into());
                }
                add(tx, &new, succession).await
            })
        })
        .await
    }

    /// Makes a state that a person brings the workspace's current one. The workspace has to be locked by them, or by
    /// the daemon itself ([`Lock::DAEMON`]), and no run may hold it. `force` takes one of another lineage, or another
    /// with the same serial.
    ///
    /// # Errors
    /// [`PushStateError`]: nothing was changed.
    pub async fn push_state_version(
        &self,
        new: NewStateVersion,
        force: bool,
    ) -> Result<StateVersion, PushStateError> {
        self.write(move |tx| Box::pin(async move { push(tx, &new, force).await })).await
    }

    /// Announces a state whose bytes come later. What would be refused then, as far as it is known, is refused now.
    ///
    /// # Errors
    /// [`PushStateError`]: nothing was changed.
    pub async fn announce_state(&self, upload: StateUpload) -> Result<(), PushStateError> {
        self.write(move |tx| {
            Box::pin(async move {
                may_be_pushed(tx, upload.workspace, &upload.created_by).await?;
                if let Some(current) = sql::states::current(tx.sql(), upload.workspace).await? {
                    let lineage = upload.lineage.as_deref();
                    announced_succession(&current.meta, lineage, upload.serial, upload.force)?;
                }
                sql::state_uploads::remove_before(tx.sql(), upload.created_at - ANNOUNCED_FOR).await?;
                sql::state_uploads::insert(tx.sql(), &upload).await?;
                Ok(())
            })
        })
        .await
    }

    /// Makes a state that was announced the current one, now that its bytes are there.
    ///
    /// # Errors
    /// [`Error::NotFound`] if it was not announced, or has come already; otherwise [`PushStateError`], and it is announced
    /// still.
    pub async fn finish_state(&self, mut new: NewStateVersion) -> Result<StateVersion, PushStateError> {
        self.write(move |tx| {
            Box::pin(async move {
                let upload = sql::state_uploads::by_id(tx.sql(), new.id).await?;
                new.json = upload.json;
                let version = push(tx, &new, upload.force).await?;
                sql::state_uploads::remove(tx.sql(), new.id).await?;
                Ok(version)
            })
        })
        .await
    }

    /// Remembers where the JSON of a state is that was announced, or has come already.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn set_state_json(&self, id: StateVersionId, json: Digest) -> Result<(), Error> {
        self.write(move |tx| Box::pin(async move { sql::state_uploads::set_json(tx.sql(), id, json).await }))
            .await
    }
}

/// How long the bytes of a state may be waited for.
const ANNOUNCED_FOR: SignedDuration = SignedDuration::from_hours(25);

/// Whether this user may bring a state there now.
async fn may_be_pushed(tx: &mut Tx, workspace: WorkspaceId, by: &str) -> Result<(), PushStateError> {
    let holder = queue::holder(&sql::runs::queue(tx.sql(), workspace).await?);
    match sql::workspaces::by_id(tx.sql(), workspace).await?.lock {
        // who is told that it is not locked tries to lock it
        None => return Err(holder.map_or(LockError::NotLocked, LockError::HeldByRun).into()),
        Some(held) if held.by != by && held.by != Lock::DAEMON => {
            return Err(LockError::LockedByAnother(held).into());
        }
        Some(_) => {}
    }
    match holder {
        Some(run) => Err(LockError::HeldByRun(run).into()),
        None => Ok(()),
    }
}

async fn push(tx: &mut Tx, new: &NewStateVersion, force: bool) -> Result<StateVersion, PushStateError> {
    may_be_pushed(tx, new.workspace, &new.created_by).await?;
    add(tx, new, if force { forced_succession } else { succession }).await
}

impl Records {
    /// The workspace's current state, if it has one.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn current_state(&self, workspace: WorkspaceId) -> Result<Option<StateVersion>, Error> {
        sql::states::current(&mut *self.reader().await?, workspace).await
    }

    /// The newest of the workspace's state versions that has this content, if one has.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn state_version_with(
        &self,
        workspace: WorkspaceId,
        content: Digest,
    ) -> Result<Option<StateVersion>, Error> {
        sql::states::with_content(&mut *self.reader().await?, workspace, content).await
    }

    /// A state that was announced, and has not come yet.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn state_upload(&self, id: StateVersionId) -> Result<StateUpload, Error> {
        sql::state_uploads::by_id(&mut *self.reader().await?, id).await
    }

    /// The state version with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn state_version(&self, id: StateVersionId) -> Result<StateVersion, Error> {
        sql::states::by_id(&mut *self.reader().await?, id).await
    }

    /// The workspace's state versions, newest first.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn state_versions(
        &self,
        workspace: WorkspaceId,
        page: PageRequest,
    ) -> Result<Page<StateVersion>, Error> {
        sql::states::page(&mut *self.snapshot().await?, workspace, page).await
    }

    /// The ids of the state versions that each of these runs made, oldest first.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn state_version_ids(
        &self,
        runs: &[RunId],
    ) -> Result<HashMap<RunId, Vec<StateVersionId>>, Error> {
        sql::states::ids_of_runs(&mut *self.reader().await?, runs).await
    }

    /// The state versions with these ids.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn state_versions_with(
        &self,
        ids: &[StateVersionId],
    ) -> Result<HashMap<StateVersionId, StateVersion>, Error> {
        let versions = sql::states::by_ids(&mut *self.reader().await?, ids).await?;
        Ok(versions.into_iter().map(|version| (version.id, version)).collect())
    }
}

type Rule = fn((&StateMeta, Digest), (&StateMeta, Digest)) -> Result<Succession, StateConflict>;

async fn add<E: From<Error> + From<StateConflict>>(
    tx: &mut Tx,
    new: &NewStateVersion,
    rule: Rule,
) -> Result<StateVersion, E> {
    if let Some(current) = sql::states::current(tx.sql(), new.workspace).await? {
        match rule((&current.meta, current.digest), (&new.meta, new.digest))? {
            Succession::Same => return Ok(current),
            Succession::Next => {}
        }
    }
    sql::states::insert(tx.sql(), new).await?;
    tx.changed(Change::Workspace { id: new.workspace });
    Ok(sql::states::by_id(tx.sql(), new.id).await?)
}
