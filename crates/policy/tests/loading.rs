//! Mistakes of policy sets, each with its place and what would be right.
#![cfg(feature = "rego")]

mod common;

use std::{os::unix::fs::symlink, path::Path};

use common::{folder, mistakes, write};
use policy::{PolicySet, SetSettings};

const POLICY: &str = "policy \"p\" { query = \"data.test.deny\" }\n";
const REGO: &str = "package test\n\ndeny contains \"x\" if input.plan.x\n";

#[test]
fn every_mistake_of_a_set_is_reported_at_once() {
    let outside = folder(&[("secret.rego", REGO)]);
    let dir = folder(&[
        (
            "policies.hcl",
            "policy \"a\" {\n  query = \"data.test.deny\"\n  enforcement_level = \"hard\"\n}\npolicy \"b\" { desc = \"x\" }\n",
        ),
        ("broken.rego", "package test\n\ndeny contains msg if {\n  msg := \n}\n"),
        ("lib/old.rego", "package lib\n\nwarn[msg] {\n  input.x == ]\n}\n"),
        ("good.rego", REGO),
        ("ignored_test.rego", "package test\n\nnot rego at all"),
    ]);
    symlink(outside.path().join("secret.rego"), dir.path().join("link.rego")).unwrap();
    let error = PolicySet::load("test", dir.path(), &SetSettings::default()).unwrap_err();
    insta::assert_snapshot!(error.to_string());
}

#[test]
fn queries_that_name_no_rule_are_mistakes_with_what_was_probably_meant() {
    let manifest = "policy \"a\" { query = \"data.test.dney\" }\npolicy \"b\" { query = \"test.deny\" }\n\
                    policy \"c\" { query = \"data.elsewhere.completely\" }\npolicy \"d\" { query = \"data.test\" }\n\
                    policy \"e\" { query = \"count(data.test.deny)\" }\n";
    insta::assert_snapshot!(mistakes(&[("policies.hcl", manifest), ("a.rego", REGO)]).to_string());
}

#[test]
fn queries_that_name_something_else_than_a_set_are_mistakes() {
    for rego in ["deny[\"x\"] := 1", "deny.x := 1"] {
        let error = mistakes(&[("policies.hcl", POLICY), ("a.rego", &format!("package test\n{rego}\n"))]);
        assert_eq!(error.mistakes()[0].file, "policies.hcl", "{error}");
    }
}

#[test]
fn files_that_do_not_fit_together_are_a_mistake_with_its_place() {
    let unsafe_variable = "package test\n\ndeny contains \"x\" if {\n  input.plan.x == y\n}\n";
    let error = mistakes(&[("policies.hcl", POLICY), ("a.rego", unsafe_variable), ("b.rego", REGO)]);
    let mistake = &error.mistakes()[0];
    assert_eq!((mistake.file.as_str(), mistake.place.unwrap().line), ("a.rego", 4), "{error}");
}

#[test]
fn functions_that_call_themselves_are_a_mistake_at_the_call() {
    let rego = "package test\n\nimport data.lib as l\n\nf(x) := f(x + 1)\n\ng(x) := l.h(x)\n\nfine(x) := count([f(y) | some y in x])\n\n\
                deny contains \"x\" if fine([1])\n";
    let lib = "package lib\n\nh(x) := y if {\n  some y in [data.test.g(x)]\n}\n";
    insta::assert_snapshot!(
        mistakes(&[("policies.hcl", POLICY), ("a.rego", rego), ("lib.rego", lib)]).to_string()
    );
}

#[test]
fn new_rego_with_a_mistake_is_not_read_as_another_policy_of_old_rego() {
    // without `if` this is no v1; as v0, `contains` would be a rule of its own, and `deny` true
    let rego = "package test\n\ndeny contains \"x\" {\n  input.plan.x\n}\n";
    let error = mistakes(&[("policies.hcl", POLICY), ("a.rego", rego)]).to_string();
    assert!(error.starts_with("a.rego:3:"), "{error}");
}

#[test]
fn the_version_of_a_set_holds_for_each_of_its_files() {
    let old = "package test\n\ndeny[msg] {\n  msg := \"x\"\n}\n";
    for (version, rego, good) in
        [("v0", old, true), ("v1", old, false), ("v1", REGO, true), ("v0", REGO, false)]
    {
        let manifest = format!("rego_version = \"{version}\"\n{POLICY}");
        let dir = folder(&[("policies.hcl", &manifest), ("a.rego", rego)]);
        match PolicySet::load("test", dir.path(), &SetSettings::default()) {
            Ok(_) => assert!(good, "{version} {rego}"),
            Err(error) => {
                assert!(!good, "{error}");
                assert!(error.to_string().contains(&format!("read as Rego {version}")), "{error}");
                assert!(error.mistakes()[0].place.is_some());
            }
        }
    }
}

