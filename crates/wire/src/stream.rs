//! What the events of streams carry.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Text;

/// The data of a `change`: something changed that the reader may see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeEvent {
    /// `null` when the workspace itself changed: its lock, its state, its place in the config file.
    pub run: Option<String>,
    /// The run's workspace.
    pub workspace: String,
    /// The run's new status.
    pub status: Option<Text>,
}

/// The data of a `log`: a piece of a log. The event's id is the offset after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogEvent {
    /// Its bytes, in base64.
    pub data: String,
    /// The place of its first byte in the log.
    pub offset: u64,
}

/// The data of the `end` of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogEndEvent {
    /// The length of the whole.
    pub offset: u64,
}
