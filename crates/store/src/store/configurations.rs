use std::collections::HashMap;

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};

use super::{Change, Records, Store};
use crate::record::{
    ConfigurationResult, ConfigurationStatus, ConfigurationVersion, NewConfigurationVersion, Page,
    PageRequest,
};
use crate::writer::Tx;
use crate::{Error, sql};

impl Store {
    /// Announces a configuration whose content is still to come.
    ///
    /// # Errors
    /// [`Error::NotFound`] for its workspace; [`Error::Exists`] for an id that was used; [`Error`] of the
    /// database.
    pub async fn create_configuration_version(
        &self,
        new: NewConfigurationVersion,
    ) -> Result<ConfigurationVersion, Error> {
        self.write(move |tx| Box::pin(create(tx, new))).await
    }

    /// Says how taking its content ended, once. Saying the same again does no harm.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error::Refused`] when it ended otherwise before; [`Error`] of the database.
    pub async fn finish_configuration_version(
        &self,
        id: ConfigurationVersionId,
        result: ConfigurationResult,
        now: Timestamp,
    ) -> Result<ConfigurationVersion, Error> {
        self.write(move |tx| Box::pin(finish(tx, id, result, now))).await
    }

    /// Announces a configuration, unless that was done before, and says how taking its content ended, at once.
    ///
    /// # Errors
    /// As for [`Store::create_configuration_version`] and [`Store::finish_configuration_version`].
    pub async fn keep_configuration_version(
        &self,
        new: NewConfigurationVersion,
        result: ConfigurationResult,
        now: Timestamp,
    ) -> Result<ConfigurationVersion, Error> {
        self.write(move |tx| {
            Box::pin(async move {
                let id = new.id;
                match sql::configurations::by_id(tx.sql(), id).await {
                    Ok(_) => {}
                    Err(Error::NotFound(_)) => drop(create(tx, new).await?),
                    Err(error) => return Err(error),
                }
                finish(tx, id, result, now).await
            })
        })
        .await
    }
}

impl Records {
    /// The configuration version with this id.
    ///
    /// # Errors
    /// [`Error::NotFound`]; [`Error`] of the database.
    pub async fn configuration_version(
        &self,
        id: ConfigurationVersionId,
    ) -> Result<ConfigurationVersion, Error> {
        sql::configurations::by_id(&mut *self.reader().await?, id).await
    }

    /// The workspace's configuration versions, newest first.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn configuration_versions(
        &self,
        workspace: WorkspaceId,
        page: PageRequest,
    ) -> Result<Page<ConfigurationVersion>, Error> {
        sql::configurations::page(&mut *self.snapshot().await?, workspace, page).await
    }

    /// The one that a run gets which names none: the newest that was uploaded and is not speculative
    /// (docs/api.md, "Creating a run").
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn current_configuration_version(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Option<ConfigurationVersion>, Error> {
        sql::configurations::current(&mut *self.reader().await?, workspace).await
    }

    /// The configuration versions with these ids.
    ///
    /// # Errors
    /// [`Error`] of the database.
    pub async fn configuration_versions_with(
        &self,
        ids: &[ConfigurationVersionId],
    ) -> Result<HashMap<ConfigurationVersionId, ConfigurationVersion>, Error> {
        let versions = sql::configurations::by_ids(&mut *self.reader().await?, ids).await?;
        Ok(versions.into_iter().map(|version| (version.id, version)).collect())
    }
}

async fn create(tx: &mut Tx, new: NewConfigurationVersion) -> Result<ConfigurationVersion, Error> {
    sql::workspaces::by_id(tx.sql(), new.workspace).await?;
    sql::configurations::insert(tx.sql(), &new).await?;
    tx.changed(Change::Workspace { id: new.workspace });
    sql::configurations::by_id(tx.sql(), new.id).await
}

async fn finish(
    tx: &mut Tx,
    id: ConfigurationVersionId,
    result: ConfigurationResult,
    now: Timestamp,
) -> Result<ConfigurationVersion, Error> {
    let (status, commit) = match result {
        ConfigurationResult::Uploaded { digest, size, commit } => {
            (ConfigurationStatus::Uploaded { digest, size }, commit)
        }
        ConfigurationResult::Errored { message } => (ConfigurationStatus::Errored { message }, None),
    };
    let before = sql::configurations::by_id(tx.sql(), id).await?;
    if before.status == status && before.commit == commit {
        return Ok(before);
    }
    if before.status != ConfigurationStatus::Pending {
        return Err(Error::Refused(format!("{id} is {} already", before.status.as_str())));
    }
    sql::configurations::finish(tx.sql(), id, &status, commit.as_ref(), now).await?;
    tx.changed(Change::Workspace { id: before.workspace });
    sql::configurations::by_id(tx.sql(), id).await
}
