//! The test runner.

use sentinel::{PolicySet, Status, TestOptions, TestReport, run_tests};

use crate::support::{MemFiles, host};

const POLICY: &str = "// Whether the hour is right.\n\nparam day\nparam hour\n\nis_weekday = rule { day not in [\"saturday\", \"sunday\"] }\n// Open from eight.\nis_open_hours = rule { hour > 8 and hour < 17 }\nmain = rule { is_open_hours and is_weekday }\n";

fn params(day: &str, hour: i64, rest: &str) -> String {
    format!("param \"day\" {{ value = \"{day}\" }}\nparam \"hour\" {{ value = {hour} }}\n{rest}")
}

fn run_filtered(files: &[(&str, &str)], run: Option<&str>) -> TestReport {
    let options = TestOptions { run: run.map(str::to_owned), ..TestOptions::default() };
    run_tests(&MemFiles::new(files), &[String::new()], &options, &host()).unwrap()
}

fn run(files: &[(&str, &str)]) -> TestReport {
    run_filtered(files, None)
}

#[test]
fn a_case_without_a_test_block_expects_the_policy_to_pass() {
    let good = params("monday", 14, "");
    let bad = params("monday", 7, "");
    let report =
        run(&[("policy.sentinel", POLICY), ("test/policy/good.hcl", &good), ("test/policy/bad.hcl", &bad)]);
    let [bad, good] = &report.policies[0].cases[..] else { panic!("two cases") };
    assert_eq!((bad.status, good.status), (Status::Fail, Status::Pass));
    assert_eq!(report.policies[0].status(), Status::Fail);
    assert!(!report.passed());
}

#[test]
fn a_case_that_asserts_nothing_expects_the_policy_to_pass() {
    for (name, case) in [
        ("a.hcl", ""),
        ("a.hcl", "test {}"),
        ("a.hcl", "test { rules = {} }"),
        ("a.hcl", "test {\n rules {}\n}"),
        ("a.json", "{}"),
        ("a.json", "{\"test\": {}}"),
        ("a.json", "{\"test\": {\"rules\": {}}}"),
    ] {
        let path = format!("test/p/{name}");
        let status = |main: &str| {
            let files = [("p.sentinel", main), (path.as_str(), case)];
            run(&files).policies[0].cases[0].status
        };
        assert_eq!(status("main = rule { false }"), Status::Fail, "{case}");
        assert_eq!(status("main = rule { true }"), Status::Pass, "{case}");
        // an empty list passes a policy too
        assert_eq!(status("main = rule { [] }"), Status::Pass, "{case}");
        assert_eq!(status("main = rule { [1] }"), Status::Fail, "{case}");
        assert_eq!(status("main = rule { undefined }"), Status::Fail, "{case}");
    }
}

#[test]
fn a_case_with_assertions_that_are_not_understood_is_an_error() {
    for (name, case) in [
        ("a.hcl", "test {\n rule {\n main = true\n }\n}"),
        ("a.hcl", "test { rules = { main = false } }\ntest {}"),
        ("a.hcl", "test {\n rules {}\n rules {\n main = false\n }\n}"),
        ("a.hcl", "test {\n rules = {}\n rules {\n main = false\n }\n}"),
        ("a.hcl", "test \"x\" { rules = { main = false } }"),
        ("a.hcl", "test {\n rules \"x\" {\n main = false\n }\n}"),
        ("a.hcl", "test {\n rules {\n main {}\n }\n}"),
        ("a.json", "{\"test\": 5}"),
        ("a.json", "{\"test\": [{\"rules\": {\"main\": false}}, {}]}"),
        ("a.json", "{\"test\": {\"rules\": {\"main\": false}, \"main\": false}}"),
    ] {
        let path = format!("test/p/{name}");
        let report = run(&[("p.sentinel", "main = rule { false }"), (&path, case)]);
        assert_eq!(report.policies[0].cases[0].status, Status::Error, "{case}");
    }
}

