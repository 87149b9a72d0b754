//! How findings are shown, and that none is lost.

mod common;

use std::path::Path;

use common::FakeHost;
use config::{Code, Config, Diagnostics, Severity, SystemHost};

fn mistakes(text: &str) -> Diagnostics {
    match Config::parse(text, Path::new("signalbox.hcl"), &FakeHost::new()) {
        Ok(loaded) => loaded.warnings,
        Err(diagnostics) => diagnostics,
    }
}

const FIFTEEN: &str = r#"organisation = "acme"
server {
  listen              = "nowhere:8080"
  max_concurrent_runs = "4"
  cancel_grace        = "2 fortnights"
}
server {
}
user "owner" { token_sha256 = "0123" }
team "owners" { members = ["onwer"] }
team "owners" {
}
policy_set "baseline" { path = "nowhere" }
workspace "net work" {
  source "git" {
    url = "-x"
  }
  auto_aply = true
  variables = { region = eu-west-1 }
  variables = {}
  environment = { TF_WORKSPACE = env("MISSING") }
}
"#;

#[test]
fn a_file_with_fifteen_mistakes_and_some_more_reports_each_once() {
    let found = mistakes(FIFTEEN);
    let places: Vec<_> = found
        .iter()
        .map(|finding| {
            let place = finding.location.as_ref().unwrap();
            (place.line, place.column, finding.code)
        })
        .collect();
    assert_eq!(
        places,
        [
            (1, 1, Code::UnknownAttribute),
            (3, 25, Code::InvalidValue),
            (4, 25, Code::WrongType),
            (5, 25, Code::InvalidValue),
            (7, 1, Code::Duplicate),
            (9, 31, Code::InvalidValue),
            (10, 28, Code::UnknownReference),
            (11, 1, Code::Missing),
            (11, 6, Code::Duplicate),
            (13, 32, Code::NotADirectory),
            (14, 11, Code::InvalidValue),
            (16, 11, Code::InvalidValue),
            (18, 3, Code::UnknownAttribute),
            (19, 26, Code::UndefinedVariable),
            (20, 3, Code::Duplicate),
            (21, 19, Code::ForbiddenEnvironment),
            (21, 34, Code::MissingEnvironment),
        ]
    );
    assert_eq!(found.count(Severity::Error), 16);
}

#[test]
fn findings_are_shown_with_their_lines_as_rustc_does() {
    let text = "organization = \"acme\"\nserver {\n  lisen = \"127.0.0.1:8080\"\n}\nteam \"owners\" { members = [\"é\"] }\n\
                team \"owners\" { members = [] }\n";
    insta::assert_snapshot!(mistakes(text).render(false));
}

#[test]
fn a_file_in_which_nobody_is_an_owner_gets_one_warning() {
    let user = format!("organization = \"acme\"\nuser \"u\" {{ token_sha256 = \"{}\" }}\n", "1".repeat(64));
    let warnings = |rest: &str| mistakes(&format!("{user}{rest}")).to_string();
    let warning = "warning[no-owner]: nobody is an owner: failed policies can't be overridden; \
                   add `team \"owners\" { members = [\"name\"] }`";
    assert_eq!(warnings(""), format!("signalbox.hcl:1:1: {warning}"));
    assert_eq!(warnings("team \"owners\" { members = [] }"), format!("signalbox.hcl:3:1: {warning}"));
    assert_eq!(warnings("team \"owners\" { members = [\"u\"] }"), "");
    assert!(
        !warnings("team \"owners\" { members = [\"w\"] }").contains("no-owner"),
        "reported as unknown already"
    );
}

#[test]
fn colours_are_there_only_when_asked_for() {
    let found = mistakes("organization = 1");
    assert!(found.render(true).contains("\u{1b}["));
    assert!(!found.render(false).contains('\u{1b}'));
}

#[test]
fn the_column_in_the_picture_is_the_column_of_the_finding() {
    let found = mistakes("organization = \"acme\"\nteam \"é€🙂\" { mumbers = [] }\n");
    let mumbers = found.iter().find(|finding| finding.code == Code::UnknownAttribute).unwrap();
    let place = mumbers.location.as_ref().unwrap();
    assert!(found.render(false).contains(&format!("signalbox.hcl:{}:{}", place.line, place.column)));
}

#[test]
fn places_far_apart_are_shown_each_by_itself_and_lines_without_end_not_at_all() {
    let far = format!("organization = \"a\"\n{}organization = \"b\"\n", "# nothing\n".repeat(10_000));
    let shown = mistakes(&far).render(false);
    assert!(shown.contains("signalbox.hcl:10002:1\n") && shown.contains("signalbox.hcl:1:1\n"), "{shown}");
    assert!(shown.contains("again here") && shown.contains("first here"), "{shown}");
    let long = format!("organization = \"a\"\nserver {{\n  listen = [{}1]\n}}\n", "\"é\", ".repeat(10_000));
    let shown = mistakes(&long).render(false);
    assert!(shown.contains("signalbox.hcl:3:12\n") && shown.len() < 2_000, "{shown}");
}

#[test]
fn secrets_are_not_in_the_picture() {
    let text = "organization = \"acme\"\nworkspace \"w\" {\n  source \"directory\" { path = \"x\" }\n  \
                variables           = { a = 1 }\n  \
                sensitive_variables = { a = \"hunter2\", b = [\"hunter2\"], c = hunter2 }\n  \
                sensitive_environment = { A = \"hunter2${x}\" }\n}\n\
                server {\n  public_url = \"https://me:hunter2@example.com\"\n}\n";
    let found = mistakes(text);
    assert_eq!(found.count(Severity::Error), 4, "{found}");
    let shown =
        format!("{} {found} {found:?} {}", found.render(false), serde_json::to_string(&found).unwrap());
    assert!(!shown.contains("hunter2"), "{shown}");
    assert!(shown.contains("*********"), "{shown}");
}

