use jiff::Timestamp;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use serde::{Deserialize, Serialize};

use crate::Digest;

/// A configuration that runs can be made of: a tar.gz in the blobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationVersion {
    /// Which.
    pub id: ConfigurationVersionId,
    /// Whose.
    pub workspace: WorkspaceId,
    /// Where it came from: `tfe-api`, `terraform+cloud`, `git`, …
    pub source: String,
    /// Whether its content is there.
    pub status: ConfigurationStatus,
    /// The commit that it was taken from.
    pub commit: Option<Commit>,
    /// Its runs are plan-only.
    pub speculative: bool,
    /// When it was announced.
    pub created_at: Timestamp,
    /// When it was uploaded, or errored.
    pub finished_at: Option<Timestamp>,
}

impl ConfigurationVersion {
    /// The blob with its content, if that is there.
    pub const fn digest(&self) -> Option<Digest> {
        match self.status {
            ConfigurationStatus::Uploaded { digest, .. } => Some(digest),
            ConfigurationStatus::Pending | ConfigurationStatus::Errored { .. } => None,
        }
    }
}

/// Whether a configuration's content is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigurationStatus {
    /// Not yet.
    Pending,
    /// It is.
    Uploaded {
        /// Of the tar.gz.
        digest: Digest,
        /// Its bytes.
        size: u64,
    },
    /// It could not be taken.
    Errored {
        /// Why.
        message: String,
    },
}

impl ConfigurationStatus {
    /// The word in the API and in records.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Uploaded { .. } => "uploaded",
            Self::Errored { .. } => "errored",
        }
    }
}

/// How taking a configuration ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigurationResult {
    /// Its content is in the blobs.
    Uploaded {
        /// Of the tar.gz.
        digest: Digest,
        /// Its bytes.
        size: u64,
        /// The commit that it was taken from.
        commit: Option<Commit>,
    },
    /// It could not be taken.
    Errored {
        /// Why.
        message: String,
    },
}

/// A commit of a git repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Commit {
    /// The full hash.
    pub sha: String,
    /// The branch or tag that it was found by.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The repository, without credentials.
    pub url: String,
    /// Its message, or the beginning of a long one.
    pub message: Option<String>,
    /// The name of its author.
    pub author: Option<String>,
}

/// A configuration to be announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewConfigurationVersion {
    /// A fresh id, made by the caller.
    pub id: ConfigurationVersionId,
    /// Whose.
    pub workspace: WorkspaceId,
    /// See [`ConfigurationVersion::source`].
    pub source: String,
    /// See [`ConfigurationVersion::speculative`].
    pub speculative: bool,
    /// When.
    pub created_at: Timestamp,
}
