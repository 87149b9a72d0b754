//! All SQL, and nothing that decides anything. What PostgreSQL needs otherwise will stand beside it here.

pub(crate) mod configurations;
pub(crate) mod journal;
mod read;
pub(crate) mod runs;
pub(crate) mod states;
pub(crate) mod workspaces;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Executor as _, SqlSafeStr as _, SqliteConnection};

use crate::Error;

/// Reads that can go on at once.
const READERS: u32 = 4;

/// How long to wait for another process that holds the database, or for a free reader.
const PATIENCE: Duration = Duration::from_secs(5);

/// In their order; a migration that was released never changes.
const MIGRATIONS: [(i64, &str, &str); 3] = [
    (1, "records", include_str!("../../migrations/0001_records.sql")),
    (2, "no crash count", include_str!("../../migrations/0002_no_crash_count.sql")),
    (4, "access of workspaces", include_str!("../../migrations/0004_access_of_workspaces.sql")),
];

fn options(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new().filename(database).busy_timeout(PATIENCE).foreign_keys(true)
}

/// The one connection that writes.
pub(crate) async fn writer(database: &Path) -> Result<SqliteConnection, Error> {
    // FULL: in WAL mode each commit waits until the disk has it, so that what was acknowledged survives
    // a power cut
    let options = options(database).journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full);
    Ok(options.connect().await?)
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
