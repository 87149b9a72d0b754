//! What a terraform state file says, without a look at its resources.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The format that terraform writes since 0.12.
const FORMAT: u64 = 4;

/// What a state says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateMeta {
    /// Counts the changes of one state.
    pub serial: u64,
    /// The same for every version of one state, and different between states.
    pub lineage: String,
    /// The terraform that wrote it.
    pub terraform_version: String,
}

/// An output of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateOutput {
    /// Its name.
    pub name: String,
    /// Its type, as terraform writes it: `"string"`, `["object",{…}]`.
    pub detailed_type: Value,
    /// Its value, even if sensitive: who shows it has to look.
    pub value: Value,
    /// Whether it was declared sensitive.
    pub sensitive: bool,
}

impl StateOutput {
    /// The type in one word, as the API's `type` gives it: `string`, `number`, `bool`, `array`, `object`
    /// (a map is an object, and a list, set or tuple an array); `null` for what has no type of its own.
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
}

/// A file that is no whole state.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidState {
    /// No bytes.
    #[error("the state is empty: terraform was stopped while it wrote it, or never wrote it")]
    Empty,
    /// It ends too early.
    #[error("the state is cut off at line {line}, column {column}: it was not written to its end")]
    Truncated {
        /// From 1 on.
        line: usize,
        /// From 1 on.
        column: usize,
    },
    /// Anything else that is no state.
    #[error("not a terraform state: {0}")]
    Malformed(String),
    /// A format that this release does not know.
    #[error("the state has format version {0}, and only {FORMAT} is known: upgrade it with terraform 0.12 or later")]
    UnknownFormat(u64),
}

impl From<serde_json::Error> for InvalidState {
    fn from(error: serde_json::Error) -> Self {
        if error.is_eof() {
            Self::Truncated { line: error.line(), column: error.column() }
        } else {
            Self::Malformed(error.to_string())
        }
    }
}

impl StateMeta {
    /// Reads a state file.
    ///
    /// # Errors
    /// [`InvalidState`] for anything but a whole state of a known format.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidState> {
        #[derive(Deserialize)]
        struct File {
            version: u64,
            serial: u64,
            lineage: String,
            #[serde(default)]
            terraform_version: String,
        }
        if bytes.trim_ascii().is_empty() {
            return Err(InvalidState::Empty);
        }
        let file: File = serde_json::from_slice(bytes)?;
        if file.version != FORMAT {
            return Err(InvalidState::UnknownFormat(file.version));
        }
        if file.lineage.is_empty() {
            return Err(InvalidState::Malformed("it has no lineage".to_owned()));
        }
        Ok(Self { serial: file.serial, lineage: file.lineage, terraform_version: file.terraform_version })
    }
}

/// The outputs of a state file, by name.
///
/// # Errors
/// [`InvalidState`], as [`StateMeta::parse`].
pub fn state_outputs(bytes: &[u8]) -> Result<Vec<StateOutput>, InvalidState> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        outputs: BTreeMap<String, Output>,
    }
    #[derive(Deserialize)]
    struct Output {
        value: Value,
        #[serde(rename = "type")]
        detailed_type: Value,
        #[serde(default)]
        sensitive: bool,
    }
    StateMeta::parse(bytes)?;
    let file: File = serde_json::from_slice(bytes)?;
    let output = |(name, Output { value, detailed_type, sensitive })| StateOutput { name, detailed_type, value, sensitive };
    Ok(file.outputs.into_iter().map(output).collect())
}
