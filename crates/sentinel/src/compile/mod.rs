//! From syntax tree to what the evaluator runs: names are resolved, and what can be known to be wrong
//! without running is refused.

pub(crate) mod ir;
mod lower;
mod names;

pub use ir::Unit;
pub(crate) use lower::PREDECLARED;

use crate::error::{Error, ErrorKind};
use crate::source::Source;

/// Compiles a source file. The result can be shared by policies and threads.
///
/// ```
/// let unit = sentinel::compile("policy.sentinel", "main = rule { 1 < 2 }").unwrap();
/// assert_eq!(unit.name(), "policy.sentinel");
/// let error = sentinel::compile("broken.sentinel", "main = rule { 1 < }").unwrap_err();
/// assert_eq!(error.to_string(), "broken.sentinel:1:19: expected an expression, found `}`");
/// ```
pub fn compile(name: impl Into<String>, text: impl Into<String>) -> Result<Unit, Error> {
    let source = Source::new(name, text);
    let file = crate::syntax::parse(&source)?;
    lower::lower(source, file)
}

/// The error of an assignment to something inside of an import.
pub(crate) fn through_import(kind: ErrorKind, name: &str) -> Error {
    Error::new(kind, format!("`{name}` is an import, its data cannot be assigned to"))
        .note("assign the data to a variable first")
}

impl Unit {
    /// The name of the source.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// The text of the source.
    pub fn text(&self) -> &str {
        self.source.text()
    }

    /// The comment at the top of the file, when a blank line follows it.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The imports, as the file names them.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(|import| import.path.as_str())
    }

    /// The errors of parameters that need a value and have none.
    pub(crate) fn unset_params(&self, has: impl Fn(&str) -> bool) -> impl Iterator<Item = Error> {
        let unset = self.params.iter().filter(move |param| param.default.is_none() && !has(&param.name));
        unset.map(|param| {
            let name = &param.name;
            Error::new(ErrorKind::Semantic, format!("the parameter `{name}` has no value"))
                .note(format!(
                    "give it a default here, or a value in sentinel.hcl: param \"{name}\" {{ value = … }}"
                ))
                .at(&self.source, param.span)
        })
    }

    /// The parameters: name, and whether it needs a value.
    pub fn params(&self) -> impl Iterator<Item = (&str, bool)> {
        self.params.iter().map(|param| (&*param.name, param.default.is_none()))
    }
}
