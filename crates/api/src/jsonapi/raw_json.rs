//! JSON whose numbers stay as they were written: terraform's have more digits than 64 bits hold, and whoever passes
//! them on must not round them.

use std::collections::BTreeMap;

use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// As deep as serde_json itself follows a document.
const MAX_DEPTH: usize = 128;

/// A document.
#[derive(Debug, Clone)]
pub(crate) enum RawJson {
    /// A text, a number, `true`, `false` or `null`, as it was written.
    Leaf(Box<RawValue>),
    Array(Vec<RawJson>),
    Object(BTreeMap<String, RawJson>),
}

impl RawJson {
    /// Reads a value.
    ///
    /// # Errors
    /// When it is nested without end.
    pub(crate) fn of_value(raw: &RawValue) -> serde_json::Result<Self> {
        Self::of(raw, 0)
    }

    // each level is read again for the next one: plans are large, and not deep
    fn of(raw: &RawValue, depth: usize) -> serde_json::Result<Self> {
        if depth > MAX_DEPTH {
            return Err(serde::de::Error::custom("nested too deeply"));
        }
        Ok(match raw.get().as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, &RawValue> = serde_json::from_str(raw.get())?;
                let fields = fields.into_iter().map(|(key, value)| Ok((key, Self::of(value, depth + 1)?)));
                Self::Object(fields.collect::<serde_json::Result<_>>()?)
            }
            Some(b'[') => {
                let items: Vec<&RawValue> = serde_json::from_str(raw.get())?;
                let items = items.into_iter().map(|item| Self::of(item, depth + 1));
                Self::Array(items.collect::<serde_json::Result<_>>()?)
            }
            _ => Self::Leaf(raw.to_owned()),
        })
    }

    pub(crate) fn null() -> Self {
        Self::Leaf(RawValue::NULL.to_owned())
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Leaf(raw) if raw.get() == "true")
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    pub(crate) fn as_object(&self) -> Option<&BTreeMap<String, Self>> {
        match self {
            Self::Object(fields) => Some(fields),
            _ => None,
        }
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Leaf(raw) => raw.serialize(serializer),
            Self::Array(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Object(fields) => {
                let mut map = serializer.serialize_map(Some(fields.len()))?;
                fields.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> serde_json::Result<RawJson> {
        RawJson::of_value(serde_json::from_str(json)?)
    }

    #[test]
    fn a_document_is_passed_on_digit_by_digit() {
        let json = r#"{"a":[12345678901234567890123,0.1000000000000000055511151231257827,1e400,-0.0],"b":{"c":"\u00e4","d":null}}"#;
        let exact = read(json).unwrap();
        assert_eq!(serde_json::to_string(&exact).unwrap(), json);
    }

    #[test]
    fn what_is_no_json_or_has_no_end_is_refused() {
        for json in ["", "{", "[1,]", "nul", "{\"a\":[1}"] {
            assert!(read(json).is_err(), "{json}");
        }
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        assert!(read(&deep).is_err());
    }
}
