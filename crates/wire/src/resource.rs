//! Resources, and how they are linked.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::Text;

/// Addresses, by what they lead to: `self`, `related`, `download`.
pub type Links = BTreeMap<Text, String>;

/// The attributes of one type of resource. They stand for the type: a run is a `Resource<RunAttributes>`.
pub trait Attributes: Serialize + DeserializeOwned + JsonSchema + Send + 'static {
    /// The JSON:API type. Decoders of clients fail where it is another than they expect.
    const TYPE: &'static str;
    /// What a resource of the type is linked to.
    type Relationships: Relationships;
}

/// The relationships of one type of resource: a struct with a [`Relationship`] for each.
pub trait Relationships: Serialize + DeserializeOwned + JsonSchema + Default + Send + 'static {
    /// Whether there is none, so that the member is left out.
    const NONE: bool = false;
}

/// A resource that is linked to nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoRelationships {}

impl Relationships for NoRelationships {
    const NONE: bool = true;
}

/// What names a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Identifier {
    /// Unique among those of its type.
    pub id: String,
    /// The JSON:API type.
    #[serde(rename = "type")]
    pub kind: Text,
}

impl Identifier {
    /// Of a resource with these attributes.
    pub fn of<A: Attributes>(id: impl Display) -> Self {
        Self { id: id.to_string(), kind: A::TYPE.into() }
    }
}

/// How a resource is linked to others. The default says nothing, and is left out where a document may leave it out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Relationship {
    /// Left out where finding it would cost too much; then there is a link.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some")]
    data: Option<Linkage>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    links: Links,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Linkage {
    One(Option<Identifier>),
    Many(Vec<Identifier>),
}

/// `null` says that there is nothing, which is more than saying nothing.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Linkage>, D::Error> {
    Linkage::deserialize(deserializer).map(Some)
}

impl Relationship {
    /// To one resource.
    pub fn one<A: Attributes>(id: impl Display) -> Self {
        Self::optional(Some(Identifier::of::<A>(id)))
    }

    /// To one resource or none.
    pub fn optional(to: Option<Identifier>) -> Self {
        Self { data: Some(Linkage::One(to)), links: Links::new() }
    }

    /// To nothing, as clients expect it where a feature is off.
    pub fn none() -> Self {
        Self::optional(None)
    }

    /// To these, in this order.
    pub fn many(to: Vec<Identifier>) -> Self {
        Self { data: Some(Linkage::Many(to)), links: Links::new() }
    }

    /// To what is found there.
    pub fn related(path: impl Into<String>) -> Self {
        Self::default().and_related(path)
    }

    /// The same with the address of what it leads to.
    #[must_use]
    pub fn and_related(mut self, path: impl Into<String>) -> Self {
        self.links.insert("related".into(), path.into());
        self
    }

    /// The resource that it leads to, if it is one.
    pub fn to_one(&self) -> Option<&Identifier> {
        match &self.data {
            Some(Linkage::One(to)) => to.as_ref(),
            Some(Linkage::Many(_)) | None => None,
        }
    }

    /// The resources that it leads to, if they are many.
    pub fn to_many(&self) -> &[Identifier] {
        match &self.data {
            Some(Linkage::Many(to)) => to,
            Some(Linkage::One(_)) | None => &[],
        }
    }

    /// Whether it says nothing.
    pub fn is_left_out(&self) -> bool {
        *self == Self::default()
    }
}

/// A resource. Reading one of another type fails in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource<A: Attributes> {
    /// Unique among those of its type.
    pub id: String,
    /// What it is like.
    pub attributes: A,
    /// What it is linked to.
    pub relationships: A::Relationships,
    /// Where it and its parts are found.
    pub links: Links,
}

impl<A: Attributes> Resource<A> {
    /// A resource that is linked to nothing yet.
    pub fn new(id: impl Display, attributes: A) -> Self {
        let relationships = A::Relationships::default();
        Self { id: id.to_string(), attributes, relationships, links: Links::new() }
    }

    /// The same, linked.
    #[must_use]
    pub fn related(self, relationships: A::Relationships) -> Self {
        Self { relationships, ..self }
    }

    /// The same with an address.
    #[must_use]
    pub fn link(mut self, name: &'static str, to: impl Into<String>) -> Self {
        self.links.insert(name.into(), to.into());
        self
    }

    /// What names it.
    pub fn identifier(&self) -> Identifier {
        Identifier::of::<A>(&self.id)
    }
}

/// A resource is read like its attributes: `run.message`.
impl<A: Attributes> Deref for Resource<A> {
    type Target = A;

    fn deref(&self) -> &A {
        &self.attributes
    }
}

impl<A: Attributes> Serialize for Resource<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut resource = serializer.serialize_struct("Resource", 5)?;
        resource.serialize_field("id", &self.id)?;
        resource.serialize_field("type", A::TYPE)?;
        resource.serialize_field("attributes", &self.attributes)?;
        if !A::Relationships::NONE {
            resource.serialize_field("relationships", &self.relationships)?;
        }
        if !self.links.is_empty() {
            resource.serialize_field("links", &self.links)?;
        }
        resource.end()
    }
}

