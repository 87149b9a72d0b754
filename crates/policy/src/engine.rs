//! The contract between the policy stage and what understands a policy language.

use std::{sync::Arc, time::Duration};

use ::sentinel::RuleTrace;
use serde::{Deserialize, Serialize};

use crate::{EnforcementLevel, Input, LoadError, SetFolder, SetSettings, Verdict};

/// The engines of this build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// Rego, the language of OPA.
    Rego,
    /// Sentinel, HashiCorp's language.
    Sentinel,
}

impl EngineKind {
    /// The engine's name as people write it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rego => "Rego",
            Self::Sentinel => "Sentinel",
        }
    }
}

/// A policy of a set, before it is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Its name, unique in the set.
    pub name: String,
    /// The level at which a failure counts.
    pub level: EnforcementLevel,
    /// What it is for.
    pub description: Option<String>,
}

/// The bounds of one policy's evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Wall time of one policy. An engine stops by itself where it can; where it cannot, its thread is left
    /// behind and the policy counts as errored.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10) }
    }
}

/// The verdict of a policy that did not end in its time.
pub(crate) fn out_of_time(limits: Limits) -> Verdict {
    Verdict::Errored { error: format!("did not end within its time limit of {:?}", limits.time) }
}

/// What an engine says about one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// The answer.
    pub verdict: Verdict,
    /// Printed lines, with their places.
    pub prints: Vec<String>,
    /// What the policy noted for its trace; empty if there is nothing.
    pub trace: String,
    /// The rules that were evaluated, with their values; empty if the engine does not tell.
    pub rules: Vec<RuleTrace>,
}

impl Evaluation {
    /// An evaluation that failed before the policy could print anything.
    pub fn errored(error: impl Into<String>) -> Self {
        Self::of(Verdict::Errored { error: error.into() })
    }

    /// An evaluation that says nothing but its verdict.
    pub const fn of(verdict: Verdict) -> Self {
        Self { verdict, prints: Vec::new(), trace: String::new(), rules: Vec::new() }
    }
}

/// Turns a folder into a compiled set. One implementation for each policy language.
pub trait PolicyEngine: Sync {
    /// Which engine this is.
    fn kind(&self) -> EngineKind;

    /// The file that marks a folder as a set of this engine.
    fn manifest(&self) -> &'static str;

    /// Reads and compiles the set in `folder`, which is known to hold the manifest.
    ///
    /// # Errors
    ///
    /// Every mistake of the set that can be seen without a plan.
    fn load(&self, folder: &SetFolder, settings: &SetSettings) -> Result<Arc<dyn CompiledSet>, LoadError>;
}

/// A set that is ready to be evaluated any number of times.
pub trait CompiledSet: Send + Sync {
    /// The policies in the order in which they are evaluated and shown.
    fn policies(&self) -> &[Policy];

    /// What of the set and of its settings has no effect.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Reads the input into the engine's own form, so that no policy's time is spent on it.
    fn prepare(&self, input: &Input);

    /// Evaluates the policy at `index` in [`Self::policies`]. May panic or overrun its time: the caller guards.
    fn evaluate(&self, index: usize, input: &Input, limits: Limits) -> Evaluation;
}
