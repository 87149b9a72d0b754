//! What the application gives to policies: a clock, HTTP if it wants to, and imports of its own.

use std::collections::BTreeMap;

use crate::value::Data;

/// The outside world. The crate does no input or output of its own.
pub trait Host: Send + Sync {
    /// The moment of the evaluation, in nanoseconds since 1970. Asked once for an evaluation.
    fn now(&self) -> i128;

    /// Sends an HTTP request for the `http` import. The default refuses: a policy is tenants' code,
    /// and reaches the network only when the application allows the host it names.
    ///
    /// Redirects (at most ten), retries and the timeout are the application's to do; the request says
    /// how many and how long.
    fn http(&self, request: &HttpRequest) -> Result<HttpResponse, String> {
        Err(format!("requests to {} are not allowed: http is off for this policy set", request.url))
    }
}

/// A request of the `http` import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Headers by name.
    pub headers: BTreeMap<String, String>,
    /// The body, if one is set.
    pub body: Option<String>,
    /// Seconds for one attempt, at most 30.
    pub timeout: u64,
    /// Attempts after the first, at most 10; after a 5xx other than 501, or a timeout.
    pub retries: u64,
    /// Whether the certificate is verified.
    pub verify_certificate: bool,
    /// `proxy_address` of the import's configuration.
    pub proxy: Option<String>,
}

/// An answer to a request of the `http` import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpResponse {
    /// The status of the last answer, after redirects.
    pub status: u16,
    /// Headers by name, in whichever case; the values of one that is repeated, with `, ` between them.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

/// An import that the application gives: data, and functions over data.
pub trait Import: Send + Sync {
    /// The members that are data: a map. It is asked for again and again, so it should be made once.
    fn data(&self) -> &Data;

    /// The names of its functions.
    fn functions(&self) -> &'static [&'static str] {
        &[]
    }

    /// Calls one of its functions. An error ends the policy.
    fn call(&self, function: &str, args: &[Data]) -> Result<Data, String> {
        let _ = args;
        Err(format!("there is no function `{function}`"))
    }
}

/// An import that is data only.
impl Import for Data {
    fn data(&self) -> &Data {
        self
    }
}

/// A host with a fixed time and without network: for tests.
#[derive(Debug, Clone, Copy)]
pub struct FixedHost {
    /// Nanoseconds since 1970.
    pub now: i128,
}

impl Host for FixedHost {
    fn now(&self) -> i128 {
        self.now
    }
}

/// A host with the system's time and without network.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemHost;

impl Host for SystemHost {
    fn now(&self) -> i128 {
        jiff::Timestamp::now().as_nanosecond()
    }
}
