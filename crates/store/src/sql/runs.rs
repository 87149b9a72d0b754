use std::collections::HashMap;

use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Facts, PolicyOutcome, State, queue};
use sqlx::sqlite::{SqliteArguments, SqliteRow};
use sqlx::{QueryBuilder, Row as _, Sqlite, SqliteConnection};

use super::pattern::literal;
use super::read::{Record, exists, json, time};
use super::workspaces::push_visible;
use super::{all, push_in, readable};
use crate::Error;
use crate::record::{
    Page, PageRequest, PolicyCheckRecord, Run, RunFilter, Slice, Visibility, Waiting, entry,
};

fn read(row: &SqliteRow) -> Result<Run, Error> {
    let record = Record::new(row)?;
    Ok(Run {
        id: record.parse("id")?,
        workspace: record.parse("workspace")?,
        seq: record.get("seq")?,
        version: record.get("version")?,
        state: record.parse("state")?,
        facts: record.json("facts")?,
        options: record.json("options")?,
        source: record.get("source")?,
        created_by: record.get("created_by")?,
        confirmed_by: record.get("confirmed_by")?,
        created_at: record.parse("created_at")?,
        updated_at: record.parse("updated_at")?,
        state_changed_at: record.parse("state_changed_at")?,
        timestamps: record.json("status_timestamps")?,
        cancel: record.json_some("cancel")?,
        plan: record.json_some("plan")?,
        configuration_version: record.parse_some("configuration_version")?,
        error: record.get("error")?,
        policy: read_policy(&record)?,
        logs: record.json("logs")?,
        damaged: record.get("damaged")?,
    })
}

pub(super) fn read_policy(record: &Record<'_>) -> Result<Option<PolicyCheckRecord>, Error> {
    let outcome = match record.get::<Option<&str>>("policy_outcome")? {
        None => return Ok(None),
        Some("passed") => PolicyOutcome::Passed,
        Some("soft-failed") => PolicyOutcome::SoftFailed,
        Some("hard-failed") => PolicyOutcome::HardFailed,
        Some(other) => return Err(record.damaged("policy_outcome", format_args!("unknown: {other:?}"))),
    };
    let (report, counts) = (record.parse("policy_report")?, record.json("policy_counts")?);
    Ok(Some(PolicyCheckRecord { outcome, report, counts }))
}

const fn policy_outcome(outcome: PolicyOutcome) -> &'static str {
    match outcome {
        PolicyOutcome::Passed => "passed",
        PolicyOutcome::SoftFailed => "soft-failed",
        PolicyOutcome::HardFailed => "hard-failed",
    }
}

