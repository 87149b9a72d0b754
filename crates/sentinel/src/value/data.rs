//! Data: values that never change and can be shared between policies and threads.
//!
//! Plans, mocks, parameters and constant literals are data. A policy that reads data gets handles
//! which copy on the first write, so that the cost of a read does not depend on the size of what is
//! read.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::{Key, Str};

/// An immutable value of the language.
#[derive(Clone)]
pub enum Data {
    /// `undefined`.
    Undefined,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A signed 64-bit integer.
    Int(i64),
    /// A 64-bit float.
    Float(f64),
    /// A string of bytes.
    Str(Str),
    /// A list.
    List(Arc<[Data]>),
    /// A map, its entries sorted by key, no key twice.
    Map(DataMap),
}

/// The entries of a [`Data::Map`]: sorted by key, no key twice.
#[derive(Clone)]
pub struct DataMap(Arc<[(Key, Data)]>);

impl DataMap {
    /// A map of these entries; of two entries with one key the later one counts.
    pub fn new(mut entries: Vec<(Key, Data)>) -> Self {
        if !entries.windows(2).all(|pair| pair[0].0 < pair[1].0) {
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let mut unique: Vec<(Key, Data)> = Vec::with_capacity(entries.len());
            for entry in entries {
                match unique.last_mut() {
                    Some(last) if last.0 == entry.0 => *last = entry,
                    _ => unique.push(entry),
                }
            }
            entries = unique;
        }
        DataMap(Arc::from(entries))
    }

    /// The entries in order of their keys.
    pub fn entries(&self) -> &[(Key, Data)] {
        &self.0
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn position(&self, key: &Key) -> Option<usize> {
        self.0.binary_search_by(|entry| entry.0.cmp(key)).ok()
    }

    pub(crate) fn position_of(&self, name: &[u8]) -> Option<usize> {
        self.0
            .binary_search_by(|entry| match &entry.0 {
                Key::Str(s) => s.as_bytes().cmp(name),
                _ => std::cmp::Ordering::Less,
            })
            .ok()
    }

    /// The value under a string key.
    pub fn get(&self, name: &str) -> Option<&Data> {
        self.position_of(name.as_bytes()).map(|at| &self.0[at].1)
    }
}

impl Data {
    /// A list.
    pub fn list(items: impl IntoIterator<Item = Data>) -> Data {
        Data::List(items.into_iter().collect())
    }

    /// A map; of two entries with one key the later one counts.
    pub fn map<K: Into<Key>>(entries: impl IntoIterator<Item = (K, Data)>) -> Data {
        Data::Map(DataMap::new(entries.into_iter().map(|(k, v)| (k.into(), v)).collect()))
    }

    /// The value under a string key, when this is a map that has it.
    pub fn get(&self, name: &str) -> Option<&Data> {
        match self {
            Data::Map(map) => map.get(name),
            _ => None,
        }
    }

    /// The text, when this is a string of UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Data::Str(s) => s.as_str(),
            _ => None,
        }
    }

    /// The elements, when this is a list; none otherwise.
    pub fn items(&self) -> &[Data] {
        match self {
            Data::List(items) => items,
            _ => &[],
        }
    }

    /// The entries, when this is a map; none otherwise.
    pub fn entries(&self) -> &[(Key, Data)] {
        match self {
            Data::Map(map) => map.entries(),
            _ => &[],
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Data::Null)
    }

    /// Equality as `==` of the language has it, except that `undefined` equals itself: what tests
    /// and assertions need.
    pub fn same(&self, other: &Data) -> bool {
        match (self, other) {
            (Data::Undefined, Data::Undefined) | (Data::Null, Data::Null) => true,
            (Data::Bool(a), Data::Bool(b)) => a == b,
            (Data::Int(a), Data::Int(b)) => a == b,
            (Data::Float(a), Data::Float(b)) => a == b,
            (Data::Int(a), Data::Float(b)) | (Data::Float(b), Data::Int(a)) => *a as f64 == *b,
            (Data::Str(a), Data::Str(b)) => a == b,
            (Data::List(a), Data::List(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.same(b))
            }
            (Data::Map(a), Data::Map(b)) => {
                a.len() == b.len()
                    && a.entries().iter().zip(b.entries()).all(|((ka, va), (kb, vb))| ka == kb && va.same(vb))
            }
            _ => false,
        }
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&super::show::show_data(self))
    }
}

