//! What one policy said.

use std::time::Duration;

use std::{fmt, str::FromStr};

use ::sentinel::RuleTrace;
use serde::{Deserialize, Serialize};

/// How strictly a policy is enforced, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnforcementLevel {
    /// A failure is shown and stops nothing.
    #[default]
    Advisory,
    /// A failure stops the run until a member of the owners team overrides it (T12, T13).
    SoftMandatory,
    /// A failure ends the run (T11).
    HardMandatory,
}

impl EnforcementLevel {
    /// Every level, weakest first.
    pub const ALL: [Self; 3] = [Self::Advisory, Self::SoftMandatory, Self::HardMandatory];

    /// The level's word in policy sets, logs and the API.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Advisory => "advisory",
            Self::SoftMandatory => "soft-mandatory",
            Self::HardMandatory => "hard-mandatory",
        }
    }
}

impl fmt::Display for EnforcementLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no level.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no enforcement level is called \"{0}\"; write \"advisory\", \"soft-mandatory\" or \"hard-mandatory\""
)]
pub struct UnknownLevel(String);

impl FromStr for EnforcementLevel {
    type Err = UnknownLevel;

    /// Reads a level. `mandatory` is the word of OPA policies in Terraform Enterprise; such a policy can be
    /// overridden there, so it means soft-mandatory.
    fn from_str(word: &str) -> Result<Self, Self::Err> {
        match word {
            "advisory" => Ok(Self::Advisory),
            "soft-mandatory" | "mandatory" => Ok(Self::SoftMandatory),
            "hard-mandatory" => Ok(Self::HardMandatory),
            other => Err(UnknownLevel(other.to_owned())),
        }
    }
}

/// A policy's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "result", rename_all = "lowercase")]
pub enum Verdict {
    /// The policy found nothing to object to.
    Passed,
    /// The policy objected; there may be no message (Sentinel's `main` is only true or false).
    Failed {
        /// What the policy objects to, one message for each finding.
        messages: Vec<String>,
    },
    /// The policy gave no usable answer. Counts as a failure at the policy's level.
    Errored {
        /// What went wrong, with its place if the engine knows it.
        error: String,
    },
}

impl Verdict {
    /// Whether the policy passed; everything else is a failure.
    pub const fn is_passed(&self) -> bool {
        matches!(self, Self::Passed)
    }

    /// As the log says it: `true`, `false` or `error`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Passed => "true",
            Self::Failed { .. } => "false",
            Self::Errored { .. } => "error",
        }
    }

    /// The policy's messages; empty unless it failed.
    pub fn messages(&self) -> &[String] {
        match self {
            Self::Failed { messages } => messages,
            Self::Passed | Self::Errored { .. } => &[],
        }
    }
}

/// The result of one policy in one check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyResult {
    /// The policy's name, unique in its set.
    pub name: String,
    /// The level at which a failure counts.
    pub level: EnforcementLevel,
    /// The set's description of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the policy said.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Lines the policy printed, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prints: Vec<String>,
    /// What the policy noted for its trace: for Rego the notes that `trace` left, one a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub trace: String,
    /// The rules that were evaluated, with their places and values, `main` first; only Sentinel tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleTrace>,
    /// Wall time of the evaluation in milliseconds.
    pub duration_ms: u64,
}

/// Whole milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read_by_their_words_and_mandatory_can_be_overridden() {
        for level in EnforcementLevel::ALL {
            assert_eq!(level.as_str().parse(), Ok(level));
            assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
        }
        assert_eq!("mandatory".parse(), Ok(EnforcementLevel::SoftMandatory));
        assert!("Advisory".parse::<EnforcementLevel>().is_err());
    }
}
