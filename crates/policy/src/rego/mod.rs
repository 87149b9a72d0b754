//! Rego policy sets: `policies.hcl` and every `*.rego` file below it, on regorus.
//!
//! - The query of a policy is the path of a rule that answers with a set or an array of violations. Empty passes;
//!   otherwise each element is a message. Any other answer, a boolean too, is an error of the policy: `deny = false`
//!   and `allow = true` look alike and mean opposite things.
//! - Strict errors: a function that fails inside a rule makes the policy errored. OPA's own default, where it leaves
//!   the rule undefined, would turn a `deny` with a mistake in it into one that never denies.
//! - The version of the language is the set's `rego_version`. Without one each file is read as v1 if it is v1, else
//!   as v0: the two can stand side by side in a set, and a file with rules is seldom both. Where it is, it means the
//!   same in both.
//! - `*_test.rego` files are left out: tests are for whoever writes the policies.
//!
//! # Known differences to OPA
//!
//! - `sprintf` is kinder to numbers and booleans; `rego.metadata.rule()` answers as written, without OPA's rewriting
//!   of authors and the like; there is no `rego.metadata.chain()`.
//! - `http.send` and the functions for keys and tokens are not there. A policy is errored when it comes to call one,
//!   not before.
//! - A function that stands in for one of OPA's (`builtins`) is used for its value; it does not take the result as its
//!   last argument.
//! - Whole numbers of the plan beyond 64 bits are read as floats.
//! - `json.patch` is undefined where a patch does not apply, and `uuid.parse` for what is not a UUID.

mod builtins;
mod float;
mod manifest;
mod metadata;
mod recursion;
mod source;
mod sprintf;
mod tokens;
mod value;

use std::{
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
    time::Instant,
};

use regorus::{Engine, LimitError, PolicyLengthConfig, Value, utils::limits::ExecutionTimerConfig};

#[cfg(test)]
pub(crate) use self::value::input;
use self::{builtins::Notes, manifest::Entry, source::Rego};
use crate::{
    CompiledSet, EngineKind, Evaluation, Input, Limits, LoadError, Mistake, Policy, PolicyEngine, SetFolder,
    SetSettings, Verdict, engine::out_of_time, truncate,
};

/// Columns in a line of a policy; regorus' own bound is 1,024, which long messages exceed.
const MAX_COLUMNS: NonZeroU32 = NonZeroU32::new(16_384).unwrap();
const MAX_BYTES: NonZeroUsize = NonZeroUsize::new(4 * 1024 * 1024).unwrap();
const MAX_LINES: NonZeroUsize = NonZeroUsize::new(200_000).unwrap();

/// Steps of an evaluation between two looks at the clock.
const STEPS_PER_LOOK: NonZeroU32 = NonZeroU32::new(256).unwrap();

/// The engine for sets of Rego policies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegoEngine;

impl PolicyEngine for RegoEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Rego
    }

    fn manifest(&self) -> &'static str {
        manifest::FILE
    }

    fn load(&self, folder: &SetFolder, settings: &SetSettings) -> Result<Arc<dyn CompiledSet>, LoadError> {
        let (manifest_name, manifest_text) = folder.manifest(manifest::FILE)?;
        let (manifest, mut mistakes) = manifest::read(&manifest_name, &manifest_text);
        let rego = source::read(folder, manifest.version, &mut mistakes);
        if !mistakes.is_empty() {
            return Err(LoadError::new(mistakes));
        }
        let engine = compile(&rego, (&manifest_name, &manifest_text), &manifest.entries)?;
        let (policies, rules) = manifest.entries.into_iter().map(|entry| (entry.policy, entry.rule)).unzip();
        Ok(Arc::new(RegoSet { engine, policies, rules, warnings: without_effect(settings) }))
    }
}

/// An engine with these settings, ready for files.
fn new_engine() -> Engine {
    let mut engine = Engine::new();
    engine.set_strict_builtin_errors(true);
    engine.set_gather_prints(true);
    engine.set_policy_length_config(PolicyLengthConfig {
        max_col: MAX_COLUMNS,
        max_file_bytes: MAX_BYTES,
        max_lines: MAX_LINES,
    });
    engine
}

