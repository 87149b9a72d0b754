//! Policy sets: a folder with a `sentinel.hcl`, compiled once, evaluated for every run.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::compile::Unit;
use crate::config::{Config, EnforcementLevel, PolicyConfig};
use crate::error::{Error, ErrorKind, Place, nearest};
use crate::eval::{Environment, Trace};
use crate::files::{Files, read_text};
use crate::host::{Host, Import};
use crate::limits::Limits;
use crate::outcome::{PolicyOutcome, SetOutcome};
use crate::policy::{Evaluation, Outcome, evaluate};
use crate::redact::Secrets;
use crate::sources::Sources;
use crate::value::Data;

/// A compiled policy set. It is immutable and can be shared by runs and threads.
pub struct PolicySet {
    policies: Vec<SetPolicy>,
    environment: Environment,
    params: Vec<(String, Data)>,
    /// Where each of those is in the configuration.
    param_blocks_at: HashMap<String, Place>,
    warnings: Vec<String>,
}

struct SetPolicy {
    name: String,
    level: EnforcementLevel,
    description: Option<String>,
    unit: Result<Arc<Unit>, Error>,
    params: Vec<(String, Data)>,
    /// Where those are in the configuration.
    params_at: Option<Place>,
}

/// What one run gives to the policies of a set.
#[derive(Default)]
pub struct Inputs {
    /// Imports by name: `tfplan/v2`, `tfrun` and so on. A mock of the configuration does not hide them.
    pub imports: Vec<(String, Arc<dyn Import>)>,
    /// Parameters; those of the policy set's settings win over those of its files.
    pub params: HashMap<String, Data>,
    /// Sensitive texts, which are masked in everything the outcome shows.
    pub secrets: Secrets,
}

impl PolicySet {
    /// Loads the set in a folder of some files; the root is the empty path. Its configuration is its
    /// `sentinel.hcl` (or `sentinel.json`); other files beside it are not looked at, and a `sentinel.json` that
    /// is not read is among the [`PolicySet::warnings`].
    ///
    /// A policy that cannot be read or compiled does not hinder others: it is in [`PolicySet::problems`]
    /// and fails when the set is evaluated.
    pub fn load(files: &dyn Files, folder: &str) -> Result<PolicySet, Error> {
        let (folder, names) = list(files, folder)?;
        let name = ["sentinel.hcl", "sentinel.json"].into_iter().find(|name| names.iter().any(|n| n == name));
        let name = name.ok_or_else(|| no_configuration(&folder))?;
        let mut config = read_config(files, &join(&folder, name))?;
        config.warnings.extend(json_that_is_not_read(&names, name));
        Ok(PolicySet::of(config, files, &folder))
    }

    /// The set that a configuration defines, with sources relative to a folder.
    pub fn of(config: Config, files: &dyn Files, folder: &str) -> PolicySet {
        let sources = Sources::new(files);
        let environment = sources.environment(&config, folder);
        let unknown = config.unknown_settings();
        let warnings = config.warnings.into_iter().chain(unknown).collect();
        let (named_at, mut params_at) = (config.named_at, config.params_at);
        let policies = config
            .policies
            .into_iter()
            .map(|policy| SetPolicy {
                unit: sources
                    .unit(folder, &policy.source)
                    .map_err(|error| error.at_place(named_at.get(&policy.source))),
                params_at: params_at.remove(&policy.name),
                name: policy.name,
                level: policy.enforcement_level,
                description: policy.description,
                params: policy.params,
            })
            .collect();
        let (params, param_blocks_at) = (config.params, config.param_blocks_at);
        PolicySet { policies, environment, params, param_blocks_at, warnings }
    }

    /// The policies: name and level.
    pub fn policies(&self) -> impl Iterator<Item = (&str, EnforcementLevel)> {
        self.policies.iter().map(|policy| (policy.name.as_str(), policy.level))
    }

