//! The report, the log, and the process entry around them.
#![cfg(feature = "rego")]
#![allow(clippy::unwrap_used, reason = "a helper of tests fails the test")]

mod common;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use policy::{
    CheckRequest, Counts, EnforcementLevel, EngineKind, LoadError, Mistake, Place, PolicyOutcome,
    PolicyReport, PolicyResult, REPORT_FORMAT, REQUEST_FORMAT, SetReport, SetRequest, SetSettings, Verdict,
    check, render_text, run_check,
};
use serde_json::json;

fn policy(name: &str, level: EnforcementLevel, verdict: Verdict) -> PolicyResult {
    PolicyResult {
        name: name.into(),
        level,
        description: None,
        verdict,
        prints: vec![],
        trace: String::new(),
        rules: vec![],
        duration_ms: 3,
    }
}

fn set(name: &str, policies: Vec<PolicyResult>) -> SetReport {
    SetReport { name: name.into(), engine: Some(EngineKind::Rego), error: None, warnings: vec![], policies }
}

fn report(sets: Vec<SetReport>) -> PolicyReport {
    PolicyReport::new(sets, Duration::from_millis(42))
}

/// Two sets with a policy of every kind.
fn mixed() -> PolicyReport {
    let mut first = policy(
        "no-public-buckets",
        EnforcementLevel::SoftMandatory,
        Verdict::Failed {
            messages: vec!["bucket \"a\" is public".into(), "two\nlines \u{1b}[31mand colour".into()],
        },
    );
    first.description = Some("Buckets are private.\n".into());
    first.prints = vec!["network.rego:12: seen 3".into()];
    let mut second = policy(
        "tags",
        EnforcementLevel::Advisory,
        Verdict::Errored { error: "tags.rego:3:5: no number".into() },
    );
    second.trace = "looked at a\nlooked at b".into();
    let passed = policy("size", EnforcementLevel::HardMandatory, Verdict::Passed);
    let silent = policy("main", EnforcementLevel::Advisory, Verdict::Failed { messages: vec![] });
    report(vec![set("baseline", vec![first, second, passed]), set("extra", vec![silent])])
}

fn not_loaded() -> SetReport {
    let mistake =
        Mistake::at("policies.hcl", "policy \"a\" {", Place { line: 1, column: 12 }, "unexpected {")
            .help("write query = …");
    SetReport {
        name: "broken".into(),
        engine: None,
        error: Some(LoadError::from(mistake)),
        warnings: vec![],
        policies: vec![],
    }
}

#[test]
fn the_log_shows_every_policy_with_level_result_description_messages_and_prints() {
    insta::assert_snapshot!(render_text(&mixed()));
}

#[test]
fn the_log_shows_the_mistakes_of_a_set_that_cannot_be_loaded_with_their_places() {
    insta::assert_snapshot!(render_text(&report(vec![not_loaded()])));
}

#[test]
fn the_log_of_a_check_that_passed_says_that_the_run_may_go_on() {
    let passed = policy("size", EnforcementLevel::HardMandatory, Verdict::Passed);
    insta::assert_snapshot!(render_text(&report(vec![set("baseline", vec![passed])])));
}

#[test]
fn counts_add_every_policy_to_exactly_one_place() {
    let counts = mixed().counts;
    assert_eq!(
        counts,
        Counts { passed: 1, hard_failed: 0, soft_failed: 1, advisory_failed: 2, total_failed: 3 }
    );
    assert_eq!(mixed().outcome, PolicyOutcome::SoftFailed);
}

#[test]
fn a_set_that_cannot_be_loaded_is_a_hard_mandatory_failure_t11() {
    let passed = set("fine", vec![policy("p", EnforcementLevel::HardMandatory, Verdict::Passed)]);
    let report = report(vec![passed, not_loaded()]);
    assert_eq!(report.outcome, PolicyOutcome::HardFailed);
    assert_eq!((report.counts.passed, report.counts.hard_failed, report.counts.total_failed), (1, 1, 1));
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let mut sets = mixed().sets;
    sets.push(not_loaded());
    let report = report(sets);
    report.write(&path).unwrap();
    assert_eq!(PolicyReport::read(&path).unwrap(), report);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    insta::assert_json_snapshot!(report);
}

