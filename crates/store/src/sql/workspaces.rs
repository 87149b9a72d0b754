use std::collections::{BTreeMap, HashMap};

use futures::TryStreamExt as _;
use jiff::{SignedDuration, Timestamp};
use lifecycle::AccessLevel;
use lifecycle::id::WorkspaceId;
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use super::pattern::literal;
use super::read::{Record, exists, json, time};
use super::{all as all_of, push_in};
use crate::Error;
use crate::record::{
    Lock, NamePattern, NewWorkspace, Origin, Page, PageRequest, Settings, StateKeeper, Visibility, Workspace,
    WorkspaceFilter, WorkspaceOrder,
};

/// How long the access to a removed workspace stands after the end of its last run.
const LOOK_BACK: SignedDuration = SignedDuration::from_hours(24);

/// A statement that begins with all of a workspace `w`, but for what teams may do in it.
fn select(now: Timestamp) -> QueryBuilder<Sqlite> {
    let mut select = QueryBuilder::new(
        "SELECT w.id, w.name, w.origin, w.locked_by, w.lock_reason, w.locked_at, w.state_keeper, w.created_at, w.updated_at, w.removed_at, \
         (SELECT s.id FROM state_versions s WHERE s.workspace = w.id ORDER BY s.seq DESC LIMIT 1) \
         AS current_state_version, ",
    );
    push_access_stands(&mut select, now);
    select.push(" AS access_stands FROM workspaces w");
    select
}

/// Whether the access to a workspace `w` stands: see [`Workspace::access`].
fn push_access_stands(sql: &mut QueryBuilder<Sqlite>, now: Timestamp) {
    sql.push(
        "(w.removed_at IS NULL OR EXISTS (SELECT 1 FROM runs u WHERE u.workspace = w.id AND u.final = 0) \
         OR EXISTS (SELECT 1 FROM runs u WHERE u.workspace = w.id AND u.final = 1 \
         AND u.state_changed_at >= w.removed_at AND u.state_changed_at >= ",
    );
    sql.push_bind(time(now - LOOK_BACK)).push("))");
}

/// The workspace without its access, and whether that stands.
fn read(row: &SqliteRow) -> Result<(Workspace, bool), Error> {
    let record = Record::new(row)?;
    let lock = match record.get("locked_by")? {
        Some(by) => Some(Lock { by, reason: record.get("lock_reason")?, at: record.parse("locked_at")? }),
        None => None,
    };
    let workspace = Workspace {
        id: record.parse("id")?,
        name: record.get("name")?,
        origin: record.parse("origin")?,
        lock,
        access: BTreeMap::new(),
        current_state_version: record.parse_some("current_state_version")?,
        state_keeper: record.parse_some("state_keeper")?,
        created_at: record.parse("created_at")?,
        updated_at: record.parse("updated_at")?,
        removed_at: record.parse_some("removed_at")?,
    };
    Ok((workspace, record.get("access_stands")?))
}

/// Runs the statement, and reads the access of those whose access stands. Row by row: there may be ten thousand, and a
/// row takes more memory than what it says.
async fn fetch(db: &mut SqliteConnection, mut select: QueryBuilder<Sqlite>) -> Result<Vec<Workspace>, Error> {
    let mut found = Vec::new();
    let mut rows = select.build().fetch(&mut *db);
    while let Some(row) = rows.try_next().await? {
        found.push(read(&row)?);
    }
    drop(rows);
    let mut select = QueryBuilder::new("SELECT workspace AS id, team, level FROM workspace_access");
    // for many it is all of them
    if found.len() <= 100 {
        select.push(" WHERE workspace");
        push_in(&mut select, found.iter().map(|(workspace, _)| workspace.id));
    }
    let mut access: HashMap<WorkspaceId, BTreeMap<String, AccessLevel>> = HashMap::new();
    let mut rows = select.build().fetch(db);
    while let Some(row) = rows.try_next().await? {
        let record = Record::new(&row)?;
        let level = record.get::<&str>("level")?;
        let level = AccessLevel::ALL.into_iter().find(|known| known.as_str() == level);
        let level =
            level.ok_or_else(|| record.damaged("level", "it is none of read, plan, write and admin"))?;
        access.entry(record.parse("id")?).or_default().insert(record.get("team")?, level);
    }
    let own = |(workspace, stands): (Workspace, bool)| {
        let access = if stands { access.remove(&workspace.id).unwrap_or_default() } else { BTreeMap::new() };
        Workspace { access, ..workspace }
    };
    Ok(found.into_iter().map(own).collect())
}

