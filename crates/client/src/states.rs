use std::io;
use std::path::Path;

use md5::{Digest as _, Md5};
use wire::{Attributes as _, Body, NewStateVersion, StateOutput, StateVersion, StateVersionAttributes};

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
        let missing = || unexpected(&url, "it does not say where the state is");
        let address = version.attributes.hosted_state_download_url.as_deref().ok_or_else(missing)?;
        self.bytes(self.given(address, &url)?, &[]).await.map(Some)
    }

    /// The outputs of the current state of a workspace, without the values of those that are sensitive; `None` if the daemon
    /// keeps no state.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn current_outputs(&self, workspace_id: &str) -> Result<Option<Vec<StateOutput>>, ClientError> {
        let url = self.v2(["workspaces", workspace_id, "current-state-version-outputs"]);
        match self.list(url, &[]).await {
            Ok(page) => Ok(Some(page.items)),
            Err(ClientError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// One output, with its value.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn output(&self, id: &str) -> Result<StateOutput, ClientError> {
        self.get(self.v2(["state-version-outputs", id]), &[]).await
    }

    /// Makes the state in a file the workspace's new state version. The workspace has to be locked by the user, or by
    /// signalbox for a state that it could not keep. `force` takes one of another lineage, or another with the same serial.
    ///
    /// The state is announced with its MD5 and sent then, piece by piece, so that it may be of any size.
    ///
    /// # Errors
    /// [`ClientError::Conflict`] if it is not locked by them, or if the state does not continue the current one;
    /// [`ClientError::Invalid`] for what is not a state; [`ClientError::File`] when the file can't be read, and the others.
    pub async fn push_state(
        &self,
        workspace_id: &str,
        file: &Path,
        force: bool,
    ) -> Result<StateVersion, ClientError> {
        let unreadable = |why: io::Error| ClientError::File { path: file.to_owned(), why: why.to_string() };
        let path = file.to_owned();
        let summed = tokio::task::spawn_blocking(move || {
            let mut file = std::fs::File::open(path)?;
            let mut sum = Summed(Md5::new());
            let length = io::copy(&mut file, &mut sum)?;
            Ok((text::hex(&sum.0.finalize()), length))
        });
        let (md5, length) = summed.await.map_err(io::Error::other).flatten().map_err(unreadable)?;
        let attributes = NewStateVersion { md5: Some(md5), force, ..NewStateVersion::default() };
        let body = Body::new(StateVersionAttributes::TYPE, attributes);
        let url = self.v2(["workspaces", workspace_id, "state-versions"]);
        let announced: StateVersion = self.post(url.clone(), &body).await?;
        let missing = || unexpected(&url, "it does not say where the state is to be sent");
        let address = announced.attributes.hosted_state_upload_url.as_deref().ok_or_else(missing)?;
        let opened = tokio::fs::File::open(file).await.map_err(unreadable)?;
        self.put_file(self.given(address, &url)?, opened, length).await?;
        self.get(self.v2(["state-versions", &announced.id]), &[]).await
    }
}

/// What is written is summed.
struct Summed(Md5);

impl io::Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
