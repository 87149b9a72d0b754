//! A state that a person brings: one that a run left and signalbox could not keep, or one from elsewhere.

use std::io::BufReader;
use std::path::Path;

use lifecycle::access::Action;
use lifecycle::id::{StateVersionId, WorkspaceId};
use source::StateKept;
use store::{
    Blob, NewStateVersion, PushStateError, PutBlob, ReadStateError, Settings, Source, StateKeeper, StateMeta,
    StateUpload, StateVersion, Workspace,
};

use crate::act::lock_refusal;
use crate::{Engine, Refusal};

/// A state as it was brought.
#[derive(Debug)]
pub struct StatePush {
    /// The state file.
    pub state: Blob,
    /// What the user believes its serial to be.
    pub serial: Option<u64>,
    /// What the user believes its lineage to be.
    pub lineage: Option<String>,
    /// Take it also if it is of another lineage than the current one, or another with the same serial.
    pub force: bool,
}

/// A state that somebody says they will bring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateAnnouncement {
    /// What its serial will be.
    pub serial: Option<u64>,
    /// What its lineage will be.
    pub lineage: Option<String>,
    /// The MD5 of its bytes, in hexadecimal digits.
    pub md5: Option<String>,
    /// See [`StatePush::force`].
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
        let at = At {
            state: "/data/attributes/state",
            serial: "/data/attributes/serial",
            lineage: "/data/attributes/lineage",
        };
        let (meta, blob) = self.take_state(push.state, push.serial, push.lineage.as_deref(), at).await?;
        let new = self.new_version(StateVersionId::generate(), workspace, user, meta, blob);
        self.context.store.push_state_version(new, push.force).await.map_err(refused)
    }

    /// Announces a state whose bytes come in a request of their own ([`finish_state`](Self::finish_state)).
    ///
    /// # Errors
    /// As [`push_state`](Self::push_state), as far as it is known now.
    pub async fn announce_state(
        &self,
        user: &str,
        workspace: WorkspaceId,
        announcement: StateAnnouncement,
    ) -> Result<StateUpload, Refusal> {
        let current = self.workspace_for(user, workspace, Action::WriteState).await?;
        self.check_keeper(&current).await?;
        let upload = StateUpload {
            id: StateVersionId::generate(),
            workspace,
            serial: announcement.serial,
            lineage: announcement.lineage.filter(|lineage| !lineage.is_empty()),
            md5: announcement.md5.filter(|md5| !md5.is_empty()).map(|md5| md5.to_ascii_lowercase()),
            force: announcement.force,
            json: None,
            created_at: self.context.now(),
            created_by: user.to_owned(),
        };
        self.context.store.announce_state(upload.clone()).await.map_err(refused)?;
        Ok(upload)
    }

    /// Takes the bytes of a state that was announced. `md5` is theirs. Who announced it still has to have the right.
    ///
    /// # Errors
    /// As [`push_state`](Self::push_state); what was announced is so still.
    pub async fn finish_state(
        &self,
        upload: &StateUpload,
        state: Blob,
        md5: &str,
    ) -> Result<StateVersion, Refusal> {
        let user = &upload.created_by;
        self.workspace_for(user, upload.workspace, Action::WriteState).await?;
        if let Some(announced) = upload.md5.as_ref().filter(|announced| *announced != md5) {
            let detail = format!("the bytes have MD5 {md5}, and {announced} was announced");
            return Err(Refusal::Invalid { pointer: "", detail });
        }
        let at = At { state: "", serial: "", lineage: "" };
        let (meta, blob) = self.take_state(state, upload.serial, upload.lineage.as_deref(), at).await?;
        let new = self.new_version(upload.id, upload.workspace, user, meta, blob);
        self.context.store.finish_state(new).await.map_err(refused)
    }

    /// Takes the JSON of a state that was announced, or has come already.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] for what is not JSON; [`Refusal::Failed`].
    pub async fn keep_state_json(&self, id: StateVersionId, json: Blob) -> Result<(), Refusal> {
        let parsed = tokio::task::spawn_blocking(move || {
            let reader = BufReader::with_capacity(64 * 1024, json.reader());
            let parsed = serde_json::from_reader::<_, serde::de::IgnoredAny>(reader);
            parsed.map(|_| json)
        });
        let json = match parsed.await.map_err(std::io::Error::other) {
            Ok(Ok(json)) => json,
            Ok(Err(error)) if error.is_io() => return Err(failed(&error.into())),
            Ok(Err(error)) => {
                return Err(Refusal::Invalid { pointer: "", detail: format!("is not JSON: {error}") });
            }
            Err(error) => return Err(failed(&error)),
        };
        let store = &self.context.store;
        let kept = store.blobs().put_blob(json).await.map_err(Refusal::Failed)?;
        store.set_state_json(id, kept.digest).await.map_err(Refusal::Failed)
    }

    fn new_version(
        &self,
        id: StateVersionId,
        workspace: WorkspaceId,
        user: &str,
        meta: StateMeta,
        blob: PutBlob,
    ) -> NewStateVersion {
        NewStateVersion {
            id,
            workspace,
            run: None,
            meta,
            digest: blob.digest,
            size: blob.size,
            created_at: self.context.now(),
            created_by: user.to_owned(),
            json: None,
        }
    }

    /// Keeps the bytes of a state, if they are one, and the one that they are said to be.
    async fn take_state(
        &self,
        state: Blob,
        serial: Option<u64>,
        lineage: Option<&str>,
        at: At,
    ) -> Result<(StateMeta, PutBlob), Refusal> {
        let invalid = |pointer, detail: String| Refusal::Invalid { pointer, detail };
        let read = tokio::task::spawn_blocking(move || {
            let meta = StateMeta::read(state.reader(), Path::new("the state that was sent"));
            (meta, state)
        });
        let (meta, state) = read.await.map_err(|error| failed(&std::io::Error::other(error)))?;
        let meta = meta.map_err(|error| match error {
            ReadStateError::Invalid(found) => invalid(at.state, found.to_string()),
            ReadStateError::Store(error) => Refusal::Failed(error),
        })?;
        if let Some(serial) = serial.filter(|serial| *serial != meta.serial) {
            return Err(invalid(at.serial, format!("is {serial}, and the state says {}", meta.serial)));
        }
        if let Some(lineage) = lineage.filter(|lineage| !lineage.is_empty() && *lineage != meta.lineage) {
            return Err(invalid(
                at.lineage,
                format!("is {lineage:?}, and the state says {:?}", meta.lineage),
            ));
        }
        let blob = self.context.store.blobs().put_blob(state).await.map_err(Refusal::Failed)?;
        Ok((meta, blob))
    }
}

/// Where in a request it stands what a state is said to be; nothing where the request is the state itself.
struct At {
    state: &'static str,
    serial: &'static str,
    lineage: &'static str,
}

fn failed(error: &std::io::Error) -> Refusal {
    Refusal::Failed(store::Error::file("the state that was sent", error))
}

fn refused(error: PushStateError) -> Refusal {
    match error {
        PushStateError::Lock(error) => lock_refusal(error),
        PushStateError::Conflict(conflict) => Refusal::Conflict(conflict.to_string()),
        PushStateError::Store(error) => Refusal::Failed(error),
    }
}
