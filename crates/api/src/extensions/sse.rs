//! A stream of server-sent events: a task that writes, and ends when its reader hangs up or the daemon
//! stops.

use std::convert::Infallible;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::IntoResponse as _;
use axum::response::sse::{Event, KeepAlive, Sse};
use lifecycle::id::{RunId, WorkspaceId};
use serde::Serialize;
use store::Change;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

use crate::ApiState;
use crate::jsonapi::{ApiError, Query, Result};
use crate::operation::{EventStream, Raw};

/// Events that wait for a reader that is slow; then the writer waits.
const WAITING: usize = 8;

/// How often something is read again though nobody said that it had changed.
pub(super) const REREAD: Duration = Duration::from_secs(5);

/// Where a stream's events go.
#[derive(Clone)]
pub(super) struct Outlet(mpsc::Sender<Event>);

/// Why a stream ends before its end: the reader comes back and goes on from where it was.
pub(super) struct Broken;

impl From<ApiError> for Broken {
    fn from(_: ApiError) -> Self {
        Self
    }
}

impl From<store::Error> for Broken {
    fn from(error: store::Error) -> Self {
        ApiError::from(error).into()
    }
}

impl From<std::io::Error> for Broken {
    fn from(error: std::io::Error) -> Self {
        ApiError::from(error).into()
    }
}

impl Outlet {
    /// Sends an event; waits while the reader is slow.
    pub(super) async fn send(
        &self,
        event: &str,
        id: Option<String>,
        data: &impl Serialize,
    ) -> Result<(), Broken> {
        let mut sent = Event::default().event(event).json_data(data).map_err(|_| Broken)?;
        if let Some(id) = id {
            sent = sent.id(id);
        }
        self.0.send(sent).await.map_err(|_| Broken)
    }
}

/// The answer whose events `work` writes.
pub(super) fn response<D, W, F>(api: &ApiState, work: W) -> Raw<EventStream<D>>
where
    W: FnOnce(Outlet) -> F,
    F: Future<Output = Result<(), Broken>> + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(WAITING);
    let shutdown = api.shutdown().clone();
    let work = work(Outlet(sender.clone()));
    tokio::spawn(async move {
        tokio::select! {
            () = shutdown.cancelled() => {}
            () = sender.closed() => {}
            _ = work => {}
        }
    });
    let events = ReceiverStream::new(receiver).map(Ok::<_, Infallible>);
    let unbuffered = [(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"))];
    (unbuffered, Sse::new(events).keep_alive(KeepAlive::default())).into_response().into()
}

/// Where a reader goes on: `Last-Event-ID`, or else this parameter.
pub(super) fn resume<T: std::str::FromStr>(
    headers: &HeaderMap,
    query: &Query,
    parameter: &str,
) -> Result<Option<T>> {
    match headers.get("last-event-id").filter(|id| !id.is_empty()) {
        None => query.number(parameter),
        Some(id) => {
            let id = id.to_str().ok().and_then(|id| id.trim().parse().ok());
            id.map(Some).ok_or_else(|| {
                ApiError::bad_request("Last-Event-ID is not an id that was given by this stream")
            })
        }
    }
}

/// Waits for the next change of this run, of anything in this workspace, or of something that was missed.
pub(super) async fn changed(
    changes: &mut broadcast::Receiver<Change>,
    run: RunId,
    place: Option<WorkspaceId>,
) -> Result<(), Broken> {
    loop {
        match changes.recv().await {
            Ok(Change::Run { run: changed, .. }) if changed == run => return Ok(()),
            Ok(Change::Run { workspace, .. } | Change::Workspace { id: workspace })
                if place == Some(workspace) =>
            {
                return Ok(());
            }
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return Ok(()),
            Err(RecvError::Closed) => return Err(Broken),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_event_id_goes_before_the_parameter() {
        let resumed = |id: Option<&'static str>, query: &str| {
            let headers =
                id.map(|id| (HeaderName::from_static("last-event-id"), HeaderValue::from_static(id)));
            resume::<u64>(&headers.into_iter().collect(), &Query::parse("/", query), "offset")
        };
        assert_eq!(resumed(None, ""), Ok(None));
        assert_eq!(resumed(None, "offset=7"), Ok(Some(7)));
        assert_eq!(resumed(Some("12"), "offset=7"), Ok(Some(12)));
        assert_eq!(resumed(Some(""), "offset=7"), Ok(Some(7)));
        assert_eq!(resumed(Some("x"), "").unwrap_err().status(), 400);
        assert_eq!(resumed(None, "offset=-1").unwrap_err().status(), 400);
    }
}
