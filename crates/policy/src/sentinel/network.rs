//! What of the network a policy set reaches: its remote sources when it is loaded, and the hosts that the
//! configuration allows for the `http` import. Nothing goes through a proxy that the set does not name.

use std::error::Error as _;
use std::io;
use std::time::{Duration, Instant};

use ::sentinel::{Host, HttpRequest, HttpResponse, SystemHost};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Method, Proxy};
use url::Url;

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// A longer answer is no data for a policy.
const MAX_ANSWER: usize = 16 << 20;
/// A longer remote source is no policy.
const MAX_SOURCE: usize = 4 << 20;
/// For a remote source as a whole.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Before the second attempt; doubled before each further one.
const FIRST_WAIT: Duration = Duration::from_millis(250);

/// The world of one evaluation: the system's clock, and the hosts that its policy may reach.
pub struct PolicyHost<'h> {
    hosts: &'h [String],
    deadline: Instant,
}

impl<'h> PolicyHost<'h> {
    /// For an evaluation that begins now and may last so long.
    pub fn new(hosts: &'h [String], time: Duration) -> Self {
        let now = Instant::now();
        Self { hosts, deadline: now.checked_add(time).unwrap_or(now) }
    }

    fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}

impl Host for PolicyHost<'_> {
    fn now(&self) -> i128 {
        SystemHost.now()
    }

    fn http(&self, request: &HttpRequest) -> Result<HttpResponse, String> {
        let url = allowed(&request.url, self.hosts)?;
        if let Some(proxy) = &request.proxy {
            allowed(proxy, self.hosts)?;
        }
        on_its_own(|| async {
            let client = client(request, self.hosts)?;
            let mut wait = FIRST_WAIT;
            for attempt in 0.. {
                let time = Duration::from_secs(request.timeout).min(self.left());
                if time.is_zero() {
                    return Err("the policy's time is over".to_owned());
                }
                let last = attempt >= request.retries;
                match send(&client, request, url.clone(), time).await {
                    Ok(answer) if last || !is_temporary(answer.status) => return Ok(answer),
                    Err(Failure::Final(why)) => return Err(why),
                    Err(Failure::Timeout(why)) if last => return Err(why),
                    Ok(_) | Err(Failure::Timeout(_)) => {}
                }
                tokio::time::sleep(wait.min(self.left())).await;
                wait *= 2;
            }
            Err("there was no attempt".to_owned())
        })
    }
}

/// Whether the same request may do better later.
fn is_temporary(status: u16) -> bool {
    (500..600).contains(&status) && status != 501
}

/// The URL, if its host is one of those that the set may reach. A host is a name, which stands for the scheme's own
/// port, or a name with a port.
fn allowed(url: &str, hosts: &[String]) -> Result<Url, String> {
    let url = Url::parse(url).map_err(|error| format!("this is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme {} is not http or https", url.scheme()));
    }
    if may_reach(&url, hosts) {
        return Ok(url);
    }
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Err(match hosts {
        [] => {
            format!("http is off for this policy set; allow it in the configuration: http_hosts = [{host:?}]")
        }
        _ => format!("{host} is none of the policy set's http_hosts"),
    })
}

fn may_reach(url: &Url, hosts: &[String]) -> bool {
    let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else { return false };
    let with_port = format!("{host}:{port}");
    hosts.iter().any(|allowed| {
        allowed.eq_ignore_ascii_case(&with_port) || url.port().is_none() && allowed.eq_ignore_ascii_case(host)
    })
}

fn builder() -> ClientBuilder {
    // fails if another part of the process has chosen one already, which is as good
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().user_agent(concat!("signalbox/", env!("CARGO_PKG_VERSION")))
}

fn client(request: &HttpRequest, hosts: &[String]) -> Result<Client, String> {
    let hosts = hosts.to_vec();
    let mut builder =
        builder().redirect(redirects(move |url| may_reach(url, &hosts), "a host that is not allowed"));
    if !request.verify_certificate {
        builder = builder.tls_danger_accept_invalid_certs(true);
    }
    if let Some(proxy) = &request.proxy {
        builder = builder.proxy(Proxy::all(proxy).map_err(|error| words(&error))?);
    }
    builder.build().map_err(|error| words(&error))
}

/// Follows redirects, but never to where the set may not go.
fn redirects(allowed: impl Fn(&Url) -> bool + Send + Sync + 'static, otherwise: &'static str) -> Policy {
    Policy::custom(move |attempt: Attempt<'_>| {
        if attempt.previous().len() > MAX_REDIRECTS {
            return attempt.error(io::Error::other(format!("more than {MAX_REDIRECTS} redirects")));
        }
        if !allowed(attempt.url()) {
            let host = attempt.url().host_str().unwrap_or_default().to_owned();
            return attempt.error(io::Error::other(format!("a redirect leads to {otherwise}: {host}")));
        }
        attempt.follow()
    })
}

enum Failure {
    Timeout(String),
    Final(String),
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        match error.is_timeout() {
            true => Self::Timeout("there was no answer in time".to_owned()),
            false => Self::Final(words(&error)),
        }
    }
}

async fn send(
    client: &Client,
    request: &HttpRequest,
    url: Url,
    time: Duration,
) -> Result<HttpResponse, Failure> {
    let method = Method::from_bytes(request.method.as_bytes())
        .map_err(|_| Failure::Final(format!("{:?} is no method", request.method)))?;
    let mut sent = client.request(method, url).timeout(time);
    for (name, value) in &request.headers {
        sent = sent.header(name, value);
    }
    if let Some(body) = &request.body {
        sent = sent.body(body.clone());
    }
    let answer = sent.send().await?;
    let status = answer.status().as_u16();
    let header = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let headers = answer.headers().iter().map(header).collect();
    Ok(HttpResponse { status, headers, body: body(answer, MAX_ANSWER).await? })
}

async fn body(mut answer: reqwest::Response, most: usize) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        if body.len() + chunk.len() > most {
            return Err(Failure::Final(format!("the answer is longer than {most} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Fetches a remote source. Who calls it has seen that it is an https URL, and checks the sum of what comes.
///
/// # Errors
/// In words: nobody there, a redirect to something else than https, an answer that is none or too long.
pub fn fetch_source(url: &str) -> Result<Vec<u8>, String> {
    let is_https = |url: &Url| url.scheme() == "https";
    get(url, builder().redirect(redirects(is_https, "a URL that is not https")))
}

fn get(url: &str, builder: ClientBuilder) -> Result<Vec<u8>, String> {
    on_its_own(|| async {
        let client = builder.timeout(SOURCE_TIMEOUT).build().map_err(|error| words(&error))?;
        let answer = client.get(url).send().await.and_then(reqwest::Response::error_for_status);
        let answer = answer.map_err(|error| words(&error))?;
        body(answer, MAX_SOURCE).await.map_err(|failure| match failure {
            Failure::Timeout(why) | Failure::Final(why) => why,
        })
    })
}

/// Runs what waits for the network to its end, in a thread of its own: the caller's may belong to a runtime already.
fn on_its_own<T, F>(work: impl FnOnce() -> F + Send) -> Result<T, String>
where
    T: Send,
    F: Future<Output = Result<T, String>>,
{
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(|error| error.to_string())?.block_on(work())
    };
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| Err("the request panicked".to_owned()))
}

/// What the innermost cause says; the URL is told by who asked.
fn words(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}
