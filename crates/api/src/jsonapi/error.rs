//! Refusals as error documents (docs/api.md, "Errors"). A body says what is wrong and where, never how the
//! daemon works inside.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::Refusal;
use wire::{ErrorEntry, ErrorSource, Errors, Misfit};

use super::MEDIA_TYPE;

/// The result of an endpoint.
pub(crate) type Result<T, E = ApiError> = std::result::Result<T, E>;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    detail: String,
    source: Option<ErrorSource>,
}

impl Fault {
    /// At a place in the body, as a JSON pointer.
    pub(crate) fn at(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), source: Some(ErrorSource::Pointer(pointer.into())) }
    }
}

/// Why a request was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiError {
    status: StatusCode,
    faults: Vec<Fault>,
}

impl ApiError {
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self { status, faults: vec![Fault { detail: detail.into(), source: None }] }
    }

    /// 400: the request can't be understood.
    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// 400: a query parameter can't be understood.
    pub(crate) fn bad_parameter(parameter: &str, detail: impl Into<String>) -> Self {
        let source = Some(ErrorSource::Parameter(parameter.to_owned()));
        Self { status: StatusCode::BAD_REQUEST, faults: vec![Fault { detail: detail.into(), source }] }
    }

    /// 401: no token, or one that is nobody's. For nothing else.
    pub(crate) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "a valid token is needed: Authorization: Bearer TOKEN")
    }

    /// 404: it is not there, or they may not see it. Which of these is not told. `what`: as it was asked for.
    pub(crate) fn not_found(what: impl std::fmt::Display) -> Self {
        Refusal::not_found(what).into()
    }

    /// 404: an address that carried its own permission, which is over.
    pub(crate) fn expired() -> Self {
        let detail = "this address has expired: read the plan or the apply again, which gives a new one";
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// The same, of an address for an upload.
    pub(crate) fn upload_expired() -> Self {
        let detail = "this address has expired: announce the state again, which gives a new one";
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// 404: no such endpoint.
    pub(crate) fn no_such_endpoint() -> Self {
        Self::new(StatusCode::NOT_FOUND, "there is nothing at this address")
    }

    /// 405.
    pub(crate) fn method_not_allowed() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "this method is not possible at this address")
    }

    /// 409: not now.
    pub(crate) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// 413.
    pub(crate) fn too_large(limit: u64) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {limit} bytes"))
    }

    /// 408.
    pub(crate) fn too_slow(limit: std::time::Duration) -> Self {
        let detail = format!("the body did not come within {} seconds", limit.as_secs());
        Self::new(StatusCode::REQUEST_TIMEOUT, detail)
    }

    /// 503: too much is asked for at once.
    pub(crate) fn busy() -> Self {
        Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the daemon has too many large requests at once: try again in a while",
        )
    }

    /// 415.
    pub(crate) fn media_type(given: &str) -> Self {
        let detail =
            format!("the body has the type {given:?}: application/vnd.api+json or application/json is read");
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail)
    }

    /// 422: understood, and not right.
    pub(crate) fn invalid(faults: Vec<Fault>) -> Self {
        Self { status: StatusCode::UNPROCESSABLE_ENTITY, faults }
    }

    /// 422: what the daemon does not do.
    pub(crate) fn not_supported(what: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, what)
    }

    /// 503: whoever asked can't know it, and somebody has to be told.
    fn no_space(error: &impl std::fmt::Display) -> Self {
        tracing::error!(%error, "the data directory has no space left");
        let detail =
            "the daemon's data directory has no space left: nothing was changed; free some space there";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }

    /// 500, for what is in the daemon's own log alone.
    pub(crate) fn internal() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "the daemon failed to do this; its log says why")
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    #[cfg(test)]
    pub(crate) fn pointers(&self) -> Vec<&str> {
        let pointer = |fault: &Fault| match fault.source.as_ref()? {
            ErrorSource::Pointer(place) | ErrorSource::Parameter(place) => Some(place.clone()),
        };
        self.faults.iter().filter_map(pointer).map(|place| &*Box::leak(place.into_boxed_str())).collect()
    }
}

impl From<Misfit> for ApiError {
    fn from(Misfit { pointer, detail }: Misfit) -> Self {
        Self::invalid(vec![Fault::at(pointer, detail)])
    }
}

impl From<store::Error> for ApiError {
    fn from(error: store::Error) -> Self {
        use store::DatabaseFailure::{Busy, Full};
        match error {
            store::Error::NotFound(what) => Self::not_found(what),
            store::Error::Database { kind: Full, .. } => Self::no_space(&error),
            store::Error::Database { kind: Busy, .. } => {
                tracing::error!(%error, "the store refuses work");
                let detail = "another process holds the daemon's database, a backup for instance: try again";
                Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
            }
            store::Error::Damaged { ref id, .. } => {
                tracing::error!(%error, "a record can't be read");
                let detail = format!(
                    "the record of {id} can't be read, and the daemon's log says why. A release that wrote it may read it; \
                     force-cancel gives up what can't be read of a run, and ends it"
                );
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
            }
            error => {
                tracing::error!(%error, "the store failed");
                Self::internal()
            }
        }
    }
}