    /// What the policy of that number is for: what the configuration says, or else the comment at the top
    /// of its file.
    pub fn description(&self, index: usize) -> Option<&str> {
        let policy = self.policies.get(index)?;
        policy.description.as_deref().or_else(|| policy.unit.as_ref().ok()?.description())
    }

    /// Everything that is known to be wrong before a run is there: policies and imports that cannot be had or
    /// compiled, imports that nobody defines, parameters of policies without a value. `given`: the names of
    /// the imports that runs give; `params`: the parameters that have values from elsewhere.
    ///
    /// Evaluating such a set is safe; whoever would rather refuse it can.
    pub fn mistakes(&self, given: &[&str], params: &[&str]) -> Vec<Error> {
        let policies = self.policies.iter().filter_map(|policy| policy.unit.as_ref().err());
        let mut mistakes: Vec<Error> = policies.chain(self.environment.missing(given)).cloned().collect();
        for unit in self.units() {
            mistakes.extend(self.environment.unlinked(unit, given));
        }
        for policy in &self.policies {
            let Ok(unit) = &policy.unit else { continue };
            let has = |name: &str| {
                let mut own = self.params.iter().chain(&policy.params);
                params.contains(&name) || own.any(|(known, _)| known == name)
            };
            mistakes.extend(unit.unset_params(has));
        }
        // one file may be a policy, a module, or more than one of either
        mistakes.sort_by_cached_key(ToString::to_string);
        mistakes.dedup_by_key(|mistake| mistake.to_string());
        mistakes
    }

    /// Values that the configuration gives to a policy for parameters that it does not have: a misspelt name,
    /// and the policy goes by its default. They are not among the [`PolicySet::mistakes`], because sets that
    /// have been in force with them must not be refused as a whole; whoever writes a set should be.
    pub fn surplus_params(&self) -> impl Iterator<Item = Error> {
        self.policies.iter().flat_map(|policy| {
            let names = policy.params.iter().map(|(name, _)| name.as_str());
            let errors = policy.unit.as_ref().ok().map(|unit| unknown_params(unit, names));
            errors.into_iter().flatten().map(|error| error.at_place(policy.params_at.as_ref()))
        })
    }

    /// `param` blocks of the configuration for parameters that no policy has, as far as all of them could be
    /// compiled. They are no mistakes for the same reason.
    pub fn unused_params(&self) -> Vec<Error> {
        let units: Option<Vec<&Unit>> =
            self.policies.iter().map(|policy| policy.unit.as_deref().ok()).collect();
        units.map(|units| unused_params(&self.params, &self.param_blocks_at, &units)).unwrap_or_default()
    }

    /// Whether a policy of the set has such a parameter, as far as all of them could be compiled.
    pub fn may_have_param(&self, name: &str) -> bool {
        self.policies.iter().any(|policy| match &policy.unit {
            Ok(unit) => unit.params().any(|(param, _)| param == name),
            Err(_) => true,
        })
    }

    /// Whether a policy or a module of the set imports this name.
    pub fn imports(&self, name: &str) -> bool {
        self.units().any(|unit| unit.imports().any(|import| import == name))
    }

    fn units(&self) -> impl Iterator<Item = &Arc<Unit>> {
        let policies = self.policies.iter().filter_map(|policy| policy.unit.as_ref().ok());
        policies.chain(self.environment.modules())
    }

    /// The errors of policies that cannot be run.
    pub fn problems(&self) -> impl Iterator<Item = (&str, &Error)> {
        self.policies.iter().filter_map(|policy| Some((policy.name.as_str(), policy.unit.as_ref().err()?)))
    }

    /// What the configuration is warned about.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Evaluates all policies one after another, each within the limits.
    pub fn evaluate(&self, inputs: &Inputs, limits: Limits, host: &dyn Host) -> SetOutcome {
        self.evaluate_on(1, inputs, limits, host)
    }

