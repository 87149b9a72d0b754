//! What a new executor says to the one who launched it, once, on its standard output.

use serde::{Deserialize, Serialize};

/// One line of JSON; the output is closed after it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "handshake", rename_all = "snake_case")]
pub(crate) enum Handshake {
    /// The execution is claimed, durably unless it is repeatable, and can be controlled.
    Claimed,
    /// It had been claimed before; this executor ends without having done anything.
    Before,
    /// It was not claimed; to launch it again is safe.
    Failed { why: String },
}
