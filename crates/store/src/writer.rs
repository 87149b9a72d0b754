//! The one writer.
//!
//! All writes go through one task with one connection, in the order in which they were asked for. Writes
//! that wait at the same time share one transaction, and so one wait for the disk: each is a savepoint, so
//! that one which is refused takes none of the others with it. Nobody gets an answer before the commit.
//!
//! ```text
//!  write ─┐            BEGIN IMMEDIATE
//!  write ─┼─> queue ─>   SAVEPOINT … RELEASE        (refused: ROLLBACK TO)
//!  write ─┘              SAVEPOINT … RELEASE
//!                      COMMIT (fsync) ─> publish changes ─> answer all
//! ```

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use crate::data_dir::DataDir;
use crate::store::Change;
use crate::{Error, sql};

/// Writes that may wait before those who ask have to.
const QUEUE: usize = 1024;

/// Writes that share one transaction at most: a bound on how long the first of them waits.
const BATCH: usize = 64;

/// What a write does, as a future that borrows the transaction.
pub(crate) type Job<'t, R> = Pin<Box<dyn Future<Output = R> + Send + 't>>;

/// A write's view of the transaction.
pub(crate) struct Tx {
    db: SqliteConnection,
    changes: Vec<Change>,
}

impl Tx {
    /// For the functions of [`crate::sql`].
    pub(crate) fn sql(&mut self) -> &mut SqliteConnection {
        &mut self.db
    }

    /// Is published if this write is committed.
    pub(crate) fn changed(&mut self, change: Change) {
        self.changes.push(change);
    }
}

/// A write of any result type.
trait Write: Send {
    /// Does it. False: it was refused, and has to be undone.
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> Job<'t, bool>;

    /// Says how it ended: as it did, or because of this failure not at all.
    fn answer(self: Box<Self>, failure: Option<&Error>);
}

struct Request<T, E, F> {
    work: Option<F>,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<T, E, F> Write for Request<T, E, F>
where
    T: Send,
    E: From<Error> + Send,
    F: for<'t> FnOnce(&'t mut Tx) -> Job<'t, Result<T, E>> + Send,
{
    fn run<'t>(&'t mut self, tx: &'t mut Tx) -> Job<'t, bool> {
        Box::pin(async move {
            let result = match self.work.take() {
                Some(work) => work(tx).await,
                None => Err(Error::Closed.into()),
            };
            self.result.insert(result).is_ok()
        })
    }

    fn answer(self: Box<Self>, failure: Option<&Error>) {
        let result = match (failure, self.result) {
            // what was refused was refused, whatever became of the others
            (_, Some(Err(refused))) => Err(refused),
            (Some(failure), _) => Err(failure.clone().into()),
            (None, Some(done)) => done,
            (None, None) => Err(Error::Closed.into()),
        };
        // who asked may be gone; the write stands all the same
        let _ = self.reply.send(result);
    }
}

/// The door to the writer. The writer ends when the last clone is gone.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Write>>,
    close: Arc<watch::Sender<bool>>,
}

impl Writer {
    /// Starts the writer. It keeps the data directory until it is done.
    pub(crate) fn start(
        db: SqliteConnection,
        changes: broadcast::Sender<Change>,
        data_dir: Arc<DataDir>,
    ) -> Self {
        let (queue, requests) = mpsc::channel(QUEUE);
        let (close, closing) = watch::channel(false);
        tokio::spawn(serve(db, requests, closing, changes, data_dir));
        Self { queue, close: Arc::new(close) }
    }

    pub(crate) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<Error> + Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> Job<'t, Result<T, E>> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let request = Request { work: Some(work), result: None, reply };
        self.queue.send(Box::new(request)).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }

    /// Waits until everything that was asked for is done and the database is closed.
    pub(crate) async fn close(self) {
        self.close.send_replace(true);
        self.queue.closed().await;
        self.close.closed().await;
    }
}

async fn serve(
    db: SqliteConnection,
    mut requests: mpsc::Receiver<Box<dyn Write>>,
    mut closing: watch::Receiver<bool>,
    changes: broadcast::Sender<Change>,
    data_dir: Arc<DataDir>,
) {
    let mut db = Some(db);
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let received = tokio::select! {
            biased;
            received = requests.recv_many(&mut batch, BATCH) => received,
            // what is in the queue by now is still carried out
            _ = closing.wait_for(|closing| *closing), if !requests.is_closed() => {
                requests.close();
                continue;
            }
        };
        if received == 0 {
            break;
        }
        let work = carry_out(db.take(), std::mem::take(&mut batch), changes.clone(), Arc::clone(&data_dir));
        // in its own task, so that a panic costs one batch (whose transaction ends with its connection) and
        // not the writer
        db = tokio::spawn(work).await.unwrap_or_else(|panic| {
            let reason = panic.try_into_panic().map(reason).unwrap_or_default();
            tracing::error!(reason, "a write panicked: it and those that shared its transaction were undone");
            None
        });
    }
    if let Some(db) = db
        && let Err(error) = db.close().await
    {
        tracing::warn!(%error, "the database was not closed in order; nothing is lost by that");
    }
    drop((data_dir, closing));
}

fn reason(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(panic) => panic.downcast_ref::<&str>().copied().unwrap_or_default().to_owned(),
    }
}

/// Carries out a batch and answers it. Returns the connection, if it can be used again.
async fn carry_out(
    db: Option<SqliteConnection>,
    mut batch: Vec<Box<dyn Write>>,
    changes: broadcast::Sender<Change>,
    data_dir: Arc<DataDir>,
) -> Option<SqliteConnection> {
    let (db, failure) = match transact(db, &mut batch, &data_dir).await {
        Ok(Tx { db, changes: committed }) => {
            // without a reader there is nobody to tell
            committed.into_iter().for_each(|change| drop(changes.send(change)));
            (Some(db), None)
        }
        Err(error) => {
            tracing::error!(%error, writes = batch.len(), "nothing was written");
            (None, Some(error))
        }
    };
    batch.into_iter().for_each(|write| write.answer(failure.as_ref()));
    db
}

/// All writes in one transaction. After an error there is no telling what is left of the transaction, so
/// its connection is dropped, and with it the transaction.
async fn transact(
    db: Option<SqliteConnection>,
    batch: &mut [Box<dyn Write>],
    data_dir: &DataDir,
) -> Result<Tx, Error> {
    let db = match db {
        Some(db) => db,
        None => sql::writer(&data_dir.database()).await?,
    };
    let mut tx = Tx { db, changes: Vec::new() };
    sql::begin(tx.sql()).await?;
    for write in batch {
        let published = tx.changes.len();
        sql::begin_write(tx.sql()).await?;
        if write.run(&mut tx).await {
            sql::keep_write(tx.sql()).await?;
        } else {
            sql::undo_write(tx.sql()).await?;
            tx.changes.truncate(published);
        }
    }
    sql::commit(tx.sql()).await?;
    Ok(tx)
}