    /// Evaluates all policies on so many threads. The outcome does not depend on how many there are.
    pub fn evaluate_on(
        &self,
        threads: usize,
        inputs: &Inputs,
        limits: Limits,
        host: &dyn Host,
    ) -> SetOutcome {
        let environment = self.environment_for(inputs);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            while let Some((at, policy)) = {
                let at = next.fetch_add(1, Ordering::Relaxed);
                self.policies.get(at).map(|policy| (at, policy))
            } {
                done.push((at, self.evaluate_in(policy, &environment, inputs, limits, host)));
            }
            done
        };
        let mut outcomes = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads.min(self.policies.len())).map(|_| scope.spawn(work)).collect();
            let mut done = work();
            for other in others {
                match other.join() {
                    Ok(outcomes) => done.extend(outcomes),
                    // a panic of an evaluation is one of the caller's too
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            done
        });
        outcomes.sort_by_key(|(at, _)| *at);
        SetOutcome { policies: outcomes.into_iter().map(|(_, outcome)| outcome).collect() }
    }

    /// Evaluates the policy of that number; `None` if there are not so many.
    pub fn evaluate_policy(
        &self,
        index: usize,
        inputs: &Inputs,
        limits: Limits,
        host: &dyn Host,
    ) -> Option<PolicyOutcome> {
        let policy = self.policies.get(index)?;
        Some(self.evaluate_in(policy, &self.environment_for(inputs), inputs, limits, host))
    }

    fn evaluate_in(
        &self,
        policy: &SetPolicy,
        environment: &Environment,
        inputs: &Inputs,
        limits: Limits,
        host: &dyn Host,
    ) -> PolicyOutcome {
        let evaluation = match &policy.unit {
            Ok(unit) => evaluate(unit, environment, &self.params_for(policy, inputs), limits, host),
            Err(error) => Evaluation {
                outcome: Outcome::Errored(error.clone()),
                trace: Trace::default(),
                duration: Duration::ZERO,
            },
        };
        PolicyOutcome {
            name: policy.name.clone(),
            level: policy.level,
            evaluation: evaluation.masked(&inputs.secrets),
        }
    }

    fn environment_for(&self, inputs: &Inputs) -> Environment {
        let mut environment = self.environment.clone();
        for (name, import) in &inputs.imports {
            environment.set_import(name.as_str(), import.clone());
        }
        environment
    }

    fn params_for(&self, policy: &SetPolicy, inputs: &Inputs) -> HashMap<String, Data> {
        let from_files = self.params.iter().chain(&policy.params).cloned();
        from_files.chain(inputs.params.iter().map(|(name, value)| (name.clone(), value.clone()))).collect()
    }
}

impl Config {
    /// Values that a `policy` block gives for parameters that the compiled policy does not have; see
    /// [`PolicySet::surplus_params`].
    pub fn surplus_params(&self, policy: &PolicyConfig, unit: &Unit) -> Vec<Error> {
        let names = policy.params.iter().map(|(name, _)| name.as_str());
        let errors = unknown_params(unit, names).into_iter();
        errors.map(|error| error.at_place(self.params_at.get(&policy.name))).collect()
    }

    /// `param` blocks for parameters that none of some policies has; see [`PolicySet::unused_params`].
    pub fn unused_params(&self, units: &[&Unit]) -> Vec<Error> {
        unused_params(&self.params, &self.param_blocks_at, units)
    }
}

/// The errors of values for parameters that a policy does not have.
pub(crate) fn unknown_params<'n>(unit: &Unit, given: impl IntoIterator<Item = &'n str>) -> Vec<Error> {
    let known: Vec<&str> = unit.params().map(|(name, _)| name).collect();
    let unknown = given.into_iter().filter(|name| !known.contains(name));
    let error = |name: &str| {
        let error = Error::config(format!("the policy has no parameter `{name}`"));
        match nearest(name, known.iter().copied()) {
            Some(near) => error.note(format!("did you mean `{near}`?")),
            None if known.is_empty() => error.note("it has none"),
            None => error.note(format!("it has {}", known.join(", "))),
        }
    };
    unknown.map(error).collect()
}

