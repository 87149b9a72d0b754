//! Large contents on their way in and out: piece by piece, or through a file without a name.

use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, header};
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use serde::Serialize;
use store::{Blob, Blobs};

use crate::jsonapi::{ApiError, Result};

/// What is read from a file at once.
const PIECE: u64 = 256 * 1024;

/// A body, and its length.
pub(crate) struct Spooled {
    pub(crate) body: Body,
    pub(crate) length: u64,
}

/// A blob, piece by piece.
pub(crate) fn blob(blob: Blob) -> Spooled {
    let length = blob.len();
    let pieces = stream::try_unfold((Arc::new(blob), 0), move |(blob, offset)| async move {
        if offset >= length {
            return Ok::<_, io::Error>(None);
        }
        let from = Arc::clone(&blob);
        let read = move || {
            let size = usize::try_from((length - offset).min(PIECE)).map_err(io::Error::other)?;
            let mut piece = vec![0; size];
            from.read_exact_at(&mut piece, offset).map(|()| piece)
        };
        let piece = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
        let next = offset + piece.len() as u64;
        Ok(Some((Bytes::from(piece), (blob, next))))
    });
    Spooled { body: Body::from_stream(pieces), length }
}

/// What this writes. A little stays in memory; more goes into a file, from which it is read when somebody does.
pub(crate) async fn written<E>(
    blobs: &Blobs,
    write: impl FnOnce(&mut dyn Write) -> Result<(), E> + Send + 'static,
) -> Result<Spooled>
where
    E: Into<io::Error> + Send + 'static,
{
    let scratch = blobs.scratch();
    let work = move || {
        let mut into = BufWriter::with_capacity(16 * 1024, scratch);
        write(&mut into).map_err(Into::into)?;
        Ok(into.into_inner().map_err(io::IntoInnerError::into_error)?.finish())
    };
    let done: io::Result<_> = tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?;
    let done = done??;
    Ok(match done.into_memory() {
        Ok(bytes) => Spooled { length: bytes.len() as u64, body: bytes.into() },
        Err(done) => blob(done),
    })
}

/// A document as JSON.
pub(crate) async fn json<D: Serialize + Send + 'static>(blobs: &Blobs, document: D) -> Result<Spooled> {
    written(blobs, move |into| serde_json::to_writer(into, &document)).await
}

/// Limits of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Its bytes.
    pub(crate) size: u64,
    /// From its first byte to its last.
    pub(crate) time: Duration,
}

/// Writes a body somewhere, piece by piece.
///
/// # Errors
/// 413 and 408 past the limits; 400 when it breaks off; those of the writer.
pub(crate) async fn receive<W: Write + Send + 'static>(
    headers: &HeaderMap,
    body: Body,
    limits: Limits,
    into: W,
) -> Result<W> {
    // who says that it will be too much need not send it
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > limits.size) {
        drain(body.into_data_stream());
        return Err(ApiError::too_large(limits.size));
    }
    tokio::time::timeout(limits.time, receive_all(body, limits.size, into))
        .await
        .map_err(|_| ApiError::too_slow(limits.time))?
}

/// How long the rest of a body is read that is not wanted.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// Reads what still comes and throws it away. A connection that is closed over unread bytes is reset, and then who sends
/// them may never see the answer that says why.
fn drain(mut body: BodyDataStream) {
    tokio::spawn(tokio::time::timeout(
        DRAIN_TIME,
        async move { while let Some(Ok(_)) = body.next().await {} },
    ));
}

async fn receive_all<W: Write + Send + 'static>(body: Body, limit: u64, mut into: W) -> Result<W> {
    let mut body = body.into_data_stream();
    let mut received = 0;
    let mut pending = Vec::new();
    loop {
        let piece = match body.next().await {
            Some(Ok(piece)) => Some(piece),
            Some(Err(_)) => return Err(ApiError::bad_request("the body could not be read to its end")),
            None => None,
        };
        if let Some(piece) = &piece {
            received += piece.len() as u64;
            if received > limit {
                drain(body);
                return Err(ApiError::too_large(limit));
            }
            pending.extend_from_slice(piece);
        }
        if pending.len() as u64 >= PIECE || piece.is_none() {
            let bytes = std::mem::take(&mut pending);
            let write = move || into.write_all(&bytes).map(|()| into);
            into = tokio::task::spawn_blocking(write).await.map_err(io::Error::other)??;
        }
        if piece.is_none() {
            return Ok(into);
        }
    }
}
