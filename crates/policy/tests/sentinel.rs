//! Sentinel policy sets through the engine: what they may do, what they say, and what they are kept from.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests fails the test")]

mod common;

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::Arc,
    time::{Duration, Instant},
};

use common::{error_of, evaluate, failed, folder, mistakes};
use policy::{
    EnforcementLevel, EngineKind, Input, Limits, Parameter, PolicyOutcome, PolicyReport, PolicyResult,
    PolicySet, SetReport, SetSettings, Verdict, outcome, render_text,
};
use serde_json::{Value, json};

const SECONDS: Limits = Limits { time: Duration::from_secs(5) };

fn plan() -> Value {
    json!({
        "terraform_version": "1.11.4",
        "variables": {"size": {"value": "big"}, "token": {"value": "s3cr3t-token"}},
        "resource_changes": [{
            "address": "cloud_server.a", "mode": "managed", "type": "cloud_server", "name": "a",
            "change": {
                "actions": ["create"], "before": null,
                "after": {"size": "big", "password": "hunter2-hunter2"},
                "after_sensitive": {"password": true}, "after_unknown": {"id": true},
            },
        }],
    })
}

/// The results of the set of these files for the plan.
fn results(files: &[(&str, &str)]) -> Vec<PolicyResult> {
    evaluate(files, &plan(), SECONDS)
}

/// The result of a hard-mandatory policy with this text.
fn result(sentinel: &str) -> PolicyResult {
    let manifest = "policy \"p\" {\n  enforcement_level = \"hard-mandatory\"\n}\n";
    results(&[("sentinel.hcl", manifest), ("p.sentinel", sentinel)]).remove(0)
}

fn hosts(hosts: &[&str]) -> SetSettings {
    SetSettings {
        http_hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        ..SetSettings::default()
    }
}

#[cfg(feature = "rego")]
fn warnings(manifest: &str, settings: SetSettings) -> Vec<String> {
    let dir = folder(&[("sentinel.hcl", manifest), ("p.sentinel", "main = rule { true }\n")]);
    PolicySet::load("test", dir.path(), &settings).unwrap().warnings()
}

#[test]
fn every_answer_counts_at_its_level() {
    let bodies = [
        ("passes", "main = rule { true }\n"),
        ("fails", "main = rule { false }\n"),
        ("errs", "main = rule { 1 / 0 is 1 }\n"),
        ("undefined", "main = rule { {}.missing }\n"),
    ];
    for level in EnforcementLevel::ALL {
        let manifest: String = bodies
            .iter()
            .map(|(name, _)| format!("policy \"{name}\" {{\n  enforcement_level = \"{level}\"\n}}\n"))
            .collect();
        let mut files = vec![("sentinel.hcl", manifest.as_str())];
        let names: Vec<String> = bodies.iter().map(|(name, _)| format!("{name}.sentinel")).collect();
        files.extend(names.iter().zip(&bodies).map(|(name, (_, body))| (name.as_str(), *body)));
        let results = results(&files);
        let bad = outcome([&PolicyResult { verdict: failed(&[]), ..results[0].clone() }]);
        let expected = [PolicyOutcome::Passed, bad, bad, bad];
        for (result, expected) in results.iter().zip(expected) {
            assert_eq!((result.level, outcome([result])), (level, expected), "{}", result.name);
        }
        assert_eq!(results[1].verdict, failed(&[]));
        let error = error_of(results[2].verdict.clone());
        assert!(error.starts_with("errs.sentinel:1:15: "), "{error}");
        assert!(error.contains("\n    main = rule { 1 / 0 is 1 }\n                  ^"), "{error}");
        let error = error_of(results[3].verdict.clone());
        assert!(error.contains("undefined") && error.contains("undefined.sentinel:1:"), "{error}");
    }
}

#[test]
fn a_main_that_is_no_boolean_says_what_is_wrong() {
    for (main, messages) in [
        ("[\"a is public\", 3]", vec!["a is public", "3"]),
        ("{\"a\": \"is public\", \"b\": [1]}", vec!["a: is public", "b: [1]"]),
        ("\"no\"", vec!["no"]),
        ("2", vec!["2"]),
    ] {
        assert_eq!(result(&format!("main = {main}\n")).verdict, failed(&messages), "{main}");
    }
    assert_eq!(result("main = []\n").verdict, Verdict::Passed);
    assert!(error_of(result("main = null\n").verdict).contains("`main` is null"));
}

