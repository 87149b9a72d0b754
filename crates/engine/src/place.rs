//! Where terraform runs: `<data_dir>/work/<workspace>/<place>`, which is the configuration and nothing else.
//!
//! A configuration can see the path that it lies in (`path.cwd`, `abspath`), so that is the same for every run of a
//! workspace: what depends on it does not change from run to run. The runs that hold their workspace follow each other, and
//! share the place `main`. Plan-only runs may run beside them and beside each other: each takes the first place of its
//! kind that is free.
//!
//! Whose a place is says its claim, `<data_dir>/places/<workspace>/<place>`. A run that is over is moved out of its place before the next one gets it, by
//! whoever comes first: the cleaning up, or the next run.

use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};

use files::Replacement;
use lifecycle::id::RunId;
use store::Run;
use tokio::sync::Mutex;

use crate::RunDir;
use crate::context::Context;
use crate::run_files::StageError;

/// The place of the runs that hold their workspace.
const MAIN: &str = "main";

/// The directories in which the runs of one data directory have terraform run.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Two runs that are prepared at once must not find the same place free.
    taking: Mutex<()>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    directory: PathBuf,
    claim: PathBuf,
}

impl Place {
    fn new(data_dir: &Path, workspace: impl AsRef<Path>, name: impl AsRef<Path>) -> Self {
        let inside = workspace.as_ref().join(name);
        Self { directory: data_dir.join("work").join(&inside), claim: data_dir.join("places").join(inside) }
    }

    /// The place whose directory this is.
    fn at(data_dir: &Path, directory: &Path) -> Option<Self> {
        let inside = directory.strip_prefix(data_dir.join("work")).ok()?;
        let mut parts = inside.components();
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Component::Normal(workspace)), Some(Component::Normal(name)), None) => {
                Some(Self::new(data_dir, workspace, name))
            }
            _ => None,
        }
    }

    /// The one that the run has.
    pub(crate) fn of(data_dir: &Path, run_dir: &RunDir) -> Result<Self, StageError> {
        let link = run_dir.work();
        let target = fs::read_link(&link).map_err(|error| StageError::file("read", &link, &error))?;
        Self::at(data_dir, &target)
            .ok_or_else(|| StageError::Impossible(format!("{} leads elsewhere", link.display())))
    }

    /// Absolute.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The run that has it.
    fn owner(&self) -> io::Result<Option<RunId>> {
        match fs::read_to_string(&self.claim) {
            // one that was cut off in a power cut is nobody's
            Ok(run) => Ok(run.trim().parse().ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes it this run's, and empty.
    fn claim_for(&self, run: &RunDir, id: RunId) -> io::Result<()> {
        for parent in [self.directory.parent(), self.claim.parent()].into_iter().flatten() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let mut new = Replacement::begin(&self.claim)?;
        new.file().write_all(id.to_string().as_bytes())?;
        new.commit()?;
        // without trouble, it was left: something may have been put there since
        files::remove_tree(&self.directory)?;
        DirBuilder::new().mode(0o700).create(&self.directory)?;
        run.point_to(&self.directory)
    }
}

impl Places {
    /// The place of this run, empty. It keeps it until it is over.
    pub(crate) async fn take(&self, context: &Context, run: &Run) -> Result<Place, StageError> {
        let _taking = self.taking.lock().await;
        let run_dir = RunDir::new(&context.data_dir, run.id);
        for number in 1_u64.. {
            let name = if run.facts.plan_only { format!("plan-only-{number}") } else { MAIN.to_owned() };
            let place = Place::new(&context.data_dir, run.workspace.to_string(), &name);
            let cannot = |error: io::Error| StageError::file("use", place.directory(), &error);
            match place.owner().map_err(cannot)? {
                Some(owner) if owner != run.id => match context.store.run(owner).await {
                    Ok(other) if !other.state.is_final() && run.facts.plan_only => continue,
                    Ok(other) if !other.state.is_final() => {
                        return Err(StageError::NotNow(format!(
                            "{} is used by {owner}",
                            place.directory.display()
                        )));
                    }
                    // it is over, and nobody has cleaned up after it yet
                    Ok(_) | Err(store::Error::NotFound(_)) => {
                        RunDir::new(&context.data_dir, owner).leave_place().map_err(cannot)?;
                    }
                    Err(error) => return Err(error.into()),
                },
                Some(_) | None => {}
            }
            place.claim_for(&run_dir, run.id).map_err(cannot)?;
            return Ok(place);
        }
        Err(StageError::Impossible("there is no place left to run terraform in".to_owned()))
    }
}

/// Moves what lies in the place that `link` names to `to`, and gives the place back. `run` says whose it has to be: what
/// ran there may have changed the link. Doing it again changes nothing.
pub(crate) fn move_out(data_dir: &Path, link: &Path, run: RunId, to: &Path) -> io::Result<()> {
    // it was moved already, or never had a place
    let Ok(target) = fs::read_link(link) else { return Ok(()) };
    if let Some(place) = Place::at(data_dir, &target)
        && place.owner()? == Some(run)
    {
        match rename(&place.directory, to) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        files::remove(&place.claim)?;
        // as long as another run of the workspace has its place there, they are not empty
        for parent in [place.directory.parent(), place.claim.parent()].into_iter().flatten() {
            let _ = fs::remove_dir(parent);
        }
    }
    fs::remove_file(link)
}

/// Has the disk keep whose the place is that `link` names: nobody else gets it after a power cut.
pub(crate) fn make_claim_durable(data_dir: &Path, link: &Path) -> io::Result<()> {
    let place = fs::read_link(link).ok().and_then(|target| Place::at(data_dir, &target));
    let Some(claim) = place.map(|place| place.claim).filter(|claim| claim.exists()) else { return Ok(()) };
    for path in claim.ancestors().take_while(|path| path.starts_with(data_dir)) {
        fs::File::open(path)?.sync_all()?;
    }
    Ok(())
}

/// A directory that its owner may not write to can't be moved.
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            fs::set_permissions(from, fs::Permissions::from_mode(0o700))?;
            fs::rename(from, to)
        }
        renamed => renamed,
    }
}
