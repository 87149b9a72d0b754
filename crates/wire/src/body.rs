//! What requests carry.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::Text;

/// A JSON:API document that makes or changes a resource. Attributes that `A` doesn't know are ignored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Body<A> {
    /// The resource.
    pub data: Data<A>,
}

/// The resource in a [`Body`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Data<A> {
    /// The JSON:API type. The address says it too, so nothing depends on it.
    #[serde(rename = "type", default)]
    pub kind: Text,
    /// What it is to be like.
    pub attributes: A,
}

impl<A> Body<A> {
    /// A resource of this type.
    pub fn new(kind: &'static str, attributes: A) -> Self {
        Self { data: Data { kind: kind.into(), attributes } }
    }
}

/// A member of a body that changes something. As a field it needs `#[serde(default, skip_serializing_if =
/// "Patch::is_kept")]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Patch<T> {
    /// It was absent: the value stays as it is.
    #[default]
    Keep,
    /// It was `null`: the value is taken away.
    Clear,
    /// The value becomes this.
    Set(T),
}

impl<T> Patch<T> {
    /// Whether the value stays as it is.
    pub const fn is_kept(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// What becomes of a value.
    pub fn apply(self, value: Option<T>) -> Option<T> {
        match self {
            Self::Keep => value,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Keep | Self::Clear => serializer.serialize_none(),
            Self::Set(value) => serializer.serialize_some(value),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Clear, Self::Set))
    }
}

impl<T: JsonSchema> JsonSchema for Patch<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        Option::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T>::json_schema(generator)
    }
}

/// The body of an action: `{"comment": "…"}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Comment {
    /// Kept in the run's journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// The body of a lock: `{"reason": "…"}`, or a document with that attribute, as the terraform CLI sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LockReason {
    /// Shown to whoever finds the workspace locked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same as a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<LockReasonData>,
}

/// A [`LockReason`] as a document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LockReasonData {
    /// With the reason.
    pub attributes: Option<LockReasonAttributes>,
}

/// The attributes of a [`LockReasonData`].
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct LockReasonAttributes {
    /// Shown to whoever finds the workspace locked.
    pub reason: Option<String>,
}

impl LockReason {
    /// The reason, wherever it stands; empty if none was given.
    pub fn text(self) -> String {
        let of_document = || self.data?.attributes?.reason;
        self.reason.or_else(of_document).unwrap_or_default()
    }
}

/// A body that doesn't fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail} (at {pointer})")]
pub struct Misfit {
    /// Where, as a JSON pointer (RFC 6901).
    pub pointer: String,
    /// What is wrong there.
    pub detail: String,
}

/// Reads a body that has to be a JSON object.
///
/// # Errors
/// [`Misfit`].
pub fn read<T: DeserializeOwned>(document: &Value) -> Result<T, Misfit> {
    // a struct could be read from an array too, field by field, which nobody means
    if !document.is_object() {
        return Err(Misfit { pointer: String::new(), detail: "a JSON object belongs here".to_owned() });
    }
    serde_path_to_error::deserialize(document).map_err(|error| {
        let pointer = pointer(error.path());
        Misfit { pointer, detail: error.into_inner().to_string() }
    })
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => pointer += &format!("/{index}"),
            Segment::Map { key } | Segment::Enum { variant: key } => {
                pointer.push('/');
                pointer += &key.replace('~', "~0").replace('/', "~1");
            }
            Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case", default)]
    struct Settings {
        #[serde(skip_serializing_if = "Patch::is_kept")]
        description: Patch<String>,
        #[serde(skip_serializing_if = "Patch::is_kept")]
        trigger_prefixes: Patch<Vec<String>>,
    }

    fn settings(attributes: &Value) -> Result<Settings, Misfit> {
        let body = json!({ "data": { "type": "workspaces", "attributes": attributes, "more": 1 } });
        read::<Body<Settings>>(&body).map(|body| body.data.attributes)
    }

    #[test]
    fn absent_is_not_null_in_a_body_that_changes_something() {
        let table = [
            (json!({}), Patch::Keep),
            (json!({ "description": null }), Patch::Clear),
            (json!({ "description": "" }), Patch::Set(String::new())),
        ];
        for (attributes, description) in table {
            let read = settings(&attributes).unwrap();
            assert_eq!(read, Settings { description, ..Settings::default() });
            assert_eq!(serde_json::to_value(read).unwrap(), attributes);
        }
        assert_eq!(Patch::Keep.apply(Some(1)), Some(1));
        assert_eq!(Patch::Clear.apply(Some(1)), None);
        assert_eq!(Patch::Set(2).apply(Some(1)), Some(2));
    }

    #[test]
    fn a_body_that_does_not_fit_is_refused_with_its_place() {
        let at = |attributes: Value| settings(&attributes).unwrap_err().pointer;
        assert_eq!(at(json!({ "trigger-prefixes": "a" })), "/data/attributes/trigger-prefixes");
        assert_eq!(at(json!({ "trigger-prefixes": ["a", 1] })), "/data/attributes/trigger-prefixes/1");
        for body in [json!([]), json!(3), json!("x"), json!(null)] {
            let misfit = read::<Body<Settings>>(&body).unwrap_err();
            assert_eq!((misfit.pointer.as_str(), misfit.detail.as_str()), ("", "a JSON object belongs here"));
        }
        let missing = read::<Body<Settings>>(&json!({})).unwrap_err();
        assert_eq!((missing.pointer.as_str(), missing.detail.as_str()), ("", "missing field `data`"));
    }

    #[test]
    fn a_reason_is_found_in_either_form() {
        let document = json!({ "data": { "type": "", "attributes": { "reason": "Locked by Terraform" } } });
        let table = [
            (json!({ "reason": "why" }), "why"),
            (document, "Locked by Terraform"),
            (json!({}), ""),
            (json!({ "data": {} }), ""),
            (json!({ "data": { "attributes": null } }), ""),
        ];
        for (body, reason) in table {
            assert_eq!(read::<LockReason>(&body).unwrap().text(), reason, "{body}");
        }
        assert_eq!(read::<LockReason>(&json!({ "reason": 1 })).unwrap_err().pointer, "/reason");
    }
}
