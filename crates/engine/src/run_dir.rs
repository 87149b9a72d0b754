//! The files of a run: `<data_dir>/runs/<run>/…`.

use std::path::{Path, PathBuf};

use lifecycle::Stage;
use lifecycle::id::RunId;

/// Paths of one run. Absolute, since plan and apply have to run in the same absolute path.
#[derive(Debug, Clone)]
pub struct RunDir {
    root: PathBuf,
}

impl RunDir {
    /// The directory of this run below the (absolute) data directory.
    pub fn new(data_dir: &Path, run: RunId) -> Self {
        Self { root: data_dir.join("runs").join(run.to_string()) }
    }

    /// The directory itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the run's stages need, fixed when its plan starts.
    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    /// The directory in which the configuration is laid out.
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// What is asked of the step that takes the configuration.
    pub fn take_request(&self) -> PathBuf {
        self.root.join("take.json")
    }

    /// What that step reports.
    pub fn take_report(&self) -> PathBuf {
        self.root.join("taken.json")
    }

    /// The configuration as it was taken.
    pub fn archive(&self) -> PathBuf {
        self.root.join("configuration.tar.gz")
    }

    /// The values of terraform's variables.
    pub fn variables(&self) -> PathBuf {
        self.root.join("variables.tfvars.json")
    }

    /// The saved plan.
    pub fn plan(&self) -> PathBuf {
        self.root.join("plan.tfplan")
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

    /// The log of a stage: what its processes wrote, byte by byte. Absent until the stage was launched.
    pub fn log(&self, stage: Stage) -> PathBuf {
        self.execution(stage).join("log")
    }

    /// Removes what must not outlive the run, secrets first: everything but logs and results.
    ///
    /// # Errors
    /// When something is there that can't be removed; calling again is safe.
    pub fn clean_up(&self) -> std::io::Result<()> {
        for file in [
            self.settings(),
            self.variables(),
            self.plan(),
            self.plan_json(),
            self.take_request(),
            self.take_report(),
            self.archive(),
            self.policy_request(),
            self.policy_report(),
        ] {
            absent(std::fs::remove_file(file))?;
        }
        absent(std::fs::remove_dir_all(self.work()))
    }
}

fn absent(result: std::io::Result<()>) -> std::io::Result<()> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
