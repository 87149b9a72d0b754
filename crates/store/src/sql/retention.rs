//! Removing what is not kept, and finding what is still referred to.

use std::collections::HashSet;

use jiff::{SignedDuration, Timestamp};
use lifecycle::id::{ConfigurationVersionId, RunId, StateVersionId, WorkspaceId};
use lifecycle::retention::{Keep, Kept, expired};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};

use super::push_in;
use super::read::{Record, time};
use crate::digest::digests_in;
use crate::{Digest, Error};

/// What is younger is needed: somebody may be reading it.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

/// The runs of the workspace that may go, the oldest last.
pub(crate) async fn expired_runs(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    keep: Keep,
    now: Timestamp,
) -> Result<Vec<RunId>, Error> {
    // the run that the workspace shows, and the one that made its current state, stay
    let rows = sqlx::query(
        "SELECT r.id, r.state_changed_at AS at, r.final = 1 \
           AND r.id IS NOT (SELECT current_run FROM workspaces WHERE id = $1) \
           AND r.id IS NOT (SELECT run FROM state_versions WHERE workspace = $1 ORDER BY seq DESC LIMIT 1) AS may_go \
         FROM runs r WHERE r.workspace = $1 ORDER BY r.seq DESC",
    )
    .bind(workspace.to_string())
    .fetch_all(db)
    .await?;
    chosen(&rows, keep, now)
}

/// The state versions of the workspace that may go, the oldest last.
pub(crate) async fn expired_states(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    keep: Keep,
    now: Timestamp,
) -> Result<Vec<StateVersionId>, Error> {
    let rows = sqlx::query(
        "SELECT id, created_at AS at, seq < (SELECT max(seq) FROM state_versions WHERE workspace = $1) AS may_go \
         FROM state_versions WHERE workspace = $1 ORDER BY seq DESC",
    )
    .bind(workspace.to_string())
    .fetch_all(db)
    .await?;
    chosen(&rows, keep, now)
}

/// Of rows with `id`, `at` and `may_go`, the newest first. What can't be read stays.
fn chosen<I: std::str::FromStr>(rows: &[SqliteRow], keep: Keep, now: Timestamp) -> Result<Vec<I>, Error>
where
    I::Err: std::fmt::Display,
{
    let read = |row: &SqliteRow| {
        let record = Record::new(row).ok()?;
        let at: Timestamp = record.parse("at").ok()?;
        Some(Kept { at, needed: !record.get::<bool>("may_go").ok()? || now.duration_since(at) < FRESH })
    };
    let unreadable = Kept { at: now, needed: true };
    let kept: Vec<Kept> = rows.iter().map(|row| read(row).unwrap_or(unreadable)).collect();
    expired(keep, &kept, now).into_iter().map(|place| Record::new(&rows[place])?.parse("id")).collect()
}

/// Removes these runs, which are over, with their journals, and the configurations that no other run is made of and none
/// will be.
pub(crate) async fn remove_runs(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    runs: &[RunId],
) -> Result<(), Error> {
    let mut select = QueryBuilder::new(
        "SELECT DISTINCT configuration_version FROM runs WHERE configuration_version IS NOT NULL AND id",
    );
    push_in(&mut select, runs);
    let configurations: Vec<String> = select.build_query_scalar().fetch_all(&mut *db).await?;
    for begin in [
        "UPDATE state_versions SET run = NULL WHERE run",
        "DELETE FROM journal WHERE run",
        "DELETE FROM runs WHERE id",
    ] {
        let mut statement = QueryBuilder::<Sqlite>::new(begin);
        push_in(&mut statement, runs);
        statement.build().execute(&mut *db).await?;
    }
    let ids = configurations.iter().map(|id| id.parse());
    let ids: Vec<ConfigurationVersionId> = ids.filter_map(Result::ok).collect();
    let mut delete = QueryBuilder::<Sqlite>::new("DELETE FROM configuration_versions WHERE id");
    push_in(&mut delete, &ids);
    delete.push(
        " AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.configuration_version = configuration_versions.id) \
         AND seq < (SELECT max(seq) FROM configuration_versions WHERE status = 'uploaded' AND workspace = ",
    );
    delete.push_bind(workspace.to_string()).push(")");
    delete.build().execute(db).await?;
    Ok(())
}