#[test]
fn a_failing_case_is_shown_with_its_trace() {
    let bad = params("monday", 7, "");
    let report = run(&[("policy.sentinel", POLICY), ("test/policy/7-am.hcl", &bad)]);
    let expected = "\
FAIL - policy.sentinel
  FAIL - test/policy/7-am.hcl
    expected \"main\" to be true, got: false

    trace:
      FALSE - policy.sentinel:9:1 - Rule \"main\"
        Value:
          false

      FALSE - policy.sentinel:8:1 - Rule \"is_open_hours\"
        Description:
          Open from eight.

        Value:
          false

";
    assert_eq!(report.text(false), expected);
}

#[test]
fn a_passing_case_is_shown_in_one_line_unless_asked() {
    let good = params("monday", 14, "");
    let report = run(&[("policy.sentinel", POLICY), ("test/policy/good.hcl", &good)]);
    assert_eq!(report.text(false), "PASS - policy.sentinel\n  PASS - test/policy/good.hcl\n");
    assert!(report.text(true).contains("Rule \"is_weekday\""));
}

#[test]
fn only_the_rules_that_are_named_are_asserted() {
    let case = params("monday", 7, "test { rules = { is_open_hours = false } }");
    assert!(run(&[("policy.sentinel", POLICY), ("test/policy/a.hcl", &case)]).passed());
}

#[test]
fn a_rule_that_was_not_evaluated_fails_its_assertion() {
    let case = params("monday", 7, "test { rules = { main = false, is_weekday = true } }");
    let report = run(&[("policy.sentinel", POLICY), ("test/policy/a.hcl", &case)]);
    assert!(!report.passed());
    assert!(
        report.text(false).contains("expected \"is_weekday\" to be true, but no such rule was evaluated")
    );
}

#[test]
fn values_of_rules_can_be_asserted() {
    let policy = "param l\nbig = rule { filter l as x { x > 1 } }\nmain = rule { big }";
    let good = "param \"l\" { value = [1, 2, 3] }\ntest { rules = { main = [2, 3], big = [2, 3] } }";
    let bad = "param \"l\" { value = [1, 2, 3] }\ntest { rules = { main = [3] } }";
    assert!(run(&[("p.sentinel", policy), ("test/p/a.hcl", good)]).passed());
    assert!(!run(&[("p.sentinel", policy), ("test/p/a.hcl", bad)]).passed());
}

#[test]
fn a_main_that_is_no_rule_can_be_asserted() {
    assert!(
        run(&[("p.sentinel", "main = 1 > 2"), ("test/p/a.hcl", "test { rules = { main = false } }")])
            .passed()
    );
}

#[test]
fn an_undefined_main_is_not_false() {
    let report = run(&[
        ("p.sentinel", "m = {}\nmain = rule { m.x }"),
        ("test/p/a.hcl", "test { rules = { main = false } }"),
    ]);
    assert_eq!(report.policies[0].cases[0].status, Status::Fail);
    assert!(report.text(false).contains("got: undefined"));
    assert!(report.text(false).contains("--> p.sentinel:2:15"));
}

#[test]
fn a_runtime_error_fails_the_case_whatever_it_asserts() {
    let report = run(&[
        ("p.sentinel", "main = rule { 1 / 0 is 1 }"),
        ("test/p/a.hcl", "test { rules = { main = false } }"),
    ]);
    assert_eq!(report.policies[0].cases[0].status, Status::Error);
    assert!(report.text(false).contains("division by zero"));
}

#[test]
fn a_policy_that_cannot_be_parsed_is_an_error() {
    let report = run(&[("p.sentinel", "main = "), ("test/p/a.hcl", "")]);
    assert_eq!(report.policies[0].status(), Status::Error);
    assert!(report.text(false).contains("--> p.sentinel:1:8"), "{}", report.text(false));
}

