use std::collections::HashMap;

use lifecycle::id::{RunEventId, RunId};
use lifecycle::{Rule, State};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, SqliteConnection};

use super::read::{Record, time};
use super::{all, grouped, push_in};
use crate::Error;
use crate::record::{Actor, JournalEntry, Run};

fn read(row: &SqliteRow) -> Result<JournalEntry, Error> {
    let record = Record::new(row)?;
    let rule = match record.get::<Option<&str>>("rule")? {
        Some(name) => Some(
            Rule::ALL
                .into_iter()
                .find(|rule| rule.to_string() == name)
                .ok_or_else(|| record.damaged("rule", format_args!("unknown: {name:?}")))?,
        ),
        None => None,
    };
    Ok(JournalEntry {
        id: record.parse("id")?,
        run: record.parse("run")?,
        seq: record.get("seq")?,
        at: record.parse("at")?,
        by: record.get::<Option<String>>("by_user")?.map_or(Actor::System, Actor::User),
        from: record.parse_some("from_state")?,
        to: record.parse("to_state")?,
        rule,
        why: record.get("why")?,
    })
}

pub(crate) async fn of_run(db: &mut SqliteConnection, run: RunId) -> Result<Vec<JournalEntry>, Error> {
    let rows = sqlx::query("SELECT * FROM journal WHERE run = $1 ORDER BY seq")
        .bind(run.to_string())
        .fetch_all(db)
        .await?;
    all(&rows, read)
}

/// The ids of the entries of these runs, by run.
pub(crate) async fn ids_of_runs(
    db: &mut SqliteConnection,
    runs: &[RunId],
) -> Result<HashMap<RunId, Vec<RunEventId>>, Error> {
    let mut select = QueryBuilder::new("SELECT id, run FROM journal WHERE run");
    push_in(&mut select, runs);
    grouped(&select.push(" ORDER BY seq").build().fetch_all(db).await?, "run")
}

pub(crate) async fn after(
    db: &mut SqliteConnection,
    seq: i64,
    limit: u32,
) -> Result<Vec<JournalEntry>, Error> {
    let rows = sqlx::query("SELECT * FROM journal WHERE seq > $1 ORDER BY seq LIMIT $2")
        .bind(seq)
        .bind(limit)
        .fetch_all(db)
        .await?;
    all(&rows, read)
}

pub(crate) async fn by_id(db: &mut SqliteConnection, id: RunEventId) -> Result<JournalEntry, Error> {
    let row =
        sqlx::query("SELECT * FROM journal WHERE id = $1").bind(id.to_string()).fetch_optional(db).await?;
    read(&row.ok_or_else(|| Error::not_found(id))?)
}

/// Writes down how the run came into the state that it is in.
pub(crate) async fn insert(
    db: &mut SqliteConnection,
    run: &Run,
    by: Actor,
    from: Option<State>,
    rule: Option<Rule>,
    why: Option<String>,
) -> Result<(), Error> {
    sqlx::query(
        "INSERT INTO journal (id, run, at, by_user, from_state, to_state, rule, why) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
    )
    .bind(RunEventId::generate().to_string())
    .bind(run.id.to_string())
    .bind(time(run.state_changed_at))
    .bind(by.user())
    .bind(from.map(State::as_str))
    .bind(run.state.as_str())
    .bind(rule.map(|rule| rule.to_string()))
    .bind(why)
    .execute(db)
    .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use lifecycle::{Event, Facts, step};

    use super::*;

    #[test]
    fn every_row_of_the_table_can_be_read_back() {
        for facts in Facts::all() {
            for state in State::all() {
                for transition in Event::all().into_iter().filter_map(|event| step(state, facts, event).ok())
                {
                    assert!(Rule::ALL.contains(&transition.rule), "{}", transition.rule);
                }
            }
        }
    }
}
