//! What a terraform state file says, without a look at its resources.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read};
use std::path::Path;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{Digest, Error, StateConflict};

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
#[derive(Debug, Clone)]
pub struct StateOutput {
    /// Its name.
    pub name: String,
    /// Its type, as terraform writes it: `"string"`, `["object",{…}]`.
    pub detailed_type: Value,
    /// Its value as terraform wrote it, since its numbers may have more digits than 64 bits hold; even if sensitive:
    /// who shows it has to look.
    pub value: Box<RawValue>,
    /// Whether it was declared sensitive.
    pub sensitive: bool,
}

impl StateOutput {
    /// The kind of the value in one word, as the API's `type` gives it: a map is an `object`, a list, set or
    /// tuple an `array`.
    pub fn type_name(&self) -> &'static str {
        match self.value.get().as_bytes().first() {
            Some(b'n') | None => "null",
            Some(b't' | b'f') => "boolean",
            Some(b'"') => "string",
            Some(b'[') => "array",
            Some(b'{') => "object",
            Some(_) => "number",
        }
    }
}

/// A file that is not a whole state.
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
    /// Anything else that is not a state.
    #[error("not a terraform state: {0}")]
    Malformed(String),
    /// A format that this release does not know.
    #[error(
        "the state has format version {0}, and only {FORMAT} is known: upgrade it with terraform 0.12 or later"
    )]
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

/// Why a state file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadStateError {
    /// It is not a whole state.
    #[error(transparent)]
    Invalid(#[from] InvalidState),
    /// It can't be read.
    #[error(transparent)]
    Store(#[from] Error),
}

impl StateMeta {
    /// Reads a state file.
    ///
    /// # Errors
    /// [`InvalidState`] for anything but a whole state of a known format.
    pub fn parse(bytes: &[u8]) -> Result<Self, InvalidState> {
        Self::read(bytes, Path::new("bytes in memory")).map_err(|error| match error {
            ReadStateError::Invalid(invalid) => invalid,
            // bytes in memory can always be read
            ReadStateError::Store(error) => InvalidState::Malformed(error.to_string()),
        })
    }

    /// Reads a state file of any size, piece by piece. `path` is what words call it.
    ///
    /// # Errors
    /// [`ReadStateError`].
    pub fn read(file: impl Read, path: &Path) -> Result<Self, ReadStateError> {
        #[derive(Deserialize)]
        struct File {
            version: u64,
            serial: u64,
            lineage: String,
            #[serde(default)]
            terraform_version: String,
        }
        let file: File = from_reader(file, path)?;
        if file.version != FORMAT {
            return Err(InvalidState::UnknownFormat(file.version).into());
        }
        if file.lineage.is_empty() {
            return Err(InvalidState::Malformed("it has no lineage".to_owned()).into());
        }
        Ok(Self { serial: file.serial, lineage: file.lineage, terraform_version: file.terraform_version })
    }
}

/// Whether nothing but white space was read from what is wrapped.
struct Blank<R> {
    inner: R,
    blank: bool,
}

impl<R: Read> Read for Blank<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.blank = self.blank && buffer[..read].trim_ascii().is_empty();
        Ok(read)
    }
}

/// JSON from a file of any size. What is not asked for passes by and stays nowhere.
fn from_reader<T: DeserializeOwned>(file: impl Read, path: &Path) -> Result<T, ReadStateError> {
    let mut file = Blank { inner: file, blank: true };
    let parsed = serde_json::from_reader(BufReader::with_capacity(64 * 1024, &mut file));
    parsed.map_err(|error: serde_json::Error| {
        if error.is_io() {
            return Error::blob(path, &error.into()).into();
        }
        if file.blank { InvalidState::Empty.into() } else { InvalidState::from(error).into() }
    })
}

