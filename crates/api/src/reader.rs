//! Looking things up by what a request names.

use std::collections::{BTreeSet, HashMap};

use engine::Refusal;
use lifecycle::access::Action;
use lifecycle::id::{ConfigurationVersionId, Id, Kind, RunEventId, StateVersionId, WorkspaceId};
use store::{ConfigurationVersion, JournalEntry, Run, StateOutput, StateUpload, StateVersion, Workspace};

use crate::ApiState;
use crate::document::state_version;
use crate::jsonapi::{ApiError, Result, User};
use crate::org_queue::OrgQueue;

/// One user's view of what is in the store: the one place where things are looked up by what a request names.
///
/// Everything belongs to a workspace, and is there for whoever may read that workspace. Errors name a missing thing by
/// what the request called it.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) api: ApiState,
    pub(crate) user: User,
}

impl Reader {
    /// The run and its workspace. A plan, an apply and a policy check are parts of their run, and name it.
    pub(crate) async fn run<K: Kind>(&self, id: Id<K>) -> Result<(Run, Workspace)> {
        self.run_for(id, Action::Read).await
    }

    /// The same, if the user may do this.
    pub(crate) async fn run_for<K: Kind>(&self, id: Id<K>, action: Action) -> Result<(Run, Workspace)> {
        let found = self.api.engine().run_for(&self.user.name, id.sibling(), action).await;
        found.map_err(|refusal| match refusal {
            Refusal::NotFound { .. } => ApiError::not_found(id.described()),
            other => other.into(),
        })
    }

    /// The workspace, if the user may do this in it.
    pub(crate) async fn workspace_for(&self, id: WorkspaceId, action: Action) -> Result<Workspace> {
        Ok(self.api.engine().workspace_for(&self.user.name, id, action).await?)
    }

    /// The workspace of this name, if the user may do this in it.
    pub(crate) async fn workspace_by_name_for(&self, name: &str, action: Action) -> Result<Workspace> {
        let not_found = || ApiError::not_found(format_args!("workspace {name:.64}"));
        let workspace = self.api.store().workspace_by_name(name).await?.ok_or_else(not_found)?;
        self.allowed(workspace, action, not_found).await
    }

    /// The state version and its workspace. `described` is how the request named it.
    pub(crate) async fn state_version(
        &self,
        id: StateVersionId,
        described: impl Fn() -> String,
        action: Action,
    ) -> Result<(StateVersion, Workspace)> {
        let not_found = || ApiError::not_found(described());
        let version = present(self.api.store().state_version(id).await, not_found)?;
        let workspace = self.within(version.workspace, action, not_found).await?;
        Ok((version, workspace))
    }

    /// The state version that was announced under this id and has not come yet, if there is one for the user.
    pub(crate) async fn state_upload(
        &self,
        id: StateVersionId,
        action: Action,
    ) -> Result<Option<StateUpload>> {
        let upload = match self.api.store().state_upload(id).await {
            Err(store::Error::NotFound(_)) => return Ok(None),
            found => found?,
        };
        self.within(upload.workspace, action, || ApiError::not_found(id.described())).await?;
        Ok(Some(upload))
    }

    /// The configuration version.
    pub(crate) async fn configuration_version(
        &self,
        id: ConfigurationVersionId,
        action: Action,
    ) -> Result<ConfigurationVersion> {
        let not_found = || ApiError::not_found(id.described());
        let version = present(self.api.store().configuration_version(id).await, not_found)?;
        self.within(version.workspace, action, not_found).await?;
        Ok(version)
    }

    /// The entry of a run's journal.
    pub(crate) async fn run_event(&self, id: RunEventId, action: Action) -> Result<JournalEntry> {
        let not_found = || ApiError::not_found(id.described());
        let entry = present(self.api.store().journal_entry(id).await, not_found)?;
        let run = present(self.api.store().run(entry.run).await, not_found)?;
        self.within(run.workspace, action, not_found).await?;
        Ok(entry)
    }

