use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a request was not done: every mistake that was found in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Errors {
    /// At least one.
    pub errors: Vec<ErrorEntry>,
}

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEntry {
    /// The HTTP status as a text: clients show nothing of an error whose status is a number.
    #[serde(default)]
    pub status: String,
    /// The kind of mistake in a word or two.
    #[serde(default)]
    pub title: String,
    /// What is wrong, and what would be right.
    #[serde(default)]
    pub detail: String,
    /// Where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ErrorSource>,
}

/// A place in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ErrorSource {
    /// In the body, as a JSON pointer.
    Pointer(String),
    /// In the query, as the name of a parameter.
    Parameter(String),
}
