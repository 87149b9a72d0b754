//! What answers become.

use wire::{Attributes, ErrorSource, Errors, Included, Relationship, Resource};

use crate::error::{Problem, Problems};

/// Why a document could not be read, in words.
pub(crate) type Result<T> = std::result::Result<T, String>;

/// What an answer about a resource becomes.
pub(crate) trait FromDocument: Sized {
    /// Those of the resource.
    type Attributes: Attributes;

    /// Puts it together with what it is linked to, where that came along.
    fn from_document_of(resource: Resource<Self::Attributes>, included: &Included) -> Result<Self>;
}

impl<A: Attributes> FromDocument for Resource<A> {
    type Attributes = A;

    fn from_document_of(resource: Self, _: &Included) -> Result<Self> {
        Ok(resource)
    }
}

/// The id of what it leads to.
pub(crate) fn linked(relationship: &Relationship) -> Option<&str> {
    relationship.to_one().map(|to| to.id.as_str())
}

/// The errors of an answer that is not a success; none if its body is no error document.
pub(crate) fn problems(body: &[u8]) -> Problems {
    let Errors { errors } = serde_json::from_slice(body).unwrap_or_default();
    let problems = errors.into_iter().map(|entry| Problem {
        detail: if entry.detail.is_empty() { entry.title } else { entry.detail },
        place: entry.source.map(|(ErrorSource::Pointer(place) | ErrorSource::Parameter(place))| place),
    });
    Problems(problems.filter(|problem| !problem.detail.is_empty()).collect())
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
