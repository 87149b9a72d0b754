//! Sentinel policy sets: `sentinel.hcl` and what it names, on the crate `sentinel`.
//!
//! - What `sentinel.hcl` says holds: policies with sources, levels and parameters, modules, static imports, globals.
//!   Its `mock` and `test` blocks are for whoever writes the policies: here the run's own data is looked at, and
//!   what is not used is said ([`CompiledSet::warnings`]).
//! - A set is loaded whole or not at all: a policy or an import that cannot be had or compiled, an import that nobody
//!   defines and a parameter without a value are mistakes of the set.
//! - The Terraform imports are derived once for a plan, whatever number of sets and policies ask for them.
//! - Programs (`import "plugin"` with a source) are never run; `http` reaches the hosts that the set allows.
//! - `terraform providers schema` is not asked for. Only the old `tfplan` import would look at it, for attributes
//!   whose values are not known yet: without it such an attribute is found as a scalar, as a list and as a map, so
//!   that a policy finds it however it asks. The schemas of a large provider take seconds and a hundred megabytes.

mod network;
mod source;

use std::collections::HashMap;
use std::sync::Arc;

use ::sentinel::{
    Config, Data, EnforcementLevel as Level, Error, Inputs, Key, Outcome, Secrets, TERRAFORM_IMPORTS,
};

pub use self::network::{PolicyHost, fetch_source};
use self::source::FolderFiles;
use crate::{
    CompiledSet, EnforcementLevel, EngineKind, Evaluation, Input, Limits, LoadError, Mistake, Policy,
    PolicyEngine, SetFolder, SetSettings, Verdict, diagnostics::not_read, truncate,
};

const MANIFEST: &str = "sentinel.hcl";

/// The engine for sets of Sentinel policies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentinelEngine;

impl PolicyEngine for SentinelEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Sentinel
    }

    fn manifest(&self) -> &'static str {
        MANIFEST
    }

    fn load(&self, folder: &SetFolder, settings: &SetSettings) -> Result<Arc<dyn CompiledSet>, LoadError> {
        let (manifest, text) = folder.manifest(MANIFEST)?;
        let mistake = |error: &Error| source::mistake(error, folder);
        let mut config = Config::parse(&manifest, &text).map_err(|error| mistake(&error))?;
        if config.policies.is_empty() {
            // a set that checks nothing would pass everything
            return Err(Mistake::of_file(manifest, "the set has no policy")
                .help("write policy \"NAME\" { source = \"./NAME.sentinel\" }")
                .into());
        }
        let mut warnings = without_what_is_not_used(&mut config, &manifest);
        warnings.extend(files_that_are_not_read(folder));
        let set = ::sentinel::PolicySet::of(config, &FolderFiles(folder), folder.policies());
        let parameters: Vec<&str> = settings.parameters.keys().map(String::as_str).collect();
        let mistakes = set.mistakes(&TERRAFORM_IMPORTS, &parameters);
        let mistakes: Vec<Mistake> = mistakes.iter().map(mistake).collect();
        if !mistakes.is_empty() {
            return Err(LoadError::new(mistakes));
        }
        let unused = set.surplus_params().chain(set.unused_params());
        warnings.extend(unused.map(|error| source::words(&error)));
        warnings.extend(parameters.iter().filter(|name| !set.may_have_param(name)).map(|name| {
            format!("the parameter `{name}` of the configuration has no effect: no policy of the set has it")
        }));
        let policies = set.policies().enumerate().map(|(index, (name, level))| Policy {
            name: name.to_owned(),
            level: level_of(level),
            description: set.description(index).map(str::to_owned),
        });
        let values = settings.parameters.iter();
        let mut secrets = Vec::new();
        for parameter in settings.parameters.values().filter(|parameter| parameter.sensitive) {
            Secrets::collect(&Data::from(&parameter.value), &mut secrets);
        }
        Ok(Arc::new(SentinelSet {
            policies: policies.collect(),
            set,
            warnings,
            http_hosts: settings.http_hosts.clone(),
            params: values.map(|(name, parameter)| (name.clone(), Data::from(&parameter.value))).collect(),
            secrets: Secrets::new(secrets),
        }))
    }
}

