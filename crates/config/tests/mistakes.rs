//! Every mistake with its place, its words, and what would be right.
//!
//! The cases are in `mistakes/*.txt`: `### ` and the rule, the text, `---`, and a line for each finding with the other
//! places that belong to it in brackets.

mod common;

use std::path::Path;

use common::FakeHost;
use config::Config;

/// Follows the text of a case, so that nothing but the mistake is wrong with it.
const REST: &str = r#"
organization = "acme"
user "owner" { token_sha256 = "0000000000000000000000000000000000000000000000000000000000000000" }
team "owners" { members = ["owner"] }
team "platform" { members = ["owner"] }
workspace "main" {
  source "directory" { path = "main" }
}
"#;

fn findings(text: &str) -> Vec<String> {
    let found = match Config::parse(text, Path::new("/etc/signalbox/f"), &FakeHost::new()) {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    };
    let shown = found.iter().map(|finding| {
        let mut line = finding.to_string().replacen("/etc/signalbox/f:", "", 1);
        for related in &finding.related {
            line += &format!(" [{}:{} {}]", related.location.line, related.location.column, related.label);
        }
        line
    });
    shown.collect()
}

fn check(cases: &str, rest: &str) {
    let mut wrong = String::new();
    let mut count = 0;
    for case in cases.split("### ").skip(1) {
        let (rule, case) = case.split_once('\n').unwrap_or_default();
        let (text, expected) = case.split_once("---\n").unwrap_or_default();
        let expected: Vec<&str> = expected.lines().filter(|line| !line.is_empty()).collect();
        assert!(!expected.is_empty(), "{rule}: nothing is expected");
        let found = findings(&format!("{text}{rest}"));
        if found != expected {
            wrong += &format!("### {rule}\n{text}---\n{}\n\n", found.join("\n"));
        }
        count += 1;
    }
    assert!(count > 0);
    assert!(wrong.is_empty(), "not as expected; this is what was found:\n\n{wrong}");
}

macro_rules! checks {
    ($($rule:ident: $file:literal, $rest:expr;)*) => {$(
        #[test]
        fn $rule() {
            check(include_str!(concat!("mistakes/", $file, ".txt")), $rest);
        }
    )*};
}

checks! {
    what_does_not_belong_there_or_has_no_proper_name: "structure", REST;
    users_and_teams_that_cannot_work: "identities", REST;
    values_of_the_wrong_kind_or_beyond_their_limits: "values", REST;
    policy_sets_that_would_not_be_checked: "policy_sets", REST;
    workspaces_that_could_not_run_or_would_break_a_promise: "workspaces", REST;
    expressions_without_a_value: "expressions", REST;
    a_file_that_is_not_hcl_gets_a_place_and_a_guess: "syntax", "";
}

#[test]
fn what_the_cases_have_in_common_is_right() {
    assert_eq!(findings(REST), Vec::<String>::new());
}
