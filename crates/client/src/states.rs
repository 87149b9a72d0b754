use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use url::Url;
use wire::{Attributes as _, Body, NewStateVersion, StateVersion, StateVersionAttributes};

use crate::http::unexpected;
use crate::{Client, ClientError};

impl Client {
    /// The current state of a workspace as terraform wrote it; `None` if the daemon keeps none.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn current_state(&self, workspace_id: &str) -> Result<Option<Vec<u8>>, ClientError> {
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
    /// [`ClientError::Invalid`] for what is not a state, and the others.
    pub async fn push_state(
        &self,
        workspace_id: &str,
        state: &[u8],
        force: bool,
    ) -> Result<StateVersion, ClientError> {
        let state = Some(BASE64_STANDARD.encode(state));
        let attributes = NewStateVersion { state, force, ..NewStateVersion::default() };
        let body = Body::new(StateVersionAttributes::TYPE, attributes);
        self.post(self.v2(["workspaces", workspace_id, "state-versions"]), &body).await
    }
}
