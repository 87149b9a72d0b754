//! Bodies: JSON, of either media type, up to a limit. What is not JSON is 400, what has the wrong type 422 with its
//! place.

use std::io::{self, BufReader};
use std::time::Duration;

use axum::extract::Request;
use axum::http::{HeaderMap, header};
use schemars::SchemaGenerator;
use serde::de::DeserializeOwned;
use serde_json::Value;
use store::Blob;
use wire::{CreateRun, NewStateVersion};

use super::answer::SchemaOf;
use crate::ApiState;
use crate::jsonapi::{ApiError, Result};
use crate::spool::{self, Limits};

/// The largest body of JSON that is read.
const LIMIT: u64 = 1024 * 1024;

/// The largest body that is read where it has a state in it, in base64: a state of 48 MiB. Larger ones are uploaded.
const STATE_LIMIT: u64 = 64 * 1024 * 1024;

/// A body of JSON that does not need a share of the [`budget`](crate::budget).
const SMALL: u64 = 16 * 1024;

/// How long a body of JSON may take.
const TIME: Duration = Duration::from_secs(60);

/// How a body is described.
pub struct BodyInfo {
    /// Whether it may be left out.
    pub required: bool,
    /// Of its JSON; none for bytes of any kind.
    pub schema: Option<SchemaOf>,
}

/// What a request carries.
pub(crate) trait Body: Sized + Send + 'static {
    /// `None` for a body that is not read.
    fn info() -> Option<BodyInfo>;

    fn read(api: &ApiState, request: Request) -> impl Future<Output = Result<Self>> + Send;
}

/// A body that is not read: whatever is sent does no harm.
impl Body for () {
    fn info() -> Option<BodyInfo> {
        None
    }

    async fn read(_: &ApiState, _: Request) -> Result<Self> {
        Ok(())
    }
}

/// Bytes of any kind and number, which the handler takes as they come.
pub(crate) struct Upload(pub(crate) axum::body::Body);

impl Body for Upload {
    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: true, schema: None })
    }

    async fn read(_: &ApiState, request: Request) -> Result<Self> {
        Ok(Self(request.into_body()))
    }
}

/// JSON, of either media type.
pub(crate) trait JsonBody: Sized + Send + 'static {
    fn info() -> BodyInfo;

    fn parse(bytes: &[u8]) -> Result<Self>;
}

impl<B: JsonBody> Body for B {
    fn info() -> Option<BodyInfo> {
        Some(B::info())
    }

    async fn read(api: &ApiState, request: Request) -> Result<Self> {
        let (head, body) = request.into_parts();
        let announced = head.headers.get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        // before the first byte is read, so that nobody has half a body in memory and waits for more
        let share = match announced {
            Some(length) if length <= SMALL => None,
            length => Some(api.budget().take(length.unwrap_or(LIMIT).min(LIMIT)).await?),
        };
        let limits = Limits { size: LIMIT, time: TIME };
        let bytes = spool::receive(&head.headers, body, limits, Vec::new()).await?;
        if !bytes.is_empty() {
            check_media_type(&head.headers)?;
        }
        let parsed = B::parse(&bytes);
        drop(share);
        parsed
    }
}

impl JsonBody for CreateRun {
    fn info() -> BodyInfo {
        BodyInfo { required: true, schema: Some(SchemaGenerator::subschema_for::<Self>) }
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        Ok(Self::read(&required(bytes)?)?)
    }
}

/// A state may come along, in which case the body is large: it lies in a file until there is memory for it.
impl Body for wire::Body<NewStateVersion> {
    fn info() -> Option<BodyInfo> {
        Some(BodyInfo { required: true, schema: Some(SchemaGenerator::subschema_for::<Self>) })
    }

