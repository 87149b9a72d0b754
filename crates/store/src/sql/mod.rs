//! All SQL, and nothing that decides anything. What PostgreSQL needs otherwise will stand beside it here.

pub(crate) mod configurations;
pub(crate) mod journal;
pub(crate) mod mend;
mod pattern;
mod read;
pub(crate) mod retention;
pub(crate) mod runs;
pub(crate) mod state_uploads;
pub(crate) mod states;
pub(crate) mod workspaces;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{
    AssertSqlSafe, ConnectOptions as _, Executor as _, QueryBuilder, SqlSafeStr as _, Sqlite,
    SqliteConnection,
};

use crate::Error;

/// Reads that can go on at once.
const READERS: u32 = 4;

/// How long to wait for another process that holds the database, or for a free reader.
const PATIENCE: Duration = Duration::from_secs(5);

/// In their order; a migration that was released never changes.
const MIGRATIONS: [(i64, &str, &str); 6] = [
    (1, "records", include_str!("../../migrations/0001_records.sql")),
    (2, "state keeper", include_str!("../../migrations/0002_state_keeper.sql")),
    (3, "state uploads", include_str!("../../migrations/0003_state_uploads.sql")),
    (4, "damaged runs", include_str!("../../migrations/0004_damaged_runs.sql")),
    (5, "commits", include_str!("../../migrations/0005_commits.sql")),
    (6, "retention", include_str!("../../migrations/0006_retention.sql")),
];

/// The newest that this release knows.
pub(crate) fn newest_migration() -> i64 {
    MIGRATIONS.last().map_or(0, |(version, ..)| *version)
}

fn options(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(database).busy_timeout(PATIENCE).foreign_keys(true)
}

/// The one connection that writes.
pub(crate) async fn writer(database: &Path) -> Result<SqliteConnection, Error> {
    // FULL: in WAL mode each commit waits until the disk has it (one fdatasync), so that what was acknowledged
    // survives a power cut
    let options = options(database).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    Ok(options.connect().await?)
}

/// Bytes of the log (`signalbox.db-wal`) that SQLite writes before it moves them to the database and begins the log
/// anew: 1,000 pages of 4 KiB with their headers.
const LOG_SIZE: u64 = 1000 * (4096 + 24) + 32;

/// Makes the log as long as it gets, with nothing in it.
///
/// A commit that makes a file longer waits for the file system's own journal as well, which takes milliseconds; one
/// that writes over what is there waits for its bytes alone, a fraction of that. And on a full disk there is still
/// space to write down how runs end. After an error there is no telling what is left of the transaction: the
/// connection is of no use any more.
pub(crate) async fn lengthen_log(db: &mut SqliteConnection, database: &Path) -> Result<(), Error> {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|log| log.len() >= LOG_SIZE) {
        return Ok(());
    }
    // without a cache the pages of a transaction go into the log before its end, and count for nothing if that is a
    // rollback
    db.execute("PRAGMA cache_size = 1").await?;
    fill_log(db).await?;
    db.execute("ROLLBACK").await?;
    db.execute("PRAGMA cache_size = -2000").await?;
    Ok(())
}

async fn fill_log(db: &mut SqliteConnection) -> Result<(), Error> {
    begin(db).await?;
    db.execute("CREATE TABLE filler (bytes BLOB)").await?;
    sqlx::query("INSERT INTO filler VALUES (zeroblob(?))").bind(LOG_SIZE.cast_signed()).execute(db).await?;
    Ok(())
}

/// A connection to read a database as a whole, that changes nothing of it.
pub(crate) async fn to_copy(database: &Path) -> Result<SqliteConnection, Error> {
    Ok(options(database).create_if_missing(false).connect().await?)
}

/// Connections that can only read; they see what was committed when their statement began.
pub(crate) fn reader_pool(database: &Path) -> SqlitePool {
    SqlitePoolOptions::new()
        .max_connections(READERS)
        .test_before_acquire(false)
        .acquire_timeout(PATIENCE)
        .connect_lazy_with(options(database).read_only(true))
}

/// Brings the database to the format of this release.
pub(crate) async fn migrate(db: &mut SqliteConnection, database: &Path) -> Result<(), Error> {
    let migrations = MIGRATIONS.map(|(version, name, text)| {
        let text = AssertSqlSafe(text).into_sql_str();
        Migration::new(version, Cow::Borrowed(name), MigrationType::Simple, text, false)
    });
    let migrator = Migrator::with_migrations(migrations.to_vec());
    // not `run`: its future can't cross threads as far as the compiler sees, for which sqlx has this way around
    migrator.run_direct(None, db, false).await.map_err(|error| match error {
        MigrateError::VersionMissing(migration) => {
            Error::NewerRelease { path: database.to_owned(), migration }
        }
        MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
        other => Error::damaged(database.display(), other),
    })
}

/// Begins a transaction that is the writer from its start: one that became it later could fail as busy
/// without waiting.
///
/// In plain SQL, since sqlx's own transactions lose count when SQLite rolls back by itself (full disk).
pub(crate) async fn begin(db: &mut SqliteConnection) -> Result<(), Error> {
    db.execute("BEGIN IMMEDIATE").await?;
    Ok(())
}

pub(crate) async fn commit(db: &mut SqliteConnection) -> Result<(), Error> {
    db.execute("COMMIT").await?;
    Ok(())
}

/// Marks the beginning of one write of the transaction.
pub(crate) async fn begin_write(db: &mut SqliteConnection) -> Result<(), Error> {
    db.execute("SAVEPOINT write").await?;
    Ok(())
}

pub(crate) async fn keep_write(db: &mut SqliteConnection) -> Result<(), Error> {
    db.execute("RELEASE write").await?;
    Ok(())
}

pub(crate) async fn undo_write(db: &mut SqliteConnection) -> Result<(), Error> {
    db.execute("ROLLBACK TO write").await?;
    db.execute("RELEASE write").await?;
    Ok(())
}

/// Reads each row.
fn all<T>(rows: &[SqliteRow], read: impl Fn(&SqliteRow) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    rows.iter().map(read).collect()
}

/// Reads those rows that can be read, for lists: one that is damaged hides no other.
fn readable<T>(rows: &[SqliteRow], read: impl Fn(&SqliteRow) -> Result<T, Error>) -> Vec<T> {
    let told = |row| {
        let read = read(row);
        read.inspect_err(|error| tracing::error!(%error, "a record is left out of a list")).ok()
    };
    rows.iter().filter_map(told).collect()
}

/// The ids of the rows by what is in that column, in the order of the rows.
fn grouped<K, V>(rows: &[SqliteRow], column: &str) -> Result<HashMap<K, Vec<V>>, Error>
where
    K: FromStr<Err: Display> + Eq + Hash,
    V: FromStr<Err: Display>,
{
    let mut groups: HashMap<K, Vec<V>> = HashMap::new();
    for row in rows {
        let record = read::Record::new(row)?;
        groups.entry(record.parse(column)?).or_default().push(record.parse("id")?);
    }
    Ok(groups)
}

/// The rest of a condition: is one of these. An empty list passes nothing.
fn push_in(sql: &mut QueryBuilder<Sqlite>, values: impl IntoIterator<Item: ToString>) {
    sql.push(" IN (");
    let mut list = sql.separated(", ");
    let mut any = false;
    for value in values {
        any = true;
        list.push_bind(value.to_string());
    }
    // PostgreSQL has no empty lists
    sql.push(if any { ")" } else { "NULL)" });
}
