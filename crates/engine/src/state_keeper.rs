//! Keeping the state of workspaces whose configuration names no backend of its own.
//!
//! Before a plan the current state is put into the working directory (by the step that takes the
//! configuration); after every apply, however it ended, what terraform wrote is taken back as a new version.
//! Only then may the run be over. What can't be taken as a version is kept as a blob all the same, and the run
//! says where.

use std::path::PathBuf;

use configuration::{StateKept, TakeReport};
use lifecycle::id::StateVersionId;
use store::{AddStateError, NewStateVersion, Run, StateMeta, Workspace};

use crate::context::Context;
use crate::stage::StageError;

/// Where terraform leaves a state in its working directory, the more urgent one first: `errored.tfstate` is
/// written when the regular one could not be.
pub(crate) const FILES: [&str; 2] = ["errored.tfstate", "terraform.tfstate"];

/// What was taken back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// There was nothing, or nothing new.
    Nothing,
    /// A new version.
    Version(StateVersionId),
    /// Something that can't be a version; in words, with the place where its bytes are.
    Trouble(String),
}

impl Kept {
    /// What a person has to know about it.
    pub(crate) fn trouble(self) -> Option<String> {
        match self {
            Self::Nothing | Self::Version(_) => None,
            Self::Trouble(words) => Some(words),
        }
    }
}

/// The file with the workspace's current state, if there is one.
pub(crate) async fn current(context: &Context, workspace: &Workspace) -> Result<Option<PathBuf>, StageError> {
    let version = context.store.current_state(workspace.id).await?;
    Ok(version.map(|version| context.store.blobs().path(version.digest)))
}

/// Takes the state that an apply left. Doing it again changes nothing.
pub(crate) async fn take_back(context: &Context, run: &Run, taken: &TakeReport) -> Result<Kept, StageError> {
    if let StateKept::ByBackend { .. } = taken.state {
        return Ok(Kept::Nothing);
    }
    let mut kept = Kept::Nothing;
    for name in FILES {
        let path = taken.root.join(name);
        let bytes = match tokio::fs::read(&path).await {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(StageError::NotNow(format!("can't read {}: {error}", path.display()))),
        };
        match take(context, run, name, bytes).await? {
            Kept::Nothing => {}
            version @ Kept::Version(_) => kept = version,
            // a state that was taken from the other file settles it
            trouble @ Kept::Trouble(_) if kept == Kept::Nothing => kept = trouble,
            Kept::Trouble(_) => {}
        }
    }
    Ok(kept)
}

async fn take(context: &Context, run: &Run, name: &str, bytes: Vec<u8>) -> Result<Kept, StageError> {
    if bytes.is_empty() {
        // terraform creates the file before it has anything to write, and may be killed in between
        return Ok(match name {
            "terraform.tfstate" => Kept::Trouble(
                "terraform left an empty state file: what it may have made since the current state version is in no state"
                    .to_owned(),
            ),
            _ => Kept::Nothing,
        });
    }
    let meta = StateMeta::parse(&bytes);
    let blob = context.store.blobs().put_bytes(bytes).await?;
    let meta = match meta {
        Ok(meta) => meta,
        Err(error) => {
            return Ok(Kept::Trouble(format!(
                "{name} can't be read ({error}); its bytes are kept as blob {}",
                blob.digest
            )));
        }
    };
    let new = NewStateVersion {
        id: StateVersionId::generate(),
        workspace: run.workspace,
        run: Some(run.id),
        meta,
        digest: blob.digest,
        size: blob.size,
        created_at: context.now(),
        created_by: run.created_by.clone(),
    };
    match context.store.add_state_version(new).await {
        Ok(version) => Ok(Kept::Version(version.id)),
        Err(AddStateError::Conflict(conflict)) => Ok(Kept::Trouble(format!(
            "{name} was not taken as a new state version: {conflict}; its bytes are kept as blob {}",
            blob.digest
        ))),
        Err(AddStateError::Store(error)) => Err(error.into()),
    }
}
