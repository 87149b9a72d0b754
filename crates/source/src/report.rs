//! What was taken: the contents of the report file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Written when everything is in its place; where it is missing, nothing was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeReport {
    /// [`FORMAT`](crate::FORMAT) of the writer.
    pub format: u32,
    /// Where terraform runs: absolute, `work` or the working directory in it.
    pub root: PathBuf,
    /// The commit, for a git source.
    pub commit: Option<Commit>,
    /// The archive, if the request asked for one.
    pub digest: Option<Digest>,
    /// Who keeps the state of the workspace.
    pub state: StateKept,
}

/// A commit of a git repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Its full name, in lower-case hexadecimal.
    pub sha: String,
    /// Its message, or the beginning of a long one; none if that is empty.
    #[serde(alias = "subject")]
    pub message: Option<String>,
    /// The name of its author.
    #[serde(default)]
    pub author: Option<String>,
}

impl Commit {
    /// The first line of its message.
    pub fn subject(&self) -> Option<&str> {
        self.message.as_ref()?.lines().next()
    }
}

/// What identifies the archive. Equal configurations give equal archives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
    /// Bytes.
    pub size: u64,
}

/// Who keeps the state of a workspace, which its configuration decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum StateKept {
    /// Signalbox. Terraform reads and writes `terraform.tfstate` in [`TakeReport::root`], from where it is taken
    /// back after every stage.
    #[serde(rename = "daemon")]
    ByDaemon,
    /// The backend that the configuration names; signalbox leaves it alone.
    #[serde(rename = "backend")]
    ByBackend {
        /// The label of the `backend` block, as `s3`.
        kind: String,
    },
}