fn read_entry(row: &SqliteRow) -> Result<queue::Entry, Error> {
    let record = Record::new(row)?;
    let facts: Facts = record.json("facts")?;
    let fetched = record.get::<Option<&str>>("configuration_version")?.is_some();
    Ok(entry(record.parse("id")?, record.parse("state")?, facts, fetched))
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: RunId) -> Result<Run, Error> {
    let row = sqlx::query("SELECT * FROM runs WHERE id = $1").bind(id.to_string()).fetch_optional(db).await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

pub(crate) async fn queue(
    db: &mut SqliteConnection,
    workspace: WorkspaceId,
) -> Result<Vec<queue::Entry>, Error> {
    let rows =
        sqlx::query("SELECT id, state, facts, configuration_version FROM runs WHERE workspace = $1 AND final = 0 ORDER BY seq")
            .bind(workspace.to_string())
            .fetch_all(db)
            .await?;
    all(&rows, read_entry)
}

pub(crate) async fn non_final(db: &mut SqliteConnection) -> Result<Vec<Run>, Error> {
    Ok(readable(&sqlx::query("SELECT * FROM runs WHERE final = 0 ORDER BY seq").fetch_all(db).await?, read))
}

/// What the queue of the organization needs of the runs that are not over.
pub(crate) async fn waiting(db: &mut SqliteConnection) -> Result<Vec<Waiting>, Error> {
    let rows =
        sqlx::query("SELECT seq, id, workspace, state, facts, configuration_version FROM runs WHERE final = 0 ORDER BY seq")
            .fetch_all(db)
            .await?;
    Ok(readable(&rows, |row| {
        let record = Record::new(row)?;
        Ok(Waiting {
            seq: record.get("seq")?,
            workspace: record.parse("workspace")?,
            entry: read_entry(row)?,
        })
    }))
}

/// Those with these ids, in no order.
pub(crate) async fn by_ids(db: &mut SqliteConnection, ids: &[RunId]) -> Result<Vec<Run>, Error> {
    let mut select = QueryBuilder::new("SELECT * FROM runs WHERE id");
    push_in(&mut select, ids);
    Ok(readable(&select.build().fetch_all(db).await?, read))
}

pub(crate) async fn busy_workspaces(db: &mut SqliteConnection) -> Result<Vec<WorkspaceId>, Error> {
    let rows = sqlx::query("SELECT DISTINCT workspace FROM runs WHERE final = 0").fetch_all(db).await?;
    rows.iter()
        .map(|row| {
            let id: String = row.try_get("workspace")?;
            id.parse().map_err(|error| Error::damaged(&id, error))
        })
        .collect()
}

/// The runs that these workspaces show.
pub(crate) async fn current_of(
    db: &mut SqliteConnection,
    workspaces: &[WorkspaceId],
) -> Result<Vec<Run>, Error> {
    let mut select =
        QueryBuilder::new("SELECT r.* FROM workspaces w JOIN runs r ON r.id = w.current_run WHERE w.id");
    push_in(&mut select, workspaces);
    Ok(readable(&select.build().fetch_all(db).await?, read))
}

pub(crate) async fn counts(db: &mut SqliteConnection) -> Result<HashMap<State, u64>, Error> {
    let rows = sqlx::query("SELECT state AS id, state, count(*) AS runs FROM runs GROUP BY state")
        .fetch_all(db)
        .await?;
    rows.iter()
        .map(|row| {
            let record = Record::new(row)?;
            Ok((record.parse("state")?, record.count("runs")?))
        })
        .collect()
}

/// Writes a new run down, and returns it with its place in the order.
pub(crate) async fn insert(db: &mut SqliteConnection, run: &Run) -> Result<Run, Error> {
    let query = sqlx::query(
        "INSERT INTO runs (version, state, final, holds, confirmed_by, updated_at, state_changed_at, \
         status_timestamps, cancel, plan, configuration_version, error, policy_outcome, policy_report, \
         policy_counts, logs, id, workspace, plan_only, operation, facts, message, options, source, \
         created_by, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26) RETURNING seq",
    );
    let row = bind_changing(query, run)?
        .bind(run.id.to_string())
        .bind(run.workspace.to_string())
        .bind(run.facts.plan_only)
        .bind(run.operation().as_str())
        .bind(json(&run.facts)?)
        .bind(&run.options.message)
        .bind(json(&run.options)?)
        .bind(&run.source)
        .bind(&run.created_by)
        .bind(time(run.created_at))
        .fetch_one(db)
        .await
        .map_err(|error| exists(error, run.id))?;
    Ok(Run { seq: row.try_get("seq")?, ..run.clone() })
}

/// Writes a changed run down, over the version before this one.
pub(crate) async fn update(db: &mut SqliteConnection, run: &Run) -> Result<(), Error> {
    let query = sqlx::query(
        "UPDATE runs SET version = $1, state = $2, final = $3, holds = $4, confirmed_by = $5, updated_at = $6, \
         state_changed_at = $7, status_timestamps = $8, cancel = $9, plan = $10, configuration_version = $11, error = $12, \
         policy_outcome = $13, policy_report = $14, policy_counts = $15, logs = $16 \
         WHERE id = $17 AND version = $18 AND final = 0",
    );
    let done = bind_changing(query, run)?.bind(run.id.to_string()).bind(run.version - 1).execute(db).await?;
    match done.rows_affected() {
        1 => Ok(()),
        // it was read in this very transaction: somebody writes to the database beside its one writer
        _ => Err(Error::damaged(
            run.id,
            "it changed while it was written: something else writes to the database",
        )),
    }
}

type Statement<'q> = sqlx::query::Query<'q, Sqlite, SqliteArguments>;

/// The columns that change during a run, in the order in which both statements above name them.
fn bind_changing<'q>(query: Statement<'q>, run: &'q Run) -> Result<Statement<'q>, Error> {
    let policy = run.policy.as_ref();
    Ok(query
        .bind(run.version)
        .bind(run.state.as_str())
        .bind(run.state.is_final())
        .bind(queue::holder(&[run.entry()]).is_some())
        .bind(run.confirmed_by.as_ref())
        .bind(time(run.updated_at))
        .bind(time(run.state_changed_at))
        .bind(json(&run.timestamps)?)
        .bind(run.cancel.as_ref().map(json).transpose()?)
        .bind(run.plan.as_ref().map(json).transpose()?)
        .bind(run.configuration_version.map(|id| id.to_string()))
        .bind(run.error.as_ref())
        .bind(policy.map(|policy| policy_outcome(policy.outcome)))
        .bind(policy.map(|policy| policy.report.to_string()))
        .bind(policy.map(|policy| json(&policy.counts)).transpose()?)
        .bind(json(&run.logs)?))
}

/// How the runs that pass a filter are found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By an index on what is asked for, and sorted afterwards.
    LookUp,
    /// In the order of the list, until the page is full.
    Walk,
}

