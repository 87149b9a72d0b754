//! Contents: blobs as answers, and large documents that are read away from the runtime.

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use store::Digest;
use tokio_util::io::ReaderStream;

use crate::ApiState;
use crate::jsonapi::{ApiError, Result};

type Headers = [(HeaderName, HeaderValue); 2];

/// A blob, passed on piece by piece.
pub(super) async fn blob(
    api: &ApiState,
    digest: Digest,
    media_type: &'static str,
) -> Result<impl IntoResponse + use<>> {
    let file = api.store().blobs().open(digest).await?;
    let length = file.metadata().await?.len();
    let body = Body::from_stream(ReaderStream::with_capacity(file, 64 * 1024));
    let headers: Headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_LENGTH, length.into()),
    ];
    Ok((headers, body))
}

/// Work on a large document, where it holds up nobody.
pub(super) async fn parsed<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T>
where
    T: Send + 'static,
    E: std::fmt::Display + Send + 'static,
{
    let done = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)?;
    done.map_err(|error| {
        tracing::error!(%error, "a stored document can't be read");
        ApiError::internal()
    })
}
