//! How policies are evaluated: errors are never swallowed, and what OPA has beyond regorus is there.
#![cfg(feature = "rego")]

mod common;

use common::{error_of, evaluate, failed, result, verdict};
use policy::Verdict;
use serde_json::json;

#[test]
fn a_deny_rule_with_a_failing_function_in_it_never_passes() {
    let cases = [
        ("to_number", r#"deny contains "x" if to_number("abc") > 1"#),
        ("not", r#"deny contains "x" if { not to_number("abc") }"#),
        ("in a function", "f(x) := to_number(x)\ndeny contains \"x\" if f(\"abc\") > 1"),
        ("in a comprehension", r#"deny contains "x" if count([n | n := to_number("abc")]) > 0"#),
        ("in a head", r#"deny contains to_number("abc")"#),
        ("in another rule", "a := to_number(\"abc\")\ndeny contains \"x\" if a > 1"),
        ("in every", "deny contains \"x\" if { every y in [1] { to_number(\"abc\") > y } }"),
        ("division by zero", "deny contains \"x\" if 1 / count([]) > 1"),
        ("json", r#"deny contains "x" if json.unmarshal("{")"#),
        ("regex", r#"deny contains "x" if regex.match("(", "a")"#),
        ("sprintf", r#"deny contains sprintf("%s", "not an array")"#),
        ("unknown function", r#"deny contains "x" if no.such_function(1)"#),
        ("a variable that nothing sets", "deny contains msg if input.plan"),
        ("a misspelt variable", "deny contains msg if { mgs := \"x\" }"),
        ("two values for one rule", "a := 1\na := 2\ndeny contains \"x\" if a == 3"),
        ("two values of one function", "f(_) := 1\nf(_) := 2\ndeny contains \"x\" if f(1) == 3"),
    ];
    for (what, rego) in cases {
        assert!(matches!(verdict(rego), Verdict::Errored { .. }), "{what}: {:?}", verdict(rego));
    }
}

#[test]
fn functions_that_are_silent_in_the_engine_are_errors_with_a_place_and_else_work() {
    for call in [
        r#"units.parse_bytes("10xx")"#,
        r#"units.parse("10xx")"#,
        "units.parse(1)",
        "array.slice([1, 2], 0.5, 1)",
        r#"regex.template_match("}a{", "x", "{", "}")"#,
        "time.add_date(1, 99999999, 1, 1)",
    ] {
        let error = error_of(verdict(&format!("deny contains \"x\" if {call} != 12345")));
        assert!(error.starts_with("p.rego:2:") && error.len() > "p.rego:2:20: ".len(), "{call}: {error}");
    }
    let rego = r#"deny := [
  units.parse_bytes("2KiB"), units.parse("3k"), array.slice([1, 2, 3], 1, 3),
  regex.template_match("urn:{.*}", "urn:a", "{", "}"), time.add_date(0, 0, 0, 1),
]"#;
    assert_eq!(verdict(rego), failed(&["2048", "3000", "[2, 3]", "true", "86400000000000"]));
}

#[test]
fn http_send_is_an_error_that_says_so_and_never_a_pass() {
    for rego in [
        r#"deny contains "x" if http.send({"method": "get", "url": "http://localhost"}).status_code != 200"#,
        r#"deny contains "x" if not http.send({"method": "get", "url": "http://localhost"})"#,
    ] {
        let error = error_of(verdict(rego));
        assert!(error.starts_with("p.rego:2:"), "{error}");
        assert!(error.ends_with("http.send is not supported: policies reach no network here"), "{error}");
    }
}

#[test]
fn sprintf_formats_as_opa_does_inside_a_policy() {
    let rego = r#"deny contains sprintf("%q costs %8.2f (%T), %-6s| %d%%", ["a", 1234.5, 1, "ab", 7])"#;
    assert_eq!(verdict(rego), failed(&[r#""a" costs  1234.50 (int), ab    | 7%"#]));
}

#[test]
fn networks_can_be_compared() {
    let rego = r#"
deny contains "intersects" if net.cidr_intersects("10.0.0.0/8", "10.1.0.0/16")
deny contains "apart" if not net.cidr_intersects("10.0.0.0/8", "11.0.0.0/8")
deny contains sprintf("%v", [net.cidr_contains_matches({"a": "10.0.0.0/8"}, ["10.1.2.3", "8.8.8.8"])])
deny contains sprintf("%v", [net.cidr_contains_matches("::/0", {"fe80::/10", "10.0.0.0/8"})])
"#;
    let expected = ["apart", "intersects", r#"{["::/0", "fe80::/10"]}"#, r#"{["a", 0]}"#];
    assert_eq!(verdict(rego), failed(&expected));
    let error = error_of(verdict(r#"deny contains "x" if net.cidr_intersects("10.0.0/8", "10.0.0.0/8")"#));
    assert!(error.contains("\"10.0.0/8\" is not a CIDR"), "{error}");
}

#[test]
fn metadata_of_a_rule_is_that_of_the_rule_which_asks() {
    let rego = r#"
# METADATA
# title: First
# custom:
#   severity: high
deny contains msg if {
  m := rego.metadata.rule()
  msg := sprintf("%s/%s/%s", [m.title, m.custom.severity, m.scope])
}

# METADATA
# title: of the document
# scope: document

# METADATA
# title: Second
deny contains rego.metadata.rule().title

# not metadata
deny contains msg if {
  text := "rego.metadata.rule()"
  rego.metadata.rule() == {}
  msg := text
}
"#;
    assert_eq!(verdict(rego), failed(&["First/high/rule", "Second", "rego.metadata.rule()"]));
    let error = error_of(verdict("deny contains rego.metadata.chain()[0].path"));
    assert!(error.contains("could not find function rego.metadata.chain"), "{error}");
}

#[test]
fn each_file_is_read_in_the_version_it_is_written_in() {
    let manifest = r#"
policy "old" { query = "data.old.deny" }
policy "new" { query = "data.new.deny" }
"#;
    let old = "package old\n\ndeny[msg] {\n  input.plan.x == 1\n  data.new.limit == 5\n  msg := \"old\"\n}\n";
    let new = "package new\n\nlimit := 5\n\ndeny contains \"new\" if input.plan.x == 1\n";
    let files = [("policies.hcl", manifest), ("old.rego", old), ("new.rego", new)];
    let verdicts: Vec<_> =
        evaluate(&files, &json!({"x": 1}), common::SECOND).into_iter().map(|r| r.verdict).collect();
    assert_eq!(verdicts, [failed(&["old"]), failed(&["new"])]);
    let verdicts: Vec<_> =
        evaluate(&files, &json!({"x": 2}), common::SECOND).into_iter().map(|r| r.verdict).collect();
    assert_eq!(verdicts, [Verdict::Passed, Verdict::Passed]);
}

#[test]
fn policies_see_the_plan_and_the_run() {
    let rego = r#"deny contains sprintf("%s %s", [input.run.workspace.name, input.run.id]) if input.plan.resource_changes == []"#;
    assert_eq!(verdict(rego), failed(&["network-prod run-test"]));
}

#[test]
fn prints_and_notes_are_kept_with_the_result_even_of_a_policy_that_errs() {
    let rego = "deny contains \"x\" if {\n  print(\"seen\", [1, \"a\"], input.no)\n  trace(\"a note\")\n  to_number(\"abc\") > 1\n}";
    let result = result(rego);
    assert!(matches!(result.verdict, Verdict::Errored { .. }));
    assert_eq!(result.prints, ["p.rego:3: seen [1, \"a\"] <undefined>"]);
    assert_eq!(result.trace, "a note");
}

#[test]
fn policies_of_a_set_do_not_see_what_others_did() {
    let manifest = r#"
policy "broken" { query = "data.a.deny" }
policy "fine" { query = "data.b.deny" }
policy "again" { query = "data.a.deny" }
"#;
    let files = [
        ("policies.hcl", manifest),
        ("a.rego", "package a\ndeny contains \"x\" if {\n  print(\"a\")\n  to_number(\"x\") > 1\n}"),
        ("b.rego", "package b\ndeny contains \"b\""),
    ];
    let results = evaluate(&files, &json!({}), common::SECOND);
    assert!(matches!(results[0].verdict, Verdict::Errored { .. }));
    assert_eq!(results[1].verdict, failed(&["b"]));
    assert!(results[1].prints.is_empty());
    assert_eq!((&results[2].verdict, &results[2].prints), (&results[0].verdict, &results[0].prints));
}

#[test]
fn a_policy_with_very_many_messages_keeps_the_first_and_counts_the_rest() {
    let Verdict::Failed { messages } = verdict("deny := numbers.range(1, 2500)") else { panic!() };
    assert_eq!(messages.len(), 1_001);
    assert_eq!(messages[1_000], "… and 1500 more");
}

#[test]
fn a_rule_that_depends_on_itself_is_an_error() {
    let error = error_of(verdict("deny contains \"x\" if count(deny) > 0"));
    assert!(error.starts_with("p.rego:2:1: recursion detected"), "{error}");
}

#[test]
fn a_set_rule_of_old_rego_with_a_constant_message_is_a_policy() {
    assert_eq!(verdict("deny[\"no\"] { input.plan }"), failed(&["no"]));
    assert_eq!(verdict("deny[\"no\"] { input.nothing }"), Verdict::Passed);
}