/// Compiles the files together and finds the rule of every policy.
fn compile(rego: &Rego, manifest: (&str, &str), entries: &[Entry]) -> Result<Engine, LoadError> {
    let mut engine = new_engine();
    for file in &rego.files {
        engine.set_rego_v0(file.version == manifest::RegoVersion::V0);
        engine
            .add_policy(file.name.clone(), file.compiled_text.clone())
            .map_err(|e| LoadError::from(source::mistake(&e, &rego.files)))?;
    }
    builtins::install(&mut engine, &rego.annotations)
        .map_err(|e| LoadError::from(Mistake::of_file("", format!("the engine cannot be set up: {e}"))))?;
    let mut mistakes = recursion::find(engine.get_modules(), &rego.files);
    for entry in entries {
        let Err(error) = engine.compile_with_entrypoint(&entry.rule.as_str().into()) else { continue };
        if source::place_in(&error).is_some() {
            // not about this query: the files do not fit together, and no query can say more
            return Err(source::mistake(&error, &rego.files).into());
        }
        let message = format!("the query {} names no rule of the set", entry.query);
        mistakes.push(
            Mistake::at_span(manifest.0, manifest.1, entry.span.clone(), message)
                .help(rego.nearest(&entry.rule)),
        );
    }
    match mistakes.is_empty() {
        true => Ok(engine),
        false => Err(LoadError::new(mistakes)),
    }
}

struct RegoSet {
    engine: Engine,
    policies: Vec<Policy>,
    /// The rule of each policy.
    rules: Vec<String>,
    warnings: Vec<String>,
}

/// What of a set's settings its policies have no use for.
fn without_effect(settings: &SetSettings) -> Vec<String> {
    let mut warnings = Vec::new();
    if !settings.http_hosts.is_empty() {
        warnings.push("http_hosts has no effect: policies in Rego have no http.send here".to_owned());
    }
    if !settings.parameters.is_empty() {
        warnings.push("parameters have no effect: policies in Rego take none".to_owned());
    }
    warnings
}

impl CompiledSet for RegoSet {
    fn policies(&self) -> &[Policy] {
        &self.policies
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn prepare(&self, input: &Input) {
        // an error shows again in each evaluation
        let _ = input.rego(value::input);
        // what a policy says is masked in its own time
        input.secrets();
    }

    fn evaluate(&self, index: usize, given: &Input, limits: Limits) -> Evaluation {
        let input = match given.rego(value::input) {
            Ok(input) => input.clone(),
            Err(error) => return Evaluation::errored(error),
        };
        let started = Instant::now();
        // a clone shares the compiled policies and nothing that an evaluation changes
        let mut engine = self.engine.clone();
        let notes = Notes::default();
        if let Err(error) = builtins::install_trace(&mut engine, &notes) {
            return Evaluation::errored(format!("the engine cannot be set up: {error}"));
        }
        engine.set_input(input);
        engine.set_execution_timer_config(ExecutionTimerConfig {
            limit: limits.time,
            check_interval: STEPS_PER_LOOK,
        });
        let answer = engine.eval_rule(self.rules[index].clone());
        let verdict = match answer {
            Ok(answer) => judge(&answer),
            // errors that passed through a function have lost their type
            Err(error) if error.is::<LimitError>() || started.elapsed() >= limits.time => out_of_time(limits),
            Err(error) => Verdict::Errored { error: source::describe(&error) },
        };
        let prints = engine.take_prints().unwrap_or_default();
        masked(Evaluation { verdict, prints, trace: notes.take(), rules: Vec::new() }, given)
    }
}

/// What a rule's answer means.
fn judge(answer: &Value) -> Verdict {
    let messages: Vec<String> = match answer {
        Value::Set(elements) => elements.iter_sorted().map(value::show).collect(),
        Value::Array(elements) => elements.iter().map(value::show).collect(),
        Value::Undefined => {
            let error = "the rule is undefined for this plan; it has to give a set of violations, empty if there are \
                         none";
            return Verdict::Errored { error: error.to_owned() };
        }
        other => {
            let error = format!(
                "the rule gives {}; it has to give a set or an array of violations",
                value::kind(other)
            );
            return Verdict::Errored { error };
        }
    };
    match messages.is_empty() {
        true => Verdict::Passed,
        false => Verdict::Failed { messages },
    }
}

/// What of a policy's words is kept, without the sensitive values of the run.
fn masked(said: Evaluation, input: &Input) -> Evaluation {
    if said == Evaluation::of(Verdict::Passed) {
        return said;
    }
    let secrets = input.secrets();
    // cut after masking: half of a secret would be found by nobody
    let mask = |lines: Vec<String>| truncate::lines(lines.iter().map(|line| secrets.mask(line)).collect());
    Evaluation {
        verdict: match said.verdict {
            Verdict::Passed => Verdict::Passed,
            Verdict::Failed { messages } => Verdict::Failed { messages: mask(messages) },
            Verdict::Errored { error } => Verdict::Errored { error: secrets.mask(&error) },
        },
        prints: mask(said.prints),
        trace: secrets.mask(&said.trace),
        rules: said.rules,
    }
}