#[test]
fn as_json_each_finding_says_where_and_what() {
    let found =
        mistakes("organization = \"acme\"\nserver {\n}\nserver {\n}\nteam \"owners\" { members = [5] }\n");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(
        json[0],
        serde_json::json!({
            "code": "duplicate", "severity": "error", "file": "signalbox.hcl", "line": 4, "column": 1,
            "span": {"start": 33, "end": 39}, "message": "there are two `server` blocks", "label": "again here",
            "help": "put all into one",
            "related": [{"location": {"line": 2, "column": 1, "span": {"start": 22, "end": 28}}, "label": "first here"}],
        })
    );
    assert_eq!(json.as_array().unwrap().len(), 2);
    assert_eq!(
        (&json[1]["line"], &json[1]["code"]),
        (&serde_json::json!(6), &serde_json::json!("wrong-type"))
    );
}

#[test]
fn code_names_are_the_same_in_json_and_in_words() {
    let found = mistakes(FIFTEEN);
    for finding in &found {
        assert_eq!(serde_json::to_value(finding.code).unwrap(), finding.code.as_str());
        assert_eq!(serde_json::to_value(finding.severity).unwrap(), finding.severity.as_str());
    }
}

#[test]
fn a_file_that_cannot_be_read_is_a_finding_without_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.hcl");
    let found = Config::load(&path, &SystemHost).unwrap_err();
    let expected = format!(
        "{}: error[unreadable]: can't read the config file: No such file or directory (os error 2); \
         name a file that the daemon may read",
        path.display()
    );
    assert_eq!(found.to_string(), expected);
    let shown = found.render(false);
    assert!(shown.contains("can't read the config file") && shown.contains("missing.hcl"), "{shown}");
    assert!(serde_json::to_value(&found).unwrap()[0]["line"].is_null());
}

#[test]
fn bytes_that_are_not_text_have_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("signalbox.hcl");
    std::fs::write(&path, b"organization = \"acme\"\n# \xff\n").unwrap();
    let found = Config::load(&path, &SystemHost).unwrap_err();
    let place = found.iter().next().unwrap().location.clone().unwrap();
    assert_eq!((place.line, place.column), (2, 3));
    assert!(found.render(false).contains("not UTF-8"));
}

#[test]
fn a_file_on_disk_is_read_with_what_it_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("policies")).unwrap();
    std::fs::write(folder.path().join("secret"), "s3cret\n").unwrap();
    let text = "organization = \"acme\"\npolicy_set \"p\" { path = \"policies\" }\nworkspace \"w\" {\n  \
                source \"directory\" { path = \".\" }\n  sensitive_variables = { a = file(\"secret\") }\n}\n";
    let path = folder.path().join("signalbox.hcl");
    std::fs::write(&path, text).unwrap();
    let loaded = Config::load(&path, &SystemHost).unwrap();
    assert_eq!(loaded.config.workspaces["w"].sensitive_variables["a"].expose(), "s3cret");
    assert_eq!(loaded.config.policy_sets["p"].path, folder.path().join("policies"));
    assert_eq!(loaded.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), [Code::NoOwner]);
}

/// A token as `signalbox token new` makes it.
const TOKEN: &str = "signalbox_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_AbCde";

#[test]
fn a_secret_is_shown_by_no_finding_wherever_it_stands() {
    let user = |attribute: &str| format!("user \"ada\" {{ {attribute} }}\n");
    let workspace = |attribute: &str| {
        format!("workspace \"w\" {{\n  source \"directory\" {{ path = \"w\" }}\n  {attribute}\n}}\n")
    };
    let secret = "pa55-of_the_house";
    for (text, told) in [
        (user(&format!("token_sha256 = {TOKEN:?}")), "this is a token, and not the SHA-256 of one"),
        (user(&format!("token_sha256 = [{TOKEN:?}]")), "make a new one"),
        (user(&format!("token_sha256 = {TOKEN}")), "not defined"),
        (user(&format!("token_sha256 = {secret:?}")), "64 hexadecimal digits"),
        (user(&format!("token = {secret:?}")), "has no attribute `token`"),
        (user(&format!("token_sha256 = {{ a = {secret:?} }}")), "expected"),
        (format!("team \"t\" {{ members = [{TOKEN:?}] }}\n"), "user"),
        (format!("{TOKEN} = 1\n"), "has no attribute"),
        (format!("user {TOKEN:?} {{ token_sha256 = 1 }}\n"), "token_sha256"),
        (workspace(&format!("sensitve_variables = {{ a = {secret:?} }}")), "did you mean"),
        (workspace(&format!("sensitive_variables = {{ a = {secret:?} }} auto_apply = yes")), ""),
        (workspace(&format!("sensitive_variables = {{ a = {secret:?} b }}")), ""),
        (workspace(&format!("sensitive_variables = {{ a = \"{secret}\n }}")), ""),
        (workspace(&format!("sensitive_variables = {{ a = <<END\n{secret}\nEND\n b }}")), ""),
    ] {
        let found = mistakes(&text);
        for shown in [found.render(false), found.render(true), format!("{found:?}"), json(&found)] {
            assert!(!shown.contains(secret) && !shown.contains(TOKEN), "{text}:\n{shown}");
        }
        let shown = found.render(false);
        assert!(shown.contains(told) && shown.contains("error["), "{text}:\n{shown}");
    }
}

fn json(found: &config::Diagnostics) -> String {
    let findings = found.iter().map(|finding| serde_json::to_value(finding).unwrap_or_default());
    serde_json::Value::from_iter(findings).to_string()
}
