use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _};
use wire::LogEvent;

use super::Update;
use super::source::{Incoming, Source};
use crate::http::unexpected;
use crate::sse::Event;
use crate::{Client, ClientError, Stage};

/// How often in a row the daemon may leave bytes out before it is not believed any more.
const GAPS: u32 = 5;

/// A piece of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// The place of its first byte in the log.
    pub offset: u64,
    /// The bytes as terraform wrote them.
    pub bytes: Bytes,
}

impl Client {
    /// The log of a stage from `offset` on, as it is written, until it is complete. The pieces follow on each other
    /// without a gap and without an overlap. A stage that the run has not come to is waited for; the stream ends
    /// without a piece if the run never comes to it.
    ///
    /// It ends after an error.
    pub fn follow_log(
        &self,
        run_id: &str,
        stage: Stage,
        offset: u64,
    ) -> BoxStream<'static, Result<Update<LogChunk>, ClientError>> {
        let url = self.own(["runs", run_id, "logs", stage.as_str(), "stream"]);
        let follower =
            Follower { source: Source::new(self.clone(), url), position: offset, gaps: 0, over: false };
        futures::stream::unfold(follower, |mut follower| async move {
            let update = follower.next().await.transpose()?;
            Some((update, follower))
        })
        .boxed()
    }
}

struct Follower {
    source: Source,
    /// The place of the first byte that was not given yet.
    position: u64,
    gaps: u32,
    over: bool,
}

impl Follower {
    async fn next(&mut self) -> Result<Option<Update<LogChunk>>, ClientError> {
        while !self.over {
            let position = (self.position > 0).then(|| self.position.to_string());
            let event = match self.source.next(position.as_deref()).await {
                Ok(Incoming::Event(event)) => event,
                Ok(Incoming::Interrupted(why)) => return Ok(Some(Update::Interrupted(why))),
                Err(error) => return self.end(error),
            };
            match event.name.as_str() {
                "end" => self.over = true,
                "log" => match piece(&event, self.position) {
                    Ok(Piece::New(chunk)) => {
                        self.gaps = 0;
                        self.position = chunk.offset + chunk.bytes.len() as u64;
                        return Ok(Some(Update::New(chunk)));
                    }
                    Ok(Piece::Known) => {}
                    Ok(Piece::Gap { .. }) if self.gaps < GAPS => {
                        self.gaps += 1;
                        self.source.disconnect();
                    }
                    Ok(Piece::Gap { from }) => {
                        let why = format!("it left out the bytes {} to {from} of a log", self.position);
                        return self.end(unexpected(self.source.url(), why));
                    }
                    Err(why) => return self.end(unexpected(self.source.url(), why)),
                },
                _ => {}
            }
        }
        Ok(None)
    }

    fn end<T>(&mut self, error: ClientError) -> Result<T, ClientError> {
        self.over = true;
        Err(error)
    }
}

/// What an event brings to who has everything before `position`.
#[derive(Debug, PartialEq, Eq)]
enum Piece {
    New(LogChunk),
    Known,
    Gap { from: u64 },
}

fn piece(event: &Event, position: u64) -> Result<Piece, String> {
    let LogEvent { offset, data } = serde_json::from_str(&event.data)
        .map_err(|error| format!("an event of the log is not readable: {error}"))?;
    let bytes =
        STANDARD.decode(data).map_err(|error| format!("an event of the log is not base64: {error}"))?;
    let Some(end) = offset.checked_add(bytes.len() as u64) else {
        return Err("an event of the log lies beyond any log".to_owned());
    };
    if let Some(id) = &event.id
        && id.parse() != Ok(end)
    {
        return Err(format!("an event of the log says that it ends at {id}, and ends at {end}"));
    }
    if offset > position {
        return Ok(Piece::Gap { from: offset });
    }
    let known = usize::try_from(position - offset).unwrap_or(usize::MAX);
    if known >= bytes.len() {
        return Ok(Piece::Known);
    }
    Ok(Piece::New(LogChunk { offset: position, bytes: Bytes::from(bytes).slice(known..) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(offset: u64, bytes: &[u8], id: Option<u64>) -> Event {
        let data = serde_json::json!({ "offset": offset, "data": STANDARD.encode(bytes) });
        Event { name: "log".into(), data: data.to_string(), id: id.map(|id| id.to_string()) }
    }

    #[test]
    fn only_what_is_new_is_given() {
        let new =
            |offset, bytes: &'static [u8]| Piece::New(LogChunk { offset, bytes: Bytes::from_static(bytes) });
        let table = [(0, new(0, b"plan")), (2, new(2, b"an")), (4, Piece::Known), (9, Piece::Known)];
        for (position, expected) in table {
            assert_eq!(piece(&event(0, b"plan", Some(4)), position), Ok(expected), "{position}");
        }
        assert_eq!(piece(&event(7, b"plan", Some(11)), 5), Ok(Piece::Gap { from: 7 }));
        assert_eq!(piece(&event(5, b"", None), 5), Ok(Piece::Known));
    }

    #[test]
    fn what_contradicts_itself_is_not_believed() {
        let unreadable = Event { name: "log".into(), data: "plan".into(), id: None };
        let no_base64 = Event { data: r#"{"offset":0,"data":"§"}"#.into(), ..unreadable.clone() };
        for event in [unreadable, no_base64, event(0, b"plan", Some(5)), event(u64::MAX, b"plan", None)] {
            assert!(piece(&event, 0).is_err(), "{event:?}");
        }
    }
}
