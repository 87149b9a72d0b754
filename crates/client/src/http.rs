use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;
use wire::{Document, Identifier, Many, One};

use crate::document::{self, FromDocument};
use crate::error::{ClientError, innermost};
use crate::page::Page;

const MEDIA_TYPE: &str = "application/vnd.api+json";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// Of something that may be large.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(60 * 60);
/// How long a stream does without an answer before it gives up: longer than the restart of a daemon takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What a request asks for, as pairs of a query.
pub(crate) type Query<'a> = [(&'a str, String)];

/// A client of one daemon, for one user. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    authorization: HeaderValue,
    base: Url,
    pub(crate) patience: Duration,
    organization: Arc<OnceLock<String>>,
}

impl Client {
    /// A client of the daemon at `address`, such as `http://127.0.0.1:8080`. Nothing is asked yet.
    ///
    /// # Errors
    /// [`ClientError::BadAddress`], [`ClientError::BadToken`].
    pub fn new(address: &str, token: &str) -> Result<Self, ClientError> {
        let bad_address = |why: String| ClientError::BadAddress { address: address.to_owned(), why };
        let schemes = ["http://", "https://"];
        if !schemes.iter().any(|scheme| address.starts_with(scheme)) {
            return Err(bad_address(match address.split_once("://") {
                Some(_) => "it has to begin with http:// or https://".to_owned(),
                None => format!("it has to begin with http:// or https://, as http://{address}"),
            }));
        }
        let mut base = Url::parse(address).map_err(|error| bad_address(error.to_string()))?;
        if base.host_str().is_none() {
            return Err(bad_address("it has to name a host".to_owned()));
        }
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        base.set_query(None);
        base.set_fragment(None);

        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .ok()
            .filter(|_| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()))
            .ok_or(ClientError::BadToken)?;
        authorization.set_sensitive(true);

        // fails if another part of the process has chosen one already, which is as good
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("signalbox/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT);
        if is_loopback(&base) {
            // a proxy has another loopback, and would be shown the token
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| bad_address(innermost(&error)))?;
        Ok(Self { http, authorization, base, patience: PATIENCE, organization: Arc::default() })
    }

    /// How long a stream goes on trying without any answer. Five minutes, unless it is set.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The daemon's address.
    pub fn address(&self) -> &Url {
        &self.base
    }

    /// The name of the organization that the user belongs to; asked once.
    ///
    /// # Errors
    /// [`ClientError`].
    pub async fn organization(&self) -> Result<&str, ClientError> {
        if let Some(known) = self.organization.get() {
            return Ok(known);
        }
        let url = self.v2(["organizations"]);
        let all: Document<Vec<Identifier>> = self.json(self.request(Method::GET, &url), &url).await?;
        // its id is its name
        let first = all.data.into_iter().next().ok_or_else(|| unexpected(&url, "it has no organization"))?;
        Ok(self.organization.get_or_init(|| first.id))
    }

