//! A log as it grows. Offsets are of the file itself: no marks.

use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::{Log, LogTail};
use lifecycle::Stage;
use lifecycle::id::RunId;
use store::Run;
use tokio::time::sleep;
use wire::{LogEndEvent, LogEvent};

use super::sse::{self, Broken, Outlet, REREAD};
use crate::ApiState;
use crate::document::stage::is_over;
use crate::jsonapi::{Result, User};
use crate::log;
use crate::operation::{Ask, EventStream, OnStage, Raw};
use crate::reader::Reader;

/// `log` events: `id` is the offset after the piece, `data` has its `offset` and its bytes in base64. Then
/// one `end` with the length of the whole.
pub(super) async fn stream(on: OnStage, ask: Ask) -> Result<Raw<EventStream<LogEvent>>> {
    let offset = sse::resume(&ask.headers, &ask.query, "offset")?.unwrap_or(0);
    let (run, stage, Reader { api, user }) = (on.run, on.stage, on.reader);
    let follower = Follower { api: api.clone(), user, run, stage, file: None, tail: None, offset };
    Ok(sse::response(&api, |outlet| follower.follow(outlet)))
}

struct Follower {
    api: ApiState,
    user: User,
    run: RunId,
    stage: Stage,
    /// Kept open from when there is one: it stays the same file, whatever its name.
    file: Option<Arc<Log>>,
    /// While its stage works.
    tail: Option<LogTail>,
    offset: u64,
}

impl Follower {
    async fn follow(mut self, outlet: Outlet) -> Result<(), Broken> {
        let mut changes = self.api.store().changes();
        loop {
            // the record before the file: when it says that the stage is over, the file is complete
            let user = self.user.now(&self.api).ok_or(Broken)?;
            let reader = Reader { api: self.api.clone(), user };
            let (run, workspace) = reader.run(self.run).await?;
            let over = is_over(&run, self.stage, reader.user.policies(&workspace));
            // and the tail before the file, so that nothing is written unseen in between
            let works = run.state.execution().is_some_and(|(stage, _)| stage == self.stage);
            self.tail = works.then(|| self.tail.take().unwrap_or_else(|| self.tail_log()));
            let length = self.pass_on(&run, over, &outlet).await?;
            if over {
                return outlet.send("end", None, &LogEndEvent { offset: length }).await;
            }
            let mut reread = std::pin::pin!(sleep(REREAD));
            loop {
                tokio::select! {
                    changed = sse::changed(&mut changes, self.run, None) => break changed?,
                    () = &mut reread => break,
                    () = grown(&mut self.tail) => {}
                }
                self.pass_on(&run, false, &outlet).await?;
            }
        }
    }

    fn tail_log(&self) -> LogTail {
        self.api.engine().tail_log(self.run, self.stage)
    }

    /// Sends what has come since, and says how long the file is.
    async fn pass_on(&mut self, run: &Run, over: bool, outlet: &Outlet) -> Result<u64, Broken> {
        if self.file.is_none() {
            self.file = self.api.engine().open_log(run, self.stage).await?.map(Arc::new);
        }
        let Some(file) = &self.file else { return Ok(0) };
        let length = file.len(over)?;
        while self.offset < length {
            let bytes = log::read(file, self.offset, log::MAX_LIMIT).await?;
            if bytes.is_empty() {
                return Err(Broken);
            }
            let data = LogEvent { offset: self.offset, data: BASE64_STANDARD.encode(&bytes) };
            self.offset += bytes.len() as u64;
            outlet.send("log", Some(self.offset.to_string()), &data).await?;
        }
        Ok(length)
    }
}

/// Waits until the log may have grown, for ever if nobody writes it.
async fn grown(tail: &mut Option<LogTail>) {
    match tail {
        Some(tail) => tail.grown().await,
        None => std::future::pending().await,
    }
}
