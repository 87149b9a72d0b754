//! What of the network a policy set reaches: its remote sources when it is loaded, and the hosts that the
//! configuration allows for the `http` import. Nothing goes through a proxy that the set does not name.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::io;
use std::time::{Duration, Instant};

use ::sentinel::{Host, HttpRequest, HttpResponse, SystemHost};
use reqwest::header::{HeaderMap, HeaderName};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, ClientBuilder, Method, Proxy};
use url::Url;

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 10;
/// A longer answer is no data for a policy.
const MAX_ANSWER: usize = 16 << 20;
/// A longer remote source is not a policy.
const MAX_SOURCE: usize = 4 << 20;
/// For a remote source as a whole.
const SOURCE_TIMEOUT: Duration = Duration::from_secs(30);
/// Before the second attempt; doubled before each further one, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The world of one evaluation: the system's clock, and the hosts that its policy may reach.
pub struct PolicyHost<'h> {
    hosts: &'h [String],
    deadline: Instant,
    /// How long it waits after so many attempts that failed.
    wait: fn(u64) -> Duration,
}

impl<'h> PolicyHost<'h> {
    /// For an evaluation that begins now and may last so long.
    pub fn new(hosts: &'h [String], time: Duration) -> Self {
        let now = Instant::now();
        Self { hosts, deadline: now.checked_add(time).unwrap_or(now), wait }
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
                tokio::time::sleep((self.wait)(attempt + 1).min(self.left())).await;
            }
            Err("there was no attempt".to_owned())
        })
    }
}

/// How long to wait after so many attempts that failed.
fn wait(failed: u64) -> Duration {
    let doubled = u32::try_from(failed.saturating_sub(1)).ok().and_then(|times| 2u32.checked_pow(times));
    doubled.map_or(LONGEST_WAIT, |factor| FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT))
}

/// Whether the same request may do better later.
fn is_temporary(status: u16) -> bool {
    (500..600).contains(&status) && status != 501
}

/// The URL, if its host is one of those that the set may reach. A host is a name, which stands for the scheme's own
/// port, or a name with a port.
fn allowed(url: &str, hosts: &[String]) -> Result<Url, String> {
    let url = Url::parse(url).map_err(|error| format!("this is not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!("the scheme {} is not http or https", url.scheme()));
    }
    if may_reach(&url, hosts) {
        return Ok(url);
    }
    let host = authority(&url);
    Err(match hosts {
        [] => {
            format!("http is off for this policy set; allow it in the configuration: http_hosts = [{host:?}]")
        }
        _ => format!("{host} is none of the policy set's http_hosts"),
    })
}

/// The host, with the port if it is not the scheme's own.
fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
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
            let host = authority(attempt.url());
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
        .map_err(|_| Failure::Final(format!("{:?} is not a method", request.method)))?;
    let mut sent = client.request(method, url).timeout(time);
    for (name, value) in &request.headers {
        sent = sent.header(name, value);
    }
    if let Some(body) = &request.body {
        sent = sent.body(body.clone());
    }
    let answer = sent.send().await?;
    let status = answer.status().as_u16();
    let headers = joined(answer.headers());
    Ok(HttpResponse { status, headers, body: body(answer, MAX_ANSWER).await? })
}

/// Headers by name; the values of one that is repeated are one list, as HTTP has it.
fn joined(headers: &HeaderMap) -> BTreeMap<String, String> {
    let values = |name: &HeaderName| {
        let values = headers.get_all(name).iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect::<Vec<_>>().join(", ")
    };
    headers.keys().map(|name| (name.as_str().to_owned(), values(name))).collect()
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "these are tests")]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// The page of the import has the wait start at a second, grow with each attempt and end at 30 seconds.
    #[test]
    fn the_wait_before_an_attempt_is_doubled_up_to_half_a_minute() {
        let waits = [1, 2, 3, 4, 5, 6, 7, 10, u64::MAX].map(|failed| wait(failed).as_secs());
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30, 30]);
    }

    fn request(url: String, retries: u64) -> HttpRequest {
        HttpRequest {
            method: "GET".into(),
            url,
            headers: BTreeMap::new(),
            body: None,
            timeout: 10,
            retries,
            verify_certificate: true,
            proxy: None,
        }
    }

    /// The status of the last answer to a request that may be repeated so often, and how many were given.
    fn statuses(answers: &'static [&'static str], retries: u64) -> (u16, usize) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let url = format!("http://{host}/");
        let hosts = [host];
        let served = std::thread::spawn(move || {
            for (at, status) in answers.iter().enumerate() {
                let (mut stream, _) = listener.accept().unwrap();
                if stream.read(&mut [0; 4096]).unwrap() == 0 {
                    return at;
                }
                write!(stream, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
                    .unwrap();
            }
            answers.len()
        });
        let mut host = PolicyHost::new(&hosts, Duration::from_secs(60));
        host.wait = |_| Duration::ZERO;
        let status = host.http(&request(url.clone(), retries)).unwrap().status;
        // one that waits for a further request is told that there is none
        let _ = std::net::TcpStream::connect(url.trim_start_matches("http://").trim_end_matches('/'));
        (status, served.join().unwrap())
    }

    #[test]
    fn a_status_that_may_pass_is_asked_for_again() {
        assert_eq!(statuses(&["503 Busy", "500 No", "200 OK", "200 OK"], 3), (200, 3));
        assert_eq!(statuses(&["503 Busy", "503 Busy", "200 OK"], 1), (503, 2));
        assert_eq!(statuses(&["404 No", "200 OK"], 3), (404, 1));
    }

    #[test]
    fn the_end_of_the_policys_time_is_the_end_of_the_attempts() {
        let hosts = ["127.0.0.1:9".to_owned()];
        let host = PolicyHost::new(&hosts, Duration::ZERO);
        let why = host.http(&request("http://127.0.0.1:9/".into(), 3)).unwrap_err();
        assert_eq!(why, "the policy's time is over");
    }

    #[test]
    fn a_header_that_is_repeated_is_one_list() {
        let mut headers = HeaderMap::new();
        headers.append("x-a", "1".parse().unwrap());
        headers.append("x-a", "2".parse().unwrap());
        assert_eq!(joined(&headers), BTreeMap::from([("x-a".to_owned(), "1, 2".to_owned())]));
    }
}
