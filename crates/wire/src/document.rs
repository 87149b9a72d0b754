//! Answers.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Attributes, Identifier, Meta, PageLinks, Resource};

/// An answer.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct Document<D> {
    /// What was asked for.
    pub data: D,
    /// What came along with it.
    #[serde(default, skip_serializing_if = "Included::is_empty")]
    pub included: Included,
    /// The addresses of the other pages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<PageLinks>,
    /// Where the page stands in the whole list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// An answer with one resource.
pub type One<A> = Document<Resource<A>>;

/// An answer with a list of resources.
pub type Many<A> = Document<Vec<Resource<A>>>;

/// What an answer can be about.
pub trait Primary {
    /// The resources that were asked for.
    fn identifiers(&self) -> Vec<Identifier>;
}

impl<A: Attributes> Primary for Resource<A> {
    fn identifiers(&self) -> Vec<Identifier> {
        vec![self.identifier()]
    }
}

impl<A: Attributes> Primary for Vec<Resource<A>> {
    fn identifiers(&self) -> Vec<Identifier> {
        self.iter().map(Resource::identifier).collect()
    }
}

impl<D> From<D> for Document<D> {
    fn from(data: D) -> Self {
        Self { data, included: Included::default(), links: None, meta: None }
    }
}

impl<D: Primary> Document<D> {
    /// The same with what comes along, without what was asked for itself.
    #[must_use]
    pub fn including(mut self, mut included: Included) -> Self {
        let primary: HashSet<_> = self.data.identifiers().into_iter().collect();
        included.0.retain(|any| !primary.contains(&any.identifier));
        self.included = included;
        self
    }
}

/// Resources of any type that come along, each once.
///
/// What is included never leads back to a resource that leads to it: the decoder of the Go clients follows
/// relationships through `included` and would not come to an end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Included(Vec<Any>);

/// A resource of whatever type, as JSON.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(with = "Identifier", rename = "IncludedResource")]
struct Any {
    identifier: Identifier,
    json: Box<RawValue>,
}

impl PartialEq for Any {
    fn eq(&self, other: &Self) -> bool {
        self.json.get() == other.json.get()
    }
}

impl Serialize for Any {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        let identifier = serde_json::from_str(json.get()).map_err(serde::de::Error::custom)?;
        Ok(Self { identifier, json })
    }
}

impl Included {
    /// Whether nothing comes along.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a resource, unless it is there.
    pub fn add<A: Attributes>(&mut self, resource: &Resource<A>) {
        let identifier = resource.identifier();
        if self.0.iter().all(|any| any.identifier != identifier) {
            #[expect(clippy::expect_used, reason = "attributes have text keys and no value that JSON lacks")]
            let json = serde_json::value::to_raw_value(resource).expect("a resource is plain data");
            self.0.push(Any { identifier, json });
        }
    }

    /// The resource of that type and id.
    ///
    /// # Errors
    /// In words, if it is not what its type says.
    pub fn get<A: Attributes>(&self, id: &str) -> Result<Option<Resource<A>>, String> {
        let named = |any: &&Any| any.identifier.kind == A::TYPE && any.identifier.id == id;
        let found = self.0.iter().find(named).map(|any| serde_json::from_str(any.json.get()));
        found.transpose().map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::UserAttributes;

    fn user(id: &str) -> Resource<UserAttributes> {
        Resource::new(id, UserAttributes::named(&format!("name of {id}")))
    }

    #[test]
    fn nothing_is_included_twice_and_never_what_is_the_answer_itself() {
        let mut included = Included::default();
        for id in ["a", "b", "a", "c"] {
            included.add(&user(id));
        }
        let document = Document::from(vec![user("b")]).including(included);
        let shown = serde_json::to_value(&document).unwrap();
        let ids: Vec<_> = shown["included"].as_array().unwrap().iter().map(|any| any["id"].clone()).collect();
        assert_eq!(ids, ["a", "c"]);
    }

    #[test]
    fn what_came_along_is_found_by_type_and_id() {
        let mut included = Included::default();
        included.add(&user("a"));
        let shown = serde_json::to_string(&Document::from(user("b")).including(included)).unwrap();
        let read: One<UserAttributes> = serde_json::from_str(&shown).unwrap();
        assert_eq!(read.data, user("b"));
        assert_eq!(read.included.get("a"), Ok(Some(user("a"))));
        assert_eq!(read.included.get::<UserAttributes>("c"), Ok(None));
        assert_eq!(read.included.get::<crate::RunAttributes>("a"), Ok(None));
    }

    #[test]
    fn an_answer_with_nothing_beside_it_is_its_data_alone() {
        let shown = serde_json::to_value(Document::from(Vec::<Resource<UserAttributes>>::new())).unwrap();
        assert_eq!(shown, json!({ "data": [] }));
    }
}
