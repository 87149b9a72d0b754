//! A policy set: a folder that an engine has compiled.

use std::{fmt, path::Path, sync::Arc};

use text::escaped;

use crate::{
    CompiledSet, EngineKind, Input, Limits, LoadError, Mistake, Policy, PolicyEngine, PolicyResult,
    SetFolder, SetSettings, diagnostics::not_read, guard, progress::Event, rego::RegoEngine,
    sentinel::SentinelEngine,
};

/// The engines of this build. A folder belongs to the engine whose manifest it holds.
const ENGINES: &[&dyn PolicyEngine] = &[&RegoEngine, &SentinelEngine];

/// Manifests that no engine reads, with those that are read.
const WITHOUT_ENGINE: &[(&str, &str)] =
    &[("sentinel.json", "sentinel.hcl"), ("policies.json", "policies.hcl")];

/// A policy set that is ready to be evaluated.
#[derive(Clone)]
pub struct PolicySet {
    name: String,
    engine: EngineKind,
    compiled: Arc<dyn CompiledSet>,
    warnings: Vec<String>,
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
    pub fn load(name: impl Into<String>, folder: &Path, settings: &SetSettings) -> Result<Self, LoadError> {
        let (folder, mut mistakes) = SetFolder::open(folder, &settings.policies_path)?;
        let loaded = engine_of(&folder)
            .and_then(|engine| Ok((engine.kind(), guard::load(engine, &folder, settings)?)));
        match loaded {
            Ok((engine, compiled)) if mistakes.is_empty() => {
                let warnings =
                    compiled.warnings().iter().cloned().chain(manifests_not_read(&folder)).collect();
                Ok(Self { name: name.into(), engine, compiled, warnings })
            }
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

    /// What of the set and of its settings has no effect.
    pub fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// Evaluates every policy of the set. Takes at most the time limit for each of them, and never panics.
    pub fn evaluate(&self, input: &Arc<Input>, limits: Limits) -> Vec<PolicyResult> {
        self.evaluate_telling(input, limits, &|_| ())
    }

    /// The same, and tells what it is at.
    pub(crate) fn evaluate_telling(
        &self,
        input: &Arc<Input>,
        limits: Limits,
        tell: &dyn Fn(Event),
    ) -> Vec<PolicyResult> {
        guard::prepare(&self.compiled, input);
        let policies = self.policies();
        let evaluate = |index: usize| {
            let what = format!(
                "Policy set {}, policy {} of {}: {}",
                self.name,
                index + 1,
                policies.len(),
                escaped(&policies[index].name)
            );
            tell(Event::Begins(what.clone()));
            let result = guard::evaluate(&self.compiled, index, input, limits);
            tell(Event::Ends(format!("{what}: {}", result.verdict.word())));
            result
        };
        (0..policies.len()).map(evaluate).collect()
    }
}

/// What is said of manifests in JSON beside one that is read.
fn manifests_not_read(folder: &SetFolder) -> impl Iterator<Item = String> {
    let here = WITHOUT_ENGINE.iter().map(|(manifest, read)| (folder.name_in_set(manifest), read));
    here.filter(|(manifest, _)| folder.file(manifest).is_some())
        .map(|(manifest, read)| not_read(&manifest, read))
}

/// The engine whose manifest lies in the folder.
fn engine_of(folder: &SetFolder) -> Result<&'static dyn PolicyEngine, LoadError> {
    let mut found =
        ENGINES.iter().filter(|engine| folder.file(&folder.name_in_set(engine.manifest())).is_some());
    match (found.next(), found.next()) {
        (Some(engine), None) => Ok(*engine),
        (Some(one), Some(two)) => Err(Mistake::of_file(
            "",
            format!("the folder holds both {} and {}", one.manifest(), two.manifest()),
        )
        .help("a set has one engine: move one of them to a folder of its own")
        .into()),
        (None, _) => Err(without_manifest(folder)),
    }
}

fn without_manifest(folder: &SetFolder) -> LoadError {
    let mut mistakes = Vec::new();
    for (manifest, read) in WITHOUT_ENGINE {
        let manifest = folder.name_in_set(manifest);
        if folder.file(&manifest).is_some() {
            let message = "the JSON form of a policy set's manifest is not read";
            mistakes.push(Mistake::of_file(manifest, message).help(format!("write it as {read}")));
        }
    }
    if mistakes.is_empty() {
        let place = folder.root().join(folder.policies());
        let message = format!("{} holds no policies.hcl and no sentinel.hcl", place.display());
        mistakes.push(Mistake::of_file("", message).help(
            "a policy set needs a policies.hcl (Rego) or a sentinel.hcl (Sentinel) with a policy block for each of its \
             policies",
        ));
    }
    LoadError::new(mistakes)
}