/// Takes out what has no meaning in a run, with a word on each.
fn without_what_is_not_used(config: &mut Config, manifest: &str) -> Vec<String> {
    let mut warnings: Vec<String> =
        config.warnings.iter().map(|warning| format!("{manifest}: {warning}")).collect();
    let mocks = std::mem::take(&mut config.mocks);
    warnings.extend(mocks.iter().map(|(name, _)| {
        format!("{manifest}: mock \"{name}\" is for tests; policies see the data of the run instead")
    }));
    // the data of the run wins over whatever the set gives it; a set that thinks otherwise has to know
    let shadowed = |(name, _): &&(String, _)| TERRAFORM_IMPORTS.contains(&name.as_str());
    warnings.extend(config.imports.iter().filter(shadowed).map(|(name, _)| {
        format!("{manifest}: import \"{name}\" has no effect; policies see the data of the run instead")
    }));
    if config.test.take().is_some() {
        warnings.push(format!("{manifest}: the test block is for tests and means nothing to a run"));
    }
    if config.sentinel.take().is_some() {
        warnings.push(format!("{manifest}: the settings of the sentinel block have no effect"));
    }
    warnings
}

/// Files beside the manifest that the command line would read, and a run does not.
fn files_that_are_not_read(folder: &SetFolder) -> Vec<String> {
    let manifest = folder.name_in_set(MANIFEST);
    let at_root = |name: &&str| *name == folder.name_in_set(name.rsplit('/').next().unwrap_or(name));
    let names = folder.files().iter().map(|file| file.name.as_str()).filter(at_root);
    let others = names.filter(|name| name.ends_with(".hcl") && *name != manifest);
    others.map(|name| not_read(name, MANIFEST)).collect()
}

const fn level_of(level: Level) -> EnforcementLevel {
    match level {
        Level::Advisory => EnforcementLevel::Advisory,
        Level::SoftMandatory => EnforcementLevel::SoftMandatory,
        Level::HardMandatory => EnforcementLevel::HardMandatory,
    }
}

struct SentinelSet {
    policies: Vec<Policy>,
    set: ::sentinel::PolicySet,
    warnings: Vec<String>,
    http_hosts: Vec<String>,
    params: HashMap<String, Data>,
    /// Those of the parameters.
    secrets: Secrets,
}

impl CompiledSet for SentinelSet {
    fn policies(&self) -> &[Policy] {
        &self.policies
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn prepare(&self, input: &Input) {
        // an error shows again in each evaluation
        let Ok(imports) = input.sentinel() else { return };
        input.secrets();
        for (name, import) in imports {
            if self.set.imports(name) {
                import.data();
            }
        }
    }

    fn evaluate(&self, index: usize, input: &Input, limits: Limits) -> Evaluation {
        let inputs = match input.sentinel() {
            Ok(imports) => Inputs {
                imports: imports.to_vec(),
                params: self.params.clone(),
                secrets: input.secrets().clone(),
            },
            Err(error) => return Evaluation::errored(error),
        };
        let host = PolicyHost::new(&self.http_hosts, limits.time);
        let limits = ::sentinel::Limits { time: limits.time, ..::sentinel::Limits::default() };
        let Some(evaluated) = self.set.evaluate_policy(index, &inputs, limits, &host) else {
            return Evaluation::errored(format!("the set has no policy of number {index}"));
        };
        let evaluation = evaluated.evaluation.masked(&self.secrets);
        Evaluation {
            verdict: judge(&evaluation.outcome),
            prints: truncate::lines(evaluation.trace.print.lines().map(str::to_owned).collect()),
            trace: String::new(),
            rules: truncate::rules(evaluation.trace.rules),
        }
    }
}

/// What the value of `main` means. One that is not a boolean says what is wrong.
fn judge(outcome: &Outcome) -> Verdict {
    if let Some(error) = outcome.error() {
        return Verdict::Errored { error: source::words(&error) };
    }
    let messages = match outcome.value() {
        _ if outcome.passed() => return Verdict::Passed,
        None | Some(Data::Bool(_)) => Vec::new(),
        Some(Data::List(items)) => items.iter().map(show).collect(),
        Some(Data::Map(map)) => {
            let key = |key: &Key| key.as_str().map_or_else(|| format!("{key:?}"), str::to_owned);
            map.entries().iter().map(|(name, item)| format!("{}: {}", key(name), show(item))).collect()
        }
        Some(other) => vec![show(other)],
    };
    Verdict::Failed { messages: truncate::lines(messages) }
}

/// A string is shown without quotes.
fn show(data: &Data) -> String {
    data.as_str().map_or_else(|| format!("{data:?}"), str::to_owned)
}
