//! The one door to the records.

mod configurations;
mod retention;
mod runs;
mod states;
mod workspaces;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use lifecycle::id::{RunId, WorkspaceId};
use seal::Keyring;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::SqlitePool;
use sqlx::{Sqlite, Transaction};
use tokio::sync::broadcast;

use crate::blobs::{BlobStore, Blobs, KeysInUse, Lies};
use crate::data_dir::DataDir;
use crate::writer::{Job, Tx, Writer};
use crate::{Error, sql};

pub use retention::Expired;
pub use workspaces::Synced;

/// How long a write takes, from the moment at which it is asked for to that at which the disk has it.
const WRITE_SECONDS: &str = "signalbox_store_write_seconds";

/// How many changes a reader of [`Records::changes`] may fall behind before it loses some.
const CHANGES_KEPT: usize = 4096;

/// Something that was committed: a hint to read again, never the truth itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// A run was queued or changed.
    Run {
        /// Where it runs.
        workspace: WorkspaceId,
        /// Which run.
        run: RunId,
    },
    /// A workspace was added, removed, locked or unlocked, or has a new configuration or state version.
    Workspace {
        /// Which workspace.
        id: WorkspaceId,
    },
}

/// The records of one data directory, for reading: a handle that can't write. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Records {
    readers: SqlitePool,
    changes: broadcast::Sender<Change>,
    blobs: Blobs,
    path: Arc<Path>,
    claimed_at: SystemTime,
    in_clear: bool,
}

/// The records of one data directory, for reading and writing. Clones are cheap and share everything.
#[derive(Clone)]
pub struct Store {
    records: Records,
    writer: Writer,
    blobs: BlobStore,
}

impl Deref for Store {
    type Target = Records;

    fn deref(&self) -> &Records {
        &self.records
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("data_dir", &self.path).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").field("data_dir", &self.path).finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the records below `data_dir`, which is made (0700) if it is missing, and brings them to the
    /// format of this release. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`Error::DataDirInUse`] when another store is open on it, in this process or another;
    /// [`Error::DataDir`] when it can't be made or written; [`Error::NewerRelease`] when its format is not
    /// known yet; [`Error::Database`].
    pub async fn open(data_dir: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(data_dir, Keyring::default()).await
    }

    /// The same, with keys: what is kept in files is encrypted with the current one.
    ///
    /// # Errors
    /// [`Error::NoKey`] when something is there that is encrypted with another key than these; and as [`open`](Self::open).
    pub async fn open_with(data_dir: impl AsRef<Path>, keys: Keyring) -> Result<Self, Error> {
        let data_dir = data_dir.as_ref().to_owned();
        let written = Lies::written_with(&keys);
        let claim = {
            let keys = keys.clone();
            move || {
                let data_dir = DataDir::claim(&data_dir)?;
                let mut in_use = KeysInUse::read(data_dir.path())?;
                in_use.check(&keys)?;
                in_use.add(written)?;
                Ok((data_dir, in_use.has(Lies::InClear)))
            }
        };
        let (data_dir, in_clear) = crate::blocking(claim).await?;
        let data_dir = Arc::new(data_dir);
        let blobs = BlobStore::new(data_dir.blobs(), keys);
        let (path, claimed_at) = (data_dir.path().into(), data_dir.claimed_at());
        let database = data_dir.database();
        let mut db = sql::writer(&database).await?;
        sql::migrate(&mut db, &database).await?;
        if let Err(error) = sql::lengthen_log(&mut db, &database).await {
            tracing::warn!(%error, "the database's log could not be made longer: writes take longer until it is");
            db = sql::writer(&database).await?;
        }
        let readers = sql::reader_pool(&database);
        let (changes, _) = broadcast::channel(CHANGES_KEPT);
        let writer = Writer::start(db, changes.clone(), data_dir);
        let blobs_reader = blobs.reader().clone();
        let records = Records { readers, changes, blobs: blobs_reader, path, claimed_at, in_clear };
        Ok(Self { records, writer, blobs })
    }

    /// Waits until every write that was begun is done, closes the database and frees the data directory.
    /// Other clones answer [`Error::Closed`] from now on. A store that is dropped instead does the same
    /// a little later.
    pub async fn close(self) {
        self.records.readers.close().await;
        self.writer.close().await;
    }

    /// The same, for who only reads.
    pub const fn records(&self) -> &Records {
        &self.records
    }

    /// Files that are named by their content.
    pub const fn blobs(&self) -> &BlobStore {
        &self.blobs
    }

    /// Carries out one write. It goes to its end even if the caller stops waiting for it, so that a
    /// client that hangs up can't undo or hide what it asked for.
    async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> Job<'t, Result<T, E>> + Send + 'static,
    {
        let started = std::time::Instant::now();
        let done = self.writer.write(work).await;
        metrics::histogram!(WRITE_SECONDS).record(started.elapsed().as_secs_f64());
        done
    }
}

impl Records {
    /// Where it keeps its files.
    pub fn data_dir(&self) -> &Path {
        &self.path
    }

    /// When this store was opened, by the clock of the file system that its files are dated by: what is older there was
    /// left by another one.
    pub const fn claimed_at(&self) -> SystemTime {
        self.claimed_at
    }

    /// Whether some of the files that are kept may lie in clear: those of a store that was opened without a key, now or
    /// before, as long as they were not sealed since ([`reseal`](crate::reseal)).
    pub const fn lies_in_clear(&self) -> bool {
        self.in_clear
    }

    /// Files that are named by their content.
    pub const fn blobs(&self) -> &Blobs {
        &self.blobs
    }

