use std::collections::VecDeque;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName};
use url::Url;

use crate::http::unexpected;
use crate::sse::{Event, Parser};
use crate::{Client, ClientError};

const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long the head of an answer may take.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// Without a byte for so long, keep-alives included, a connection counts as dead: the other end may be gone without
/// a word.
const SILENCE: Duration = Duration::from_secs(60);

/// An event stream that connects again when it has to.
pub(super) struct Source {
    client: Client,
    url: Url,
    connection: Option<Connection>,
    outage: Option<Outage>,
    /// The server's wish for the first pause.
    retry: Option<Duration>,
}

struct Connection {
    body: BoxStream<'static, Result<Bytes, reqwest::Error>>,
    parser: Parser,
    events: VecDeque<Event>,
}

/// The time since the last event, while nothing works.
struct Outage {
    since: Instant,
    attempts: u32,
}

/// What comes from a stream.
pub(super) enum Incoming {
    Event(Event),
    /// The connection was lost; the next call connects again.
    Interrupted(ClientError),
}

impl Source {
    pub(super) fn new(client: Client, url: Url) -> Self {
        Self { client, url, connection: None, outage: None, retry: None }
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Forgets the connection: the next call asks anew for what comes after the given id.
    pub(super) fn disconnect(&mut self) {
        self.connection = None;
    }

    /// The next event. `last_event_id` is what a new connection asks to go on from.
    ///
    /// # Errors
    /// What does not pass by itself, and what did not pass for longer than the client's patience.
    pub(super) async fn next(&mut self, last_event_id: Option<&str>) -> Result<Incoming, ClientError> {
        loop {
            let lost = match &mut self.connection {
                None => match self.connect(last_event_id).await {
                    Ok(connection) => {
                        self.connection = Some(connection);
                        continue;
                    }
                    Err(error) if error.is_passing() => error,
                    Err(error) => return Err(error),
                },
                Some(connection) => match connection.next().await {
                    Ok(Some(event)) => {
                        self.retry = connection.parser.retry().map(Duration::from_millis);
                        self.outage = None;
                        return Ok(Incoming::Event(event));
                    }
                    // a silent connection is replaced without a word: nothing is known to be wrong
                    Ok(None) => {
                        self.connection = None;
                        continue;
                    }
                    Err(Lost::Ended) => self.client.lost("the connection was closed"),
                    Err(Lost::Failed(error)) if error.is_timeout() => self.client.unreachable(&error),
                    // how it broke off is the transport's own business
                    Err(Lost::Failed(_)) => self.client.lost("the connection broke off"),
                    Err(Lost::Unreadable(error)) => return Err(unexpected(&self.url, error)),
                },
            };
            self.connection = None;
            let outage = self.outage.get_or_insert_with(|| Outage { since: Instant::now(), attempts: 0 });
            if outage.since.elapsed() >= self.client.patience {
                return Err(lost);
            }
            outage.attempts += 1;
            if outage.attempts == 1 {
                return Ok(Incoming::Interrupted(lost));
            }
        }
    }

    async fn connect(&mut self, last_event_id: Option<&str>) -> Result<Connection, ClientError> {
        if let Some(outage) = &self.outage {
            let first = self.retry.unwrap_or(FIRST_PAUSE).min(LONGEST_PAUSE);
            let pause =
                first.saturating_mul(1 << outage.attempts.saturating_sub(1).min(16)).min(LONGEST_PAUSE);
            let left = self.client.patience.saturating_sub(outage.since.elapsed());
            tokio::time::sleep(pause.min(left)).await;
        }
        let mut request = self.client.request(Method::GET, &self.url).header(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_event_id {
            request = request.header(LAST_EVENT_ID, id);
        }
        let answer = tokio::time::timeout(HEAD_TIMEOUT, self.client.send(request, &self.url)).await;
        let response = answer.unwrap_or_else(|_| Err(self.client.lost("no answer in time")))?;
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|given| given.starts_with(EVENT_STREAM)) {
            let given = content_type.unwrap_or("nothing");
            return Err(unexpected(
                &self.url,
                format_args!("it sends {given} where an event stream belongs"),
            ));
        }
        Ok(Connection {
            body: response.bytes_stream().boxed(),
            parser: Parser::new(),
            events: VecDeque::new(),
        })
    }
}

enum Lost {
    Ended,
    Failed(reqwest::Error),
    Unreadable(crate::sse::TooLarge),
}

impl Connection {
    /// `None`: nothing came for a long time.
    async fn next(&mut self) -> Result<Option<Event>, Lost> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            match tokio::time::timeout(SILENCE, self.body.next()).await {
                Err(_) => return Ok(None),
                Ok(None) => return Err(Lost::Ended),
                Ok(Some(Err(error))) => return Err(Lost::Failed(error)),
                Ok(Some(Ok(bytes))) => {
                    self.events.extend(self.parser.feed(&bytes).map_err(Lost::Unreadable)?)
                }
            }
        }
    }
}
