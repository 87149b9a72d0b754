//! The files of a run: `<data_dir>/runs/<run>/…`.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use lifecycle::Stage;
use lifecycle::id::RunId;

use crate::place;

/// Paths of one run. Absolute, since plan and apply have to run in the same absolute path.
#[derive(Debug, Clone)]
pub struct RunDir {
    run: RunId,
    data_dir: PathBuf,
    root: PathBuf,
}

impl RunDir {
    /// The directory of this run below the (absolute) data directory.
    pub fn new(data_dir: &Path, run: RunId) -> Self {
        Self { run, data_dir: data_dir.to_owned(), root: data_dir.join("runs").join(run.to_string()) }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the run is made with, fixed when it is queued.
    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    /// What the run's stages need, fixed when its plan starts.
    pub fn stage_settings(&self) -> PathBuf {
        self.root.join("stages.json")
    }

    /// What terraform runs in: a link to the run's place, below `<data_dir>/work`, until the run is over; then the directory
    /// itself, as long as it holds a state that is nowhere else.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// Where what `work` names lies until `work` is the directory itself.
    fn moved(&self) -> PathBuf {
        self.root.join("work.moved")
    }

    /// Makes `work` the name of the run's place.
    pub(crate) fn point_to(&self, place: &Path) -> io::Result<()> {
        let link = self.work();
        files::remove_tree(&link)?;
        std::os::unix::fs::symlink(place, &link)
    }

    /// Gives the run's place back, with what lies in it moved here. Doing it again changes nothing.
    pub(crate) fn leave_place(&self) -> io::Result<()> {
        place::move_out(&self.data_dir, &self.work(), self.run, &self.moved())?;
        match std::fs::rename(self.moved(), self.work()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            renamed => renamed,
        }
    }

    /// Where a file in the run's place will lie when the run is over.
    pub(crate) fn after_the_run(&self, path: &Path) -> PathBuf {
        let inside = std::fs::read_link(self.work()).ok();
        let inside = inside.and_then(|place| path.strip_prefix(place).ok().map(Path::to_owned));
        inside.map_or_else(|| path.to_owned(), |inside| self.work().join(inside))
    }

    /// What is handed to terraform, and what it hands back: the one directory of ours that it has to read and write.
    pub fn exchange(&self) -> PathBuf {
        self.root.join("terraform")
    }

    /// What is asked of the step that takes the configuration.
    pub fn take_request(&self) -> PathBuf {
        self.root.join("take.json")
    }

    /// What that step reports.
    pub fn take_report(&self) -> PathBuf {
        self.root.join("taken.json")
    }

    /// Copies in clear of what is sealed where it is kept, for the processes of the run.
    pub(crate) fn copies(&self) -> PathBuf {
        self.root.join("in-clear")
    }

    /// The configuration as it was taken.
    pub fn archive(&self) -> PathBuf {
        self.root.join("configuration.tar.gz")
    }

    /// The values of terraform's variables.
    pub fn variables(&self) -> PathBuf {
        self.exchange().join("variables.tfvars.json")
    }

    /// The saved plan.
    pub fn plan(&self) -> PathBuf {
        self.exchange().join("plan.tfplan")
    }

    /// The saved plan as JSON.
    pub fn plan_json(&self) -> PathBuf {
        self.root.join("plan.json")
    }

    /// What is asked of the policy check.
    pub fn policy_request(&self) -> PathBuf {
        self.root.join("policy-request.json")
    }

    /// What the policy check reports.
    pub fn policy_report(&self) -> PathBuf {
        self.root.join("policy-report.json")
    }

    /// The execution directory of a stage.
    pub fn execution(&self, stage: Stage) -> PathBuf {
        self.root.join(stage.as_str())
    }

    /// The execution directory of fetching the configuration, which comes before the plan of some runs.
    pub fn fetch(&self) -> PathBuf {
        self.root.join("fetch")
    }

    /// The log of a stage while that is not over: what its processes wrote, byte by byte. Absent until the stage was
    /// launched. Whoever reads logs asks [`Engine::open_log`](crate::Engine::open_log).
    pub fn log(&self, stage: Stage) -> PathBuf {
        self.execution(stage).join("log")
    }

    /// Exists when the working directory holds a state that could not be kept where it belongs.
    fn state_not_kept(&self) -> PathBuf {
        self.root.join("state-not-kept")
    }

    /// Says that the working directory is the last copy of a state: no cleaning up removes it from now on.
    ///
    /// # Errors
    /// When that can't be written.
    pub(crate) fn keep_work(&self) -> io::Result<()> {
        std::fs::write(self.state_not_kept(), "the state in `work` could not be kept where it belongs\n")?;
        // before the end of the run is recorded, since the cleaning up after a power cut looks for this
        for path in [&self.state_not_kept(), &self.root] {
            std::fs::File::open(path)?.sync_all()?;
        }
        place::make_claim_durable(&self.data_dir, &self.work())
    }

    /// Whether nothing in it has come since then.
    pub(crate) fn is_older_than(&self, time: SystemTime) -> bool {
        let changed = std::fs::metadata(&self.root).and_then(|metadata| metadata.modified());
        changed.is_ok_and(|changed| changed < time)
    }

    /// Whether nothing is left that must not outlive the run.
    pub(crate) fn is_clean(&self) -> bool {
        self.leftovers().is_ok_and(|leftovers| leftovers.is_empty())
    }

    /// Removes what must not outlive the run: everything but claims and results, and a state that is nowhere else. The
    /// logs of these stages are blobs, and need no other name.
    ///
    /// What holds secrets goes first, and what can't be removed keeps nothing else from it.
    ///
    /// # Errors
    /// When something is there that can't be removed: the first of it, by its path. Calling again is safe.
    pub fn clean_up(&self, logs: &BTreeSet<Stage>) -> io::Result<()> {
        let secrets =
            [self.settings(), self.stage_settings(), self.variables(), self.take_request(), self.copies()];
        let mut done = Ok(());
        for path in secrets {
            done = done.and(remove(&path));
        }
        done = done.and(self.leave_place());
        let leftovers = self.leftovers().unwrap_or_else(|error| {
            done = std::mem::replace(&mut done, Ok(())).and(Err(error));
            Vec::new()
        });
        for path in leftovers.into_iter().chain(logs.iter().map(|stage| self.log(*stage))) {
            done = done.and(remove(&path));
        }
        done
    }

    /// [`clean_up`](Self::clean_up) on a thread that may block: a working directory can hold hundreds of megabytes of
    /// providers.
    pub(crate) async fn clean_up_in_background(self, logs: BTreeSet<Stage>) -> io::Result<()> {
        tokio::task::spawn_blocking(move || self.clean_up(&logs)).await.map_err(io::Error::other)?
    }

    fn leftovers(&self) -> io::Result<Vec<PathBuf>> {
        let mut keep = Stage::EXECUTED.map(|stage| self.execution(stage)).to_vec();
        if self.state_not_kept().exists() {
            keep.extend([self.state_not_kept(), self.moved()]);
            if !self.work().is_symlink() {
                keep.push(self.work());
            }
        }
        let mut leftovers = Vec::new();
        for stage in Stage::EXECUTED {
            leftovers.extend(executor::expendable(&self.execution(stage))?);
        }
        match std::fs::read_dir(&self.root) {
            Ok(entries) => {
                for entry in entries {
                    let path = entry?.path();
                    if !keep.contains(&path) {
                        leftovers.push(path);
                    }
                }
                Ok(leftovers)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(leftovers),
            Err(error) => Err(error),
        }
    }
}

/// The files of runs in this data directory that the daemon seals where it keeps its blobs sealed.
///
/// # Errors
/// When the directory of runs can't be read.
pub fn sealed_files(data_dir: &Path) -> io::Result<Vec<PathBuf>> {
    let runs = match std::fs::read_dir(data_dir.join("runs")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        runs => runs?,
    };
    let mut files = Vec::new();
    for run in runs {
        let name = run?.file_name();
        if let Some(id) = name.to_str().and_then(|name| name.parse().ok()) {
            let run = RunDir::new(data_dir, id);
            files.extend([run.settings(), run.stage_settings()].into_iter().filter(|file| file.exists()));
        }
    }
    Ok(files)
}

fn remove(path: &Path) -> io::Result<()> {
    files::remove_tree(path)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Opens a file of a run, on a thread that may block. What runs there may have put anything in its place.
pub(crate) async fn open_file(path: &Path) -> io::Result<files::Found> {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || files::open(&path)).await.map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_dir() -> (tempfile::TempDir, RunDir) {
        let dir = tempfile::tempdir().unwrap();
        let run_dir = RunDir::new(dir.path(), RunId::generate());
        for path in [run_dir.work(), run_dir.execution(Stage::Plan)] {
            std::fs::create_dir_all(path).unwrap();
        }
        for path in [
            run_dir.settings(),
            run_dir.settings().with_extension("tmp"),
            run_dir.work().join("terraform.tfstate"),
            run_dir.log(Stage::Plan),
            run_dir.execution(Stage::Plan).join("spec.json"),
            run_dir.execution(Stage::Plan).join("result.json"),
        ] {
            std::fs::write(path, "x").unwrap();
        }
        (dir, run_dir)
    }

    #[test]
    fn nothing_outlives_a_run_but_claims_and_results_and_logs_that_are_no_blobs() {
        let (_dir, run_dir) = run_dir();
        assert!(!run_dir.is_clean());
        run_dir.clean_up(&BTreeSet::new()).unwrap();
        assert!(run_dir.is_clean() && run_dir.log(Stage::Plan).exists());
        assert!(!run_dir.work().exists() && !run_dir.settings().exists());
        assert!(!run_dir.execution(Stage::Plan).join("spec.json").exists());
        let logs = [Stage::Plan, Stage::Apply].into();
        run_dir.clean_up(&logs).unwrap();
        assert!(run_dir.execution(Stage::Plan).join("result.json").exists());
        assert!(!run_dir.log(Stage::Plan).exists());
        run_dir.clean_up(&logs).unwrap();
    }

    #[test]
    fn a_state_that_is_nowhere_else_is_never_removed() {
        let (_dir, run_dir) = run_dir();
        run_dir.keep_work().unwrap();
        run_dir.clean_up(&BTreeSet::new()).unwrap();
        assert!(run_dir.work().join("terraform.tfstate").exists());
        assert!(!run_dir.settings().exists() && run_dir.is_clean());
    }
}