impl<'de, A: Attributes> Deserialize<'de> for Resource<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(bound = "R: Relationships")]
        struct Any<R> {
            id: String,
            #[serde(rename = "type")]
            kind: String,
            /// Read when the type is known to be right, and digit by digit.
            attributes: Box<RawValue>,
            #[serde(default)]
            relationships: R,
            #[serde(default)]
            links: Links,
        }
        let Any { id, kind, attributes, relationships, links } = Any::deserialize(deserializer)?;
        if kind != A::TYPE {
            let why = format_args!("a resource of type {kind:?} where {:?} belongs", A::TYPE);
            return Err(D::Error::custom(why));
        }
        let attributes = serde_json::from_str(attributes.get())
            .map_err(|error| D::Error::custom(format_args!("{kind} {id}: {error}")))?;
        Ok(Self { id, attributes, relationships, links })
    }
}

impl<A: Attributes> JsonSchema for Resource<A> {
    fn schema_name() -> Cow<'static, str> {
        let attributes = A::schema_name();
        attributes.strip_suffix("Attributes").unwrap_or(&attributes).to_owned().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut properties = serde_json::Map::new();
        properties.insert("id".into(), generator.subschema_for::<String>().into());
        properties.insert("type".into(), json_schema!({ "const": A::TYPE }).into());
        properties.insert("attributes".into(), generator.subschema_for::<A>().into());
        if !A::Relationships::NONE {
            properties.insert("relationships".into(), generator.subschema_for::<A::Relationships>().into());
        }
        properties.insert("links".into(), generator.subschema_for::<Links>().into());
        let required: Vec<_> = properties.keys().filter(|member| *member != "links").cloned().collect();
        json_schema!({ "type": "object", "properties": properties, "required": required })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{
        IngressAttributes, RunAttributes, RunEvent, RunEventAttributes, RunEventRelationships,
        StateOutputAttributes, UserAttributes, WorkspaceAttributes,
    };

    fn event() -> RunEvent {
        let attributes = RunEventAttributes {
            action: "queued".into(),
            description: "Queued by owner".into(),
            created_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        };
        Resource::new("re-1", attributes)
            .related(RunEventRelationships {
                run: Relationship::one::<RunAttributes>("run-1").and_related("/api/v2/runs/run-1"),
                actor: Relationship::none(),
                comment: Relationship::default(),
            })
            .link("self", "/api/v2/run-events/re-1")
    }

    #[test]
    fn a_resource_has_type_id_attributes_and_what_it_is_linked_to_and_is_read_back() {
        let expected = json!({
            "type": "run-events",
            "id": "re-1",
            "attributes": {
                "action": "queued", "description": "Queued by owner", "created-at": "2026-01-01T00:00:00Z",
            },
            "relationships": {
                "run": {
                    "data": { "type": "runs", "id": "run-1" },
                    "links": { "related": "/api/v2/runs/run-1" },
                },
                "actor": { "data": null },
                "comment": {},
            },
            "links": { "self": "/api/v2/run-events/re-1" },
        });
        assert_eq!(serde_json::to_value(event()).unwrap(), expected);
        assert_eq!(serde_json::from_value::<RunEvent>(expected).unwrap(), event());
    }

    #[test]
    fn what_is_linked_to_nothing_has_neither_relationships_nor_links() {
        let attributes = UserAttributes::named("operator");
        let shown = serde_json::to_value(Resource::new("user-1", attributes)).unwrap();
        assert!(shown.get("relationships").is_none() && shown.get("links").is_none(), "{shown}");
    }

    #[test]
    fn to_nothing_and_to_no_resource_known_are_told_apart() {
        let read = |value: Value| serde_json::from_value::<Relationship>(value).unwrap();
        assert!(read(json!({})).is_left_out());
        assert_eq!(read(json!({ "data": null })), Relationship::none());
        assert_eq!(read(json!({ "data": [] })), Relationship::many(vec![]));
        let to = Identifier::of::<WorkspaceAttributes>("ws-1");
        let one = read(json!({ "data": { "type": "workspaces", "id": "ws-1", "meta": {} } }));
        assert_eq!((one.to_one(), one.to_many()), (Some(&to), &[][..]));
        let many =
            read(json!({ "data": [{ "type": "workspaces", "id": "ws-1" }], "links": { "related": "/x" } }));
        assert_eq!((many.to_one(), many.to_many()), (None, &[to][..]));
    }

    #[test]
    fn a_resource_of_another_type_is_refused_by_name() {
        let workspace = json!({ "type": "workspaces", "id": "ws-1", "attributes": {} });
        let refused = serde_json::from_value::<RunEvent>(workspace).unwrap_err();
        assert!(
            refused.to_string().starts_with("a resource of type \"workspaces\" where \"run-events\" belongs")
        );
        let broken = json!({ "type": "run-events", "id": "re-1", "attributes": { "action": 1 } });
        let refused = serde_json::from_value::<RunEvent>(broken).unwrap_err();
        assert!(refused.to_string().starts_with("run-events re-1: "), "{refused}");
    }

    #[test]
    fn numbers_keep_their_digits_in_both_directions() {
        let text = concat!(
            r#"{"id":"wsout-1","type":"state-version-outputs","attributes":{"name":"n","sensitive":false,"#,
            r#""type":"number","detailed-type":"number","value":12345678901234567890123.10}}"#
        );
        let output: Resource<StateOutputAttributes> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&output).unwrap(), text);
    }

    #[test]
    fn a_type_is_called_as_its_resource_in_the_schema() {
        assert_eq!(Resource::<RunAttributes>::schema_name(), "Run");
        assert_eq!(IngressAttributes::schema_name(), "IngressAttributes");
    }
}