/// The errors of values for parameters that none of some policies has.
fn unused_params(
    params: &[(String, Data)],
    blocks_at: &HashMap<String, Place>,
    units: &[&Unit],
) -> Vec<Error> {
    let known: Vec<&str> = units.iter().flat_map(|unit| unit.params()).map(|(name, _)| name).collect();
    let unused = params.iter().map(|(name, _)| name.as_str()).filter(|name| !known.contains(name));
    let error = |name: &str| {
        let error = Error::config(format!("no policy has a parameter `{name}`"));
        let error = match nearest(name, known.iter().copied()) {
            Some(near) => error.note(format!("did you mean `{near}`?")),
            None => error,
        };
        error.at_place(blocks_at.get(name))
    };
    unused.map(error).collect()
}

/// The value of a parameter given as text: JSON if it is that, the text itself otherwise.
pub fn parse_param(text: &str) -> Data {
    serde_json::from_str(text).unwrap_or_else(|_| Data::from(text))
}

/// Reads one file as the whole configuration.
pub fn read_config(files: &dyn Files, path: &str) -> Result<Config, Error> {
    Config::parse(path, &read_text(files, path)?)
}

/// Reads the configuration of a folder as the reference's command line does: `sentinel.hcl` with all
/// other `.hcl` files beside it, or `sentinel.json`; override files change it. Hidden files are no part of it.
pub fn load_config(files: &dyn Files, folder: &str) -> Result<Config, Error> {
    find_config(files, folder)?.ok_or_else(|| no_configuration(folder))
}

/// The same; none when there is no file of a configuration.
pub fn find_config(files: &dyn Files, folder: &str) -> Result<Option<Config>, Error> {
    let (folder, mut names) = list(files, folder)?;
    // `.terraform.lock.hcl` lies beside many a policy
    names.retain(|name| !name.starts_with('.'));
    let is_override = |name: &str| {
        ["_override.hcl", "_override.json"].iter().any(|end| name.ends_with(end))
            || matches!(name, "override.hcl" | "override.json")
    };
    let mut primary: Vec<&String> =
        names.iter().filter(|name| name.ends_with(".hcl") && !is_override(name)).collect();
    let json = "sentinel.json".to_owned();
    if primary.is_empty() && names.contains(&json) {
        primary.push(&json);
    }
    let Some(first) = primary.first() else { return Ok(None) };
    let mut config = Config::default();
    config.warnings.extend(json_that_is_not_read(&names, first));
    for name in primary {
        let path = join(&folder, name);
        config.append(read_config(files, &path)?)?;
    }
    for name in names.iter().filter(|name| is_override(name)) {
        let path = join(&folder, name);
        config.override_with(&path, &read_text(files, &path)?)?;
    }
    Ok(Some(config))
}

/// The warning of a `sentinel.json` that is not looked at: sets that are being moved to HCL have both, and the
/// reference runs them.
fn json_that_is_not_read(names: &[String], read: &str) -> Option<String> {
    let is_beside = read != "sentinel.json" && names.iter().any(|name| name == "sentinel.json");
    is_beside.then(|| format!("sentinel.json is not read beside {read}; what it says has no effect"))
}

/// The path of a folder and the names in it, in order.
fn list(files: &dyn Files, folder: &str) -> Result<(String, Vec<String>), Error> {
    let Some(folder) = files.resolve("", folder) else {
        return Err(Error::new(
            ErrorKind::File,
            format!("the folder `{folder}` is outside of the policy set"),
        ));
    };
    let mut names = files.list(&folder).map_err(|error| {
        Error::new(ErrorKind::File, format!("cannot list the policy set `{folder}`: {error}"))
    })?;
    names.sort();
    Ok((folder, names))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn no_configuration(folder: &str) -> Error {
    Error::new(ErrorKind::File, format!("there is no sentinel.hcl in `{folder}`"))
        .note("a policy set is a folder with a sentinel.hcl that names its policies")
}