impl PartialEq for Data {
    fn eq(&self, other: &Self) -> bool {
        self.same(other)
    }
}

impl From<&str> for Data {
    fn from(text: &str) -> Self {
        Data::Str(text.into())
    }
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Data::Str(text.into())
    }
}

impl From<bool> for Data {
    fn from(value: bool) -> Self {
        Data::Bool(value)
    }
}

impl From<i64> for Data {
    fn from(value: i64) -> Self {
        Data::Int(value)
    }
}

impl From<f64> for Data {
    fn from(value: f64) -> Self {
        Data::Float(value)
    }
}

/// JSON: a number without fraction and exponent that fits is an integer, every other one a float.
impl From<&serde_json::Value> for Data {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Data::Null,
            Json::Bool(b) => Data::Bool(*b),
            Json::Number(n) => match n.as_i64() {
                Some(i) => Data::Int(i),
                None => Data::Float(n.as_f64().unwrap_or(f64::INFINITY)),
            },
            Json::String(s) => s.as_str().into(),
            Json::Array(items) => Data::list(items.iter().map(Data::from)),
            Json::Object(members) => Data::map(members.iter().map(|(k, v)| (k.as_str(), Data::from(v)))),
        }
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Data::Undefined | Data::Null => serializer.serialize_unit(),
            Data::Bool(b) => serializer.serialize_bool(*b),
            Data::Int(i) => serializer.serialize_i64(*i),
            Data::Float(f) => serializer.serialize_f64(*f),
            Data::Str(s) => serializer.serialize_str(&s.to_text()),
            Data::List(items) => {
                let mut seq = serializer.serialize_seq(Some(items.len()))?;
                for item in items.iter() {
                    seq.serialize_element(item)?;
                }
                seq.end()
            }
            Data::Map(map) => {
                let mut out = serializer.serialize_map(Some(map.len()))?;
                for (key, value) in map.entries() {
                    out.serialize_entry(&super::show::show_key(key), value)?;
                }
                out.end()
            }
        }
    }
}

/// A key is text in JSON.
impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }
            fn visit_str<E>(self, v: &str) -> Result<Key, E> {
                Ok(Key::from(v))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DataVisitor;
        impl<'de> Visitor<'de> for DataVisitor {
            type Value = Data;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Data, E> {
                Ok(Data::Null)
            }
            fn visit_none<E>(self) -> Result<Data, E> {
                Ok(Data::Null)
            }
            fn visit_bool<E>(self, v: bool) -> Result<Data, E> {
                Ok(Data::Bool(v))
            }
            fn visit_i64<E>(self, v: i64) -> Result<Data, E> {
                Ok(Data::Int(v))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Data, E> {
                Ok(i64::try_from(v).map_or(Data::Float(v as f64), Data::Int))
            }
            fn visit_f64<E>(self, v: f64) -> Result<Data, E> {
                Ok(Data::Float(v))
            }
            fn visit_str<E>(self, v: &str) -> Result<Data, E> {
                Ok(Data::Str(Str::shared(v.as_bytes())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element::<Data>()? {
                    items.push(item);
                }
                Ok(Data::List(Arc::from(items)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Data, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = access.next_key::<Key>()? {
                    entries.push((key, access.next_value()?));
                }
                Ok(Data::Map(DataMap::new(entries)))
            }
        }
        deserializer.deserialize_any(DataVisitor)
    }
}