    /// What is committed from now on, in that order.
    ///
    /// A receiver that falls behind by thousands of changes gets `RecvError::Lagged`: it has to read again
    /// whatever it watches. Subscribe first and read then, so that nothing falls between.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// For single statements.
    async fn reader(&self) -> Result<PoolConnection<Sqlite>, Error> {
        Ok(self.readers.acquire().await?)
    }

    /// For statements that have to see the same moment.
    async fn snapshot(&self) -> Result<Transaction<'static, Sqlite>, Error> {
        Ok(self.readers.begin().await?)
    }
}

#[cfg(test)]
mod tests {
    use sqlx::Executor as _;

    use super::*;
    use crate::{DatabaseFailure, NewWorkspace, Origin, PageRequest, RunFilter};

    async fn pragma(store: &Store, text: &'static str) {
        let done: Result<(), Error> = store
            .write(move |tx| {
                Box::pin(async move {
                    tx.sql().execute(text).await?;
                    Ok(())
                })
            })
            .await;
        done.unwrap();
    }

    /// Actors and handlers are spawned; a future that can't cross threads would be found there only.
    #[test]
    fn every_kind_of_access_can_be_awaited_in_a_task() {
        fn spawnable<F: Future + Send + 'static>(_: impl FnOnce(Store) -> F) {}
        spawnable(async |_: Store| Store::open("data").await.map(drop));
        spawnable(async |store: Store| store.close().await);
        spawnable(async |store: Store| store.run(RunId::generate()).await);
        spawnable(async |store: Store| store.runs(&RunFilter::default(), PageRequest::first(1)).await);
        spawnable(async |store: Store| {
            store.sync_workspaces(std::collections::BTreeMap::new(), jiff::Timestamp::UNIX_EPOCH).await
        });
        spawnable(async |store: Store| store.blobs().put_file("file").await);
    }

    #[tokio::test]
    async fn every_commit_waits_for_the_disk_and_readers_cannot_write() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let settings: Result<(i64, String, i64), Error> = store
            .write(|tx| {
                Box::pin(async move {
                    let text = "SELECT synchronous, journal_mode, foreign_keys \
                                FROM pragma_synchronous, pragma_journal_mode, pragma_foreign_keys";
                    Ok(sqlx::query_as(text).fetch_one(tx.sql()).await?)
                })
            })
            .await;
        assert_eq!(settings, Ok((2, "wal".to_owned(), 1)), "2 is FULL");
        let mut reader = store.reader().await.unwrap();
        let error = Error::from(reader.execute("DELETE FROM workspaces").await.unwrap_err());
        assert!(matches!(error, Error::Database { kind: DatabaseFailure::ReadOnly, .. }), "{error}");
    }

    #[tokio::test]
    async fn a_full_database_is_told_and_works_again_when_there_is_space() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let mut names = Vec::new();
        pragma(&store, "PRAGMA max_page_count = 60").await;
        let error = loop {
            let name = format!("{}-{}", names.len(), "x".repeat(1000));
            match store.create_workspace(NewWorkspace::named(name.as_str(), now)).await {
                Ok(_) => names.push(name),
                Err(error) => break error,
            }
        };
        assert!(matches!(error, Error::Database { kind: DatabaseFailure::Full, .. }), "{error}");
        assert!(error.to_string().starts_with("database: the disk is full: "), "{error}");
        assert!(names.len() > 5);
        assert_eq!(store.workspaces().await.unwrap().len(), names.len());

        pragma(&store, "PRAGMA max_page_count = 4294967294").await;
        store.create_workspace(NewWorkspace::named("space again", now)).await.unwrap();
        assert_eq!(store.workspaces().await.unwrap().len(), names.len() + 1);
    }

    #[tokio::test]
    async fn a_write_that_panics_is_undone_and_the_next_ones_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let mut changes = store.changes();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let broken: Result<(), Error> = store
            .write(move |tx| {
                Box::pin(async move {
                    let half = NewWorkspace::named("half", now);
                    sql::workspaces::insert(tx.sql(), &half, Origin::Api).await?;
                    tx.changed(Change::Workspace { id: half.id });
                    panic!("on purpose")
                })
            })
            .await;
        assert_eq!(broken, Err(Error::Closed));
        let kept = store.create_workspace(NewWorkspace::named("whole", now)).await.unwrap();
        assert_eq!(changes.recv().await, Ok(Change::Workspace { id: kept.id }));
        assert_eq!(store.workspaces().await.unwrap(), [kept]);
    }

    #[tokio::test]
    async fn a_write_that_is_refused_takes_none_of_those_with_it_that_share_its_transaction() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        let mut changes = store.changes();
        let now = jiff::Timestamp::UNIX_EPOCH;
        let insert = |name: &'static str, refuse: bool| {
            store.write(move |tx| {
                Box::pin(async move {
                    let new = NewWorkspace::named(name, now);
                    sql::workspaces::insert(tx.sql(), &new, Origin::Api).await?;
                    tx.changed(Change::Workspace { id: new.id });
                    if refuse { Err(Error::Refused("no".into())) } else { Ok(new.id) }
                })
            })
        };
        // on one thread the writer does not get to work before all three wait for it
        let (first, second, third) = tokio::join!(insert("a", false), insert("b", true), insert("c", false));
        assert_eq!(second, Err(Error::Refused("no".into())));
        let names: Vec<_> = store.workspaces().await.unwrap().into_iter().map(|w| w.name).collect();
        assert_eq!(names, ["a", "c"]);
        for id in [first.unwrap(), third.unwrap()] {
            assert_eq!(changes.try_recv(), Ok(Change::Workspace { id }));
        }
        assert!(changes.try_recv().is_err());
    }
}