    /// An address below `/api/v2`. Each segment is escaped.
    pub(crate) fn v2<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        self.url(["api", "v2"].into_iter().chain(segments))
    }

    /// An address below `/api/signalbox/v1`.
    pub(crate) fn own<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        self.url(["api", "signalbox", "v1"].into_iter().chain(segments))
    }

    fn url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// The token goes to the daemon and to nobody else: addresses of logs may lead to another host.
    pub(crate) fn request(&self, method: Method, url: &Url) -> RequestBuilder {
        let request = self.http.request(method, url.clone()).header(ACCEPT, MEDIA_TYPE);
        if url.origin() == self.base.origin() {
            request.header(AUTHORIZATION, self.authorization.clone())
        } else {
            request
        }
    }

    fn posting(&self, url: &Url, body: &impl Serialize) -> RequestBuilder {
        self.request(Method::POST, url).header(CONTENT_TYPE, MEDIA_TYPE).json(body)
    }

    pub(crate) async fn get<T: FromDocument>(&self, url: Url, query: &Query<'_>) -> Result<T, ClientError> {
        self.one(self.request(Method::GET, &url).query(query), &url).await
    }

    pub(crate) async fn list<T: FromDocument>(
        &self,
        url: Url,
        query: &Query<'_>,
    ) -> Result<Page<T>, ClientError> {
        let Many { data, included, meta, .. }: Many<T::Attributes> =
            self.json(self.request(Method::GET, &url).query(query), &url).await?;
        let items = data.into_iter().map(|resource| T::from_document_of(resource, &included));
        let items = items.collect::<document::Result<_>>().map_err(|why| unexpected(&url, why))?;
        Ok(Page { items, pagination: meta.and_then(|meta| meta.pagination) })
    }

    /// Sends a body and reads the resource that comes back.
    pub(crate) async fn post<T: FromDocument>(
        &self,
        url: Url,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        self.one(self.posting(&url, body), &url).await
    }

    /// Sends a body; the answer has none.
    pub(crate) async fn act(&self, url: Url, body: &impl Serialize) -> Result<(), ClientError> {
        self.send(self.posting(&url, body).timeout(REQUEST_TIMEOUT), &url).await.map(drop)
    }

    /// The answer's bytes as they are. There may be many.
    pub(crate) async fn bytes(&self, url: Url, query: &Query<'_>) -> Result<Vec<u8>, ClientError> {
        let request = self.request(Method::GET, &url).query(query).timeout(TRANSFER_TIMEOUT);
        let response = self.send(request, &url).await?;
        response.bytes().await.map(Into::into).map_err(|error| self.unreachable(&error))
    }

    /// Sends a file to an address that carries its own permission.
    pub(crate) async fn put_file(
        &self,
        url: Url,
        file: tokio::fs::File,
        length: u64,
    ) -> Result<(), ClientError> {
        let request = self.http.put(url.clone()).header(CONTENT_TYPE, "application/octet-stream");
        let request = request.header(CONTENT_LENGTH, length).body(file).timeout(TRANSFER_TIMEOUT);
        self.send(request, &url).await.map(drop)
    }

    /// An address that the daemon gave.
    pub(crate) fn given(&self, address: &str, from: &Url) -> Result<Url, ClientError> {
        let url = Url::options().base_url(Some(&self.base)).parse(address);
        url.map_err(|error| unexpected(from, format_args!("the address {address:?}: {error}")))
    }

    async fn one<T: FromDocument>(&self, request: RequestBuilder, url: &Url) -> Result<T, ClientError> {
        let One { data, included, .. }: One<T::Attributes> = self.json(request, url).await?;
        T::from_document_of(data, &included).map_err(|why| unexpected(url, why))
    }

    async fn json<T: DeserializeOwned>(&self, request: RequestBuilder, url: &Url) -> Result<T, ClientError> {
        let body = self.whole(request, url).await?;
        serde_json::from_slice(&body).map_err(|error| unexpected(url, error))
    }

    async fn whole(&self, request: RequestBuilder, url: &Url) -> Result<Vec<u8>, ClientError> {
        let response = self.send(request.timeout(REQUEST_TIMEOUT), url).await?;
        response.bytes().await.map(Into::into).map_err(|error| self.unreachable(&error))
    }

    /// Sends the request; whatever is not a success is an error in the daemon's words.
    pub(crate) async fn send(&self, request: RequestBuilder, url: &Url) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = response.bytes().await.unwrap_or_default();
        let problems = document::problems(&body);
        Err(match status {
            StatusCode::UNAUTHORIZED => ClientError::Unauthorized { address: self.shown() },
            StatusCode::FORBIDDEN => ClientError::Forbidden(problems),
            // a daemon says in words what it did not find
            StatusCode::NOT_FOUND if problems.0.is_empty() => unexpected(url, "404 without a reason"),
            StatusCode::NOT_FOUND => ClientError::NotFound(problems),
            StatusCode::CONFLICT => ClientError::Conflict(problems),
            StatusCode::BAD_REQUEST
            | StatusCode::REQUEST_TIMEOUT
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => ClientError::Invalid(problems),
            StatusCode::TOO_MANY_REQUESTS => ClientError::Server { status: status.as_u16(), problems },
            _ if status.is_server_error() => ClientError::Server { status: status.as_u16(), problems },
            _ => unexpected(url, format_args!("its answer is {status}")),
        })
    }

    pub(crate) fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        let why = if error.is_timeout() { "no answer in time".to_owned() } else { innermost(error) };
        // what TLS makes of an answer in clear
        if self.base.scheme() == "https" && why.contains("InvalidContentType") {
            return self.lost("it does not speak TLS: write http:// instead of https://");
        }
        self.lost(why)
    }

    pub(crate) fn lost(&self, why: impl Into<String>) -> ClientError {
        ClientError::Unreachable { address: self.shown(), why: why.into() }
    }

    /// The address as a person would write it.
    fn shown(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }
}

/// Whether it is this machine that is meant.
fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

pub(crate) fn unexpected(url: &Url, why: impl std::fmt::Display) -> ClientError {
    ClientError::Unexpected { url: url.clone(), why: why.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_have_a_path_and_segments_are_escaped() {
        let client = Client::new("https://tools.example/signalbox?x=1#y", "t").unwrap();
        let url = client.v2(["runs", "../organizations", "plan"]);
        assert_eq!(url.as_str(), "https://tools.example/signalbox/api/v2/runs/..%2Forganizations/plan");
    }

    #[test]
    fn what_is_no_address_or_no_token_is_refused_in_words() {
        for address in ["127.0.0.1:8080", "localhost:8080", "ftp://host", "http://", "unix:/run/x"] {
            let error = Client::new(address, "t").unwrap_err();
            assert!(matches!(error, ClientError::BadAddress { .. }), "{address}: {error}");
        }
        for token in ["", "a b", "a\nb", "ä"] {
            assert!(matches!(Client::new("http://host", token), Err(ClientError::BadToken)), "{token:?}");
        }
    }

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for (address, loopback) in [
            ("http://127.0.0.1:8080", true),
            ("http://127.9.9.9", true),
            ("http://[::1]:8080", true),
            ("http://localhost", true),
            ("http://a.localhost", true),
            ("http://localhost.example", false),
            ("http://10.0.0.1", false),
            ("https://signalbox.example", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(address).unwrap()), loopback, "{address}");
        }
    }

    #[test]
    fn a_token_is_not_shown() {
        let client = Client::new("http://host", "top-secret").unwrap();
        assert!(!format!("{client:?}").contains("top-secret"));
    }
}
