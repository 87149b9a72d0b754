use std::sync::Arc;

use engine::Engine;
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::RunId;
use store::Records;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::jsonapi::{LogKey, LogKeyError};

/// What the endpoints work with. Clones are cheap and share everything.
#[derive(Clone)]
pub struct ApiState(Arc<Inner>);

struct Inner {
    engine: Engine,
    /// Without a slash at its end.
    public_url: String,
    log_key: LogKey,
    shutdown: CancellationToken,
}

impl ApiState {
    /// Over this engine, reached by clients under `public_url`. Streams end when `shutdown` is cancelled.
    ///
    /// # Errors
    /// [`LogKeyError`] when the key of the addresses of logs can't be read from or made in the data directory.
    pub fn new(engine: Engine, public_url: &Url, shutdown: CancellationToken) -> Result<Self, LogKeyError> {
        let log_key = LogKey::load_or_create(&engine.config().server.data_dir)?;
        let public_url = public_url.as_str().trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Inner { engine, public_url, log_key, shutdown })))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn store(&self) -> &Records {
        self.0.engine.store()
    }

    pub(crate) fn log_key(&self) -> &LogKey {
        &self.0.log_key
    }

    pub(crate) fn shutdown(&self) -> &CancellationToken {
        &self.0.shutdown
    }

    /// The absolute address of a path, as clients reach it.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.0.public_url)
    }

    /// The address of a log, which carries its own permission for a day.
    pub(crate) fn log_read_url(&self, run: RunId, stage: Stage) -> String {
        self.url(&format!("/logs/{run}/{stage}/{}", self.0.log_key.secret(run, stage, Timestamp::now())))
    }
}
