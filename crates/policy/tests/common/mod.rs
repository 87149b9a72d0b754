//! Policy sets written for one test, and what they say about a plan.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a helper of tests fails the test")]
#![allow(dead_code, reason = "each test binary uses its part")]

use std::{fs, path::Path, sync::Arc, time::Duration};

use policy::{Input, Limits, LoadError, PolicyResult, PolicySet, SetSettings, Verdict};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), files);
    dir
}

pub(crate) fn write(dir: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// The mistakes of a set of these files.
pub(crate) fn mistakes(files: &[(&str, &str)]) -> LoadError {
    PolicySet::load("test", folder(files).path(), &SetSettings::default()).unwrap_err()
}

pub(crate) fn input(plan: &Value) -> Arc<Input> {
    let run = json!({
        "id": "run-test", "message": "a change", "is_destroy": false,
        "workspace": {"name": "network-prod"}, "organization": {"name": "acme"},
    });
    Arc::new(Input::new(plan.to_string(), run).unwrap())
}

pub(crate) const SECOND: Limits = Limits { time: Duration::from_secs(1) };

/// The results of a set of these files for the plan.
pub(crate) fn evaluate(files: &[(&str, &str)], plan: &Value, limits: Limits) -> Vec<PolicyResult> {
    let dir = folder(files);
    let set = PolicySet::load("test", dir.path(), &SetSettings::default()).unwrap_or_else(|e| panic!("{e}"));
    set.evaluate(&input(plan), limits)
}

/// The verdict of `data.test.deny` in a file of these lines (without its package line).
pub(crate) fn verdict(rego: &str) -> Verdict {
    let result = result(rego);
    result.verdict
}

/// The same with everything around it.
pub(crate) fn result(rego: &str) -> PolicyResult {
    let manifest = "policy \"p\" { query = \"data.test.deny\" }";
    let rego = format!("package test\n{rego}");
    let files = [("policies.hcl", manifest), ("p.rego", rego.as_str())];
    evaluate(&files, &json!({"resource_changes": []}), Limits { time: Duration::from_secs(5) }).remove(0)
}

pub(crate) fn failed(messages: &[&str]) -> Verdict {
    Verdict::Failed { messages: messages.iter().map(|m| (*m).to_owned()).collect() }
}

pub(crate) fn error_of(verdict: Verdict) -> String {
    match verdict {
        Verdict::Errored { error } => error,
        other => panic!("not errored: {other:?}"),
    }
}
