//! What the configuration says of a policy set.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// What the configuration says of a set beside its folder.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SetSettings {
    /// The folder within its folder that is the set, with `/`; empty when it is the folder itself. Sources may lead
    /// out of it, never out of the folder.
    pub policies_path: String,
    /// The hosts that its policies may reach over HTTP: a name, which stands for the scheme's own port, or a name
    /// with a port. Without any, policies do not reach the network.
    pub http_hosts: Vec<String>,
    /// Values of Sentinel parameters by name; they win over those of the set's own files.
    pub parameters: BTreeMap<String, Parameter>,
}

/// The value of a parameter.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    /// Any value.
    pub value: serde_json::Value,
    /// Whether it is masked in what policies say.
    #[serde(default)]
    pub sensitive: bool,
}

impl fmt::Debug for Parameter {
    /// Without the value, which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("sensitive", &self.sensitive).finish_non_exhaustive()
    }
}
