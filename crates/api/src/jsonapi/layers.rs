//! What every answer goes through: headers, a span without secrets, and a panic that
//! tells nothing.

use std::any::Any;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::classify::ServerErrorsFailureClass;
use tower_http::trace::TraceLayer;
use tracing::Span;

use super::ApiError;

/// On every answer, since clients take it from any. The version of the server belongs to
/// the name "Terraform Enterprise": without it clients fail to read a number.
const HEADERS: [(HeaderName, HeaderValue); 3] = [
    (HeaderName::from_static("tfp-api-version"), HeaderValue::from_static("2.6")),
    (HeaderName::from_static("tfp-appname"), HeaderValue::from_static("Terraform Enterprise")),
    (HeaderName::from_static("x-tfe-version"), HeaderValue::from_static("v202507-1")),
];

/// The router with all of it.
pub(crate) fn layered(router: Router) -> Router {
    let trace = TraceLayer::new_for_http()
        .make_span_with(|request: &Request| {
            // the pattern and not the address: that may carry the secret of a log
            let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
            tracing::info_span!("http", method = %request.method(), route)
        })
        .on_request(())
        .on_response(|response: &Response, latency: std::time::Duration, _: &Span| {
            let (status, ms) = (response.status().as_u16(), latency.as_secs_f64() * 1000.0);
            tracing::debug!(status, ms, "answered");
        })
        .on_failure(|failure: ServerErrorsFailureClass, _: std::time::Duration, _: &Span| {
            tracing::warn!(%failure, "a request failed");
        });
    router
        .layer(CatchPanicLayer::custom(|panic: Box<dyn Any + Send>| {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
            tracing::error!(panic = words, "a request handler panicked");
            ApiError::internal().into_response()
        }))
        .layer(trace)
        .layer(map_response(async |mut response: Response| {
            for (name, value) in HEADERS {
                response.headers_mut().insert(name, value);
            }
            response
        }))
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_500_without_its_words() {
        async fn broken() -> &'static str {
            assert_eq!(std::hint::black_box("hunter2"), "", "the secret is");
            ""
        }
        let router = layered(Router::new().route("/broken", get(broken)));
        let response = router.oneshot(Request::get("/broken").body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(response.status(), 500);
        assert!(response.headers().contains_key("tfp-api-version"));
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body = String::from_utf8_lossy(&body);
        assert!(body.contains("\"500\"") && !body.contains("hunter2"), "{body}");
    }
}