#[test]
fn a_report_of_another_format_or_a_damaged_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    fs::write(&path, json!({"format": REPORT_FORMAT + 1, "from": "the future"}).to_string()).unwrap();
    let words = PolicyReport::read(&path).unwrap_err().to_string();
    assert!(words.ends_with("has format 2, this build reads format 1"), "{words}");
    fs::write(&path, "{\"format\": 1, ").unwrap();
    assert!(PolicyReport::read(&path).unwrap_err().to_string().contains("is damaged"));
}

const MANIFEST: &str = r#"
policy "limit" {
  query             = "data.test.deny"
  enforcement_level = "soft-mandatory"
  description       = "At most one change."
}
"#;
const REGO: &str = r#"package test

deny contains sprintf("%d changes by %s", [n, input.run.created_by]) if {
  n := count(input.plan.resource_changes)
  n > 1
}
"#;

fn request(dir: &Path) -> CheckRequest {
    common::write(
        dir,
        &[("set/policies.hcl", MANIFEST), ("set/a.rego", REGO), ("bad/policies.hcl", "policy {")],
    );
    fs::write(dir.join("plan.json"), json!({"resource_changes": [1, 2]}).to_string()).unwrap();
    CheckRequest {
        format: REQUEST_FORMAT,
        plan_json: dir.join("plan.json"),
        run: json!({"created_by": "operator"}),
        sets: vec![set_request("limits", dir.join("set"))],
        report: dir.join("report.json"),
    }
}

fn set_request(name: &str, path: PathBuf) -> SetRequest {
    SetRequest { name: name.into(), path, time_limit_ms: 5_000, settings: SetSettings::default() }
}

/// Writes the request to a file and runs it as the process would.
fn run(dir: &Path, request: &impl serde::Serialize) -> String {
    let path = dir.join("request.json");
    fs::write(&path, serde_json::to_vec(request).unwrap()).unwrap();
    format!("{:?}", run_check(&path))
}

const SUCCESS: &str = "ExitCode(unix_exit_status(0))";
const FAILURE: &str = "ExitCode(unix_exit_status(1))";

#[test]
fn a_check_that_fails_writes_its_report_and_exits_with_success() {
    let dir = tempfile::tempdir().unwrap();
    let request = request(dir.path());
    assert_eq!(run(dir.path(), &request), SUCCESS);
    let report = PolicyReport::read(&request.report).unwrap();
    assert_eq!(report.outcome, PolicyOutcome::SoftFailed);
    assert_eq!(report.sets[0].policies[0].verdict, common::failed(&["2 changes by operator"]));
}

#[test]
fn sets_are_checked_whatever_becomes_of_the_others() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(dir.path());
    request.sets.insert(0, set_request("bad", dir.path().join("bad")));
    request.sets.insert(0, set_request("gone", dir.path().join("gone")));
    let report = check(&request).unwrap();
    let sets: Vec<_> =
        report.sets.iter().map(|s| (s.name.as_str(), s.error.is_some(), s.policies.len())).collect();
    assert_eq!(sets, [("gone", true, 0), ("bad", true, 0), ("limits", false, 1)]);
    assert_eq!(report.outcome, PolicyOutcome::HardFailed);
}

#[test]
fn a_check_without_sets_passes() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(dir.path());
    request.sets.clear();
    assert_eq!(check(&request).unwrap().outcome, PolicyOutcome::Passed);
}

#[test]
fn without_a_usable_request_or_plan_there_is_no_report_and_no_success() {
    let dir = tempfile::tempdir().unwrap();
    let good = request(dir.path());
    let mut cases = Vec::new();
    for (field, value) in [
        ("format", json!(REQUEST_FORMAT + 1)),
        ("plan_json", json!(dir.path().join("gone.json"))),
        ("sets", json!([{"name": "limits", "path": dir.path().join("set"), "time_limit_ms": 0}])),
        ("sets", json!("all")),
        ("unknown", json!(1)),
        ("report", json!(dir.path().join("no/folder/report.json"))),
    ] {
        let mut request = serde_json::to_value(&good).unwrap();
        request[field] = value;
        cases.push(request);
    }
    for request in cases {
        assert_eq!(run(dir.path(), &request), FAILURE, "{request}");
        assert!(!good.report.exists());
    }
    fs::write(dir.path().join("plan.json"), "{\"a\": ").unwrap();
    assert_eq!(run(dir.path(), &good), FAILURE);
    assert_eq!(format!("{:?}", run_check(&dir.path().join("gone"))), FAILURE);
}
