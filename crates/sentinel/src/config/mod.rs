//! Configuration files: `sentinel.hcl`, test cases, and their forms of other days.
//!
//! HCL and JSON are read into one tree of blocks; what the blocks mean is in `blocks`.

mod blocks;
mod json;
mod overrides;
pub(crate) mod plan;
mod tree;

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Place};
use crate::files::without_bom;
use crate::source::Source;
use crate::sources::is_remote;
use crate::value::Data;

/// What a failed policy means for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum EnforcementLevel {
    /// It is shown.
    #[default]
    Advisory,
    /// The run waits for somebody who may override.
    SoftMandatory,
    /// The run ends.
    HardMandatory,
}

impl EnforcementLevel {
    /// The name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            EnforcementLevel::Advisory => "advisory",
            EnforcementLevel::SoftMandatory => "soft-mandatory",
            EnforcementLevel::HardMandatory => "hard-mandatory",
        }
    }

    fn parse(name: &str) -> Option<EnforcementLevel> {
        [EnforcementLevel::Advisory, EnforcementLevel::SoftMandatory, EnforcementLevel::HardMandatory]
            .into_iter()
            .find(|level| level.name() == name)
    }
}

impl std::fmt::Display for EnforcementLevel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A `policy` block.
#[derive(Debug, Clone)]
pub struct PolicyConfig {
    /// The label.
    pub name: String,
    /// Where the policy is; `NAME.sentinel` when the block does not say.
    pub source: String,
    /// What a failure means.
    pub enforcement_level: EnforcementLevel,
    /// What it is for, if the block says so.
    pub description: Option<String>,
    /// Values of parameters for this policy only.
    pub params: Vec<(String, Data)>,
}

impl PolicyConfig {
    /// Whether the policy has to be fetched.
    pub fn is_remote(&self) -> bool {
        is_remote(&self.source)
    }
}

/// An import that the configuration defines.
#[derive(Debug, Clone)]
pub enum ImportConfig {
    /// `import "module"`, `module`: a Sentinel file.
    Module {
        /// Where it is.
        source: String,
    },
    /// `import "static"`: a JSON file.
    Static {
        /// Where it is.
        source: String,
    },
    /// `import "plugin"`: configuration of a standard import, or a program.
    Plugin {
        /// The program; none for a standard import.
        source: Option<String>,
        /// Its configuration.
        config: Data,
    },
}

/// What stands in for an import.
#[derive(Debug, Clone)]
pub enum Mock {
    /// A Sentinel file.
    Module {
        /// Where it is.
        source: String,
    },
    /// Data.
    Data(Data),
}

/// A configuration.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The policies, in their order.
    pub policies: Vec<PolicyConfig>,
    /// Imports by name.
    pub imports: Vec<(String, ImportConfig)>,
    /// Mocks by the name of the import.
    pub mocks: Vec<(String, Mock)>,
    /// Values in the global scope.
    pub globals: Vec<(String, Data)>,
    /// Values of parameters.
    pub params: Vec<(String, Data)>,
    /// Expected values of rules; none when the file has no `test` block.
    pub test: Option<Vec<(String, Data)>>,
    /// The `sentinel` block: settings of the runtime, as they are.
    pub sentinel: Option<Data>,
    /// What is old or without effect.
    pub warnings: Vec<String>,
    /// Whether it is of the JSON form of before 0.16.
    pub legacy: bool,
    /// Where each source is named first, by the source.
    pub(crate) named_at: HashMap<String, Place>,
    /// Where the values for the parameters of a policy are, by its name.
    pub(crate) params_at: HashMap<String, Place>,
    /// Where each `param` block is, by its name.
    pub(crate) param_blocks_at: HashMap<String, Place>,
    /// Type and labels of each block, which override files name.
    pub(crate) headers: HashSet<Vec<String>>,
}

impl Config {
    /// Reads a configuration; a name that ends with `.json` is JSON, every other is HCL.
    ///
    /// ```
    /// let config = sentinel::Config::parse("sentinel.hcl", r#"
    ///     policy "tags" { enforcement_level = "hard-mandatory" }
    /// "#).unwrap();
    /// assert_eq!(config.policies[0].source, "tags.sentinel");
    /// ```
    pub fn parse(name: &str, text: &str) -> Result<Config, Error> {
        let source = Source::new(name, without_bom(text));
        if name.ends_with(".json") { json::parse(&source) } else { blocks::parse(&source) }
    }