pub(crate) async fn all(db: &mut SqliteConnection) -> Result<Vec<Workspace>, Error> {
    let mut select = select(Timestamp::now());
    select.push(" ORDER BY w.name");
    fetch(db, select).await
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: WorkspaceId) -> Result<Workspace, Error> {
    let mut select = select(Timestamp::now());
    select.push(" WHERE w.id = ").push_bind(id.to_string());
    fetch(db, select).await?.pop().ok_or_else(|| Error::not_found(id))
}

pub(crate) async fn by_name(db: &mut SqliteConnection, name: &str) -> Result<Option<Workspace>, Error> {
    let mut select = select(Timestamp::now());
    select.push(" WHERE w.name = ").push_bind(name.to_owned());
    Ok(fetch(db, select).await?.pop())
}

/// Those with these ids, in no order.
pub(crate) async fn by_ids(db: &mut SqliteConnection, ids: &[WorkspaceId]) -> Result<Vec<Workspace>, Error> {
    let mut select = select(Timestamp::now());
    push_in(select.push(" WHERE w.id"), ids);
    fetch(db, select).await
}

/// Those that somebody locked.
pub(crate) async fn locked(db: &mut SqliteConnection) -> Result<Vec<WorkspaceId>, Error> {
    let rows = sqlx::query("SELECT id FROM workspaces WHERE locked_by IS NOT NULL").fetch_all(db).await?;
    all_of(&rows, |row| Record::new(row)?.parse("id"))
}

/// A page of those that are there, with their current runs joined as `r`.
pub(crate) async fn page(
    db: &mut SqliteConnection,
    filter: &WorkspaceFilter,
    order: WorkspaceOrder,
    descending: bool,
    page: PageRequest,
) -> Result<Page<Workspace>, Error> {
    let by_run = filter.states.is_some() || order != WorkspaceOrder::Name;
    let mut count = QueryBuilder::new("SELECT count(*) FROM workspaces w");
    push_conditions(&mut count, filter, filter.states.is_some());
    let total: i64 = count.build_query_scalar().fetch_one(&mut *db).await?;

    // the order first, and the rest of those that are on the page alone
    let mut select = QueryBuilder::new("SELECT w.id FROM workspaces w");
    push_conditions(&mut select, filter, by_run);
    let way = if descending { " DESC" } else { "" };
    select.push(" ORDER BY ");
    match order {
        WorkspaceOrder::Name => {}
        WorkspaceOrder::CurrentRunCreatedAt => {
            select.push("r.seq").push(way).push(", ");
        }
        WorkspaceOrder::LatestChange => {
            select.push(
                "CASE WHEN r.state_changed_at > w.updated_at THEN r.state_changed_at ELSE w.updated_at END",
            );
            select.push(way).push(", ");
        }
    }
    select.push("w.name").push(if order == WorkspaceOrder::Name { way } else { "" });
    select.push(" LIMIT ").push_bind(page.limit()).push(" OFFSET ").push_bind(page.offset());
    let rows = select.build().fetch_all(&mut *db).await?;
    let ids: Vec<WorkspaceId> = all_of(&rows, |row| Record::new(row)?.parse("id"))?;
    let found = by_ids(db, &ids).await?.into_iter().map(|workspace| (workspace.id, workspace));
    let mut found: HashMap<_, _> = found.collect();
    let items = ids.iter().filter_map(|id| found.remove(id)).collect();
    Ok(Page { items, total: total.unsigned_abs() })
}

fn push_conditions(sql: &mut QueryBuilder<Sqlite>, filter: &WorkspaceFilter, by_run: bool) {
    if by_run {
        sql.push(" LEFT JOIN runs r ON r.id = w.current_run");
    }
    sql.push(" WHERE w.removed_at IS NULL");
    if let Visibility::Teams(teams) = &filter.visible {
        push_visible(sql, " AND w.id", teams);
    }
    for name in &filter.names {
        let (pattern, exact) = match name {
            NamePattern::Contains(text) => (format!("%{}%", literal(&text.to_lowercase())), false),
            NamePattern::StartsWith(text) => (format!("{}%", literal(&text.to_lowercase())), false),
            NamePattern::EndsWith(text) => (format!("%{}", literal(&text.to_lowercase())), false),
            NamePattern::Is(text) => (text.to_lowercase(), true),
        };
        sql.push(" AND lower(w.name) ").push(if exact { "= " } else { "LIKE " }).push_bind(pattern);
        if !exact {
            sql.push(r" ESCAPE '\'");
        }
    }
    if let Some(states) = &filter.states {
        push_in(sql.push(" AND r.state"), states.iter().map(|state| state.as_str()));
    }
}

