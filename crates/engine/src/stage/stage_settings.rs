use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use store::Blobs;

use crate::RunDir;
use crate::run_files::{StageError, read_sealed, write_sealed};

/// What a run's stages need, fixed when its plan starts: the apply has to see what the plan saw, and a run
/// goes on to its end even if its workspace is changed or removed meanwhile.
///
/// Holds secrets: the file is private, and goes when the run is over.
#[derive(Serialize, Deserialize)]
pub(super) struct StageSettings {
    format: u32,
    /// The terraform binary.
    pub(super) terraform: PathBuf,
    /// Its version, for the head of logs.
    pub(super) terraform_version: Option<String>,
    /// The whole environment of the run's processes.
    pub(super) environment: BTreeMap<String, String>,
    /// The directory in which terraform runs.
    pub(super) root: PathBuf,
}

const FORMAT: u32 = 1;

impl StageSettings {
    pub(super) fn new(
        terraform: crate::terraform::Terraform,
        environment: BTreeMap<String, String>,
        root: PathBuf,
    ) -> Self {
        Self {
            format: FORMAT,
            terraform: terraform.program,
            terraform_version: terraform.version,
            environment,
            root,
        }
    }

    pub(super) fn write(&self, blobs: &Blobs, run_dir: &RunDir) -> Result<(), StageError> {
        let path = run_dir.stage_settings();
        write_sealed(blobs, &path, self).map_err(|error| StageError::file("write", &path, &error))
    }

    pub(super) fn read(blobs: &Blobs, run_dir: &RunDir) -> Result<Self, StageError> {
        let path = run_dir.stage_settings();
        let settings: Self = read_sealed(blobs, &path)?
            .ok_or_else(|| StageError::Impossible(format!("{} is missing", path.display())))?;
        match settings.format {
            FORMAT => Ok(settings),
            newer => Err(StageError::Impossible(format!(
                "{} has format {newer}, which this release does not know",
                path.display()
            ))),
        }
    }
}