/// The outputs of a state file of any size, by name. `path` is what words call it.
///
/// # Errors
/// [`ReadStateError`].
pub fn state_outputs(file: impl Read, path: &Path) -> Result<Vec<StateOutput>, ReadStateError> {
    #[derive(Deserialize)]
    struct File {
        version: u64,
        #[serde(default)]
        outputs: BTreeMap<String, Output>,
    }
    #[derive(Deserialize)]
    struct Output {
        value: Box<RawValue>,
        #[serde(rename = "type")]
        detailed_type: Value,
        #[serde(default)]
        sensitive: bool,
    }
    let file: File = from_reader(file, path)?;
    if file.version != FORMAT {
        return Err(InvalidState::UnknownFormat(file.version).into());
    }
    let output = |(name, Output { value, detailed_type, sensitive })| StateOutput {
        name,
        detailed_type,
        value,
        sensitive,
    };
    Ok(file.outputs.into_iter().map(output).collect())
}

/// The names of the outputs of a state file of any size. `path` is what words call it.
///
/// # Errors
/// [`ReadStateError`].
pub(crate) fn state_output_names(file: impl Read, path: &Path) -> Result<Vec<String>, ReadStateError> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        outputs: BTreeMap<String, IgnoredAny>,
    }
    let file: File = from_reader(file, path)?;
    Ok(file.outputs.into_keys().collect())
}

/// What a state is to the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Succession {
    /// The very same.
    Same,
    /// A later one of the same history.
    Next,
}

/// Whether a state that somebody insists on may become the current one: also one of another lineage, or another with the
/// same serial, but never an older one (docs/api.md, "State versions").
pub(crate) fn forced_succession(
    current: (&StateMeta, Digest),
    given: (&StateMeta, Digest),
) -> Result<Succession, StateConflict> {
    match succession(current, given) {
        Err(StateConflict::OtherLineage { .. } | StateConflict::OtherContent { .. }) => {
            let (current, given) = (current.0.serial, given.0.serial);
            if given < current {
                return Err(StateConflict::OlderSerial { current, given });
            }
            Ok(Succession::Next)
        }
        other => other,
    }
}

/// Whether a state of which no more is known than this may become the current one, as far as that decides.
pub(crate) fn announced_succession(
    current: &StateMeta,
    lineage: Option<&str>,
    serial: Option<u64>,
    force: bool,
) -> Result<(), StateConflict> {
    if let Some(given) = lineage.filter(|given| !given.is_empty() && *given != current.lineage)
        && !force
    {
        let (current, given) = (current.lineage.clone(), given.to_owned());
        return Err(StateConflict::OtherLineage { current, given });
    }
    match serial {
        Some(given) if given < current.serial => {
            Err(StateConflict::OlderSerial { current: current.serial, given })
        }
        _ => Ok(()),
    }
}