    /// Merges an override file: what its blocks have replaces what the blocks of the same type and labels have,
    /// which must exist already.
    pub fn override_with(&mut self, name: &str, text: &str) -> Result<(), Error> {
        let source = Source::new(name, without_bom(text));
        let overrides =
            if name.ends_with(".json") { json::overrides(&source)? } else { tree::parse_hcl(&source)? };
        overrides::merge(self, &source, &overrides)
    }

    /// Warnings of settings of the `sentinel` block that nobody knows. Where the block as a whole has no effect
    /// there is no point in them, so that they are no part of [`Config::warnings`].
    pub fn unknown_settings(&self) -> Vec<String> {
        let unknown = |what: &str, of: Option<&Data>, known: &[&str]| -> Vec<String> {
            let names = of.into_iter().flat_map(blocks::pairs).map(|(name, _)| name);
            let names = names.filter(|name| !known.contains(&name.as_str()));
            let warning =
                |name| format!("the {what} `{name}` of the `sentinel` block is unknown and has no effect");
            names.map(warning).collect()
        };
        let features = self.sentinel.as_ref().and_then(|settings| settings.get("features"));
        let mut warnings = unknown("setting", self.sentinel.as_ref(), &["features"]);
        warnings.extend(unknown("feature", features, &["apply-all", "terraform"]));
        warnings
    }

    /// Looks at each path that the configuration names; an error of `look` gets the place that names it. Remote
    /// sources are none.
    pub fn check_paths(&self, look: impl Fn(&str) -> Result<(), Error>) -> Result<(), Error> {
        let policies = self.policies.iter().map(|policy| policy.source.as_str());
        let imports = self.imports.iter().flat_map(|(_, import)| match import {
            ImportConfig::Module { source } | ImportConfig::Static { source } => vec![source.as_str()],
            ImportConfig::Plugin { source: None, config } => {
                let paths = [plan::PLAN_PATH, plan::SCHEMAS_PATH].into_iter();
                paths.filter_map(|setting| config.get(setting)?.as_str()).collect()
            }
            ImportConfig::Plugin { .. } => Vec::new(),
        });
        let mocks = self.mocks.iter().filter_map(|(_, mock)| match mock {
            Mock::Module { source } => Some(source.as_str()),
            Mock::Data(_) => None,
        });
        let sources = policies.chain(imports).chain(mocks);
        for source in sources.filter(|source| !is_remote(source)) {
            let path = source.split_once('?').map_or(source, |(path, _)| path);
            look(path).map_err(|error| error.at_place(self.named_at.get(source)))?;
        }
        Ok(())
    }

    /// Adds another file of the same folder: all `.hcl` files of it are one configuration.
    pub fn append(&mut self, other: Config) -> Result<(), Error> {
        let names = |policies: &[PolicyConfig]| policies.iter().map(|policy| policy.name.clone()).collect();
        unique("policy", names(&self.policies), names(&other.policies))?;
        unique("import", names_of(&self.imports), names_of(&other.imports))?;
        unique("mock", names_of(&self.mocks), names_of(&other.mocks))?;
        unique("global", names_of(&self.globals), names_of(&other.globals))?;
        unique("param", names_of(&self.params), names_of(&other.params))?;
        if self.test.is_some() && other.test.is_some() {
            return Err(Error::config("two files have a `test` block"));
        }
        if self.sentinel.is_some() && other.sentinel.is_some() {
            return Err(Error::config("two files have a `sentinel` block"));
        }
        self.policies.extend(other.policies);
        self.imports.extend(other.imports);
        self.mocks.extend(other.mocks);
        self.globals.extend(other.globals);
        self.params.extend(other.params);
        self.warnings.extend(other.warnings);
        for (source, place) in other.named_at {
            self.named_at.entry(source).or_insert(place);
        }
        self.params_at.extend(other.params_at);
        self.param_blocks_at.extend(other.param_blocks_at);
        self.headers.extend(other.headers);
        self.test = self.test.take().or(other.test);
        self.sentinel = self.sentinel.take().or(other.sentinel);
        Ok(())
    }
}

fn names_of<T>(values: &[(String, T)]) -> HashSet<String> {
    values.iter().map(|(name, _)| name.clone()).collect()
}

/// Refuses a name that two files define.
fn unique(kind: &str, ours: HashSet<String>, theirs: HashSet<String>) -> Result<(), Error> {
    match theirs.iter().filter(|name| ours.contains(*name)).min() {
        Some(name) => Err(Error::config(format!("the {kind} `{name}` is defined in two files"))),
        None => Ok(()),
    }
}
