//! Keeping the state.
//!
//! Of workspaces whose configuration names no backend of its own: before a plan the current state is put into the
//! working directory (by the step that takes the configuration); after every apply, however it ended, what terraform
//! wrote is taken back as a new version. Only then may the run be over. What can't be taken as a version is kept as a
//! blob all the same, and the run says where.
//!
//! Of all others the backend keeps it. When that could not be written, terraform leaves the state in the working
//! directory for somebody to push: it is kept as a blob, and the run says so.

use std::path::{Path, PathBuf};

use executor::Salvaged;
use files::Found;
use lifecycle::id::StateVersionId;
use source::StateKept;
use store::{AddStateError, NewStateVersion, ReadStateError, Run, StateKeeper, StateVersion, Workspace};

use crate::RunDir;
use crate::context::Context;
use crate::run_dir::open_file;
use crate::run_files::StageError;

/// Where terraform leaves a state that it could not write where it belongs.
pub(crate) const ERRORED: &str = "errored.tfstate";
/// Where terraform keeps the state when it is not told otherwise.
pub(crate) const REGULAR: &str = "terraform.tfstate";

/// Who keeps the state of a run's workspace.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Keeper {
    /// We do.
    Daemon,
    /// The configuration's own backend, of this kind.
    Backend(String),
    /// Nobody knows any more.
    Unknown,
}

/// What was taken back.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// There was nothing.
    Nothing,
    /// A version that was there before this run.
    Unchanged,
    /// A version that this run made, now or the last time.
    Version(StateVersionId),
    /// Something that is not where it belongs; in words, with the place where its bytes are.
    Trouble(String),
}

impl Kept {
    /// Whether something is not where it belongs.
    pub(crate) fn is_trouble(&self) -> bool {
        matches!(self, Self::Trouble(_))
    }

    /// What a person has to know about it.
    pub(crate) fn trouble(self) -> Option<String> {
        match self {
            Self::Nothing | Self::Unchanged | Self::Version(_) => None,
            Self::Trouble(words) => Some(words),
        }
    }
}

/// The file with the workspace's current state, if there is one.
pub(crate) async fn current(
    context: &Context,
    workspace: &Workspace,
    run_dir: &RunDir,
) -> Result<Option<PathBuf>, StageError> {
    let Some(version) = context.store.current_state(workspace.id).await? else { return Ok(None) };
    let copy = run_dir.copies().join(REGULAR);
    Ok(Some(context.store.blobs().in_clear(version.digest, copy).await?))
}

/// Remembers who keeps the workspace's state, for the next run and for who brings a state.
pub(crate) async fn remember(
    context: &Context,
    workspace: &Workspace,
    kept: &StateKept,
) -> Result<(), StageError> {
    let keeper = match kept {
        StateKept::ByDaemon => StateKeeper::Daemon,
        StateKept::ByBackend { kind } => StateKeeper::Backend(kind.clone()),
    };
    if workspace.state_keeper.as_ref() != Some(&keeper) {
        context.store.set_state_keeper(workspace.id, keeper).await?;
    }
    Ok(())
}

/// Takes the state that an apply left in one of these files. Doing it again changes nothing, and finds the same.
pub(crate) async fn take_back(
    context: &Context,
    run: &Run,
    keeper: &Keeper,
    files: &[Salvaged],
) -> Result<Kept, StageError> {
    let named = |name: &str| files.iter().map(|file| file.path.as_path()).find(|path| path.ends_with(name));
    let errored = match (named(ERRORED), keeper) {
        (None, _) => Kept::Nothing,
        (Some(path), Keeper::Daemon) => keep(context, run, path, Place::Here).await?,
        (Some(path), Keeper::Backend(kind)) => {
            keep(context, run, path, Place::Elsewhere(&format!("to the backend {kind:?}"))).await?
        }
        (Some(path), Keeper::Unknown) => {
            keep(context, run, path, Place::Elsewhere("where it belongs")).await?
        }
    };
    let regular = match (named(REGULAR), keeper, &errored) {
        (None, ..) | (_, Keeper::Backend(_), _) => Kept::Nothing,
        // it is what terraform could not replace
        (Some(_), _, Kept::Version(_)) => Kept::Nothing,
        (Some(path), Keeper::Daemon | Keeper::Unknown, _) => keep(context, run, path, Place::Here).await?,
    };
    Ok(match (errored, regular) {
        (Kept::Nothing, regular) => regular,
        (Kept::Trouble(errored), Kept::Trouble(regular)) => Kept::Trouble(format!("{errored}; {regular}")),
        (errored, _) => errored,
    })
}

