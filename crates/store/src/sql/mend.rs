//! The record of a run that can't be read is made readable, by giving up what of it is not.

use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, RunId, WorkspaceId};
use lifecycle::{Execution, Facts, Stage, State, Work};
use sqlx::{QueryBuilder, Row as _, SqliteConnection};

use super::read::{Record, json, time};
use super::runs::read_policy;
use crate::record::{Cancel, Operation, PlanSummary, RunOptions};
use crate::{Digest, Error, sql};

/// Where a run lies, whatever else of it can be read.
pub(crate) async fn workspace_of(db: &mut SqliteConnection, run: RunId) -> Result<WorkspaceId, Error> {
    let row = sqlx::query("SELECT id, workspace FROM runs WHERE id = $1")
        .bind(run.to_string())
        .fetch_optional(db)
        .await?;
    Record::new(&row.ok_or_else(|| Error::not_found(run))?)?.parse("workspace")
}

/// Gives up what can't be read. What its transitions depend on is taken as its least: nothing is applied by itself.
pub(crate) async fn mend(db: &mut SqliteConnection, run: RunId, now: Timestamp) -> Result<(), Error> {
    let row =
        sqlx::query("SELECT * FROM runs WHERE id = $1").bind(run.to_string()).fetch_one(&mut *db).await?;
    let record = Record::new(&row)?;
    let mut given_up: Vec<(&str, Option<String>)> = Vec::new();
    if record.parse::<State>("state").is_err() {
        let state = last_state(db, run).await?;
        given_up.push(("state", Some(state.as_str().to_owned())));
    }
    if record.json::<Facts>("facts").is_err() {
        let operation = record.get::<&str>("operation")?;
        let facts = Facts {
            plan_only: record.get("plan_only")?,
            destroy: operation == Operation::Destroy.as_str(),
            ..Facts::default()
        };
        given_up.push(("facts", Some(json(&facts)?)));
    }
    if record.json::<RunOptions>("options").is_err() {
        let options = RunOptions { message: record.get("message")?, ..RunOptions::default() };
        given_up.push(("options", Some(json(&options)?)));
    }
    for moment in ["created_at", "updated_at", "state_changed_at"] {
        if record.parse::<Timestamp>(moment).is_err() {
            given_up.push((moment, Some(time(now))));
        }
    }
    for (map, readable) in [
        ("status_timestamps", record.json::<BTreeMap<String, Timestamp>>("status_timestamps").is_ok()),
        ("logs", record.json::<BTreeMap<Stage, Digest>>("logs").is_ok()),
    ] {
        if !readable {
            given_up.push((map, Some("{}".to_owned())));
        }
    }
    for (part, readable) in [
        ("cancel", record.json_some::<Cancel>("cancel").is_ok()),
        ("plan", record.json_some::<PlanSummary>("plan").is_ok()),
        (
            "configuration_version",
            record.parse_some::<ConfigurationVersionId>("configuration_version").is_ok(),
        ),
    ] {
        if !readable {
            given_up.push((part, None));
        }
    }
    if read_policy(&record).is_err() {
        given_up.extend(["policy_outcome", "policy_report", "policy_counts"].map(|column| (column, None)));
    }
    if given_up.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = given_up.iter().map(|(column, _)| *column).collect();
    let words = format!("of its record {} could not be read, and is gone", names.join(", "));
    let mut update = QueryBuilder::new("UPDATE runs SET damaged = ");
    update.push_bind(words);
    for (column, value) in given_up {
        update.push(", ").push(column).push(" = ").push_bind(value);
    }
    update.push(" WHERE final = 0 AND id = ").push_bind(run.to_string());
    update.build().execute(&mut *db).await?;
    // and what follows from it: whether it is over, and holds its workspace
    let mut mended = sql::runs::by_id(db, run).await?;
    mended.version += 1;
    sql::runs::update(db, &mended).await
}

/// The state that the journal knows last. If that can't be read either, the one in which nothing is begun and nothing that may
/// go on is forgotten.
async fn last_state(db: &mut SqliteConnection, run: RunId) -> Result<State, Error> {
    let row = sqlx::query("SELECT to_state FROM journal WHERE run = $1 ORDER BY seq DESC LIMIT 1")
        .bind(run.to_string())
        .fetch_optional(db)
        .await?;
    let state = row.and_then(|row| row.try_get::<String, _>("to_state").ok()?.parse().ok());
    Ok(state.unwrap_or(State::Applying(Work::Executing(Execution::Running))))
}