/// The rest of a condition that begins with the id of a workspace: one of these teams has any access to it that stands.
pub(super) fn push_visible(sql: &mut QueryBuilder<Sqlite>, begun: &str, teams: &[String]) {
    sql.push(begun).push(
        " IN (SELECT w.id FROM workspace_access a JOIN workspaces w ON w.id = a.workspace WHERE a.team",
    );
    push_in(sql, teams);
    push_access_stands(sql.push(" AND "), Timestamp::now());
    sql.push(")");
}

pub(crate) async fn insert(
    db: &mut SqliteConnection,
    NewWorkspace { id, name, settings, access, created_at }: &NewWorkspace,
    origin: Origin,
) -> Result<(), Error> {
    let own = origin == Origin::Api;
    sqlx::query(
        "INSERT INTO workspaces (id, name, origin, settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)",
    )
    .bind(id.to_string())
    .bind(name)
    .bind(origin.as_str())
    .bind(own.then(|| json(settings)).transpose()?)
    .bind(time(*created_at))
    .execute(&mut *db)
    .await
    .map_err(|error| exists(error, format_args!("workspace {name}")))?;
    set_access(db, *id, access).await
}

/// The settings that are kept here: those of a workspace of the config file are not.
pub(crate) async fn settings(db: &mut SqliteConnection, id: WorkspaceId) -> Result<Option<Settings>, Error> {
    let row = sqlx::query("SELECT id, settings FROM workspaces WHERE id = $1")
        .bind(id.to_string())
        .fetch_optional(db)
        .await?;
    Record::new(&row.ok_or_else(|| Error::not_found(id))?)?.json_some("settings")
}

/// The same of these workspaces; those of the config file are left out.
pub(crate) async fn settings_with(
    db: &mut SqliteConnection,
    ids: &[WorkspaceId],
) -> Result<HashMap<WorkspaceId, Settings>, Error> {
    let mut select =
        QueryBuilder::new("SELECT id, settings FROM workspaces WHERE settings IS NOT NULL AND id");
    push_in(&mut select, ids);
    let rows = select.build().fetch_all(db).await?;
    let read = |row: &SqliteRow| {
        let record = Record::new(row)?;
        Ok((record.parse("id")?, record.json("settings")?))
    };
    rows.iter().map(read).collect()
}

pub(crate) async fn set_access(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    access: &BTreeMap<String, AccessLevel>,
) -> Result<(), Error> {
    sqlx::query("DELETE FROM workspace_access WHERE workspace = $1")
        .bind(id.to_string())
        .execute(&mut *db)
        .await?;
    for (team, level) in access {
        sqlx::query("INSERT INTO workspace_access (team, workspace, level) VALUES ($1, $2, $3)")
            .bind(team)
            .bind(id.to_string())
            .bind(level.as_str())
            .execute(&mut *db)
            .await?;
    }
    Ok(())
}

pub(crate) async fn set_removed(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    removed_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), Error> {
    sqlx::query("UPDATE workspaces SET removed_at = $1, updated_at = $2 WHERE id = $3")
        .bind(removed_at.map(time))
        .bind(time(now))
        .bind(id.to_string())
        .execute(db)
        .await?;
    Ok(())
}

pub(crate) async fn set_state_keeper(
    db: &mut SqliteConnection,
    id: WorkspaceId,
    keeper: &StateKeeper,
) -> Result<(), Error> {
    sqlx::query("UPDATE workspaces SET state_keeper = $1 WHERE id = $2")
        .bind(keeper.to_string())
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
        "UPDATE workspaces SET locked_by = $1, lock_reason = $2, locked_at = $3, updated_at = $4 WHERE id = $5",
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

/// Brings the run that the workspace shows in line with its runs: the one that holds it, or else the newest final one, or
/// else the first that waits. Plan-only runs never are.
pub(crate) async fn set_current_run(db: &mut SqliteConnection, id: WorkspaceId) -> Result<(), Error> {
    sqlx::query(
        "UPDATE workspaces SET current_run = coalesce(\
         (SELECT id FROM runs WHERE workspace = $1 AND holds = 1), \
         (SELECT id FROM runs WHERE workspace = $1 AND plan_only = 0 AND final = 1 ORDER BY seq DESC LIMIT 1), \
         (SELECT id FROM runs WHERE workspace = $1 AND plan_only = 0 AND final = 0 ORDER BY seq LIMIT 1)) \
         WHERE id = $1",
    )
    .bind(id.to_string())
    .execute(db)
    .await?;
    Ok(())
}