    /// The workspace that a record lies in, if the user may do this there.
    async fn within(
        &self,
        workspace: WorkspaceId,
        action: Action,
        not_found: impl Fn() -> ApiError,
    ) -> Result<Workspace> {
        let workspace = present(self.api.store().workspace(workspace).await, &not_found)?;
        self.allowed(workspace, action, not_found).await
    }

    /// Whoever may see the workspace is told that it takes more; for everybody else there is nothing.
    async fn allowed(
        &self,
        workspace: Workspace,
        action: Action,
        not_found: impl Fn() -> ApiError,
    ) -> Result<Workspace> {
        let access = self.user.access(&workspace);
        if access.allows(action) {
            Ok(workspace)
        } else if access.allows(Action::Read) {
            self.workspace_for(workspace.id, action).await
        } else {
            Err(not_found())
        }
    }

    /// Those of these workspaces that the user may see, as the configuration is now.
    pub(crate) async fn visible_of(
        &self,
        ids: impl IntoIterator<Item = WorkspaceId>,
    ) -> Result<HashMap<WorkspaceId, Workspace>> {
        let ids: BTreeSet<_> = ids.into_iter().collect();
        let mut found = self.api.store().workspaces_with(&Vec::from_iter(ids)).await?;
        found.retain(|_, workspace| self.user.access(workspace).allows(Action::Read));
        Ok(found)
    }

    /// The organization's queue, over all workspaces: a position tells of no run that one may not see.
    pub(crate) async fn queue(&self) -> Result<OrgQueue> {
        let (runs, locked) = self.api.store().waiting().await?;
        Ok(OrgQueue::of(&runs, &locked))
    }

    /// The outputs in the state's file. One with a value that the workspace calls sensitive is sensitive too, whatever the
    /// configuration says.
    pub(crate) async fn outputs(&self, version: &StateVersion) -> Result<Vec<StateOutput>> {
        let workspace = self.api.store().workspace(version.workspace).await?;
        let mask = self.api.engine().mask_of(&workspace).await?;
        // as they are read, and as they are written
        let share = self.api.budget().take(2 * version.size).await?;
        let mut outputs = self.api.store().blobs().state_outputs(version.digest).await?;
        let size: usize = outputs.iter().map(|output| output.name.len() + output.value.get().len()).sum();
        share.keep(2 * size as u64);
        for output in &mut outputs {
            output.sensitive |= mask.as_ref().is_some_and(|mask| mask.is_in(output.value.get()));
        }
        Ok(outputs)
    }

    /// The names of the outputs in the state's file.
    pub(crate) async fn output_names(&self, version: &StateVersion) -> Result<Vec<String>> {
        Ok(self.api.store().blobs().state_output_names(version.digest).await?)
    }

    pub(crate) fn state_version_resource(
        &self,
        version: &StateVersion,
        outputs: Option<&[String]>,
    ) -> wire::StateVersion {
        // clients send their token there
        let download_url = self.api.url(&format!("/api/v2/state-versions/{}/download", version.id));
        let json_download_url = version
            .json
            .map(|_| self.api.url(&format!("/api/v2/state-versions/{}/json-download", version.id)));
        state_version::resource(version, outputs, &download_url, json_download_url)
    }

    pub(crate) fn state_upload_resource(&self, upload: &StateUpload) -> wire::StateVersion {
        let (state, json) = (self.api.state_upload_url(upload.id), self.api.state_json_upload_url(upload.id));
        state_version::announced(upload, state, json)
    }
}

/// Errors name a missing thing by what the request called it.
fn present<T>(record: std::result::Result<T, store::Error>, not_found: impl Fn() -> ApiError) -> Result<T> {
    record.map_err(|error| match error {
        store::Error::NotFound(_) => not_found(),
        other => other.into(),
    })
}
