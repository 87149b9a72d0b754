//! A policy set: a folder that an engine has compiled.

mod folder;
mod guard;

use std::{fmt, path::Path, sync::Arc};

pub use folder::{SetFile, SetFolder};
pub(crate) use guard::out_of_time;

use crate::{
    CompiledSet, EngineKind, Input, Limits, LoadError, Mistake, Policy, PolicyEngine, PolicyResult,
    rego::RegoEngine,
};

/// The engines of this build. A folder belongs to the engine whose manifest it holds.
const ENGINES: &[&dyn PolicyEngine] = &[&RegoEngine];

/// Manifests of engines that this build does not have, with what to say about them.
const WITHOUT_ENGINE: &[(&str, &str, &str)] = &[
    (
        "sentinel.hcl",
        "this is a Sentinel policy set, and this build has no Sentinel engine",
        "use a set of Rego policies",
    ),
    ("policies.json", "the JSON form of a policy set's manifest is not read", "write it as policies.hcl"),
];

/// A policy set that is ready to be evaluated.
#[derive(Clone)]
pub struct PolicySet {
    name: String,
    engine: EngineKind,
    compiled: Arc<dyn CompiledSet>,
}

impl fmt::Debug for PolicySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicySet")
            .field("name", &self.name)
            .field("engine", &self.engine)
            .field("policies", &self.policies())
            .finish()
    }
}

impl PolicySet {
    /// Loads the set in `folder` and compiles it.
    ///
    /// # Errors
    ///
    /// Every mistake of the set at once, as far as one does not hide another.
    pub fn load(name: impl Into<String>, folder: &Path) -> Result<Self, LoadError> {
        let (folder, mut mistakes) = SetFolder::open(folder)?;
        let loaded = engine_of(&folder).and_then(|engine| Ok((engine.kind(), guard::load(engine, &folder)?)));
        match loaded {
            Ok((engine, compiled)) if mistakes.is_empty() => Ok(Self { name: name.into(), engine, compiled }),
            Ok(_) => Err(LoadError::new(mistakes)),
            Err(error) => {
                mistakes.extend_from_slice(error.mistakes());
                Err(LoadError::new(mistakes))
            }
        }
    }

    /// The set's name in the configuration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The engine that evaluates it.
    pub const fn engine(&self) -> EngineKind {
        self.engine
    }

    /// Its policies in the order in which they are evaluated.
    pub fn policies(&self) -> &[Policy] {
        self.compiled.policies()
    }

    /// Evaluates every policy of the set. Takes at most the time limit for each of them, and never panics.
    pub fn evaluate(&self, input: &Arc<Input>, limits: Limits) -> Vec<PolicyResult> {
        guard::prepare(&self.compiled, input);
        (0..self.policies().len())
            .map(|index| guard::evaluate(&self.compiled, index, input, limits))
            .collect()
    }
}

/// The engine whose manifest lies in the folder.
fn engine_of(folder: &SetFolder) -> Result<&'static dyn PolicyEngine, LoadError> {
    let mut mistakes = Vec::new();
    for (manifest, message, help) in WITHOUT_ENGINE {
        if folder.file(manifest).is_some() {
            mistakes.push(Mistake::of_file(*manifest, *message).help(*help));
        }
    }
    let mut found = ENGINES.iter().filter(|engine| folder.file(engine.manifest()).is_some());
    match (found.next(), found.next()) {
        (Some(engine), None) if mistakes.is_empty() => Ok(*engine),
        (Some(one), Some(two)) => Err(Mistake::of_file(
            "",
            format!("the folder holds both {} and {}", one.manifest(), two.manifest()),
        )
        .help("a set has one engine: move one of them to a folder of its own")
        .into()),
        (None, _) if mistakes.is_empty() => {
            Err(Mistake::of_file("", format!("{} holds no policies.hcl", folder.root().display()))
                .help("a policy set needs a policies.hcl with a policy block for each of its policies")
                .into())
        }
        _ => Err(LoadError::new(mistakes)),
    }
}
