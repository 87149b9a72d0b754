//! What stands in a mock for what is hidden.

use std::collections::HashMap;

use crate::redact::{MASK, is_secret_key};
use crate::value::{Data, Key};

/// Keys that were hidden, and the number of each: it has the same wherever it stands.
#[derive(Default)]
pub(super) struct Hidden {
    keys: HashMap<String, usize>,
}

impl Hidden {
    /// Lists and maps keep their form, so that policies can walk them. That there is no value is not a secret.
    pub(super) fn value(&mut self, value: &Data) -> Data {
        match value {
            Data::Null | Data::Undefined => value.clone(),
            Data::List(items) => Data::list(items.iter().map(|item| self.value(item))),
            Data::Map(map) => {
                Data::map(map.entries().iter().map(|(key, value)| (self.key(key), self.value(value))))
            }
            Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) => MASK.into(),
        }
    }

    /// What tells something of a hidden value, but nothing more of it than its keys.
    pub(super) fn keys(&mut self, data: &Data) -> Data {
        match data {
            Data::List(items) => Data::list(items.iter().map(|item| self.keys(item))),
            Data::Map(map) => {
                Data::map(map.entries().iter().map(|(key, value)| (self.key(key), self.keys(value))))
            }
            other => other.clone(),
        }
    }

    /// A key that may be secret has a number in its place: those of one map stay distinct.
    fn key(&mut self, key: &Key) -> Key {
        let Some(text) = key.as_str().filter(|text| is_secret_key(text)) else { return key.clone() };
        let next = self.keys.len() + 1;
        let number = *self.keys.entry(text.to_owned()).or_insert(next);
        Key::from(format!("{} {number})", MASK.trim_end_matches(')')))
    }
}
