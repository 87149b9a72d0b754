//! Bodies: JSON, of either media type, up to a limit. What is no JSON is 400, what has the wrong type
//! 422 with its place.

use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{ApiError, Result};

/// The largest body that is read.
pub(crate) const LIMIT: usize = 1024 * 1024;

/// The largest body that is read where it has a state in it, in base64: a state of 48 MiB.
const STATE_LIMIT: usize = 64 * 1024 * 1024;

/// A body that has to be a JSON object. Attributes that `T` does not know are ignored.
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        required(&read(request, state).await?).map(Self)
    }
}

fn required<T: DeserializeOwned>(bytes: &Bytes) -> Result<T> {
    match parse(bytes)? {
        None => Err(ApiError::bad_request("the body is empty: a JSON:API document belongs there")),
        Some(value) => typed(&value),
    }
}

/// The comment in the body of an action: `{"comment": "…"}`, `{}`, `null` or nothing.
pub(crate) struct Comment(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequest<S> for Comment {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let body: wire::Comment = optional(&read(request, state).await?)?;
        Ok(Self(body.comment.filter(|comment| !comment.trim().is_empty())))
    }
}

/// The reason in the body of a lock, or nothing.
pub(crate) struct Reason(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for Reason {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        let body: wire::LockReason = optional(&read(request, state).await?)?;
        Ok(Self(body.text()))
    }
}

/// A [`Json`] of up to [`STATE_LIMIT`] bytes.
pub(crate) struct StateJson<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for StateJson<T> {
    type Rejection = ApiError;

    async fn from_request(mut request: Request, state: &S) -> Result<Self> {
        DefaultBodyLimit::max(STATE_LIMIT).apply(&mut request);
        required(&read_up_to(STATE_LIMIT, request, state).await?).map(Self)
    }
}

async fn read<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes> {
    read_up_to(LIMIT, request, state).await
}

/// The limit is that of the layers, or of whoever changed it for this request.
async fn read_up_to<S: Send + Sync>(limit: usize, request: Request, state: &S) -> Result<Bytes> {
    let headers = request.headers().clone();
    let bytes = Bytes::from_request(request, state).await.map_err(|rejection| {
        match rejection.into_response().status() {
            StatusCode::PAYLOAD_TOO_LARGE => ApiError::too_large(limit),
            _ => ApiError::bad_request("the body could not be read to its end"),
        }
    })?;
    if !bytes.is_empty() {
        check_media_type(&headers)?;
    }
    Ok(bytes)
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
fn parse(bytes: &Bytes) -> Result<Option<Value>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes)
        .map(Some)
        .map_err(|error| ApiError::bad_request(format!("the body is no JSON: {error}")))
}

fn optional<T: DeserializeOwned + Default>(bytes: &Bytes) -> Result<T> {
    match parse(bytes)? {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => typed(&value),
    }
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T> {
    Ok(wire::read(value)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &'static str) -> Option<(u16, String)> {
        let read = required::<wire::LockReason>(&Bytes::from_static(body.as_bytes()));
        let error = read.err()?;
        Some((error.status().as_u16(), error.pointers().first().copied().unwrap_or("-").to_owned()))
    }

    #[test]
    fn a_body_of_the_wrong_shape_is_refused_with_its_place() {
        let table = [
            (r#"{"reason":"a","unknown":{"x":1}}"#, None),
            (r#"{"data":null}"#, None),
            (r#"{"data":{"attributes":{"reason":["a"]}}}"#, Some((422, "/data/attributes/reason"))),
            ("[]", Some((422, ""))),
            ("3", Some((422, ""))),
            ("null", Some((422, ""))),
            (r#"{"data""#, Some((400, "-"))),
            ("hello", Some((400, "-"))),
            (" ", Some((400, "-"))),
        ];
        for (body, expected) in table {
            assert_eq!(refusal(body), expected.map(|(status, at)| (status, at.to_owned())), "{body}");
        }
    }

    #[test]
    fn where_a_body_may_be_missing_nothing_is_as_good_as_an_empty_one() {
        for nothing in ["", "{}", "null", " \n"] {
            let read = optional::<wire::Comment>(&Bytes::from_static(nothing.as_bytes()));
            assert_eq!(read, Ok(wire::Comment::default()), "{nothing:?}");
        }
        assert_eq!(optional::<wire::Comment>(&Bytes::from_static(b"[]")).unwrap_err().status(), 422);
    }

    #[test]
    fn a_body_nested_without_end_is_refused_and_not_followed() {
        let deep = Bytes::from("[".repeat(LIMIT));
        assert_eq!(parse(&deep).unwrap_err().status(), 400);
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