#[test]
fn a_case_that_cannot_be_read_is_an_error() {
    let report = run(&[("p.sentinel", "main = true"), ("test/p/a.hcl", "param {")]);
    assert_eq!(report.policies[0].cases[0].status, Status::Error);
}

#[test]
fn a_policy_without_cases_is_unknown_and_does_not_fail() {
    let report = run(&[("p.sentinel", "main = true")]);
    assert_eq!(report.policies[0].status(), Status::None);
    assert!(report.passed());
    assert_eq!(report.text(false), "? - p.sentinel [no test files]\n");
}

#[test]
fn paths_are_relative_to_the_case() {
    let files = [
        (
            "policies/p.sentinel",
            "import \"m\"\nimport \"tfplan/v2\" as t\nimport \"s\"\nmain = m.x is 1 and t.y is 2 and s.z is 3",
        ),
        (
            "policies/test/p/a.hcl",
            "module \"m\" { source = \"../../../modules/m.sentinel\" }\nmock \"tfplan/v2\" {\n module {\n source = \"mocks/t.sentinel\"\n}\n}\nimport \"static\" \"s\" {\n source = \"./data/s.json\"\n format = \"json\"\n}",
        ),
        ("policies/test/p/mocks/t.sentinel", "y = 2"),
        ("policies/test/p/data/s.json", "{\"z\": 3}"),
        ("modules/m.sentinel", "x = 1"),
    ];
    let report =
        run_tests(&MemFiles::new(&files), &["policies".into()], &TestOptions::default(), &host()).unwrap();
    assert!(report.passed(), "{}", report.text(false));
}

#[test]
fn a_path_out_of_the_root_is_refused() {
    let files = [
        ("p.sentinel", "import \"m\"\nmain = true"),
        ("test/p/a.hcl", "module \"m\" { source = \"../../../m.sentinel\" }"),
    ];
    assert!(run(&files).text(false).contains("is outside of the policy set"));
}

#[test]
fn a_module_that_is_missing_fails_the_cases_that_need_it_only() {
    let case = "module \"m\" { source = \"gone.sentinel\" }";
    assert!(!run(&[("p.sentinel", "import \"m\"\nmain = true"), ("test/p/a.hcl", case)]).passed());
    assert!(run(&[("p.sentinel", "main = true"), ("test/p/a.hcl", case)]).passed());
}

#[test]
fn what_is_missing_is_told_with_the_place_that_names_it() {
    let policy = ("p.sentinel", "import \"m\"\nmain = true");
    for case in [
        "module \"m\" {\n  source = \"gone.sentinel\"\n}",
        "mock \"m\" {\n  module {\n    source = \"gone.sentinel\"\n  }\n}",
    ] {
        let text = run(&[policy, ("test/p/a.hcl", case)]).text(false);
        let line = case.lines().position(|line| line.contains("source")).unwrap() + 1;
        assert!(text.contains(&format!("--> test/p/a.hcl:{line}:")), "{text}");
    }
}

#[test]
fn old_json_cases_run() {
    let case = "{\"mock\": {\"m\": {\"x\": 1}}, \"test\": {\"main\": true}}";
    let report = run(&[("p.sentinel", "import \"m\"\nmain = rule { m.x is 1 }"), ("test/p/a.json", case)]);
    assert!(report.passed(), "{}", report.text(false));
    assert!(report.policies[0].cases[0].legacy);
}

#[test]
fn a_pattern_chooses_policies_and_cases() {
    let files = [
        ("ab.sentinel", "main = true"),
        ("test/ab/one.hcl", ""),
        ("test/ab/two.hcl", ""),
        ("cd.sentinel", "main = true"),
        ("test/cd/one.hcl", ""),
    ];
    let names = |run: &str| -> Vec<String> {
        let report = run_filtered(&files, Some(run));
        report.policies.iter().flat_map(|policy| policy.cases.iter().map(|case| case.path.clone())).collect()
    };
    assert_eq!(names("ab"), ["test/ab/one.hcl", "test/ab/two.hcl"]);
    assert_eq!(names("/one"), ["test/ab/one.hcl", "test/cd/one.hcl"]);
    assert_eq!(names("^c/o"), ["test/cd/one.hcl"]);
    assert!(
        run_tests(
            &MemFiles::new(&files),
            &[String::new()],
            &TestOptions { run: Some("(".into()), ..TestOptions::default() },
            &host()
        )
        .is_err()
    );
}

