use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, SqliteConnection};

use super::read::{Record, exists, integer, time};
use super::{all, push_in, readable};
use crate::Error;
use crate::record::{
    Commit, ConfigurationStatus, ConfigurationVersion, NewConfigurationVersion, Page, PageRequest,
};

fn read(row: &SqliteRow) -> Result<ConfigurationVersion, Error> {
    let record = Record::new(row)?;
    let status = match record.get("status")? {
        "pending" => ConfigurationStatus::Pending,
        "uploaded" => {
            ConfigurationStatus::Uploaded { digest: record.parse("digest")?, size: record.count("size")? }
        }
        "errored" => ConfigurationStatus::Errored { message: record.get("error")? },
        other => return Err(record.damaged("status", format_args!("unknown: {other:?}"))),
    };
    let commit = match record.get("commit_sha")? {
        Some(sha) => Some(Commit {
            sha,
            reference: record.get("commit_ref")?,
            url: record.get("commit_url")?,
            message: record.get("commit_message")?,
            author: record.get("commit_author")?,
        }),
        None => None,
    };
    Ok(ConfigurationVersion {
        id: record.parse("id")?,
        workspace: record.parse("workspace")?,
        source: record.get("source")?,
        status,
        commit,
        speculative: record.get("speculative")?,
        created_at: record.parse("created_at")?,
        finished_at: record.parse_some("finished_at")?,
    })
}

pub(crate) async fn by_id(
    db: &mut SqliteConnection,
    id: ConfigurationVersionId,
) -> Result<ConfigurationVersion, Error> {
    let row = sqlx::query("SELECT * FROM configuration_versions WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

/// Those with these ids, in no order.
pub(crate) async fn by_ids(
    db: &mut SqliteConnection,
    ids: &[ConfigurationVersionId],
) -> Result<Vec<ConfigurationVersion>, Error> {
    let mut select = QueryBuilder::new("SELECT * FROM configuration_versions WHERE id");
    push_in(&mut select, ids);
    all(&select.build().fetch_all(db).await?, read)
}

pub(crate) async fn page(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    page: PageRequest,
) -> Result<Page<ConfigurationVersion>, Error> {
    let workspace = workspace.to_string();
    let total: i64 = sqlx::query_scalar("SELECT count(*) FROM configuration_versions WHERE workspace = $1")
        .bind(&workspace)
        .fetch_one(&mut *db)
        .await?;
    let rows = sqlx::query(
        "SELECT * FROM configuration_versions WHERE workspace = $1 ORDER BY seq DESC LIMIT $2 OFFSET $3",
    )
    .bind(&workspace)
    .bind(page.limit())
    .bind(page.offset())
    .fetch_all(db)
    .await?;
    Ok(Page { items: readable(&rows, read), total: total.unsigned_abs() })
}

pub(crate) async fn current(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
) -> Result<Option<ConfigurationVersion>, Error> {
    let row = sqlx::query(
        "SELECT * FROM configuration_versions WHERE workspace = $1 AND status = 'uploaded' AND speculative = 0 \
         ORDER BY seq DESC LIMIT 1",
    )
    .bind(workspace.to_string())
    .fetch_optional(db)
    .await?;
    row.as_ref().map(read).transpose()
}

pub(crate) async fn insert(db: &mut SqliteConnection, new: &NewConfigurationVersion) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO configuration_versions (id, workspace, source, status, speculative, created_at) \
         VALUES ($1, $2, $3, 'pending', $4, $5)",
    )
    .bind(new.id.to_string())
    .bind(new.workspace.to_string())
    .bind(&new.source)
    .bind(new.speculative)
    .bind(time(new.created_at))
    .execute(db)
    .await
    .map_err(|error| exists(error, new.id))?;
    Ok(())
}

pub(crate) async fn finish(
    db: &mut SqliteConnection,
    id: ConfigurationVersionId,
    status: &ConfigurationStatus,
    commit: Option<&Commit>,
    now: Timestamp,
) -> Result<(), Error> {
    let (digest, size, error) = match status {
        ConfigurationStatus::Pending => (None, None, None),
        ConfigurationStatus::Uploaded { digest, size } => {
            (Some(digest.to_string()), Some(integer(*size)?), None)
        }
        ConfigurationStatus::Errored { message } => (None, None, Some(message)),
    };
    sqlx::query(
        "UPDATE configuration_versions SET status = $1, digest = $2, size = $3, error = $4, \
         commit_sha = $5, commit_ref = $6, commit_url = $7, commit_message = $8, commit_author = $9, finished_at = $10 \
         WHERE id = $11 AND status = 'pending'",
    )
    .bind(status.as_str())
    .bind(digest)
    .bind(size)
    .bind(error)
    .bind(commit.map(|commit| &commit.sha))
    .bind(commit.map(|commit| &commit.reference))
    .bind(commit.map(|commit| &commit.url))
    .bind(commit.map(|commit| &commit.message))
    .bind(commit.map(|commit| &commit.author))
    .bind(time(now))
    .bind(id.to_string())
    .execute(db)
    .await?;
    Ok(())
}
