//! Values with their places: what an attribute's expression evaluates to.

use crate::context::Span;

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) value: Value,
    /// Whether the value itself stands in the file. One that was computed may come from the environment or a file:
    /// no message may quote it.
    pub(crate) literal: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// With the value that was written.
    Number(serde_json::Number),
    String(String),
    List(Vec<Node>),
    /// In the order of the file, without duplicates.
    Map(Vec<Entry>),
    /// It has none, and that has been reported: decoders stay silent about it.
    Invalid,
}

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Node,
}

impl Node {
    /// What it is, in the words of a message.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Invalid => "nothing",
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }

    pub(crate) fn is_invalid(&self) -> bool {
        matches!(self.value, Value::Invalid)
    }

    /// As JSON for terraform; `None` if any part of it is invalid.
    pub(crate) fn to_json(&self) -> Option<serde_json::Value> {
        Some(match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::String(value) => value.clone().into(),
            Value::List(nodes) => nodes.iter().map(Self::to_json).collect::<Option<Vec<_>>>()?.into(),
            Value::Map(entries) => serde_json::Value::Object(
                entries
                    .iter()
                    .map(|entry| Some((entry.key.clone(), entry.value.to_json()?)))
                    .collect::<Option<_>>()?,
            ),
            Value::Invalid => return None,
        })
    }
}
