//! Bodies: JSON, of either media type, up to a limit. What is no JSON is 400, what has the wrong type
//! 422 with its place.

use axum::extract::{DefaultBodyLimit, FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse as _;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::{ApiError, Fault, Result};

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
        Some(value) => typed(value),
    }
}

/// The body of an action: `{"comment": "…"}`, `{}`, `null` or nothing.
pub(crate) struct Comment(pub(crate) Option<String>);

impl<S: Send + Sync> FromRequest<S> for Comment {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        #[derive(Default, Deserialize)]
        struct Body {
            comment: Option<String>,
        }
        let body: Body = optional(&read(request, state).await?)?;
        Ok(Self(body.comment.filter(|comment| !comment.trim().is_empty())))
    }
}

/// The body of a lock: `{"reason": "…"}`, or a JSON:API document with that attribute, or nothing
/// (tfe-api.md 4.9).
pub(crate) struct Reason(pub(crate) String);

impl<S: Send + Sync> FromRequest<S> for Reason {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self> {
        Self::parse(&read(request, state).await?)
    }
}

impl Reason {
    fn parse(bytes: &Bytes) -> Result<Self> {
        #[derive(Default, Deserialize)]
        struct Body {
            reason: Option<String>,
            data: Option<Data>,
        }
        #[derive(Deserialize)]
        struct Data {
            attributes: Option<Attributes>,
        }
        #[derive(Deserialize)]
        struct Attributes {
            reason: Option<String>,
        }
        let Body { reason, data }: Body = optional(bytes)?;
        let of_document = || data?.attributes?.reason;
        Ok(Self(reason.or_else(of_document).unwrap_or_default()))
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
        Some(value) => typed(value),
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T> {
    // a struct could be read from an array too, field by field, which nobody means
    if !value.is_object() {
        return Err(ApiError::invalid(vec![Fault::at("", "a JSON object belongs here")]));
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let at = pointer(error.path());
        ApiError::invalid(vec![Fault::at(at, error.into_inner().to_string())])
    })
}

/// The place as a JSON pointer (RFC 6901).
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
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Document {
        #[expect(dead_code, reason = "only its type matters")]
        data: Option<Inner>,
    }
    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Inner {
        #[expect(dead_code, reason = "only its type matters")]
        target_addrs: Option<Vec<String>>,
    }

    fn refusal(body: &'static str) -> Option<(u16, String)> {
        let value = parse(&Bytes::from_static(body.as_bytes())).map(Option::unwrap);
        let error = value.and_then(typed::<Document>).err()?;
        Some((error.status().as_u16(), error.pointers().first().copied().unwrap_or("-").to_owned()))
    }

    #[test]
    fn a_body_of_the_wrong_shape_is_refused_with_its_place() {
        let table = [
            (r#"{"data":{"target-addrs":["a"],"unknown":{"x":1}},"more":2}"#, None),
            (r#"{"data":null}"#, None),
            (r#"{"data":{"target-addrs":null}}"#, None),
            (r#"{"data":{"target-addrs":"a"}}"#, Some((422, "/data/target-addrs"))),
            (r#"{"data":{"target-addrs":["a",1]}}"#, Some((422, "/data/target-addrs/1"))),
            ("[]", Some((422, ""))),
            ("3", Some((422, ""))),
            (r#"{"data""#, Some((400, "-"))),
            ("hello", Some((400, "-"))),
        ];
        for (body, expected) in table {
            assert_eq!(refusal(body), expected.map(|(status, at)| (status, at.to_owned())), "{body}");
        }
    }

    #[test]
    fn a_body_nested_without_end_is_refused_and_not_followed() {
        let deep = Bytes::from("[".repeat(LIMIT));
        assert_eq!(parse(&deep).unwrap_err().status(), 400);
    }

    #[test]
    fn a_lock_takes_its_reason_in_every_form_that_clients_send() {
        let reason = |body: &'static str| Reason::parse(&Bytes::from_static(body.as_bytes())).map(|r| r.0);
        assert_eq!(reason(r#"{"reason":"why"}"#).unwrap(), "why");
        let document = r#"{"data":{"type":"","attributes":{"reason":"Locked by Terraform"}}}"#;
        assert_eq!(reason(document).unwrap(), "Locked by Terraform");
        for nothing in ["", "{}", "null", r#"{"data":{}}"#, " \n"] {
            assert_eq!(reason(nothing).unwrap(), "", "{nothing:?}");
        }
        assert_eq!(reason(r#"{"reason":1}"#).unwrap_err().pointers(), ["/reason"]);
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
