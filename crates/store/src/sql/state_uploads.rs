use jiff::Timestamp;
use lifecycle::id::StateVersionId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::read::{Record, exists, time};
use crate::record::StateUpload;
use crate::{Digest, Error};

fn read(row: &SqliteRow) -> Result<StateUpload, Error> {
    let record = Record::new(row)?;
    Ok(StateUpload {
        id: record.parse("id")?,
        workspace: record.parse("workspace")?,
        serial: record.get::<Option<i64>>("serial")?.map(i64::cast_unsigned),
        lineage: record.get("lineage")?,
        md5: record.get("md5")?,
        force: record.get("force")?,
        json: record.parse_some("json")?,
        created_at: record.parse("created_at")?,
        created_by: record.get("created_by")?,
    })
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: StateVersionId) -> Result<StateUpload, Error> {
    let row = sqlx::query("SELECT * FROM state_uploads WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

pub(crate) async fn insert(db: &mut SqliteConnection, new: &StateUpload) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO state_uploads (id, workspace, serial, lineage, md5, force, json, created_at, created_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    )
    .bind(new.id.to_string())
    .bind(new.workspace.to_string())
    .bind(new.serial.map(u64::cast_signed))
    .bind(&new.lineage)
    .bind(&new.md5)
    .bind(new.force)
    .bind(new.json.map(|digest| digest.to_string()))
    .bind(time(new.created_at))
    .bind(&new.created_by)
    .execute(db)
    .await
    .map_err(|error| exists(error, new.id))?;
    Ok(())
}

pub(crate) async fn set_json(
    db: &mut SqliteConnection,
    id: StateVersionId,
    json: Digest,
) -> Result<(), Error> {
    // wherever it stands by now
    for update in [
        "UPDATE state_uploads SET json = $2 WHERE id = $1",
        "UPDATE state_versions SET json = $2 WHERE id = $1",
    ] {
        sqlx::query(update).bind(id.to_string()).bind(json.to_string()).execute(&mut *db).await?;
    }
    Ok(())
}

pub(crate) async fn remove(db: &mut SqliteConnection, id: StateVersionId) -> Result<(), Error> {
    sqlx::query("DELETE FROM state_uploads WHERE id = $1").bind(id.to_string()).execute(db).await?;
    Ok(())
}

/// Those that nobody sends any more.
pub(crate) async fn remove_before(db: &mut SqliteConnection, moment: Timestamp) -> Result<(), Error> {
    sqlx::query("DELETE FROM state_uploads WHERE created_at < $1").bind(time(moment)).execute(db).await?;
    Ok(())
}
