use futures::stream::{BoxStream, StreamExt as _};

use super::Update;
use super::source::{Incoming, Source};
use crate::http::unexpected;
use crate::runs::INCLUDE;
use crate::{Client, ClientError, Run};

impl Client {
    /// The run as it is now, and again whenever something about it changed, until it is final. What changed twice in
    /// a short time may come once.
    ///
    /// It ends after an error.
    pub fn follow_run(&self, run_id: &str) -> BoxStream<'static, Result<Update<Run>, ClientError>> {
        let mut url = self.own(["runs", run_id, "events"]);
        url.query_pairs_mut().append_pair(INCLUDE.0, INCLUDE.1);
        let follower =
            Follower { source: Source::new(self.clone(), url), last: None, last_id: None, over: false };
        futures::stream::unfold(follower, |mut follower| async move {
            let update = follower.next().await.transpose()?;
            Some((update, follower))
        })
        .boxed()
    }
}

struct Follower {
    source: Source,
    /// As it was told last; a new connection starts with what is known already.
    last: Option<Run>,
    last_id: Option<String>,
    over: bool,
}

impl Follower {
    async fn next(&mut self) -> Result<Option<Update<Run>>, ClientError> {
        while !self.over {
            let event = match self.source.next(self.last_id.as_deref()).await {
                Ok(Incoming::Event(event)) => event,
                Ok(Incoming::Interrupted(why)) => return Ok(Some(Update::Interrupted(why))),
                Err(error) => {
                    self.over = true;
                    return Err(error);
                }
            };
            self.last_id = event.id.filter(|id| !id.is_empty());
            if event.name != "run" {
                continue;
            }
            let run = Run::from_document(&event.data).map_err(|why| {
                self.over = true;
                unexpected(self.source.url(), why)
            })?;
            self.over = run.is_final();
            if self.last.as_ref() != Some(&run) {
                self.last = Some(run.clone());
                return Ok(Some(Update::New(run)));
            }
        }
        Ok(None)
    }
}
