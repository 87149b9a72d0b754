//! JSON:API documents, in the dialect of Terraform Enterprise (tfe-api.md 0.1, 0.2).

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// The media type of every document.
pub(crate) const MEDIA_TYPE: HeaderValue = HeaderValue::from_static("application/vnd.api+json");

/// What names a resource: its type has to be the one that clients expect, or their decoders fail.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Identifier {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
}

impl Identifier {
    pub(crate) fn new(kind: &'static str, id: impl Display) -> Self {
        Self { id: id.to_string(), kind }
    }
}

/// How a resource is linked to others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Relationship {
    /// Left out where finding it would cost too much; then there is a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Linkage>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    links: BTreeMap<&'static str, String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Linkage {
    One(Option<Identifier>),
    Many(Vec<Identifier>),
}

impl Relationship {
    /// To one resource.
    pub(crate) fn one(kind: &'static str, id: impl Display) -> Self {
        Self::optional(Some(Identifier::new(kind, id)))
    }

    /// To one resource or none.
    pub(crate) fn optional(to: Option<Identifier>) -> Self {
        Self { data: Some(Linkage::One(to)), links: BTreeMap::new() }
    }

    /// To these, in this order.
    pub(crate) fn many(to: Vec<Identifier>) -> Self {
        Self { data: Some(Linkage::Many(to)), links: BTreeMap::new() }
    }

    /// To what is found there.
    pub(crate) fn related(path: String) -> Self {
        Self { data: None, links: BTreeMap::from([("related", path)]) }
    }

    pub(crate) fn and_related(mut self, path: String) -> Self {
        self.links.insert("related", path);
        self
    }
}

/// A relationship to nothing, as clients expect it where a feature is off.
pub(crate) fn null() -> Relationship {
    Relationship::optional(None)
}

/// A resource with its attributes.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Resource {
    #[serde(flatten)]
    identifier: Identifier,
    attributes: Box<RawValue>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    relationships: BTreeMap<&'static str, Relationship>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    links: BTreeMap<&'static str, String>,
}

impl Resource {
    /// `attributes` is one of our own structs, whose fields are plain data.
    pub(crate) fn new(kind: &'static str, id: impl Display, attributes: impl Serialize) -> Self {
        #[expect(clippy::expect_used, reason = "attributes have text keys and no value that JSON lacks")]
        let attributes = to_raw_value(&attributes).expect("attributes are plain data");
        let identifier = Identifier::new(kind, id);
        Self { identifier, attributes, relationships: BTreeMap::new(), links: BTreeMap::new() }
    }

    pub(crate) fn with(mut self, name: &'static str, relationship: Relationship) -> Self {
        self.relationships.insert(name, relationship);
        self
    }

    /// Leaves out the relationships to `other`, which says nothing of them: for what is included beside it.
    pub(crate) fn not_leading_to(mut self, other: &Identifier) -> Self {
        self.relationships.retain(|_, relationship| match &relationship.data {
            Some(Linkage::One(to)) => to.as_ref() != Some(other),
            Some(Linkage::Many(to)) => !to.contains(other),
            None => true,
        });
        self
    }

    pub(crate) fn link(mut self, name: &'static str, to: impl Into<String>) -> Self {
        self.links.insert(name, to.into());
        self
    }

    pub(crate) fn identifier(&self) -> &Identifier {
        &self.identifier
    }
}

/// Resources that come along, each once.
///
/// What is included never includes a resource that leads back to it: the decoder of the Go clients
/// follows relationships through `included` and would not come to an end (tfe-api.md 0.2).
#[derive(Debug, Default)]
pub(crate) struct Included {
    resources: Vec<Resource>,
    seen: HashSet<Identifier>,
}

impl Included {
    pub(crate) fn add(&mut self, resource: Resource) {
        if self.seen.insert(resource.identifier.clone()) {
            self.resources.push(resource);
        }
    }
}

/// A whole answer.
#[derive(Debug, Serialize)]
pub(crate) struct Document {
    data: Data,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    included: Vec<Resource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    meta: Option<Value>,
    #[serde(skip)]
    status: StatusCode,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Data {
    One(Box<Resource>),
    Many(Vec<Resource>),
}

impl Document {
    pub(crate) fn one(resource: Resource) -> Self {
        Self::of(Data::One(Box::new(resource)))
    }

    /// A list as a whole.
    pub(crate) fn all(resources: Vec<Resource>) -> Self {
        Self::of(Data::Many(resources))
    }

    fn of(data: Data) -> Self {
        Self { data, included: Vec::new(), links: None, meta: None, status: StatusCode::OK }
    }

    pub(crate) fn including(mut self, included: Included) -> Self {
        let primary: HashSet<&Identifier> = match &self.data {
            Data::One(resource) => HashSet::from([resource.identifier()]),
            Data::Many(resources) => resources.iter().map(Resource::identifier).collect(),
        };
        let mut resources = included.resources;
        resources.retain(|resource| !primary.contains(resource.identifier()));
        self.included = resources;
        self
    }

    pub(crate) fn paged(mut self, links: Value, pagination: Value) -> Self {
        self.links = Some(links);
        self.meta = Some(json!({ "pagination": pagination }));
        self
    }

    pub(crate) fn created(mut self) -> Self {
        self.status = StatusCode::CREATED;
        self
    }
}

impl IntoResponse for Document {
    fn into_response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, MEDIA_TYPE)], Json(self)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(document: &Document) -> Value {
        serde_json::to_value(document).unwrap()
    }

    #[test]
    fn a_resource_has_type_id_attributes_and_what_it_is_linked_to() {
        let resource = Resource::new("runs", "run-1", json!({ "is-destroy": false }))
            .with("workspace", Relationship::one("workspaces", "ws-1"))
            .with("cost-estimate", null())
            .with("policy-checks", Relationship::many(vec![]))
            .with("run-events", Relationship::related("/api/v2/runs/run-1/run-events".into()))
            .link("self", "/api/v2/runs/run-1");
        let expected = json!({ "data": {
            "type": "runs",
            "id": "run-1",
            "attributes": { "is-destroy": false },
            "relationships": {
                "workspace": { "data": { "type": "workspaces", "id": "ws-1" } },
                "cost-estimate": { "data": null },
                "policy-checks": { "data": [] },
                "run-events": { "links": { "related": "/api/v2/runs/run-1/run-events" } },
            },
            "links": { "self": "/api/v2/runs/run-1" },
        } });
        assert_eq!(shown(&Document::one(resource)), expected);
    }

    #[test]
    fn nothing_is_included_twice_and_never_what_is_the_answer_itself() {
        let resource = |id: &str| Resource::new("runs", id, json!({}));
        let mut included = Included::default();
        for id in ["a", "b", "a", "c"] {
            included.add(resource(id));
        }
        let document = Document::all(vec![resource("b")]).including(included);
        let ids: Vec<_> = document.included.iter().map(|r| r.identifier().id.clone()).collect();
        assert_eq!(ids, ["a", "c"]);
    }
}