#[test]
fn a_single_policy_can_be_tested() {
    let files = [
        ("a.sentinel", "main = true"),
        ("test/a/x.hcl", ""),
        ("b.sentinel", "main = false"),
        ("test/b/x.hcl", ""),
    ];
    let report =
        run_tests(&MemFiles::new(&files), &["a.sentinel".into()], &TestOptions::default(), &host()).unwrap();
    assert_eq!(report.policies.len(), 1);
    assert!(report.passed());
}

#[test]
fn the_report_as_json_has_the_reference_form() {
    let bad = params("monday", 7, "");
    let report = run(&[("policy.sentinel", POLICY), ("test/policy/bad.hcl", &bad)]);
    let json = report.json();
    let policy = &json["policies"]["policy.sentinel"];
    assert_eq!(policy["status"], "FAIL");
    assert_eq!(policy["errors"], serde_json::Value::Null);
    let case = &policy["cases"]["test/policy/bad.hcl"];
    assert_eq!(case["status"], "FAIL");
    assert_eq!(case["config_legacy"], false);
    assert_eq!(case["rule_detail"]["main"]["expected"], true);
    assert_eq!(case["trace"]["description"], "Whether the hour is right.");
    assert_eq!(case["trace"]["result"], false);
    let rule = &case["trace"]["rules"]["is_open_hours"];
    assert_eq!(rule["desc"], "Open from eight.");
    assert_eq!(rule["value"], false);
    assert_eq!(rule["position"]["line"], 8);
    assert_eq!(rule["position"]["filename"], "policy.sentinel");
}

#[test]
fn prints_are_shown_with_a_failing_case() {
    let report = run(&[("p.sentinel", "print(\"hello\")\nmain = rule { false }"), ("test/p/a.hcl", "")]);
    assert!(report.text(false).contains("logs:\n      hello\n"), "{}", report.text(false));
}

#[test]
fn a_policy_that_is_named_twice_is_tested_once() {
    let files = MemFiles::new(&[("p.sentinel", "main = true"), ("test/p/a.hcl", "")]);
    let paths = [String::new(), "p.sentinel".to_owned()];
    let report = run_tests(&files, &paths, &TestOptions::default(), &host()).unwrap();
    assert_eq!(report.policies.len(), 1);
}

#[test]
fn a_pattern_that_is_none_is_refused_in_one_line() {
    let options = TestOptions { run: Some("(".into()), ..TestOptions::default() };
    let error = run_tests(&MemFiles::new(&[]), &[String::new()], &options, &host()).unwrap_err();
    assert_eq!(error.message(), "`(` is not a regular expression: unclosed group");
}

/// In a source `::` makes a URL of it, and behind `?` is a sum.
#[test]
fn a_folder_may_have_any_name() {
    for folder in ["a::b", "q?x", "u:/x"] {
        let at = |name: &str| format!("{folder}/{name}");
        let files = MemFiles::new(&[
            (&at("sentinel.hcl"), "policy \"p\" {}"),
            (&at("p.sentinel"), "main = true"),
            (&at("test/p/a.hcl"), "mock \"m\" {\n  module {\n    source = \"../../lib/m.sentinel\"\n  }\n}"),
            (&at("lib/m.sentinel"), "x = 1"),
        ]);
        let set = PolicySet::load(&files, folder).unwrap();
        assert_eq!(set.problems().count(), 0, "{folder}");
        let report = run_tests(&files, &[folder.to_owned()], &TestOptions::default(), &host()).unwrap();
        assert_eq!(report.policies[0].status(), Status::Pass, "{folder}");
    }
}