impl Way {
    /// How a condition on the column begins. A plus keeps SQLite from an index on it, since it would sort all that it
    /// finds there.
    fn and(self, column: &str) -> String {
        let plus = if self == Self::Walk { "+" } else { "" };
        format!(" AND {plus}{column}")
    }
}

/// So many are quickly sorted.
const FEW: i64 = 1_000;

impl Way {
    /// The better one for so many.
    fn to(found: i64) -> Self {
        if found > FEW { Self::Walk } else { Self::LookUp }
    }
}

pub(crate) async fn page(
    db: &mut SqliteConnection,
    filter: &RunFilter,
    page: PageRequest,
) -> Result<Page<Run>, Error> {
    let mut count = QueryBuilder::new("SELECT count(*) FROM runs r ");
    push_conditions(&mut count, filter, Way::LookUp);
    let total: i64 = count.build_query_scalar().fetch_one(&mut *db).await?;
    let items = newest(db, filter, Way::to(total), page.limit(), page.offset()).await?;
    Ok(Page { items, total: total.unsigned_abs() })
}

/// Counts no more than it needs to know the way.
pub(crate) async fn slice(
    db: &mut SqliteConnection,
    filter: &RunFilter,
    page: PageRequest,
) -> Result<Slice<Run>, Error> {
    let mut count = QueryBuilder::new("SELECT count(*) FROM (SELECT 1 FROM runs r ");
    push_conditions(&mut count, filter, Way::LookUp);
    count.push(" LIMIT ").push_bind(FEW + 1).push(") found");
    let found: i64 = count.build_query_scalar().fetch_one(&mut *db).await?;
    let mut items = newest(db, filter, Way::to(found), page.limit() + 1, page.offset()).await?;
    let more = items.len() > page.size.max(1) as usize;
    items.truncate(page.size.max(1) as usize);
    Ok(Slice { items, more })
}

async fn newest(
    db: &mut SqliteConnection,
    filter: &RunFilter,
    way: Way,
    limit: i64,
    offset: i64,
) -> Result<Vec<Run>, Error> {
    let mut select = QueryBuilder::new("SELECT r.* FROM runs r ");
    push_conditions(&mut select, filter, way);
    select.push(" ORDER BY r.seq DESC LIMIT ").push_bind(limit).push(" OFFSET ").push_bind(offset);
    Ok(readable(&select.build().fetch_all(db).await?, read))
}

fn push_conditions(sql: &mut QueryBuilder<Sqlite>, filter: &RunFilter, way: Way) {
    let RunFilter {
        visible,
        workspace,
        workspace_names,
        states,
        operations,
        sources,
        created_by,
        commit,
        search,
        created_from,
        created_before,
    } = filter;

    if commit.is_some() || search.is_some() {
        sql.push("LEFT JOIN configuration_versions c ON c.id = r.configuration_version ");
    }
    sql.push("WHERE true");
    if let Some(workspace) = workspace {
        sql.push(" AND r.workspace = ").push_bind(workspace.to_string());
    }
    if let Visibility::Teams(teams) = visible {
        push_visible(sql, &way.and("r.workspace"), teams);
    }
    if let Some(names) = workspace_names {
        push_in(
            sql.push(way.and("r.workspace")).push(" IN (SELECT w.id FROM workspaces w WHERE w.name"),
            names,
        );
        sql.push(")");
    }
    if let Some(states) = states {
        push_in(sql.push(way.and("r.state")), states.iter().map(|state| state.as_str()));
    }
    if let Some(operations) = operations {
        push_in(sql.push(way.and("r.operation")), operations.iter().map(|operation| operation.as_str()));
    }
    if let Some(sources) = sources {
        push_in(sql.push(" AND r.source"), sources);
    }
    if let Some(user) = created_by {
        sql.push(" AND r.created_by = ").push_bind(user.clone());
    }
    if let Some(commit) = commit {
        sql.push(" AND c.commit_sha LIKE ").push_bind(format!("{}%", literal(commit))).push(r" ESCAPE '\'");
    }
    if let Some(search) = search {
        let pattern = format!("%{}%", literal(&search.to_lowercase()));
        for (column, before) in
            [("r.id", " AND ("), ("r.message", " OR "), ("r.created_by", " OR "), ("c.commit_sha", " OR ")]
        {
            sql.push(before)
                .push("lower(")
                .push(column)
                .push(") LIKE ")
                .push_bind(pattern.clone())
                .push(r" ESCAPE '\'");
        }
        sql.push(")");
    }
    if let Some(from) = created_from {
        sql.push(way.and("r.created_at")).push(" >= ").push_bind(time(*from));
    }
    if let Some(before) = created_before {
        sql.push(way.and("r.created_at")).push(" < ").push_bind(time(*before));
    }
}
