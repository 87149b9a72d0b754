use std::sync::Arc;

use engine::Engine;
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::{RunId, StateVersionId};
use store::Records;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::budget::Budget;
use crate::jsonapi::{AddressKey, AddressKeyError, Subject};

/// What the endpoints work with. Clones are cheap and share everything.
#[derive(Clone)]
pub struct ApiState(Arc<Inner>);

struct Inner {
    engine: Engine,
    /// Without a slash at its end.
    public_url: String,
    address_key: AddressKey,
    shutdown: CancellationToken,
    budget: Budget,
}

impl ApiState {
    /// Over this engine, reached by clients under `public_url`. Streams end when `shutdown` is cancelled.
    ///
    /// # Errors
    /// [`AddressKeyError`] when the key of addresses can't be read from or made in the data directory.
    pub fn new(
        engine: Engine,
        public_url: &Url,
        shutdown: CancellationToken,
    ) -> Result<Self, AddressKeyError> {
        let address_key = AddressKey::load_or_create(&engine.config().server.data_dir)?;
        let public_url = public_url.as_str().trim_end_matches('/').to_owned();
        Ok(Self(Arc::new(Inner { engine, public_url, address_key, shutdown, budget: Budget::default() })))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn store(&self) -> &Records {
        self.0.engine.store()
    }

    pub(crate) fn address_key(&self) -> &AddressKey {
        &self.0.address_key
    }

    /// The memory that requests may have together.
    pub(crate) fn budget(&self) -> &Budget {
        &self.0.budget
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
        self.with_secret(&format!("/logs/{run}/{stage}"), Subject::Log(run, stage))
    }

    /// Where the bytes of a state are sent, for a day.
    pub(crate) fn state_upload_url(&self, id: StateVersionId) -> String {
        self.with_secret(&format!("/uploads/state-versions/{id}/state"), Subject::StateUpload(id))
    }

    /// The same of its JSON.
    pub(crate) fn state_json_upload_url(&self, id: StateVersionId) -> String {
        self.with_secret(&format!("/uploads/state-versions/{id}/json-state"), Subject::StateJsonUpload(id))
    }

    fn with_secret(&self, path: &str, subject: Subject) -> String {
        self.url(&format!("{path}/{}", self.0.address_key.secret(subject, Timestamp::now())))
    }
}
