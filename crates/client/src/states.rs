use serde::Deserialize;
use url::Url;

use crate::document::{FromResource, Included, Resource, Result};
use crate::http::unexpected;
use crate::{Client, ClientError};

/// A state version, as far as it is needed to get at the state itself.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StateVersion {
    hosted_state_download_url: String,
}

impl FromResource for StateVersion {
    const KIND: &'static str = "state-versions";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        resource.attributes()
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
}