/// Where a state that terraform left belongs.
enum Place<'a> {
    /// Among the workspace's state versions.
    Here,
    /// Where we can't write it; in words that follow "terraform could not write the state".
    Elsewhere(&'a str),
}

async fn keep(context: &Context, run: &Run, path: &Path, place: Place<'_>) -> Result<Kept, StageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // the run is over when anybody reads these words
    let stays = RunDir::new(&context.data_dir, run.id).after_the_run(path);
    let file = match open_file(path).await {
        Ok(Found::File(file)) => file,
        Ok(Found::Nothing) => return Ok(Kept::Nothing),
        Ok(Found::Other(_)) => {
            return Ok(Kept::Trouble(format!(
                "{} is not a regular file, and was not taken",
                stays.display()
            )));
        }
        Err(error) => return Err(StageError::file("read", path, &error)),
    };
    let blobs = context.store.blobs();
    let blob = blobs.put_opened(file, path).await?;
    if blob.size == 0 {
        // terraform creates the file before it has anything to write, and may be killed in between
        return Ok(Kept::Nothing);
    }
    let meta = match blobs.state_meta(blob.digest).await {
        Ok(meta) => Ok(meta),
        Err(ReadStateError::Invalid(invalid)) => Err(invalid),
        Err(ReadStateError::Store(error)) => return Err(error.into()),
    };
    if let Place::Elsewhere(place) = place {
        return Ok(Kept::Trouble(format!(
            "terraform could not write the state {place} and left it as {name}: it is kept as blob {}, and as {}; \
             bring it there with terraform state push, then unlock the workspace",
            blob.digest,
            stays.display()
        )));
    }
    let kept_as = format!("its bytes are kept as blob {}", blob.digest);
    let meta = match meta {
        Ok(meta) => meta,
        Err(error) => return Ok(Kept::Trouble(format!("{name} can't be read ({error}); {kept_as}"))),
    };
    let of = |version: StateVersion| match version.run {
        Some(by) if by == run.id => Kept::Version(version.id),
        _ => Kept::Unchanged,
    };
    if let Some(known) = context.store.state_version_with(run.workspace, blob.digest).await? {
        let current = context.store.current_state(run.workspace).await?;
        return Ok(match of(known) {
            Kept::Unchanged if current.is_some_and(|current| current.digest != blob.digest) => {
                Kept::Trouble(format!(
                    "{name} is not the state that terraform was given, nor one that follows it, but one of before: what was \
                     done since is in the current state alone; look what was changed, then unlock the workspace"
                ))
            }
            found => found,
        });
    }
    let new = NewStateVersion {
        id: StateVersionId::generate(),
        workspace: run.workspace,
        run: Some(run.id),
        meta,
        digest: blob.digest,
        size: blob.size,
        created_at: context.now(),
        created_by: run.created_by.clone(),
        json: None,
    };
    match context.store.add_state_version(new).await {
        Ok(version) => Ok(of(version)),
        Err(AddStateError::Conflict(conflict)) => {
            Ok(Kept::Trouble(format!("{name} was not taken as a new state version: {conflict}; {kept_as}")))
        }
        Err(AddStateError::Store(error)) if error.can_pass() => Err(error.into()),
        Err(AddStateError::Store(error)) => Ok(Kept::Trouble(format!(
            "{name} could not be recorded as a new state version: {error}; {kept_as}"
        ))),
    }
}