    async fn read(api: &ApiState, request: Request) -> Result<Self> {
        let (head, body) = request.into_parts();
        let limits = Limits { size: STATE_LIMIT, time: api.engine().config().server.upload_time_limit };
        let scratch = api.store().blobs().scratch();
        let scratch = spool::receive(&head.headers, body, limits, scratch).await?;
        check_media_type(&head.headers)?;
        let blob = tokio::task::spawn_blocking(|| scratch.finish()).await.map_err(io::Error::other)??;
        // the text as it is read, and the same text as it is kept
        let share = api.budget().take(2 * blob.len()).await?;
        let (value, state) =
            tokio::task::spawn_blocking(move || state_apart(&blob)).await.map_err(io::Error::other)??;
        share.keep(state.as_ref().map_or(0, |state| state.len() as u64));
        let mut body: Self = wire::read(&value)?;
        body.data.attributes.state = state;
        Ok(body)
    }
}

/// The document, and the state that it holds, if it is a text. What clients send besides is in the state as well.
fn state_apart(body: &Blob) -> Result<(Value, Option<String>)> {
    let reader = BufReader::with_capacity(64 * 1024, body.reader());
    let mut value: Value = match serde_json::from_reader(reader) {
        Ok(value) => value,
        Err(error) if error.is_io() => return Err(io::Error::from(error).into()),
        Err(_) if body.is_empty() => return Err(empty()),
        Err(error) => return Err(not_json(&error)),
    };
    let Some(attributes) = value.pointer_mut("/data/attributes").and_then(Value::as_object_mut) else {
        return Ok((value, None));
    };
    for copy in ["json-state", "json-state-outputs"] {
        attributes.remove(copy);
    }
    let state = match attributes.remove("state") {
        Some(Value::String(state)) => Some(state),
        Some(other) => {
            attributes.insert("state".to_owned(), other);
            None
        }
        None => None,
    };
    Ok((value, state))
}

/// `{"comment": "…"}`, `{}`, `null` or nothing.
impl JsonBody for wire::Comment {
    fn info() -> BodyInfo {
        BodyInfo { required: false, schema: Some(SchemaGenerator::subschema_for::<Self>) }
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let Self { comment } = optional(bytes)?;
        Ok(Self { comment: comment.filter(|comment| !comment.trim().is_empty()) })
    }
}

impl JsonBody for wire::LockReason {
    fn info() -> BodyInfo {
        BodyInfo { required: false, schema: Some(SchemaGenerator::subschema_for::<Self>) }
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        optional(bytes)
    }
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
fn json(bytes: &[u8]) -> Result<Option<Value>> {
    if bytes.trim_ascii().is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes).map(Some).map_err(|error| not_json(&error))
}

fn not_json(error: &serde_json::Error) -> ApiError {
    ApiError::bad_request(format!("the body is not JSON: {error}"))
}

fn empty() -> ApiError {
    ApiError::bad_request("the body is empty: a JSON:API document belongs there")
}

fn required(bytes: &[u8]) -> Result<Value> {
    json(bytes)?.ok_or_else(empty)
}

fn optional<T: DeserializeOwned + Default>(bytes: &[u8]) -> Result<T> {
    match json(bytes)? {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => Ok(wire::read(&value)?),
    }
}

#[cfg(test)]
mod tests {
    use wire::{Comment, LockReason};

    use super::*;

    fn refusal<B: JsonBody>(body: &'static str) -> Option<(u16, String)> {
        let error = B::parse(body.as_bytes()).err()?;
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
            let comment = Comment::parse(nothing.as_bytes());
            assert_eq!(comment, Ok(Comment::default()), "{nothing:?}");
        }
        assert_eq!(refusal::<Comment>("[]"), Some((422, String::new())));
        assert_eq!(refusal::<Comment>(r#"{"comment":1}"#), Some((422, "/comment".to_owned())));
    }

    #[test]
    fn a_body_nested_without_end_is_refused_and_not_followed() {
        let deep = "[".repeat(1024 * 1024);
        assert_eq!(CreateRun::parse(deep.as_bytes()).unwrap_err().status(), 400);
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
