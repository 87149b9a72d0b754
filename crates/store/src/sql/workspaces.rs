use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::AccessLevel;
use lifecycle::id::WorkspaceId;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use super::all as all_of;
use super::read::{Record, exists, json, time};
use crate::Error;
use crate::record::{Lock, NewWorkspace, Origin, Settings, Workspace};

/// Ends where a condition goes.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, origin, locked_by, lock_reason, locked_at, created_at, updated_at, removed_at, ",
            "(SELECT s.id FROM state_versions s WHERE s.workspace = w.id ORDER BY s.seq DESC LIMIT 1) ",
            "AS current_state_version, ",
            // see `Workspace::access`
            "CASE WHEN removed_at IS NULL ",
            "OR EXISTS (SELECT 1 FROM runs r WHERE r.workspace = w.id AND r.final = 0) ",
            "OR EXISTS (SELECT 1 FROM runs r WHERE r.workspace = w.id AND r.final = 1 ",
            "AND r.state_changed_at >= max(removed_at, strftime('%Y-%m-%dT%H:%M:%S', 'now', '-1 day'))) ",
            "THEN access ELSE '{}' END AS access_now FROM workspaces w ",
            $rest
        )
    };
}

fn read(row: &SqliteRow) -> Result<Workspace, Error> {
    let record = Record::new(row)?;
    let lock = match record.get("locked_by")? {
        Some(by) => Some(Lock { by, reason: record.get("lock_reason")?, at: record.parse("locked_at")? }),
        None => None,
    };
    Ok(Workspace {
        id: record.parse("id")?,
        name: record.get("name")?,
        origin: record.parse("origin")?,
        lock,
        access: record.json("access_now")?,
        current_state_version: record.parse_some("current_state_version")?,
        created_at: record.parse("created_at")?,
        updated_at: record.parse("updated_at")?,
        removed_at: record.parse_some("removed_at")?,
    })
}

pub(crate) async fn all(db: &mut SqliteConnection) -> Result<Vec<Workspace>, Error> {
    all_of(&sqlx::query(select!("ORDER BY name")).fetch_all(db).await?, read)
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: WorkspaceId) -> Result<Workspace, Error> {
    let row = sqlx::query(select!("WHERE id = ?")).bind(id.to_string()).fetch_optional(db).await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

pub(crate) async fn by_name(db: &mut SqliteConnection, name: &str) -> Result<Option<Workspace>, Error> {
    let row = sqlx::query(select!("WHERE name = ?")).bind(name).fetch_optional(db).await?;
    row.as_ref().map(read).transpose()
}

pub(crate) async fn insert(
    db: &mut SqliteConnection,
    NewWorkspace { id, name, settings, access, created_at }: &NewWorkspace,
    origin: Origin,
) -> Result<(), Error> {
    let own = origin == Origin::Api;
    sqlx::query(
        "INSERT INTO workspaces (id, name, origin, settings, access, created_at, updated_at) \
         VALUES (?, ?, ?, ?, ?, ?6, ?6)",
    )
    .bind(id.to_string())
    .bind(name)
    .bind(origin.as_str())
    .bind(own.then(|| json(settings)).transpose()?)
    .bind(json(access)?)
    .bind(time(*created_at))
    .execute(db)
    .await
    .map_err(|error| exists(error, format_args!("workspace {name}")))?;
    Ok(())
}

/// The settings that are kept here: those of a workspace of the config file are not.
pub(crate) async fn settings(db: &mut SqliteConnection, id: WorkspaceId) -> Result<Option<Settings>, Error> {
    let row = sqlx::query("SELECT id, settings FROM workspaces WHERE id = ?")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    Record::new(&row.ok_or_else(|| Error::not_found(id))?)?.json_some("settings")
}

pub(crate) async fn set_access(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    access: &BTreeMap<String, AccessLevel>,
) -> Result<(), Error> {
    sqlx::query("UPDATE workspaces SET access = ? WHERE id = ?")
        .bind(json(access)?)
        .bind(id.to_string())
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn set_removed(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    removed_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Error> {
    sqlx::query("UPDATE workspaces SET removed_at = ?, updated_at = ? WHERE id = ?")
        .bind(removed_at.map(time))
        .bind(time(now))
        .bind(id.to_string())
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn set_lock(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    lock: Option<&Lock>,
    now: Timestamp,
) -> Result<(), Error> {
    sqlx::query(
        "UPDATE workspaces SET locked_by = ?, lock_reason = ?, locked_at = ?, updated_at = ? WHERE id = ?",
    )
    .bind(lock.map(|lock| &lock.by))
    .bind(lock.map(|lock| &lock.reason))
    .bind(lock.map(|lock| time(lock.at)))
    .bind(time(now))
    .bind(id.to_string())
    .execute(db)
    .await?;
    Ok(())
}
