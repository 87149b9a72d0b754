//! Parameters.

use sentinel::{Data, Environment, Outcome, PolicySet, Status, TestOptions, parse_param, run_tests};

use crate::support::{MemFiles, host, run, run_in};

fn outcome(source: &str, params: &[(&str, Data)]) -> Outcome {
    run_in(source, &Environment::default(), params).unwrap().outcome
}

#[test]
fn a_parameter_has_the_value_it_is_given() {
    assert!(outcome("param p\nmain = p is 5", &[("p", Data::Int(5))]).passed());
}

#[test]
fn a_parameter_without_a_value_has_its_default() {
    assert!(outcome("param p default 42\nmain = p is 42", &[]).passed());
    assert!(outcome("param p default 42\nmain = p is 1", &[("p", Data::Int(1))]).passed());
}

#[test]
fn a_parameter_without_value_and_default_is_an_error() {
    let Outcome::Errored(error) = outcome("param p\nmain = true", &[]) else { panic!("no error") };
    assert_eq!(error.to_string(), "policy.sentinel:1:7: the parameter `p` has no value");
}

#[test]
fn defaults_are_literals() {
    let source = "param a default \"x\"\nparam b default -1\nparam c default +1.5\nparam d default false\nparam e default [1, {\"k\": [true]}]\nmain = [a, b, c, d, e] is [\"x\", -1, 1.5, false, [1, {\"k\": [true]}]]";
    assert!(outcome(source, &[]).passed());
    for default in [
        "x",
        "1 + 1",
        "null",
        "undefined",
        "func() { return 1 }",
        "[y]",
        "not true",
        "[null]",
        "[1, [null]]",
        "{\"a\": [null]}",
        "[undefined]",
    ] {
        let error = run(&format!("param p default {default}\nmain = true")).unwrap_err();
        assert_eq!(error.message(), "the default of a parameter must be a literal", "{default}");
    }
}

#[test]
fn a_parameter_can_be_assigned() {
    assert!(outcome("param p default 1\np = 2\nmain = p is 2", &[]).passed());
}

#[test]
fn a_parameter_cannot_have_a_name_that_is_taken() {
    for (source, message) in [
        ("import \"time\"\nparam time default 1", "has the name of an import"),
        ("param undefined", "has a predeclared name"),
        ("param length", "has a predeclared name"),
        ("param a\nparam a", "is declared twice"),
        ("x = 1\nparam a", "must be at the top of the file"),
    ] {
        let error = run(source).unwrap_err();
        assert!(error.message().contains(message), "{source}: {error}");
    }
    assert!(run("param filter").is_err());
}

#[test]
fn a_list_that_is_given_can_be_changed_by_the_policy_only() {
    let list = Data::list([Data::Int(1)]);
    let source = "param p\nappend(p, 2)\nmain = p is [1, 2]";
    assert!(outcome(source, &[("p", list.clone())]).passed());
    assert_eq!(list, Data::list([Data::Int(1)]));
}

#[test]
fn text_of_a_setting_is_json_or_itself() {
    assert_eq!(parse_param("5"), Data::Int(5));
    assert_eq!(parse_param("[\"a\"]"), Data::list(["a".into()]));
    assert_eq!(parse_param("\"5\""), "5".into());
    assert_eq!(parse_param("t2.micro"), "t2.micro".into());
}

/// With a misspelt name the policy would go by its default, and nobody would be told.
#[test]
fn a_policy_is_given_only_parameters_that_it_has() {
    let files = |params: &str| {
        let config = format!(
            "policy \"a\" {{\n  params {params}\n}}\npolicy \"b\" {{}}\nparam \"other\" {{ value = 1 }}"
        );
        MemFiles::new(&[
            ("sentinel.hcl", &config),
            ("a.sentinel", "param limit default 1\nmain = true"),
            ("b.sentinel", "param other default 1\nmain = true"),
        ])
    };
    let surplus = |params: &str| -> Vec<String> {
        let set = PolicySet::load(&files(params), "").unwrap();
        assert!(set.mistakes(&[], &[]).is_empty());
        set.surplus_params().map(|error| format!("{error}; {}", error.notes().join(" "))).collect()
    };
    assert!(surplus("= { limit = 2 }").is_empty());
    for params in ["= { limits = 2 }", "{\n    limits = 2\n  }"] {
        assert_eq!(
            surplus(params),
            ["sentinel.hcl:2:3: the policy has no parameter `limits`; did you mean `limit`?"]
        );
    }
    assert_eq!(
        surplus("= { other = 2 }"),
        ["sentinel.hcl:2:3: the policy has no parameter `other`; it has limit"]
    );
    let set = PolicySet::load(&files("= {}"), "").unwrap();
    assert!(set.may_have_param("other") && !set.may_have_param("others"));
}

/// A misspelt name again; the reference says nothing.
#[test]
fn a_param_block_that_no_policy_has_is_told_with_its_place() {
    let unused = |config: &str, b: &str| -> Vec<String> {
        let files = MemFiles::new(&[
            ("sentinel.hcl", config),
            ("a.sentinel", "param limit default 1\nmain = true"),
            ("b.sentinel", b),
        ]);
        let set = PolicySet::load(&files, "").unwrap();
        let errors = set.unused_params();
        errors.iter().map(|error| format!("{error}; {}", error.notes().join(" "))).collect()
    };
    let (policies, b) = ("policy \"a\" {}\npolicy \"b\" {}\n", "main = true");
    let with = |block: &str| format!("{policies}{block}");
    assert!(unused(&with("param \"limit\" { value = 2 }"), b).is_empty());
    assert_eq!(
        unused(&with("param \"limits\" { value = 2 }\nparam \"x\" { value = 2 }"), b),
        [
            "sentinel.hcl:3:1: no policy has a parameter `limits`; did you mean `limit`?",
            "sentinel.hcl:4:1: no policy has a parameter `x`; ",
        ]
    );
    assert!(unused(&with("global \"limits\" { value = 2 }"), b).is_empty());
    // it could be the one of the policy that is broken
    assert!(unused(&with("param \"limits\" { value = 2 }"), "main = ").is_empty());
}

#[test]
fn a_case_is_warned_about_parameters_that_its_policy_does_not_have() {
    let files = MemFiles::new(&[
        ("p.sentinel", "param limit default 1\nmain = true"),
        ("test/p/a.hcl", "param \"limits\" { value = 2 }"),
    ]);
    let report = run_tests(&files, &[String::new()], &TestOptions::default(), &host()).unwrap();
    let case = &report.policies[0].cases[0];
    assert_eq!(case.status, Status::Pass);
    assert_eq!(case.warnings, ["the policy has no parameter `limits`"]);
    assert!(report.text(false).contains("warning: the policy has no parameter `limits`"));
}