#[test]
fn a_folder_with_the_manifests_of_two_engines_is_refused() {
    let error = mistakes(&[
        ("policies.hcl", POLICY),
        ("a.rego", REGO),
        ("sentinel.hcl", "policy \"a\" {}\n"),
        ("a.sentinel", "main = rule { true }\n"),
    ]);
    assert_eq!(
        error.to_string(),
        "the folder holds both policies.hcl and sentinel.hcl; a set has one engine: move one of them to a folder of its own"
    );
}

#[test]
fn folders_that_are_no_policy_sets_are_refused_with_what_would_be_right() {
    let none = PolicySet::load("test", Path::new("/no/such/folder"), &SetSettings::default())
        .unwrap_err()
        .to_string();
    assert!(none.starts_with("cannot read the policy set /no/such/folder: "), "{none}");
    let file = folder(&[("x", "")]);
    assert!(
        PolicySet::load("test", &file.path().join("x"), &SetSettings::default())
            .unwrap_err()
            .to_string()
            .contains("not a folder")
    );
    assert!(mistakes(&[("a.rego", REGO)]).to_string().contains("holds no policies.hcl"));
    assert!(mistakes(&[("policies.hcl", POLICY)]).to_string().contains("the set has no .rego file"));
    assert!(mistakes(&[("policies.json", "{}")]).to_string().contains("write it as policies.hcl"));
}

#[test]
fn a_set_in_a_subfolder_has_its_own_policies_and_may_use_modules_beside_it() {
    let dir = folder(&[
        (
            "aws/sentinel.hcl",
            "policy \"a\" {}\nimport \"module\" \"lib\" {\n  source = \"../lib/lib.sentinel\"\n}\n",
        ),
        ("aws/a.sentinel", "import \"lib\"\nmain = rule { lib.yes }\n"),
        ("lib/lib.sentinel", "yes = true\n"),
        ("gcp/policies.hcl", POLICY),
        ("gcp/a.rego", REGO),
        ("a.rego", "package other\n"),
    ]);
    // what is of no set is no mistake of this one
    symlink("/etc/passwd", dir.path().join("lib/link")).unwrap();
    let load = |path: &Path, policies_path: &str| {
        let settings = SetSettings { policies_path: policies_path.into(), ..SetSettings::default() };
        PolicySet::load("test", path, &settings)
    };
    for policies_path in ["aws", "gcp"] {
        let set = load(dir.path(), policies_path).unwrap_or_else(|error| panic!("{error}"));
        let names: Vec<_> = set.policies().iter().map(|policy| policy.name.as_str()).collect();
        assert_eq!(names, [if policies_path == "aws" { "a" } else { "p" }]);
    }
    let outside = load(&dir.path().join("aws"), "").unwrap_err().to_string();
    assert!(outside.contains("is outside of the policy set"), "{outside}");
    assert!(outside.contains("as `policies_path` where in it the set is"), "{outside}");
    assert!(load(dir.path(), "").unwrap_err().to_string().contains("holds no policies.hcl"));
    let link = "import \"module\" \"lib\" {\n  source = \"../lib/link\"\n}\npolicy \"a\" {}\n";
    write(dir.path(), &[("aws/sentinel.hcl", link)]);
    let link = load(dir.path(), "aws").unwrap_err().to_string();
    assert!(link.starts_with("aws/sentinel.hcl:2:"), "{link}");
    assert!(link.contains("there is no such file in the policy set"), "{link}");
}

#[test]
fn a_set_that_is_larger_than_any_set_is_refused() {
    let dir = folder(&[]);
    let mut manifest = "policy \"a\" {}\n".to_owned();
    for number in 0..20 {
        write(dir.path(), &[(&format!("{number}.json"), &format!("\"{}\"", "x".repeat(4_000_000)))]);
        manifest.push_str(&format!(
            "import \"static\" \"n{number}\" {{\n  source = \"./{number}.json\"\n  format = \"json\"\n}}\n"
        ));
    }
    write(dir.path(), &[("sentinel.hcl", manifest.as_str()), ("a.sentinel", "main = true\n")]);
    let error = PolicySet::load("test", dir.path(), &SetSettings::default()).unwrap_err().to_string();
    assert!(error.contains("the files of the set have more than 67108864 bytes together"), "{error}");
}

#[test]
fn metadata_that_is_no_mapping_is_a_mistake_where_it_is_asked_for() {
    let rego = "package test\n\n# METADATA\n# title: [\ndeny contains rego.metadata.rule().title\n";
    let error = mistakes(&[("policies.hcl", POLICY), ("a.rego", rego)]);
    let mistake = &error.mistakes()[0];
    assert_eq!(
        (mistake.message.as_str(), mistake.place.unwrap().line),
        ("the metadata is not a YAML mapping", 3)
    );
}