impl From<store::ReadStateError> for ApiError {
    fn from(error: store::ReadStateError) -> Self {
        match error {
            store::ReadStateError::Store(error) => error.into(),
            store::ReadStateError::Invalid(invalid) => {
                tracing::error!(error = %invalid, "a state that is kept can't be read");
                Self::internal()
            }
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            // the dialect knows no other status for what one may see and not do
            Refusal::NotFound { .. } | Refusal::NotAuthorized { .. } => {
                Self::new(StatusCode::NOT_FOUND, refusal.to_string())
            }
            Refusal::Illegal(illegal) => Self::conflict(illegal.to_string()),
            Refusal::Conflict(reason) => Self::conflict(reason),
            Refusal::Invalid { pointer: "", detail } => Self::invalid(vec![Fault { detail, source: None }]),
            Refusal::Invalid { pointer, detail } => Self::invalid(vec![Fault::at(pointer, detail)]),
            Refusal::Failed(error) => error.into(),
        }
    }
}

impl From<std::io::Error> for ApiError {
    fn from(error: std::io::Error) -> Self {
        if matches!(error.kind(), std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded) {
            return Self::no_space(&error);
        }
        tracing::error!(%error, "a file could not be read");
        Self::internal()
    }
}

fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "bad request",
        StatusCode::UNAUTHORIZED => "unauthorized",
        StatusCode::NOT_FOUND => "not found",
        StatusCode::METHOD_NOT_ALLOWED => "method not allowed",
        StatusCode::REQUEST_TIMEOUT => "request timeout",
        StatusCode::CONFLICT => "conflict",
        StatusCode::PAYLOAD_TOO_LARGE => "payload too large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported media type",
        StatusCode::UNPROCESSABLE_ENTITY => "invalid",
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        _ => "internal error",
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status;
        let entry = |Fault { detail, source }| ErrorEntry {
            status: status.as_str().to_owned(),
            title: title(status).to_owned(),
            detail,
            source,
        };
        let body = Errors { errors: self.faults.into_iter().map(entry).collect() };
        let mut response = (status, [(header::CONTENT_TYPE, MEDIA_TYPE)], Json(body)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lifecycle::{Event, Illegal, State};

    #[test]
    fn each_refusal_has_its_status() {
        let illegal = Illegal { state: State::Applied, event: Event::Confirm };
        let full = |kind| store::Error::Database { kind, reason: "disk I/O error at 0x1".into() };
        let table = [
            (ApiError::from(Refusal::NotFound { what: "run run-1".into() }), 404),
            (
                Refusal::NotAuthorized { workspace: "dns".into(), needs: lifecycle::WorkspaceRights::OWNER }
                    .into(),
                404,
            ),
            (Refusal::Illegal(illegal).into(), 409),
            (Refusal::Conflict("locked".into()).into(), 409),
            (Refusal::Invalid { pointer: "/data", detail: "no".into() }.into(), 422),
            (Refusal::Failed(store::Error::Closed).into(), 500),
            (full(store::DatabaseFailure::Full).into(), 503),
            (full(store::DatabaseFailure::Busy).into(), 503),
            (full(store::DatabaseFailure::Corrupt).into(), 500),
            (store::Error::NotFound("run run-1".into()).into(), 404),
            (std::io::Error::other("/var/lib/secret").into(), 500),
            (std::io::Error::from(std::io::ErrorKind::StorageFull).into(), 503),
            (ApiError::unauthorized(), 401),
            (ApiError::bad_request("no"), 400),
            (ApiError::too_large(1), 413),
        ];
        for (error, status) in table {
            assert_eq!(error.status().as_u16(), status, "{error:?}");
        }
    }

    #[test]
    fn a_full_disk_is_told_in_words_that_somebody_can_act_on() {
        let database = store::Error::Database { kind: store::DatabaseFailure::Full, reason: "13".into() };
        let file = std::io::Error::from(std::io::ErrorKind::StorageFull);
        for error in [ApiError::from(database), file.into()] {
            let told = format!("{error:?}");
            assert!(told.contains("no space left") && told.contains("nothing was changed"), "{told}");
        }
    }

    #[test]
    fn what_failed_inside_is_not_told() {
        for error in [ApiError::from(std::io::Error::other("/var/lib/secret")), store::Error::Closed.into()] {
            let told = format!("{error:?}");
            assert!(!told.contains("secret") && !told.contains("closed"), "{told}");
        }
    }
}