/// Whether a state may become the current one.
pub(crate) fn succession(
    (current, current_digest): (&StateMeta, Digest),
    (given, given_digest): (&StateMeta, Digest),
) -> Result<Succession, StateConflict> {
    if current.lineage != given.lineage {
        let (current, given) = (current.lineage.clone(), given.lineage.clone());
        return Err(StateConflict::OtherLineage { current, given });
    }
    match given.serial.cmp(&current.serial) {
        Ordering::Less => Err(StateConflict::OlderSerial { current: current.serial, given: given.serial }),
        Ordering::Equal if current_digest == given_digest => Ok(Succession::Same),
        // a newer terraform writes the state in its own format and leaves the serial as it is
        Ordering::Equal if current.terraform_version != given.terraform_version => Ok(Succession::Next),
        Ordering::Equal => Err(StateConflict::OtherContent { serial: given.serial }),
        Ordering::Greater => Ok(Succession::Next),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn file(serial: u64) -> Value {
        json!({
            "version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "a-b-c",
            "outputs": {
                "plain": { "value": "x", "type": "string" },
                "secret": { "value": { "n": 1 }, "type": ["object", { "n": "number" }], "sensitive": true },
            },
            "resources": [],
        })
    }

    #[test]
    fn a_state_says_its_serial_lineage_and_terraform() {
        let meta = StateMeta { serial: 7, lineage: "a-b-c".into(), terraform_version: "1.11.4".into() };
        assert_eq!(StateMeta::parse(file(7).to_string().as_bytes()), Ok(meta));
    }

    #[test]
    fn every_cut_of_a_state_is_refused_as_cut_off() {
        let text = serde_json::to_string_pretty(&file(7)).unwrap();
        assert_eq!(StateMeta::parse(b""), Err(InvalidState::Empty));
        assert_eq!(StateMeta::parse(b"\n "), Err(InvalidState::Empty));
        for end in 1..text.len() {
            let error = StateMeta::parse(&text.as_bytes()[..end]).unwrap_err();
            assert!(matches!(error, InvalidState::Truncated { .. }), "{end}: {error}");
        }
    }

    #[test]
    fn what_is_no_state_is_refused_with_the_reason() {
        let with = |key: &str, value: Value| {
            let mut file = file(7);
            file[key] = value;
            StateMeta::parse(file.to_string().as_bytes()).unwrap_err().to_string()
        };
        assert!(with("version", json!(3)).contains("format version 3"));
        assert!(with("lineage", json!("")).contains("no lineage"));
        assert!(with("serial", json!(-1)).contains("invalid value: integer `-1`"));
        assert!(with("serial", json!("7")).contains("invalid type: string"));
        assert!(StateMeta::parse(b"{}").unwrap_err().to_string().contains("missing field `version`"));
        assert!(StateMeta::parse(b"{} {}").unwrap_err().to_string().contains("missing field `version`"));
        assert!(StateMeta::parse(b"\xff").unwrap_err().to_string().contains("not a terraform state"));
    }

    #[test]
    fn outputs_come_by_name_with_their_type_and_whether_they_are_sensitive() {
        let outputs = state_outputs(file(7).to_string().as_bytes(), Path::new("state")).unwrap();
        let seen: Vec<_> = outputs.iter().map(|o| (o.name.as_str(), o.type_name(), o.sensitive)).collect();
        assert_eq!(seen, [("plain", "string", false), ("secret", "object", true)]);
        let names = state_output_names(file(7).to_string().as_bytes(), Path::new("state")).unwrap();
        assert_eq!(names, ["plain", "secret"]);
        assert_eq!(outputs[1].detailed_type, json!(["object", { "n": "number" }]));
    }

    #[test]
    fn an_output_is_kept_digit_by_digit_and_its_kind_is_told() {
        let table = [
            ("12345678901234567890123", "number"),
            ("-0.1000000000000000055511151231257827", "number"),
            ("null", "null"),
            ("true", "boolean"),
            ("\"3\"", "string"),
            ("[1]", "array"),
            ("{\"a\":1}", "object"),
        ];
        for (value, kind) in table {
            let mut file = file(7);
            file["outputs"] = json!({ "o": { "value": "VALUE", "type": "dynamic" } });
            let outputs =
                state_outputs(file.to_string().replace("\"VALUE\"", value).as_bytes(), Path::new("state"))
                    .unwrap();
            assert_eq!((outputs[0].value.get(), outputs[0].type_name()), (value, kind));
        }
    }

    #[test]
    fn only_the_next_state_of_the_same_history_follows() {
        let meta = |serial, lineage: &str| StateMeta {
            serial,
            lineage: lineage.to_owned(),
            terraform_version: "1.11.4".to_owned(),
        };
        let (one, other) = (Digest::of(b"one"), Digest::of(b"other"));
        let current = meta(5, "a");
        let follows = |meta: &StateMeta, digest| succession((&current, one), (meta, digest));
        assert_eq!(follows(&meta(6, "a"), other), Ok(Succession::Next));
        assert_eq!(follows(&meta(9, "a"), one), Ok(Succession::Next));
        assert_eq!(follows(&meta(5, "a"), one), Ok(Succession::Same));
        assert_eq!(follows(&meta(5, "a"), other), Err(StateConflict::OtherContent { serial: 5 }));
        assert_eq!(follows(&meta(4, "a"), one), Err(StateConflict::OlderSerial { current: 5, given: 4 }));
        let lineages = StateConflict::OtherLineage { current: "a".into(), given: "b".into() };
        assert_eq!(follows(&meta(6, "b"), other), Err(lineages));
    }
}