#[test]
fn policies_see_the_plan_the_configuration_the_state_and_the_run() {
    let sentinel = r#"
import "tfplan/v2" as tfplan
import "tfconfig/v2" as tfconfig
import "tfstate/v2" as tfstate
import "tfplan" as old
import "tfrun"

print(tfplan.resource_changes["cloud_server.a"].change.after.size)
print(tfplan.variables.size.value, tfconfig.resources, tfstate.resources, old.resources.cloud_server.a[0].destroy)
print(tfrun.id, tfrun.workspace.name, tfrun.organization.name, tfrun.cost_estimate else "no estimate")
main = true
"#;
    let result = result(sentinel);
    assert_eq!(result.prints, ["big", "big {} {} false", "run-test network-prod acme no estimate"]);
    assert_eq!(result.verdict, Verdict::Passed);
}

#[test]
fn modules_static_imports_and_parameters_come_from_the_set() {
    let manifest = r#"
policy "p" {
  source            = "./policies/p.sentinel"
  enforcement_level = "soft-mandatory"
  params            = { own = "of the policy" }
}
module "old" { source = "lib/old.sentinel" }
import "module" "sizes" { source = "./lib/sizes.sentinel" }
import "static" "limits" {
  source = "./data/limits.json"
  format = "json"
}
param "shared" { value = ["of", "the", "set"] }
"#;
    let sentinel = r#"
import "sizes"
import "old"
import "limits"
param own
param shared
param missing default "a default"
print(sizes.allowed("big"), old.words, limits.most, own, shared, missing)
main = rule { sizes.allowed("big") }
"#;
    let files = [
        ("sentinel.hcl", manifest),
        ("policies/p.sentinel", sentinel),
        (
            "lib/sizes.sentinel",
            "import \"limits\"\nallowed = func(size) {\n\treturn size in limits.sizes\n}\n",
        ),
        ("lib/old.sentinel", "words = \"an old one\"\n"),
        ("data/limits.json", r#"{"most": 3, "sizes": ["small"]}"#),
    ];
    let result = results(&files).remove(0);
    assert_eq!(result.prints, ["false an old one 3 of the policy [\"of\", \"the\", \"set\"] a default"]);
    assert_eq!((result.level, result.verdict), (EnforcementLevel::SoftMandatory, failed(&[])));
}

#[test]
fn the_log_shows_description_prints_and_the_rules_with_their_values() {
    let sentinel = r#"// Servers are small.
// Others cost too much.

import "tfplan/v2" as tfplan

servers = filter tfplan.resource_changes as _, rc { rc.type is "cloud_server" }
print("looking at", length(servers))

// Every server has an allowed size.
sizes = rule { all servers as _, s { s.change.after.size in ["small"] } }
big = rule { keys(servers) }

main = rule { sizes or length(big) is 0 }
"#;
    let manifest = "policy \"p\" {\n  enforcement_level = \"soft-mandatory\"\n}\n\
                    policy \"q\" {\n  source = \"p.sentinel\"\n  description = \"The same, with a name.\"\n}\n";
    let mut results = results(&[("sentinel.hcl", manifest), ("p.sentinel", sentinel)]);
    results.iter_mut().for_each(|result| result.duration_ms = 0);
    let rules: Vec<_> =
        results[0].rules.iter().map(|rule| (rule.ident.as_str(), rule.value.clone())).collect();
    let expected = [
        ("main", false.into()),
        ("sizes", false.into()),
        ("big", sentinel::Data::list(["cloud_server.a".into()])),
    ];
    assert_eq!(rules, expected);
    let set = SetReport {
        name: "servers".into(),
        engine: Some(EngineKind::Sentinel),
        error: None,
        warnings: vec!["sentinel.hcl: something has no effect".into()],
        policies: results,
    };
    let report = PolicyReport::new(vec![set], Duration::ZERO);
    insta::assert_snapshot!(render_text(&report));
    let dir = tempfile::tempdir().unwrap();
    report.write(&dir.path().join("report.json")).unwrap();
    assert_eq!(PolicyReport::read(&dir.path().join("report.json")).unwrap(), report);
}

#[test]
fn an_undefined_rule_is_still_undefined_when_its_report_is_read() {
    let result = result("import \"tfplan/v2\" as tfplan\nmain = rule { tfplan.raw.nothing }\n");
    let again: PolicyResult = serde_json::from_str(&serde_json::to_string(&result).unwrap()).unwrap();
    assert_eq!(again, result);
}

#[cfg(feature = "rego")]
#[test]
fn sensitive_values_of_the_plan_and_the_run_are_shown_by_no_engine() {
    const SECRETS: [&str; 2] = ["hunter2-hunter2", "s3cr3t-token"];
    let sentinel = r#"
import "tfplan/v2" as tfplan
after = tfplan.resource_changes["cloud_server.a"].change.after
token = tfplan.variables.token.value
print(after.password, "and", token)
seen = rule { [after.password, {token: token}] }
main = rule { length(seen) is 0 or error("it is", after.password, token) }
"#;
    let rego = r#"package test

after := input.plan.resource_changes[0].change.after
token := input.plan.variables.token.value

deny contains sprintf("%s and %s", [after.password, token]) if print(after.password, token)
deny contains to_number(concat(" ", [after.password, token])) if trace(token)
"#;
    let sets: [&[(&str, &str)]; 2] = [
        &[("sentinel.hcl", "policy \"p\" {}\n"), ("p.sentinel", sentinel)],
        &[("policies.hcl", "policy \"p\" { query = \"data.test.deny\" }"), ("p.rego", rego)],
    ];
    let run = json!({"id": "run-1", "variables": {"token": {"category": "terraform", "sensitive": true}}});
    let input = Arc::new(Input::new(plan().to_string(), run).unwrap());
    for files in sets {
        let set = PolicySet::load("test", folder(files).path(), &SetSettings::default()).unwrap();
        let results = set.evaluate(&input, SECONDS);
        let report = serde_json::to_string(&results).unwrap();
        assert!(report.contains(sentinel::MASK), "{report}");
        for secret in SECRETS {
            assert!(!report.contains(secret), "{secret} in {report}");
        }
    }
}

#[test]
fn a_policy_without_end_is_an_error_soon_after_its_time_and_keeps_its_prints() {
    let sentinel = "print(\"begun\")\nfor range(1000) as a {\n\tfor range(1000) as b {\n\t\tfor range(1000) as c {\n\t\t\td = a * b * c\n\t\t}\n\t}\n}\nmain = true\n";
    let started = Instant::now();
    let limits = Limits { time: Duration::from_millis(200) };
    let files = [("sentinel.hcl", "policy \"p\" {}\n"), ("p.sentinel", sentinel)];
    let result = evaluate(&files, &plan(), limits).remove(0);
    let error = error_of(result.verdict);
    assert!(error.contains("ran longer than 0.2 seconds") && error.starts_with("p.sentinel:"), "{error}");
    assert_eq!(result.prints, ["begun"]);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn recursion_and_memory_without_end_are_errors() {
    for (sentinel, words) in [
        ("f = func(n) {\n\treturn f(n + 1)\n}\nmain = rule { f(0) }\n", "nested"),
        ("s = \"xxxxxxxx\"\nfor range(100) as _ {\n\ts = s + s\n}\nmain = true\n", "bytes"),
    ] {
        let error = error_of(result(sentinel).verdict);
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_policy_that_says_too_much_is_cut() {
    let sentinel = "for range(5000) as n {\n\tprint(n)\n}\nmain = rule { range(100000) }\n";
    let result = result(sentinel);
    assert_eq!((result.prints.len(), result.prints[1000].as_str()), (1001, "… and 4000 more"));
    assert!(serde_json::to_string(&result).unwrap().len() < 2_000_000);
}

#[test]
fn every_mistake_of_a_sentinel_set_is_reported_at_once_with_its_place() {
    let manifest = r#"
policy "broken" { source = "./broken.sentinel" }
policy "gone" { source = "./gone.sentinel" }
policy "outside" { source = "../../etc/passwd" }
policy "unlinked" { source = "./unlinked.sentinel" }
policy "remote" { source = "https://example.com/p.sentinel" }
policy "plain" { source = "http://example.com/p.sentinel?checksum=sha256:00" }
import "module" "lib" { source = "./lib.sentinel" }
import "static" "data" {
  source = "./data.json"
  format = "json"
}
"#;
    let error = mistakes(&[
        ("sentinel.hcl", manifest),
        ("broken.sentinel", "# ü\nmain = rule { \"ü\" is }\n"),
        ("unlinked.sentinel", "import \"tfplan/v3\" as tfplan\nimport \"lib\"\nparam most\nmain = true\n"),
        ("lib.sentinel", "f = func() {\n\treturn (\n}\n"),
        ("data.json", "{,}"),
    ]);
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn a_mistake_of_the_manifest_has_its_place() {
    for (manifest, words) in [
        ("policy \"a\" {\n  source = \n}\n", "sentinel.hcl:2:"),
        ("policy \"a\" {\n  enforcement_level = \"strict\"\n}\n", "sentinel.hcl:2:"),
        ("policy \"a\" {\n  sorce = \"x\"\n}\n", "did you mean `source`?"),
        ("# nothing\n", "the set has no policy"),
    ] {
        let error = mistakes(&[("sentinel.hcl", manifest), ("a.sentinel", "main = true\n")]).to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = mistakes(&[("sentinel.json", "{}")]).to_string();
    assert!(error.contains("write it as sentinel.hcl"), "{error}");
}

#[test]
fn what_is_for_tests_is_not_used_and_that_is_said() {
    let manifest = r#"
policy "p" {}
mock "tfplan/v2" { data = { resource_changes = {} } }
mock "time" { data = { now = 0 } }
test { rules = { main = false } }
import "static" "tfplan/v2" {
  source = "./plan.json"
  format = "json"
}
sentinel { features = { x = true } }
"#;
    let misspelt = "policy \"p\" {\n  params = { sise = 1 }\n}\nparam \"siz\" {\n  value = 1\n}";
    let manifest = &manifest.replace("policy \"p\" {}", misspelt);
    let files = [
        ("sentinel.hcl", manifest.as_str()),
        ("p.sentinel", "param size default 1\nmain = true\n"),
        ("plan.json", "{}"),
        ("sentinel_override.hcl", "policy \"p\" { enforcement_level = \"hard-mandatory\" }\n"),
        ("sentinel.json", "{}"),
        ("test/p/pass.hcl", ""),
    ];
    let parameters = [("siez".to_owned(), Parameter { value: json!(1), sensitive: false })].into();
    let settings = SetSettings { parameters, ..SetSettings::default() };
    let set = PolicySet::load("test", folder(&files).path(), &settings).unwrap();
    insta::assert_snapshot!(set.warnings().join("\n"));
    let sentinel = "import \"tfplan/v2\" as tfplan\nimport \"time\"\nprint(length(tfplan.resource_changes), time.now is 0)\nmain = true\n";
    let result =
        results(&[("sentinel.hcl", manifest), ("p.sentinel", sentinel), ("plan.json", "{}")]).remove(0);
    assert_eq!(result.prints, ["1 false"]);
    let error = mistakes(&[
        ("sentinel.hcl", "policy \"p\" {}\nmock \"people\" { data = {} }\n"),
        ("p.sentinel", "import \"people\"\nmain = true\n"),
    ]);
    assert!(error.to_string().starts_with("p.sentinel:1:"), "{error}");
}

#[test]
fn parameters_of_the_configuration_win_and_sensitive_ones_are_masked() {
    let manifest = "policy \"p\" {\n  params = { size = \"of the file\" }\n}\n";
    let sentinel =
        "param size\nparam token\nprint(size, token.key)\nmain = rule { error(\"with\", token) }\n";
    let dir = folder(&[("sentinel.hcl", manifest), ("p.sentinel", sentinel)]);
    let error = PolicySet::load("test", dir.path(), &SetSettings::default()).unwrap_err();
    assert!(error.to_string().starts_with("p.sentinel:2:7: the parameter `token` has no value"), "{error}");
    let parameter = |value, sensitive| Parameter { value, sensitive };
    let parameters = [
        ("size".to_owned(), parameter(json!(["s", 3]), false)),
        ("token".to_owned(), parameter(json!({"key": "s3cr3t-key"}), true)),
    ];
    let settings = SetSettings { parameters: parameters.into(), ..SetSettings::default() };
    assert!(!format!("{settings:?}").contains("s3cr3t-key"));
    let set = PolicySet::load("test", dir.path(), &settings).unwrap();
    let input = Arc::new(Input::new(plan().to_string(), json!({})).unwrap());
    let result = set.evaluate(&input, SECONDS).remove(0);
    assert_eq!(result.prints[0], "[\"s\", 3] (sensitive value)");
    assert!(error_of(result.verdict).contains("(sensitive value)"));
}

#[cfg(feature = "rego")]
#[test]
fn hosts_of_a_set_whose_language_has_no_http_are_said_to_have_no_effect() {
    let settings = || hosts(&["example.com"]);
    assert_eq!(warnings("policy \"p\" {}\n", settings()), Vec::<String>::new());
    let dir = folder(&[
        ("policies.hcl", "policy \"p\" { query = \"data.test.deny\" }"),
        ("p.rego", "package test\n\ndeny contains \"x\" if input.plan.x\n"),
    ]);
    let set = PolicySet::load("test", dir.path(), &settings()).unwrap();
    assert!(set.warnings()[0].contains("http_hosts has no effect"));
}

/// Answers each request with the next of these, and gives back what was asked.
fn server(answers: Vec<String>) -> (u16, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let answer = |answer: String| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let read = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..read]).into_owned()
        };
        answers.into_iter().map(answer).collect()
    });
    (port, served)
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

fn with_hosts(hosts: &[String], sentinel: &str) -> PolicyResult {
    let dir = folder(&[("sentinel.hcl", "policy \"p\" {}\n"), ("p.sentinel", sentinel)]);
    let settings = SetSettings { http_hosts: hosts.to_vec(), ..SetSettings::default() };
    let input = Arc::new(Input::new(plan().to_string(), json!({})).unwrap());
    PolicySet::load("test", dir.path(), &settings).unwrap().evaluate(&input, SECONDS).remove(0)
}

#[test]
fn http_reaches_the_hosts_that_the_set_allows_and_no_other() {
    let ok = answer("200 OK", "x-kind: fruit\r\n", r#"{"name": "apple"}"#);
    let away = answer("302 Found", "location: http://example.com:81/\r\n", "");
    let (port, served) = server(vec![ok, away]);
    let host = format!("127.0.0.1:{port}");
    let get = |url: &str| {
        format!(
            "import \"http\"\nimport \"json\"\nreq = http.request(\"{url}\").with_header(\"X-Who\", \"me\")\n\
             answer = http.get(req)\nprint(answer.status_code, answer.headers[\"X-Kind\"], json.unmarshal(answer.body).name)\n\
             main = true\n"
        )
    };
    let asks = get(&format!("http://{host}/fruit?ripe=1"));
    let hosts = std::slice::from_ref(&host);

    assert!(error_of(with_hosts(&[], &asks).verdict).contains("http is off for this policy set"));
    let other = [format!("127.0.0.1:{}", port ^ 1), "127.0.0.1".to_owned()];
    assert!(error_of(with_hosts(&other, &asks).verdict).contains("none of the policy set's http_hosts"));
    assert!(error_of(with_hosts(hosts, &get("file:///etc/passwd")).verdict).contains("not http or https"));

    let result = with_hosts(hosts, &asks);
    assert_eq!((result.verdict, result.prints), (Verdict::Passed, vec!["200 fruit apple".to_owned()]));
    let error = error_of(with_hosts(hosts, &asks).verdict);
    assert!(error.contains("a redirect leads to a host that is not allowed: example.com:81"), "{error}");

    let asked = served.join().unwrap();
    assert_eq!(asked.len(), 2, "what is not allowed is not even tried");
    assert!(
        asked[0].starts_with("GET /fruit?ripe=1 HTTP/1.1\r\n") && asked[0].contains("x-who: me"),
        "{asked:?}"
    );
}

#[test]
fn a_proxy_is_a_host_that_has_to_be_allowed_too() {
    let manifest = "policy \"p\" {}\nimport \"plugin\" \"http\" {\n  config = { proxy_address = \"http://127.0.0.1:9\" }\n}\n";
    let sentinel = "import \"http\"\nmain = rule { http.get(\"http://example.com\").status_code is 200 }\n";
    let dir = folder(&[("sentinel.hcl", manifest), ("p.sentinel", sentinel)]);
    let settings = hosts(&["example.com"]);
    let set = PolicySet::load("test", dir.path(), &settings).unwrap();
    let input = Arc::new(Input::new(plan().to_string(), json!({})).unwrap());
    let error = error_of(set.evaluate(&input, SECONDS).remove(0).verdict);
    assert!(error.contains("127.0.0.1:9 is none of the policy set's http_hosts"), "{error}");
}

#[test]
fn an_answer_that_does_not_come_ends_with_the_policy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let sentinel =
        format!("import \"http\"\nmain = rule {{ http.get(\"http://{host}\").status_code is 200 }}\n");
    let dir = folder(&[("sentinel.hcl", "policy \"p\" {}\n"), ("p.sentinel", &sentinel)]);
    let set = PolicySet::load("test", dir.path(), &hosts(&[&host])).unwrap();
    let input = Arc::new(Input::new(plan().to_string(), json!({})).unwrap());
    let started = Instant::now();
    let result = set.evaluate(&input, Limits { time: Duration::from_millis(300) }).remove(0);
    let error = error_of(result.verdict);
    assert!(error.contains("no answer in time") || error.contains("time is over"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(3));
}
