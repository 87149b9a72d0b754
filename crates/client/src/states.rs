use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::json;
use url::Url;

use crate::document::{FromResource, Included, Resource, Result};
use crate::http::unexpected;
use crate::{Client, ClientError};

/// A state version, as far as it matters to clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateVersion {
    /// `sv-…`.
    pub id: String,
    /// Counts the changes of the state.
    pub serial: u64,
    hosted_state_download_url: String,
}

impl FromResource for StateVersion {
    const KIND: &'static str = "state-versions";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        struct Attributes {
            serial: u64,
            hosted_state_download_url: String,
        }
        let Attributes { serial, hosted_state_download_url } = resource.attributes()?;
        Ok(Self { id: resource.id.clone(), serial, hosted_state_download_url })
    }
}

impl Client {
    /// The current state of a workspace as terraform wrote it; `None` if the daemon keeps none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn current_state(
        &self,
        workspace_id: &str,
    ) -> std::result::Result<Option<Vec<u8>>, ClientError> {
        let url = self.v2(["workspaces", workspace_id, "current-state-version"]);
        let version: StateVersion = match self.get(url.clone(), &[]).await {
            Ok(version) => version,
            Err(ClientError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let address = Url::options()
            .base_url(Some(self.address()))
            .parse(&version.hosted_state_download_url)
            .map_err(|error| unexpected(&url, format_args!("the address of a state: {error}")))?;
        self.bytes(address, &[]).await.map(Some)
    }

    /// Makes a state the workspace's new state version. The workspace has to be locked by the user, or by signalbox for a
    /// state that it could not keep. `force` takes one of another lineage, or another with the same serial.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is not locked by them, or if the state does not continue the current one;
    /// [`ClientError::Invalid`] for what is no state, and the others.
    pub async fn push_state(
        &self,
        workspace_id: &str,
        state: &[u8],
        force: bool,
    ) -> std::result::Result<StateVersion, ClientError> {
        let attributes = json!({ "state": BASE64_STANDARD.encode(state), "force": force });
        let body = json!({ "data": { "type": "state-versions", "attributes": attributes } });
        self.post(self.v2(["workspaces", workspace_id, "state-versions"]), &body).await
    }
}
