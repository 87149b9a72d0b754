use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::source::{Location, SourceFile};

/// Whether a finding stops the configuration from being used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration can't be used.
    Error,
    /// It can, but probably does not do what was meant.
    Warning,
}

impl Severity {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// What kind of mistake it is. The names are stable: scripts may compare them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// The config file can't be read.
    Unreadable,
    /// The config file is not UTF-8.
    InvalidUtf8,
    /// Not HCL. Nothing behind it was looked at.
    Syntax,
    /// An attribute that is not in the language at this place.
    UnknownAttribute,
    /// A block that is not in the language at this place.
    UnknownBlock,
    /// A block written as an attribute, or the other way round.
    WrongForm,
    /// Too many or too few names behind a block's type.
    WrongLabels,
    /// Something that must be there is not.
    Missing,
    /// Defined, set or listed twice.
    Duplicate,
    /// A string where a number belongs, and the like.
    WrongType,
    /// Of the right type, but not a value that can be used.
    InvalidValue,
    /// A number that would not reach terraform as it was written.
    NumberPrecision,
    /// A user or a team that is not defined.
    UnknownReference,
    /// A path that should lead to a directory and does not.
    NotADirectory,
    /// An environment variable for a run that would change what the run means.
    ForbiddenEnvironment,
    /// A name that is not bound: most often a string without its quotes.
    UndefinedVariable,
    /// A function that does not exist here.
    UnknownFunction,
    /// A call whose arguments don't fit.
    InvalidCall,
    /// `env("…")` of a variable that is not set.
    MissingEnvironment,
    /// `file("…")` of a file that can't be read.
    UnreadableFile,
    /// An expression that has no value, or one that is not part of the language.
    InvalidExpression,
    /// Legal, and without any effect.
    NoEffect,
    /// Nobody is in the owners team.
    NoOwner,
    /// A secret stands where it will be seen.
    ExposedSecret,
    /// Legal, and yet probably not what was meant.
    Suspicious,
    /// Nothing by itself: there are more findings than are told.
    TooMany,
}

impl Code {
    /// The stable name, as in `error[unknown-attribute]`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::InvalidUtf8 => "invalid-utf8",
            Self::Syntax => "syntax",
            Self::UnknownAttribute => "unknown-attribute",
            Self::UnknownBlock => "unknown-block",
            Self::WrongForm => "wrong-form",
            Self::WrongLabels => "wrong-labels",
            Self::Missing => "missing",
            Self::Duplicate => "duplicate",
            Self::WrongType => "wrong-type",
            Self::InvalidValue => "invalid-value",
            Self::NumberPrecision => "number-precision",
            Self::UnknownReference => "unknown-reference",
            Self::NotADirectory => "not-a-directory",
            Self::ForbiddenEnvironment => "forbidden-environment",
            Self::UndefinedVariable => "undefined-variable",
            Self::UnknownFunction => "unknown-function",
            Self::InvalidCall => "invalid-call",
            Self::MissingEnvironment => "missing-environment",
            Self::UnreadableFile => "unreadable-file",
            Self::InvalidExpression => "invalid-expression",
            Self::NoEffect => "no-effect",
            Self::NoOwner => "no-owner",
            Self::ExposedSecret => "exposed-secret",
            Self::Suspicious => "suspicious",
            Self::TooMany => "too-many",
        }
    }
}

/// Another place that belongs to a finding, such as the first of two definitions.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Related {
    /// Where.
    pub location: Location,
    /// What stands there.
    pub label: String,
}

/// One finding. As JSON: an object with `code`, `severity`, `file`, `line`, `column`, `span`, `message`, `label`,
/// `help` and `related`; `line`, `column` and `span` are null where there is no place (an unreadable file, how many more
/// findings there are).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The kind of mistake.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// The config file, as it was named by the caller.
    pub file: String,
    /// Where; `None` if the file could not be read at all, and for [`Code::TooMany`].
    pub location: Option<Location>,
    /// What is wrong, in one line. Never holds a sensitive value or one that came from the environment or a file.
    pub message: String,
    /// What to say at the place itself; may be empty.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
    /// Other places that belong to it.
    pub related: Vec<Related>,
}

impl Serialize for Diagnostic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let place = self.location.as_ref();
        let mut fields = serializer.serialize_struct("Diagnostic", 10)?;
        fields.serialize_field("code", &self.code)?;
        fields.serialize_field("severity", &self.severity)?;
        fields.serialize_field("file", &self.file)?;
        fields.serialize_field("line", &place.map(|place| place.line))?;
        fields.serialize_field("column", &place.map(|place| place.column))?;
        fields.serialize_field("span", &place.map(|place| &place.span))?;
        fields.serialize_field("message", &self.message)?;
        fields.serialize_field("label", &self.label)?;
        fields.serialize_field("help", &self.help)?;
        fields.serialize_field("related", &self.related)?;
        fields.end()
    }
}

/// One line, fit for a log: no line of the file is quoted.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = &self.location {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        write!(f, ": {}[{}]: {}", self.severity.as_str(), self.code.as_str(), self.message)?;
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        Ok(())
    }
}

/// How many errors and warnings there are.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    errors: usize,
    warnings: usize,
}

impl Counts {
    /// Counts one more, and says how many there are now.
    pub(crate) fn add(&mut self, severity: Severity) -> usize {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        *count += 1;
        *count
    }

    pub(crate) const fn of(self, severity: Severity) -> usize {
        match severity {
            Severity::Error => self.errors,
            Severity::Warning => self.warnings,
        }
    }
}

/// What was found in a config file, in the order of the places. Of more than a thousand errors, or warnings, those are
/// told that were found first, and the last finding says how many more there are.
///
/// [`render`](Self::render) shows them as rustc does; `Display` gives a line for each; serialised, it is a list.
#[derive(Debug, Clone)]
pub struct Diagnostics {
    pub(crate) source: Arc<SourceFile>,
    pub(crate) findings: Vec<Diagnostic>,
    /// How many there are, told or not.
    pub(crate) found: Counts,
}

impl Diagnostics {
    /// The findings, in the order of their places.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.findings.iter()
    }

    /// How many are told.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// How many of that severity were found, told or not.
    pub fn count(&self, severity: Severity) -> usize {
        self.found.of(severity)
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Serialize for Diagnostics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.findings.serialize(serializer)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            write!(f, "{}{finding}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
