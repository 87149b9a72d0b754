//! Imports: what the names of `import` declarations stand for.

use std::collections::HashMap;
use std::sync::Arc;

use super::Evaluator;
use crate::compile::Unit;
use crate::compile::ir::ImportDecl;
use crate::error::{Error, ErrorKind, nearest};
use crate::host::Import;
use crate::imports::Std;
use crate::value::Data;

/// What policies can import and see: made once for a policy set, used by every evaluation.
///
/// ```
/// use sentinel::{Data, Environment};
/// let mut environment = Environment::default();
/// environment.set_data("people", Data::map([("names", Data::list(["Ada".into()]))]));
/// ```
#[derive(Default, Clone)]
pub struct Environment {
    imports: HashMap<String, Binding>,
    globals: HashMap<String, Data>,
    settings: HashMap<String, Data>,
}

/// What an import name stands for.
#[derive(Clone)]
pub(crate) enum Binding {
    /// A Sentinel file: a module, or a mock written as one.
    Module(Arc<Unit>),
    /// Data: a static import, or a mock given as data.
    Data(Data),
    /// What the application gives.
    Host(Arc<dyn Import>),
    /// A standard import, with its configuration.
    Std(Std),
    /// Something that cannot be had, with the reason, which is told when it is imported.
    Missing(Error),
}

/// A binding in an evaluation.
#[derive(Clone)]
pub(crate) enum Imported {
    Std(Std),
    Data(Data),
    /// The index of the loaded unit.
    Module(u32),
    Host(Arc<dyn Import>),
}

impl Environment {
    /// Makes a compiled file importable: a module, or a mock written as one.
    pub fn set_module(&mut self, name: impl Into<String>, unit: Arc<Unit>) {
        self.bind(name, Binding::Module(unit));
    }

    /// Makes data importable: a static import, or a mock given as data.
    pub fn set_data(&mut self, name: impl Into<String>, data: Data) {
        self.bind(name, Binding::Data(data));
    }

    /// Makes an import of the application importable.
    pub fn set_import(&mut self, name: impl Into<String>, import: Arc<dyn Import>) {
        self.bind(name, Binding::Host(import));
    }

    /// Refuses an import with a reason; the policies that import it end with this error.
    pub fn set_missing(&mut self, name: impl Into<String>, error: Error) {
        self.bind(name, Binding::Missing(error));
    }

    pub(crate) fn bind(&mut self, name: impl Into<String>, binding: Binding) {
        self.imports.insert(name.into(), binding);
    }

    /// Puts a value into the global scope of policies.
    pub fn set_global(&mut self, name: impl Into<String>, data: Data) {
        self.globals.insert(name.into(), data);
    }

    pub(crate) fn global(&self, name: &str) -> Option<&Data> {
        self.globals.get(name)
    }

    pub(crate) fn globals(&self) -> impl Iterator<Item = &str> {
        self.globals.keys().map(String::as_str)
    }

    /// Gives a standard import its configuration: `timezone` and `fixed_time` of `time`,
    /// `proxy_address` of `http`.
    pub fn configure(&mut self, import: impl Into<String>, settings: Data) {
        self.settings.insert(import.into(), settings);
    }

    pub(crate) fn setting(&self, import: &str, name: &str) -> Option<&Data> {
        self.settings.get(import)?.get(name)
    }

    /// Whether a name is bound (standard imports are importable without).
    pub fn has(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    /// What a name stands for: what is bound, or else a standard import.
    pub(crate) fn get(&self, name: &str) -> Option<Binding> {
        self.imports.get(name).cloned().or_else(|| Std::lookup(name).map(Binding::Std))
    }

    /// The compiled files that can be imported.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &Arc<Unit>> {
        self.imports.values().filter_map(|binding| match binding {
            Binding::Module(unit) => Some(unit),
            _ => None,
        })
    }

    /// Why imports cannot be had, but for those that will be `given`.
    pub(crate) fn missing(&self, given: &[&str]) -> impl Iterator<Item = &Error> {
        self.imports.iter().filter_map(|(name, binding)| match binding {
            Binding::Missing(error) if !given.contains(&name.as_str()) => Some(error),
            _ => None,
        })
    }

    /// The errors of a file that imports what neither is defined nor will be `given`.
    pub(crate) fn unlinked(&self, unit: &Unit, given: &[&str]) -> Vec<Error> {
        unit.imports
            .iter()
            .filter(|import| !given.contains(&import.path.as_str()) && self.get(&import.path).is_none())
            .map(|import| self.unknown(&import.path, given).at(&unit.source, import.span))
            .collect()
    }

    fn unknown(&self, path: &str, given: &[&str]) -> Error {
        let error = Error::new(ErrorKind::Semantic, format!("there is no import `{path}`"));
        match nearest(path, self.names().chain(given.iter().copied())) {
            Some(name) => error.note(format!("did you mean `{name}`?")),
            None => error.note(
                "it is not a standard import, and the configuration has no module or mock of this name",
            ),
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.imports.keys().map(String::as_str).chain(Std::NAMES)
    }
}

impl Evaluator<'_> {
    pub(super) fn link(&mut self, import: &ImportDecl) -> Result<Imported, Error> {
        let imported = match self.bindings.get(&import.path) {
            Some(Binding::Std(std)) => Imported::Std(std),
            Some(Binding::Data(data)) => Imported::Data(data),
            Some(Binding::Host(host)) => Imported::Host(host),
            Some(Binding::Module(unit)) => Imported::Module(self.module(&unit, &import.path)?),
            Some(Binding::Missing(error)) => return Err(error),
            None => return Err(self.bindings.unknown(&import.path, &[])),
        };
        if import.members.is_empty() {
            return Ok(imported);
        }
        let Imported::Data(mut data) = imported else {
            return Err(Error::new(
                ErrorKind::Semantic,
                "only a static import can be gone into at its import",
            )
            .note("import it whole and select what is needed"));
        };
        for member in &import.members {
            match data.get(member) {
                Some(inner) => data = inner.clone(),
                None => {
                    return Err(Error::new(
                        ErrorKind::Semantic,
                        format!("the static import `{}` has no member `{member}` there", import.path),
                    ));
                }
            }
        }
        Ok(Imported::Data(data))
    }

    /// A module is loaded once in an evaluation, whatever names it is imported by.
    fn module(&mut self, unit: &Arc<Unit>, path: &str) -> Result<u32, Error> {
        if let Some(index) = self.modules.get(&Arc::as_ptr(unit)) {
            return Ok(*index);
        }
        if self.loading.iter().any(|loading| loading == unit.name()) {
            return Err(Error::new(ErrorKind::Semantic, format!("the import `{path}` imports itself"))
                .note(format!("the way there: {}", self.loading.join(" → "))));
        }
        self.loading.push(unit.name().to_owned());
        self.meter.enter()?;
        let index = self.load(unit, None)?;
        self.meter.leave();
        self.loading.pop();
        self.modules.insert(Arc::as_ptr(unit), index);
        Ok(index)
    }
}
