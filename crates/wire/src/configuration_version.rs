//! Configurations that runs are made of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Attributes, NoRelationships, Relationship, Relationships, Resource, Text, Timestamps};

/// A configuration version.
pub type ConfigurationVersion = Resource<ConfigurationVersionAttributes>;
/// The commit that a configuration version was taken from.
pub type IngressAttributes = Resource<IngressAttributesAttributes>;

impl Attributes for ConfigurationVersionAttributes {
    const TYPE: &'static str = "configuration-versions";
    type Relationships = ConfigurationVersionRelationships;
}

impl Attributes for IngressAttributesAttributes {
    const TYPE: &'static str = "ingress-attributes";
    type Relationships = NoRelationships;
}

/// What a configuration version is like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct ConfigurationVersionAttributes {
    /// Always false.
    pub auto_queue_runs: bool,
    /// `errored` if its content could not be taken.
    pub error: Option<Text>,
    /// Why its content could not be taken.
    pub error_message: Option<String>,
    /// Where it came from: `tfe-api`, `git`, `directory`.
    pub source: String,
    /// Whether its runs are plan-only.
    pub speculative: bool,
    /// Always false.
    pub provisional: bool,
    /// Whether its content is there: `pending`, `uploaded`, `errored`.
    pub status: Text,
    /// When it was uploaded, or errored.
    pub status_timestamps: Timestamps,
    /// Always `null`: nothing is uploaded yet.
    pub upload_url: Option<String>,
    /// Always empty.
    pub changed_files: Vec<String>,
}

/// What a configuration version is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct ConfigurationVersionRelationships {
    /// The commit that it was taken from, if it was.
    pub ingress_attributes: Relationship,
}

impl Relationships for ConfigurationVersionRelationships {}

/// What is known of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct IngressAttributesAttributes {
    /// The branch or tag that it was found by.
    pub branch: String,
    /// The repository, without credentials.
    pub clone_url: String,
    /// The full hash.
    pub commit_sha: String,
    /// What its author said, or the beginning of it.
    pub commit_message: Option<String>,
    /// Always `null`.
    pub commit_url: Option<String>,
    /// The repository, without credentials.
    pub identifier: String,
    /// Always false.
    pub is_pull_request: bool,
    /// Always `null`: it is not known.
    pub on_default_branch: Option<bool>,
    /// The name of its author.
    pub sender_username: Option<String>,
}
