//! http: what is asked of the host, and what is made of its answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use sentinel::{Data, Environment, Host, HttpRequest, HttpResponse, Limits, Outcome, compile, evaluate};

use crate::spec;

spec! {
    http_is_off_unless_the_host_allows_it: "import \"http\" ;; http.get(\"https://example.com\")" => "error: http is off for this policy set";
    defaults_of_the_client: "import \"http\"\nc = http.client ;; [c.timeout, c.retries, c.accepted_status_codes, c.certificate_verification]" => "[10, 1, [200], true]";
    settings_of_a_client: "import \"http\"\nc = http.with_timeout(5).with_retries(3).accept_status_codes([200, 404]).without_certificate_verification() ;; [c.timeout, c.retries, c.accepted_status_codes, c.certificate_verification]" => "[5, 3, [200, 404], false]";
    a_setting_makes_a_new_client: "import \"http\"\na = http.client\nb = a.with_timeout(5) ;; [a.timeout, b.timeout]" => "[10, 5]";
    too_many_retries_are_an_error: "import \"http\" ;; http.with_retries(11)" => "error: takes 0 to 10, not 11";
    too_long_a_timeout_is_an_error: "import \"http\" ;; http.with_timeout(31)" => "error: takes 1 to 30, not 31";
    requests_have_headers: "import \"http\"\no = http.request(\"http://x\").with_header(\"Foo\", \"bar\")\nn = o.with_header(\"Foo\", o.headers[\"Foo\"] + \",baz\") ;; [o.headers, n.headers, n.url]" => "[{\"Foo\": \"bar\"}, {\"Foo\": \"bar,baz\"}, \"http://x\"]";
    requests_have_basic_auth: "import \"http\" ;; http.request(\"u\").with_basic_auth(\"Aladdin\", \"OpenSesame\").headers.Authorization is \"Basic QWxhZGRpbjpPcGVuU2VzYW1l\"" => "true";
    requests_have_a_body: "import \"http\" ;; http.request(\"u\").with_body(\"b\").body" => "\"b\"";
    names_of_methods: "import \"http\" ;; [http.methodGet, http.methodPost]" => "[\"GET\", \"POST\"]";
}

/// Answers from a table, and remembers what it was asked.
#[derive(Default)]
struct Table {
    asked: Mutex<Vec<HttpRequest>>,
    status: u16,
}

impl Host for Table {
    fn now(&self) -> i128 {
        0
    }