/// Configurations that no run is made of, and that are older than $2. The newest that came stays.
const UNUSED: &str = "FROM configuration_versions WHERE workspace = $1 AND created_at < $2 AND status != 'pending' \
    AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.configuration_version = configuration_versions.id) \
    AND seq < (SELECT max(seq) FROM configuration_versions WHERE status = 'uploaded' AND workspace = $1)";

/// Whether there are configurations that [`remove_unused_configurations`] would remove.
pub(crate) async fn has_unused_configurations(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    before: Timestamp,
) -> Result<bool, Error> {
    let select = sqlx::query(sqlx::AssertSqlSafe(format!("SELECT 1 {UNUSED} LIMIT 1")));
    let found = select.bind(workspace.to_string()).bind(time(before)).fetch_optional(db).await?;
    Ok(found.is_some())
}

/// Removes configurations that no run is made of, and that are older than this.
pub(crate) async fn remove_unused_configurations(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
    before: Timestamp,
) -> Result<(), Error> {
    let delete = sqlx::query(sqlx::AssertSqlSafe(format!("DELETE {UNUSED}")));
    delete.bind(workspace.to_string()).bind(time(before)).execute(db).await?;
    Ok(())
}

/// Removes these state versions.
pub(crate) async fn remove_states(db: &mut SqliteConnection, states: &[StateVersionId]) -> Result<(), Error> {
    let mut delete = QueryBuilder::<Sqlite>::new("DELETE FROM state_versions WHERE id");
    push_in(&mut delete, states);
    delete.build().execute(db).await?;
    Ok(())
}

/// What is looked through for digests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum In {
    /// What is made of digests.
    Digests,
    /// Every text, whatever it is meant for: one that is named in an error for a person to go and fetch is as good as any other.
    Everything,
}

/// The digests that stand there.
pub(crate) async fn referred_to(db: &mut SqliteConnection, place: In) -> Result<HashSet<Digest>, Error> {
    const ROWS: i64 = 500;
    const DIGESTS: [(&str, &str); 3] = [
        ("runs", "coalesce(plan, '') || ' ' || logs || ' ' || coalesce(policy_report, '')"),
        ("configuration_versions", "coalesce(digest, '')"),
        ("state_versions", "digest || ' ' || coalesce(json, '')"),
    ];
    const WORDS: [(&str, &str); 3] = [
        ("runs", "coalesce(error, '')"),
        ("journal", "coalesce(why, '')"),
        ("workspaces", "coalesce(settings, '') || ' ' || coalesce(lock_reason, '')"),
    ];
    let words = WORDS.iter().filter(|_| place == In::Everything);
    let mut found = HashSet::new();
    for (table, columns) in DIGESTS.iter().chain(words) {
        let mut after = 0_i64;
        loop {
            let text = format!("SELECT seq, {columns} FROM {table} WHERE seq > $1 ORDER BY seq LIMIT $2");
            let rows =
                sqlx::query(sqlx::AssertSqlSafe(text)).bind(after).bind(ROWS).fetch_all(&mut *db).await?;
            let Some(last) = rows.last() else { break };
            after = last.try_get(0)?;
            for row in &rows {
                digests_in(row.try_get(1)?, &mut found);
            }
        }
    }
    let uploads: Vec<Option<String>> =
        sqlx::query_scalar("SELECT json FROM state_uploads").fetch_all(&mut *db).await?;
    uploads.iter().flatten().for_each(|text| digests_in(text, &mut found));
    Ok(found)
}
