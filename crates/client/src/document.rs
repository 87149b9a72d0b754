//! JSON:API documents, read leniently (tfe-api.md 0.1).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Problem, Problems};
use crate::page::Pagination;

/// Why a document could not be read, in words.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// An answer: one resource.
#[derive(Deserialize)]
pub(crate) struct One {
    data: Resource,
    #[serde(default)]
    included: Vec<Resource>,
}

/// An answer: a list of resources.
#[derive(Deserialize)]
pub(crate) struct Many {
    data: Vec<Resource>,
    #[serde(default)]
    included: Vec<Resource>,
    #[serde(default)]
    meta: Meta,
}

#[derive(Deserialize, Default)]
struct Meta {
    pagination: Option<Pagination>,
}

/// Something with an id.
#[derive(Deserialize)]
pub(crate) struct Resource {
    pub(crate) id: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    attributes: Value,
    #[serde(default)]
    relationships: BTreeMap<String, Relationship>,
}

/// `data` is null, an identifier, a list of them, or absent.
#[derive(Deserialize)]
struct Relationship {
    #[serde(default)]
    data: Value,
}

/// A resource of a type of ours.
pub(crate) trait FromResource: Sized {
    /// The JSON:API type.
    const KIND: &'static str;

    /// Reads it, together with what it is linked to where that came along.
    fn from_resource(resource: &Resource, included: &Included<'_>) -> Result<Self>;
}

/// A resource whose id is its name, such as an organization.
pub(crate) struct Named(pub(crate) String);

impl FromResource for Named {
    const KIND: &'static str = "organizations";

    fn from_resource(resource: &Resource, _: &Included<'_>) -> Result<Self> {
        Ok(Self(resource.id.clone()))
    }
}

/// What came along with the answer.
pub(crate) struct Included<'a>(&'a [Resource]);

impl Included<'_> {
    /// The resource of that type and id, if it came along.
    pub(crate) fn get<T: FromResource>(&self, id: &str) -> Result<Option<T>> {
        match self.0.iter().find(|resource| resource.kind == T::KIND && resource.id == id) {
            Some(resource) => T::from_resource(resource, self).map(Some),
            None => Ok(None),
        }
    }

    /// One attribute of the resource of that type and id, if it came along.
    pub(crate) fn attribute(&self, kind: &str, id: &str, name: &str) -> Option<String> {
        let resource = self.0.iter().find(|resource| resource.kind == kind && resource.id == id)?;
        resource.attributes.get(name)?.as_str().map(str::to_owned)
    }
}

impl One {
    pub(crate) fn read<T: FromResource>(&self) -> Result<T> {
        self.data.read(&Included(&self.included))
    }
}

impl Many {
    pub(crate) fn read<T: FromResource>(&self) -> Result<(Vec<T>, Option<Pagination>)> {
        let included = Included(&self.included);
        let all = self.data.iter().map(|resource| resource.read(&included)).collect::<Result<_>>()?;
        Ok((all, self.meta.pagination.clone()))
    }
}

impl Resource {
    fn read<T: FromResource>(&self, included: &Included<'_>) -> Result<T> {
        if self.kind != T::KIND {
            return Err(format!("a resource of type {:?} where {:?} belongs", self.kind, T::KIND));
        }
        T::from_resource(self, included)
    }

    /// The attributes as a struct; those that it doesn't know are ignored.
    pub(crate) fn attributes<A: DeserializeOwned>(&self) -> Result<A> {
        A::deserialize(&self.attributes).map_err(|error| format!("{} {}: {error}", self.kind, self.id))
    }

    /// What stands at this place, a JSON pointer, in the attributes; `None` if it is absent or something else.
    pub(crate) fn attribute_at<A: DeserializeOwned>(&self, place: &str) -> Option<A> {
        A::deserialize(self.attributes.pointer(place)?).ok()
    }

    /// Type and id of what it is linked to.
    pub(crate) fn link(&self, name: &str) -> Option<(&str, &str)> {
        identifier(&self.relationships.get(name)?.data)
    }

    /// The id of what it is linked to.
    pub(crate) fn linked(&self, name: &str) -> Option<String> {
        self.link(name).map(|(_, id)| id.to_owned())
    }

    /// The ids of what it is linked to, in order.
    pub(crate) fn linked_all(&self, name: &str) -> Vec<String> {
        let data = self.relationships.get(name).and_then(|relationship| relationship.data.as_array());
        data.into_iter().flatten().filter_map(identifier).map(|(_, id)| id.to_owned()).collect()
    }
}

fn identifier(value: &Value) -> Option<(&str, &str)> {
    Some((value.get("type")?.as_str()?, value.get("id")?.as_str()?))
}

/// The errors of an answer that is not a success; none if its body is no error document.
pub(crate) fn problems(body: &[u8]) -> Problems {
    #[derive(Deserialize)]
    struct Document {
        errors: Vec<Entry>,
    }
    #[derive(Deserialize)]
    struct Entry {
        title: Option<String>,
        detail: Option<String>,
        source: Option<Source>,
    }
    #[derive(Deserialize)]
    struct Source {
        pointer: Option<String>,
        parameter: Option<String>,
    }
    let entries = serde_json::from_slice(body).map(|Document { errors }| errors).unwrap_or_default();
    let problem = |entry: Entry| {
        let place = entry.source.and_then(|source| source.pointer.or(source.parameter));
        let detail = entry.detail.filter(|detail| !detail.is_empty()).or(entry.title)?;
        Some(Problem { detail, place })
    };
    Problems(entries.into_iter().filter_map(problem).collect())
}

/// For attributes that are `null` where a struct has a plain value.
pub(crate) fn null_is_default<'de, D, T>(deserializer: D) -> std::result::Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_have_their_words_and_their_places() {
        let body = br#"{"errors":[
            {"status":"422","title":"invalid","detail":"no such type","source":{"pointer":"/data/type"}},
            {"status":"400","title":"bad request","source":{"parameter":"include"}},
            {"status":"409","title":"conflict","detail":"locked"}]}"#;
        assert_eq!(
            problems(body).to_string(),
            "no such type (at /data/type); bad request (at include); locked"
        );
    }

    #[test]
    fn a_body_that_is_no_error_document_has_no_problems() {
        for body in [&b""[..], b"<html>", b"{}", b"{\"errors\":3}"] {
            assert_eq!(problems(body), Problems::default());
        }
    }
}
