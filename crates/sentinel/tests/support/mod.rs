//! What the specification tests share: a source and what it comes to.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::collections::HashMap;
use std::sync::Arc;

use sentinel::{Data, Environment, Evaluation, FixedHost, Limits, Outcome, compile, evaluate};

/// 2024-02-29T12:30:45Z, a Thursday.
pub(crate) const NOW: i128 = 1_709_209_845_000_000_000;

pub(crate) fn host() -> FixedHost {
    FixedHost { now: NOW }
}

pub(crate) fn run(source: &str) -> Result<Evaluation, sentinel::Error> {
    run_in(source, &Environment::default(), &[])
}

pub(crate) fn run_in(
    source: &str,
    environment: &Environment,
    params: &[(&str, Data)],
) -> Result<Evaluation, sentinel::Error> {
    let unit = Arc::new(compile("policy.sentinel", source)?);
    let params: HashMap<String, Data> =
        params.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Ok(evaluate(&unit, environment, &params, Limits::default(), &host()))
}

/// The text of what a source comes to. A source is an expression, or a program, ` ;; `, and an
/// expression. Errors are `error: …`.
pub(crate) fn result(source: &str) -> String {
    result_in(source, &Environment::default())
}

pub(crate) fn result_in(source: &str, environment: &Environment) -> String {
    let (program, expr) = source.rsplit_once(";;").unwrap_or(("", source));
    let program = format!("{program}\nmain = [{},]", expr.trim());
    match run_in(&program, environment, &[]) {
        Err(error) => format!("error: {}", error.message()),
        Ok(evaluation) => match evaluation.outcome {
            Outcome::Passed(value) | Outcome::Failed(value) => match value.items() {
                [only] => format!("{only:?}"),
                other => format!("{other:?}"),
            },
            Outcome::Undefined(_) => "undefined".into(),
            Outcome::Errored(error) => format!("error: {}", error.message()),
        },
    }
}

/// Checks a source. An expectation that starts with `error:` is a part of the error's message.
pub(crate) fn check(source: &str, expected: &str) {
    check_in(source, expected, &Environment::default());
}

pub(crate) fn check_in(source: &str, expected: &str, environment: &Environment) {
    let found = result_in(source, environment);
    match expected.strip_prefix("error:") {
        Some(part) => assert!(
            found.starts_with("error: ") && found.contains(part.trim()),
            "\n{source}\ncame to {found}\nexpected {expected}"
        ),
        None => assert_eq!(found, expected, "\n{source}"),
    }
}

/// Specification tests: a name, a source, what it comes to.
#[macro_export]
macro_rules! spec {
    ($($(#[$meta:meta])* $name:ident: $source:expr => $expected:expr;)+) => {
        $($(#[$meta])* #[test] fn $name() { $crate::support::check($source, $expected); })+
    };
}

/// Files in memory.
#[derive(Default)]
pub(crate) struct MemFiles {
    pub(crate) files: std::collections::BTreeMap<String, String>,
    pub(crate) remote: HashMap<String, String>,
}

impl MemFiles {
    pub(crate) fn new(files: &[(&str, &str)]) -> MemFiles {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        MemFiles { files, remote: HashMap::new() }
    }
}

impl sentinel::Files for MemFiles {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        let text = self.files.get(path).ok_or(std::io::ErrorKind::NotFound)?;
        Ok(text.clone().into_bytes())
    }

    fn list(&self, folder: &str) -> std::io::Result<Vec<String>> {
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let names: std::collections::BTreeSet<String> = self
            .files
            .keys()
            .filter_map(|path| path.strip_prefix(&prefix))
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => format!("{folder}/"),
                None => rest.to_owned(),
            })
            .collect();
        if names.is_empty() {
            return Err(std::io::ErrorKind::NotFound.into());
        }
        Ok(names.into_iter().collect())
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        self.remote.get(url).map(|text| text.clone().into_bytes()).ok_or_else(|| "404".into())
    }
}
