use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What the runs of a workspace are made with.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Settings {
    /// A line for people.
    pub description: Option<String>,
    /// Where the terraform configuration comes from; `None` where it is uploaded.
    pub source: Option<Source>,
    /// The folder of the source in which terraform runs, with `/` between its parts and no `..`; empty for its root.
    pub working_directory: String,
    /// Terraform's binary: a bare name to be looked up in `PATH`, or an absolute path.
    pub terraform: PathBuf,
    /// Whether runs that can be auto-applied are.
    pub auto_apply: bool,
    /// Terraform variables.
    pub variables: BTreeMap<String, Value>,
    /// Terraform variables that must not be seen. No name is in both maps.
    pub sensitive_variables: BTreeMap<String, Value>,
    /// Environment variables for terraform.
    pub environment: BTreeMap<String, String>,
    /// Environment variables that must not be seen. No name is in both maps.
    pub sensitive_environment: BTreeMap<String, String>,
}

/// Where a terraform configuration comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// A commit of a Git repository.
    Git {
        /// What `git clone` takes; never begins with `-`.
        url: String,
        /// A branch, tag, full ref or commit; never begins with `-`.
        reference: String,
    },
    /// A directory on the daemon's machine, absolute.
    Directory {
        /// Whether it is there is found out when a run takes it.
        path: PathBuf,
    },
}

/// Says nothing of values: a log that shows settings shows no secret.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |text: &BTreeMap<String, String>| text.keys().cloned().collect::<Vec<_>>();
        let keys = |values: &BTreeMap<String, Value>| values.keys().cloned().collect::<Vec<_>>();
        f.debug_struct("Settings")
            .field("source", &self.source)
            .field("working_directory", &self.working_directory)
            .field("terraform", &self.terraform)
            .field("auto_apply", &self.auto_apply)
            .field("variables", &keys(&self.variables))
            .field("sensitive_variables", &keys(&self.sensitive_variables))
            .field("environment", &names(&self.environment))
            .field("sensitive_environment", &names(&self.sensitive_environment))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_says_nothing_of_values() {
        let settings = Settings {
            sensitive_variables: [("password".to_owned(), Value::from("hunter2"))].into(),
            sensitive_environment: [("TOKEN".to_owned(), "hunter2".to_owned())].into(),
            ..Settings::default()
        };
        let shown = format!("{settings:?}");
        assert!(
            shown.contains("password") && shown.contains("TOKEN") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