    fn http(&self, request: &HttpRequest) -> Result<HttpResponse, String> {
        self.asked.lock().unwrap().push(request.clone());
        let headers = [("x-test", "yes"), ("content-type", "text/plain"), ("ETAG", "1"), ("etag", "2")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ok(HttpResponse { status: self.status, headers, body: b"{\"a\": 1}".to_vec() })
    }
}

fn run(host: &Table, source: &str) -> Outcome {
    let mut environment = Environment::default();
    environment.configure("http", Data::map([("proxy_address", "http://proxy:3128".into())]));
    let unit =
        Arc::new(compile("p.sentinel", format!("import \"http\"\nimport \"json\"\n{source}")).unwrap());
    evaluate(&unit, &environment, &HashMap::new(), Limits::default(), host).outcome
}

#[test]
fn an_answer_has_status_headers_and_body() {
    let host = Table { status: 200, ..Table::default() };
    let source = "r = http.get(\"https://x/y\")\nmain = rule { r.status_code is 200 and r.headers[\"X-Test\"] is \"yes\" and json.unmarshal(r.body).a is 1 }";
    assert!(run(&host, source).passed());
}

/// The keys of a map are told apart by the case of their letters, names of headers are not: policies need one way
/// to write them, and HTTP/2 sends small letters only.
#[test]
fn headers_of_an_answer_have_the_names_that_they_are_usually_written_with() {
    let host = Table { status: 200, ..Table::default() };
    let source = "r = http.get(\"https://x\")\nmain = keys(r.headers) is [\"Content-Type\", \"Etag\", \"X-Test\"] and r.headers.Etag is \"1, 2\"";
    assert!(run(&host, source).passed());
}

#[test]
fn the_host_is_told_everything_about_the_request() {
    let host = Table { status: 200, ..Table::default() };
    let source = "req = http.request(\"https://x\").with_header(\"K\", \"v\").with_body(\"b\")\nr = http.with_timeout(3).with_retries(0).without_certificate_verification().post(req)\nmain = true";
    assert!(run(&host, source).passed());
    let asked = host.asked.lock().unwrap();
    let expected = HttpRequest {
        method: "POST".into(),
        url: "https://x".into(),
        headers: BTreeMap::from([("Accept".into(), "*/*".into()), ("K".into(), "v".into())]),
        body: Some("b".into()),
        timeout: 3,
        retries: 0,
        verify_certificate: false,
        proxy: Some("http://proxy:3128".into()),
    };
    assert_eq!(asked[..], [expected]);
}

#[test]
fn what_a_request_is_authorised_with_is_not_printed() {
    let host = Table { status: 200, ..Table::default() };
    let unit = "import \"http\"\nreq = http.request(\"https://x\").with_basic_auth(\"u\", \"pw\")\nlonger = http.request(\"https://x\").with_basic_auth(\"u\", \"pwpw12\")\nprint([req, longer.headers])\nhttp.send(req)\nmain = rule { req.headers.Authorization is \"Basic dTpwdw==\" and error(req.headers) }";
    let unit = Arc::new(compile("p.sentinel", unit).unwrap());
    let ended = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host);
    let hidden = "{\"Authorization\": \"(sensitive value)\"}";
    let shown = format!(
        "[{{\"body\": \"\", \"headers\": {hidden}, \"method\": \"GET\", \"url\": \"https://x\"}}, {hidden}]\n{hidden}\n"
    );
    assert_eq!(ended.trace.print, shown);
    assert!(matches!(&ended.outcome, Outcome::Errored(error) if error.message() == hidden));
    assert_eq!(host.asked.lock().unwrap()[0].headers["Authorization"], "Basic dTpwdw==");
}

#[test]
fn a_token_in_a_header_is_shown_by_no_rule_and_no_result() {
    let host = Table { status: 200, ..Table::default() };
    let unit = "import \"http\"\nreq = http.request(\"https://x\").with_header(\"authorization\", \"token t0p-secret\")\nprint(req)\nheaders = rule { req.headers }\nmain = rule { [headers] }";
    let unit = Arc::new(compile("p.sentinel", unit).unwrap());
    let ended = evaluate(&unit, &Environment::default(), &HashMap::new(), Limits::default(), &host);
    let shown = format!("{:?}{}", ended.outcome, ended.text());
    assert!(!shown.contains("t0p-secret"), "{shown}");
    assert_eq!(shown.matches("\"authorization\": \"(sensitive value)\"").count(), 4, "{shown}");
}

#[test]
fn a_status_that_is_not_accepted_is_an_error() {
    let host = Table { status: 404, ..Table::default() };
    let Outcome::Errored(error) = run(&host, "r = http.get(\"https://x\")\nmain = true") else {
        panic!("no error")
    };
    assert!(error.message().contains("got the status 404"), "{error}");
    let accepted = "r = http.accept_status_codes([404]).get(\"https://x\")\nmain = r.status_code is 404";
    assert!(run(&host, accepted).passed());
}

#[test]
fn send_takes_requests_only() {
    let host = Table { status: 200, ..Table::default() };
    assert!(run(&host, "r = http.send(http.request(\"https://x\"))\nmain = r.status_code is 200").passed());
    assert!(matches!(run(&host, "r = http.send(\"https://x\")\nmain = true"), Outcome::Errored(_)));
}
