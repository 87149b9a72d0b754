//! Large contents, which are worked on away from the runtime.

use crate::jsonapi::{ApiError, Result};

/// Work on a large document, where it holds up nobody.
pub(crate) async fn parsed<T, E>(work: impl FnOnce() -> Result<T, E> + Send + 'static) -> Result<T>
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
