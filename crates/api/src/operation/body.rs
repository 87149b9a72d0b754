//! Bodies: JSON, of either media type, up to a limit. What is not JSON is 400, what has the wrong type 422 with its
//! place.

use axum::extract::{DefaultBodyLimit, FromRequest as _, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use schemars::SchemaGenerator;
use serde::de::DeserializeOwned;
use serde_json::Value;
use wire::{CreateRun, NewStateVersion};

use super::answer::SchemaOf;
use crate::jsonapi::{ApiError, Result};

/// The largest body that is read.
pub(crate) const LIMIT: usize = 1024 * 1024;

/// The largest body that is read where it has a state in it, in base64: a state of 48 MiB.
const STATE_LIMIT: usize = 64 * 1024 * 1024;

/// How a body is described.
pub struct BodyInfo {
    /// Whether it may be left out.
    pub required: bool,
    /// Of its JSON.
    pub schema: SchemaOf,
}

/// What a request carries.
pub(crate) trait Body: Sized + Send + 'static {
    /// The most bytes that are read.
    const LIMIT: usize = LIMIT;

    /// `None` for a body that is not read.
    fn info() -> Option<BodyInfo>;

    fn parse(bytes: &Bytes) -> Result<Self>;
}

/// A body that is not read: whatever is sent does no harm.
impl Body for () {
    fn info() -> Option<BodyInfo> {
        None
    }

    fn parse(_: &Bytes) -> Result<Self> {
        Ok(())
    }
}

impl Body for CreateRun {
    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: true, schema: SchemaGenerator::subschema_for::<Self> })
    }

    fn parse(bytes: &Bytes) -> Result<Self> {
        Ok(Self::read(&required(bytes)?)?)
    }
}

impl Body for wire::Body<NewStateVersion> {
    const LIMIT: usize = STATE_LIMIT;

    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: true, schema: SchemaGenerator::subschema_for::<Self> })
    }

    fn parse(bytes: &Bytes) -> Result<Self> {
        Ok(wire::read(&required(bytes)?)?)
    }
}

/// `{"comment": "…"}`, `{}`, `null` or nothing.
impl Body for wire::Comment {
    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: false, schema: SchemaGenerator::subschema_for::<Self> })
    }

    fn parse(bytes: &Bytes) -> Result<Self> {
        let Self { comment } = optional(bytes)?;
        Ok(Self { comment: comment.filter(|comment| !comment.trim().is_empty()) })
    }
}

impl Body for wire::LockReason {
    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: false, schema: SchemaGenerator::subschema_for::<Self> })
    }

    fn parse(bytes: &Bytes) -> Result<Self> {
        optional(bytes)
    }
}

/// Reads the body of a request.
pub(super) async fn read<B: Body>(mut request: Request) -> Result<B> {
    if B::info().is_none() {
        return B::parse(&Bytes::new());
    }
    DefaultBodyLimit::max(B::LIMIT).apply(&mut request);
    let headers = request.headers().clone();
    let bytes = Bytes::from_request(request, &()).await.map_err(|rejection| {
        match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::too_large(B::LIMIT),
            _ => ApiError::bad_request("the body could not be read to its end"),
        }
    })?;
    if !bytes.is_empty() {
        check_media_type(&headers)?;
    }
    B::parse(&bytes)
}

/// Without a type it is taken to be JSON.
fn check_media_type(headers: &HeaderMap) -> Result<()> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let given = String::from_utf8_lossy(given.as_bytes());
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/vnd.api+json" | "application/json" | "" => Ok(()),
        _ => Err(ApiError::media_type(&essence)),
    }
}

/// `None` for an empty body.
fn json(bytes: &Bytes) -> Result<Option<Value>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes)
        .map(Some)
        .map_err(|error| ApiError::bad_request(format!("the body is not JSON: {error}")))
}

fn required(bytes: &Bytes) -> Result<Value> {
    json(bytes)?.ok_or_else(|| ApiError::bad_request("the body is empty: a JSON:API document belongs there"))
}

fn optional<T: DeserializeOwned + Default>(bytes: &Bytes) -> Result<T> {
    match json(bytes)? {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => Ok(wire::read(&value)?),
    }
}

#[cfg(test)]
mod tests {
    use wire::{Comment, LockReason};

    use super::*;

    fn refusal<B: Body>(body: &'static str) -> Option<(u16, String)> {
        let error = B::parse(&Bytes::from_static(body.as_bytes())).err()?;
        Some((error.status().as_u16(), error.pointers().first().copied().unwrap_or("-").to_owned()))
    }

    #[test]
    fn a_body_of_the_wrong_shape_is_refused_with_its_place() {
        let table = [
            (r#"{"data":{"attributes":{"message":"a","unknown":{"x":1}}}}"#, None),
            (r#"{"data":{"attributes":{"message":["a"]}}}"#, Some((422, "/data/attributes/message"))),
            ("[]", Some((422, ""))),
            ("3", Some((422, ""))),
            ("null", Some((422, ""))),
            (r#"{"data""#, Some((400, "-"))),
            ("hello", Some((400, "-"))),
            (" ", Some((400, "-"))),
        ];
        for (body, expected) in table {
            let expected = expected.map(|(status, at)| (status, at.to_owned()));
            assert_eq!(refusal::<CreateRun>(body), expected, "{body}");
        }
    }

    #[test]
    fn where_a_body_may_be_missing_nothing_is_as_good_as_an_empty_one() {
        for nothing in ["", "{}", "null", " \n", r#"{"comment":null}"#, r#"{"comment":" "}"#] {
            assert_eq!(refusal::<LockReason>(nothing), None, "{nothing:?}");
            let comment = Comment::parse(&Bytes::from_static(nothing.as_bytes()));
            assert_eq!(comment, Ok(Comment::default()), "{nothing:?}");
        }
        assert_eq!(refusal::<Comment>("[]"), Some((422, String::new())));
        assert_eq!(refusal::<Comment>(r#"{"comment":1}"#), Some((422, "/comment".to_owned())));
    }

    #[test]
    fn a_body_nested_without_end_is_refused_and_not_followed() {
        let deep = Bytes::from("[".repeat(LIMIT));
        assert_eq!(CreateRun::parse(&deep).unwrap_err().status(), 400);
    }

    #[test]
    fn both_json_types_are_read_and_others_refused() {
        let check = |given: &str| {
            check_media_type(&HeaderMap::from_iter([(header::CONTENT_TYPE, given.parse().unwrap())]))
        };
        for given in ["application/vnd.api+json", "application/json; charset=utf-8", "Application/JSON"] {
            assert!(check(given).is_ok(), "{given}");
        }
        assert_eq!(check("text/plain").unwrap_err().status(), 415);
        assert!(check_media_type(&HeaderMap::new()).is_ok());
    }
}
