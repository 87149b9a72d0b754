use std::collections::HashMap;

use lifecycle::id::{RunId, StateVersionId, WorkspaceId};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, SqliteConnection};

use super::read::{Record, exists, integer, time};
use super::{all, grouped, push_in, readable};
use crate::record::{NewStateVersion, Page, PageRequest, StateVersion};
use crate::{Digest, Error, StateMeta};

fn read(row: &SqliteRow) -> Result<StateVersion, Error> {
    let record = Record::new(row)?;
    Ok(StateVersion {
        id: record.parse("id")?,
        workspace: record.parse("workspace")?,
        run: record.parse_some("run")?,
        meta: StateMeta {
            serial: record.get::<i64>("serial")?.cast_unsigned(),
            lineage: record.get("lineage")?,
            terraform_version: record.get("terraform_version")?,
        },
        digest: record.parse("digest")?,
        size: record.count("size")?,
        created_at: record.parse("created_at")?,
        created_by: record.get("created_by")?,
        json: record.parse_some("json")?,
    })
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: StateVersionId) -> Result<StateVersion, Error> {
    let row = sqlx::query("SELECT * FROM state_versions WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

pub(crate) async fn current(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
) -> Result<Option<StateVersion>, Error> {
    let row = sqlx::query("SELECT * FROM state_versions WHERE workspace = $1 ORDER BY seq DESC LIMIT 1")
        .bind(workspace.to_string())
        .fetch_optional(db)
        .await?;
    row.as_ref().map(read).transpose()
}

pub(crate) async fn with_content(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    content: Digest,
) -> Result<Option<StateVersion>, Error> {
    let row = sqlx::query(
        "SELECT * FROM state_versions WHERE workspace = $1 AND digest = $2 ORDER BY seq DESC LIMIT 1",
    )
    .bind(workspace.to_string())
    .bind(content.to_string())
    .fetch_optional(db)
    .await?;
    row.as_ref().map(read).transpose()
}

pub(crate) async fn page(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    page: PageRequest,
) -> Result<Page<StateVersion>, Error> {
    let workspace = workspace.to_string();
    let total: i64 = sqlx::query_scalar("SELECT count(*) FROM state_versions WHERE workspace = $1")
        .bind(&workspace)
        .fetch_one(&mut *db)
        .await?;
    let rows =
        sqlx::query("SELECT * FROM state_versions WHERE workspace = $1 ORDER BY seq DESC LIMIT $2 OFFSET $3")
            .bind(&workspace)
            .bind(page.limit())
            .bind(page.offset())
            .fetch_all(db)
            .await?;
    Ok(Page { items: readable(&rows, read), total: total.unsigned_abs() })
}

/// The ids of those that these runs made, by run.
pub(crate) async fn ids_of_runs(
    db: &mut SqliteConnection,
    runs: &[RunId],
) -> Result<HashMap<RunId, Vec<StateVersionId>>, Error> {
    let mut select = QueryBuilder::new("SELECT id, run FROM state_versions WHERE run");
    push_in(&mut select, runs);
    grouped(&select.push(" ORDER BY seq").build().fetch_all(db).await?, "run")
}

/// Those with these ids, in no order.
pub(crate) async fn by_ids(
    db: &mut SqliteConnection,
    ids: &[StateVersionId],
) -> Result<Vec<StateVersion>, Error> {
    let mut select = QueryBuilder::new("SELECT * FROM state_versions WHERE id");
    push_in(&mut select, ids);
    all(&select.build().fetch_all(db).await?, read)
}

pub(crate) async fn insert(db: &mut SqliteConnection, new: &NewStateVersion) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO state_versions \
         (id, workspace, run, serial, lineage, terraform_version, digest, size, created_at, created_by, json) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )
    .bind(new.id.to_string())
    .bind(new.workspace.to_string())
    .bind(new.run.map(|run| run.to_string()))
    .bind(new.meta.serial.cast_signed())
    .bind(&new.meta.lineage)
    .bind(&new.meta.terraform_version)
    .bind(new.digest.to_string())
    .bind(integer(new.size)?)
    .bind(time(new.created_at))
    .bind(&new.created_by)
    .bind(new.json.map(|digest| digest.to_string()))
    .execute(db)
    .await
    .map_err(|error| exists(error, new.id))?;
    Ok(())
}
