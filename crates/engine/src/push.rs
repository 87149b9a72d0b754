//! A state that a person brings: one that a run left and signalbox could not keep, or one from elsewhere.

use lifecycle::access::Action;
use lifecycle::id::{StateVersionId, WorkspaceId};
use source::StateKept;
use store::{
    NewStateVersion, PushStateError, Settings, Source, StateKeeper, StateMeta, StateVersion, Workspace,
};

use crate::act::lock_refusal;
use crate::{Engine, Refusal};

/// A state as it was brought.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatePush {
    /// The state file.
    pub state: Vec<u8>,
    /// What the user believes its serial to be.
    pub serial: Option<u64>,
    /// What the user believes its lineage to be.
    pub lineage: Option<String>,
    /// Take it also if it is of another lineage than the current one, or another with the same serial.
    pub force: bool,
}

impl Engine {
    /// Refuses a state of which no run would ever hear: the configuration's own backend keeps it. Before the first run that is
    /// looked up in a configuration that lies on this machine.
    async fn check_keeper(&self, workspace: &Workspace) -> Result<(), Refusal> {
        let keeper = match &workspace.state_keeper {
            Some(keeper) => Some(keeper.clone()),
            None => self.keeper_in_directory(workspace).await?,
        };
        match keeper {
            Some(StateKeeper::Backend(kind)) => Err(Refusal::Conflict(format!(
                "the state of this workspace is kept by the backend {kind:?} that its configuration names: bring it there, with \
                 terraform state push where terraform is initialised with it"
            ))),
            Some(StateKeeper::Daemon) | None => Ok(()),
        }
    }

    async fn keeper_in_directory(&self, workspace: &Workspace) -> Result<Option<StateKeeper>, Refusal> {
        let settings = self.context.settings(workspace).await?;
        let Some(Settings { source: Some(Source::Directory { path }), working_directory, .. }) = settings
        else {
            return Ok(None);
        };
        let directory = path.join(working_directory);
        let kept = tokio::task::spawn_blocking(move || source::kept_in(&directory)).await;
        Ok(match kept {
            Ok(Some(StateKept::ByBackend { kind })) => Some(StateKeeper::Backend(kind)),
            // a run will say more about a configuration that can't be read
            _ => None,
        })
    }

    /// Makes a state the workspace's current one. The workspace has to be locked by the user, or by signalbox itself for
    /// a state that it could not keep; it stays locked.
    ///
    /// # Errors
    /// [`Refusal`]: no such workspace, no right, no state, not locked by them, or a state that does not continue the
    /// current one.
    pub async fn push_state(
        &self,
        user: &str,
        workspace: WorkspaceId,
        push: StatePush,
    ) -> Result<StateVersion, Refusal> {
        let current = self.workspace_for(user, workspace, Action::WriteState).await?;
        self.check_keeper(&current).await?;
        let invalid = |pointer, detail: String| Refusal::Invalid { pointer, detail };
        let meta = StateMeta::parse(&push.state)
            .map_err(|error| invalid("/data/attributes/state", error.to_string()))?;
        if let Some(serial) = push.serial.filter(|serial| *serial != meta.serial) {
            let detail = format!("is {serial}, and the state says {}", meta.serial);
            return Err(invalid("/data/attributes/serial", detail));
        }
        if let Some(lineage) = push.lineage.filter(|lineage| !lineage.is_empty() && *lineage != meta.lineage)
        {
            let detail = format!("is {lineage:?}, and the state says {:?}", meta.lineage);
            return Err(invalid("/data/attributes/lineage", detail));
        }
        let store = &self.context.store;
        let blob = store.blobs().put_bytes(push.state).await?;
        let new = NewStateVersion {
            id: StateVersionId::generate(),
            workspace,
            run: None,
            meta,
            digest: blob.digest,
            size: blob.size,
            created_at: self.context.now(),
            created_by: user.to_owned(),
        };
        store.push_state_version(new, push.force).await.map_err(|error| match error {
            PushStateError::Lock(error) => lock_refusal(error),
            PushStateError::Conflict(conflict) => Refusal::Conflict(conflict.to_string()),
            PushStateError::Store(error) => Refusal::Failed(error),
        })
    }
}
