//! Keeping the state of workspaces whose configuration names no backend of its own.
//!
//! Before a plan the current state is put into the working directory (by the step that takes the
//! configuration); after every apply, however it ended, what terraform wrote is taken back as a new version.
//! Only then may the run be over. What can't be taken as a version is kept as a blob all the same, and the run
//! says where.

use std::path::{Path, PathBuf};

use lifecycle::id::StateVersionId;
use rustix::fs::OFlags;
use rustix::io::Errno;
use store::{AddStateError, NewStateVersion, Run, StateMeta, Workspace};

use tokio::io::AsyncReadExt as _;

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
    /// Whether something is in no state version.
    pub(crate) fn is_trouble(&self) -> bool {
        matches!(self, Self::Trouble(_))
    }

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

/// Takes the state that an apply left in `root`. Doing it again changes nothing.
pub(crate) async fn take_back(context: &Context, run: &Run, root: &Path) -> Result<Kept, StageError> {
    let [errored, regular] = FILES;
    let errored = take(context, run, &root.join(errored)).await?;
    let regular = take(context, run, &root.join(regular)).await?;
    Ok(match (errored, regular) {
        // it is the newer one, and the other is what terraform could not replace
        (version @ Kept::Version(_), _) | (_, version @ Kept::Version(_)) => version,
        (trouble @ Kept::Trouble(_), _) => trouble,
        (Kept::Nothing, regular) => regular,
    })
}

async fn take(context: &Context, run: &Run, path: &Path) -> Result<Kept, StageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let bytes = match read_regular(path).await {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Kept::Nothing),
        Err(ReadError::NotRegular) => {
            return Ok(Kept::Trouble(format!("{} is no regular file, and was not taken", path.display())));
        }
        Err(ReadError::Io(error)) => return Err(StageError::file("read", path, &error)),
    };
    if bytes.is_empty() {
        // terraform creates the file before it has anything to write, and may be killed in between; when the
        // disk is full, it prints the state to its log instead
        return Ok(Kept::Trouble(format!(
            "terraform left an empty {name}: what it may have made since the current state version is in no state; \
             look for it in the log of the apply"
        )));
    }
    let meta = StateMeta::parse(&bytes);
    let blob = context.store.blobs().put_bytes(bytes).await?;
    let kept_as = format!("its bytes are kept as blob {}", blob.digest);
    let meta = match meta {
        Ok(meta) => meta,
        Err(error) => return Ok(Kept::Trouble(format!("{name} can't be read ({error}); {kept_as}"))),
    };
    let id = StateVersionId::generate();
    let new = NewStateVersion {
        id,
        workspace: run.workspace,
        run: Some(run.id),
        meta,
        digest: blob.digest,
        size: blob.size,
        created_at: context.now(),
        created_by: run.created_by.clone(),
    };
    match context.store.add_state_version(new).await {
        Ok(version) if version.id == id => Ok(Kept::Version(id)),
        // it is the current one already
        Ok(_) => Ok(Kept::Nothing),
        Err(AddStateError::Conflict(conflict)) => {
            Ok(Kept::Trouble(format!("{name} was not taken as a new state version: {conflict}; {kept_as}")))
        }
        Err(AddStateError::Store(error)) => Err(error.into()),
    }
}

enum ReadError {
    NotRegular,
    Io(std::io::Error),
}

/// The content of a regular file; `None` if there is nothing. A provisioner may have put anything there: a
/// link is not followed, and a pipe is not waited for.
async fn read_regular(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let mut options = tokio::fs::OpenOptions::new();
    options.read(true).custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed());
    let mut file = match options.open(path).await {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => {
            return Err(ReadError::NotRegular);
        }
        Err(error) => return Err(ReadError::Io(error)),
    };
    if !file.metadata().await.map_err(ReadError::Io)?.is_file() {
        return Err(ReadError::NotRegular);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).await.map_err(ReadError::Io)?;
    Ok(Some(bytes))
}
