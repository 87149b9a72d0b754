//! States and their outputs.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Attributes, NoRelationships, Relationship, Relationships, Resource, Text};

/// A state version.
pub type StateVersion = Resource<StateVersionAttributes>;
/// An output of a state version.
pub type StateOutput = Resource<StateOutputAttributes>;

impl Attributes for StateVersionAttributes {
    const TYPE: &'static str = "state-versions";
    type Relationships = StateVersionRelationships;
}

impl Attributes for StateOutputAttributes {
    const TYPE: &'static str = "state-version-outputs";
    type Relationships = NoRelationships;
}

/// What a state version is like.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StateVersionAttributes {
    /// When it was taken.
    pub created_at: Timestamp,
    /// Counts the changes of the state.
    pub serial: u64,
    /// The same for all states of one history.
    pub lineage: String,
    /// Bytes.
    pub size: u64,
    /// The version of the format: always 4.
    pub state_version: u64,
    /// `pending` as long as its bytes are waited for, then `finalized`.
    pub status: Text,
    /// The terraform that wrote it.
    pub terraform_version: String,
    /// Always false.
    pub intermediate: bool,
    /// Whether its outputs can be read: not while it is pending.
    pub resources_processed: bool,
    /// Where the state's file is, once it is there. Clients send their token there.
    pub hosted_state_download_url: Option<String>,
    /// Where the state's file is sent, with PUT and without a token, while it is pending.
    pub hosted_state_upload_url: Option<String>,
    /// Where the state's JSON is, if whoever brought the state brought that as well.
    pub hosted_json_state_download_url: Option<String>,
    /// Where the state's JSON may be sent, with PUT and without a token, while the state is pending.
    pub hosted_json_state_upload_url: Option<String>,
}

/// What a state version is linked to.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct StateVersionRelationships {
    /// Whose state it is.
    pub workspace: Relationship,
    /// The run whose apply wrote it.
    pub run: Relationship,
    /// Who queued that run, or brought the state.
    pub created_by: Relationship,
    /// Its outputs.
    pub outputs: Relationship,
}

impl Relationships for StateVersionRelationships {}

/// What an output is like.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct StateOutputAttributes {
    /// Its name.
    pub name: String,
    /// Whether it was declared sensitive.
    pub sensitive: bool,
    /// The kind of its value in one word.
    pub r#type: Text,
    /// The type of its value, as terraform writes it.
    pub detailed_type: Value,
    /// Its value, digit by digit as terraform wrote it. In lists `null` for a sensitive one.
    pub value: Option<Box<RawValue>>,
}

/// A state that a person brings.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NewStateVersion {
    /// The state's file, in base64; left out for one that is sent afterwards, to the address in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The MD5 of the state's file, in hexadecimal digits, which what is sent is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub md5: Option<String>,
    /// What the user believes its serial to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// What the user believes its lineage to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<String>,
    /// Take it also if it is of another lineage than the current one, or another with the same serial.
    #[serde(default)]
    pub force: bool,
}
