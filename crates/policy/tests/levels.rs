//! What each kind of answer means at each level: T11, T12 and T15 over real policies.
#![cfg(feature = "rego")]

mod common;

use std::time::{Duration, Instant};

use common::{error_of, evaluate, failed, verdict};
use policy::{EnforcementLevel, Limits, PolicyOutcome, Verdict, outcome};
use serde_json::json;

const RULES: &str = r#"
package rules

# passes: nothing to object to
pass contains msg if {
  some change in input.plan.resource_changes
  change.type == "never"
  msg := change.address
}

fail contains msg if {
  some change in input.plan.resource_changes
  msg := sprintf("%s is public", [change.address])
}

# a builtin that fails
error contains msg if {
  some change in input.plan.resource_changes
  to_number(change.address) > 3
  msg := change.address
}

undefined := input.plan.no_such_key

not_a_set := true

n := numbers.range(1, 4000)

runaway contains x if {
  some a in n
  some b in n
  some c in n
  a * b * c == -1
  x := a
}
"#;

fn results_of(rule: &str, limits: Limits) -> Vec<(EnforcementLevel, Verdict, PolicyOutcome)> {
    let manifest: String = EnforcementLevel::ALL
        .iter()
        .map(|level| {
            format!("policy \"{level}\" {{\n query = \"data.rules.{rule}\"\n enforcement_level = \"{level}\"\n}}\n")
        })
        .collect();
    let plan = json!({"resource_changes": [{"address": "a.b", "type": "a"}]});
    let results = evaluate(&[("policies.hcl", &manifest), ("rules.rego", RULES)], &plan, limits);
    results.into_iter().map(|r| (r.level, r.verdict.clone(), outcome([&r]))).collect()
}

fn outcome_of_failure(level: EnforcementLevel) -> PolicyOutcome {
    match level {
        EnforcementLevel::Advisory => PolicyOutcome::Passed,
        EnforcementLevel::SoftMandatory => PolicyOutcome::SoftFailed,
        EnforcementLevel::HardMandatory => PolicyOutcome::HardFailed,
    }
}

#[test]
fn an_empty_set_passes_at_every_level() {
    for (_, verdict, outcome) in results_of("pass", common::SECOND) {
        assert_eq!((verdict, outcome), (Verdict::Passed, PolicyOutcome::Passed));
    }
}

#[test]
fn a_set_with_elements_fails_at_its_level_with_them_as_messages() {
    for (level, verdict, outcome) in results_of("fail", common::SECOND) {
        assert_eq!((verdict, outcome), (failed(&["a.b is public"]), outcome_of_failure(level)));
    }
}

#[test]
fn an_error_inside_a_policy_fails_at_its_level_and_names_its_place() {
    for (level, verdict, outcome) in results_of("error", common::SECOND) {
        let error = error_of(verdict);
        assert!(error.starts_with("rules.rego:19:"), "{error}");
        assert_eq!(outcome, outcome_of_failure(level));
    }
}

#[test]
fn an_undefined_answer_is_an_error_at_its_level() {
    for (level, verdict, outcome) in results_of("undefined", common::SECOND) {
        assert!(error_of(verdict).contains("undefined"));
        assert_eq!(outcome, outcome_of_failure(level));
    }
}

#[test]
fn an_answer_that_is_no_set_and_no_array_is_an_error_at_its_level() {
    for (level, verdict, outcome) in results_of("not_a_set", common::SECOND) {
        assert_eq!(
            error_of(verdict),
            "the rule gives the boolean true; it has to give a set or an array of violations"
        );
        assert_eq!(outcome, outcome_of_failure(level));
    }
}

#[test]
fn a_policy_without_end_is_an_error_at_its_level_soon_after_its_time() {
    let started = Instant::now();
    let limits = Limits { time: Duration::from_millis(300) };
    for (level, verdict, outcome) in results_of("runaway", limits) {
        assert_eq!(error_of(verdict), "did not end within its time limit of 300ms");
        assert_eq!(outcome, outcome_of_failure(level));
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_policy_that_is_stopped_keeps_what_it_printed() {
    let rego = r#"package test
n := numbers.range(1, 4000)
deny contains "x" if {
  print("begun")
  some a in n
  some b in n
  some c in n
  a * b * c == -1
}
"#;
    let files = [("policies.hcl", "policy \"p\" { query = \"data.test.deny\" }"), ("p.rego", rego)];
    let results = evaluate(&files, &json!({}), Limits { time: Duration::from_millis(300) });
    assert_eq!(error_of(results[0].verdict.clone()), "did not end within its time limit of 300ms");
    assert_eq!(results[0].prints, ["p.rego:4: begun"]);
}

#[test]
fn every_kind_of_answer_is_judged() {
    let cases = [
        ("deny := []", Ok(vec![])),
        ("deny := set()", Ok(vec![])),
        (r#"deny := ["b", "a"]"#, Ok(vec!["b", "a"])),
        (r#"deny := {"b", "a"}"#, Ok(vec!["a", "b"])),
        (
            r#"deny := [{"why": "x", "n": 1}, 2, null, [true]]"#,
            Ok(vec![r#"{"n": 1, "why": "x"}"#, "2", "null", "[true]"]),
        ),
        ("deny := [false]", Ok(vec!["false"])),
        ("deny := false", Err("the boolean false")),
        ("deny := 0", Err("a number")),
        (r#"deny := """#, Err("a string")),
        ("deny := null", Err("null")),
        ("deny := {}", Err("an object")),
        (r#"deny[x] := 1 if some x in ["a"]"#, Err("an object")),
        ("default deny := false", Err("the boolean false")),
    ];
    for (rego, expected) in cases {
        let verdict = verdict(rego);
        match expected {
            Ok(messages) if messages.is_empty() => assert_eq!(verdict, Verdict::Passed, "{rego}"),
            Ok(messages) => assert_eq!(verdict, failed(&messages), "{rego}"),
            Err(words) => {
                let error = error_of(verdict);
                assert!(error.contains(words), "{rego}: {error}");
            }
        }
    }
}
