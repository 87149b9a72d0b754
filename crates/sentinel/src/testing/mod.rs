//! The test runner: `test/<policy>/*.{hcl,json}` beside `<policy>.sentinel`.

mod report;

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::{Duration, Instant};

use regex::Regex;

use crate::error::{Error, ErrorKind};
use crate::eval::Trace;
use crate::files::{Files, folder, read_text};
use crate::host::Host;
use crate::limits::Limits;
use crate::policy::{Outcome, evaluate};
use crate::set::unknown_params;
use crate::sources::Sources;
use crate::value::Data;

/// How a case or a policy's cases ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All that was asserted is so.
    Pass,
    /// Something that was asserted is not so.
    Fail,
    /// The case could not be run to its end.
    Error,
    /// A policy without cases.
    None,
}

impl Status {
    /// The word in reports: `PASS`, `FAIL`, `ERROR` or `?`.
    pub fn word(self) -> &'static str {
        match self {
            Status::Pass => "PASS",
            Status::Fail => "FAIL",
            Status::Error => "ERROR",
            Status::None => "?",
        }
    }
}

/// An assertion that does not hold.
#[derive(Debug, Clone)]
pub struct Mismatch {
    /// The rule.
    pub rule: String,
    /// What it should be.
    pub expected: Data,
    /// What it is; none when the rule was not evaluated.
    pub actual: Option<Data>,
}

/// A test case.
#[derive(Debug, Clone)]
pub struct CaseReport {
    /// The file of the case.
    pub path: String,
    /// How it ended.
    pub status: Status,
    /// What went wrong.
    pub errors: Vec<Error>,
    /// The assertions that do not hold.
    pub mismatches: Vec<Mismatch>,
    /// The trace, when the policy was run.
    pub trace: Option<Trace>,
    /// Whether the policy passed; none when it did not come to a result.
    pub result: Option<bool>,
    /// What the configuration of the case is warned about.
    pub warnings: Vec<String>,
    /// Whether the configuration is of the form of before 0.16.
    pub legacy: bool,
    /// How long it took.
    pub duration: Duration,
}

/// A policy and its cases.
#[derive(Debug, Clone)]
pub struct PolicyReport {
    /// The file of the policy.
    pub path: String,
    /// What is wrong with the policy as a whole.
    pub errors: Vec<Error>,
    /// Its cases, in the order of their names.
    pub cases: Vec<CaseReport>,
}

impl PolicyReport {
    /// The worst status of the cases.
    pub fn status(&self) -> Status {
        let is = |status| self.cases.iter().any(|case| case.status == status);
        if !self.errors.is_empty() || is(Status::Error) {
            Status::Error
        } else if is(Status::Fail) {
            Status::Fail
        } else if self.cases.is_empty() {
            Status::None
        } else {
            Status::Pass
        }
    }
}

/// The result of a test run.
#[derive(Debug, Clone, Default)]
pub struct TestReport {
    /// The policies, in the order in which they were found.
    pub policies: Vec<PolicyReport>,
    /// How long it took.
    pub duration: Duration,
}

impl TestReport {
    /// Whether nothing failed. A policy without cases does not fail.
    pub fn passed(&self) -> bool {
        self.policies.iter().all(|policy| matches!(policy.status(), Status::Pass | Status::None))
    }
}

/// Which cases are run, and how.
#[derive(Default)]
pub struct TestOptions {
    /// `-run`: a pattern for policies; after a `/` one for cases.
    pub run: Option<String>,
    /// What one case may use.
    pub limits: Limits,
}

/// Runs the cases of the policies at some paths: files, or folders whose `.sentinel` files are taken.
pub fn run_tests(
    files: &dyn Files,
    paths: &[String],
    options: &TestOptions,
    host: &dyn Host,
) -> Result<TestReport, Error> {
    let start = Instant::now();
    let filter = Filter::new(options.run.as_deref())?;
    let sources = Sources::new(files);
    let mut policies = Vec::new();
    let mut seen = HashSet::new();
    for path in paths {
        for policy in policies_at(files, path)? {
            // a folder and a policy in it may both be named
            if filter.policy(name_of(&policy)) && seen.insert(policy.clone()) {
                let report = test_policy(&sources, &policy, &filter, options.limits, host);
                // a policy of which no case was asked for is not one without cases
                if filter.case.is_none() || report.status() != Status::None {
                    policies.push(report);
                }
            }
        }
    }
    Ok(TestReport { policies, duration: start.elapsed() })
}

struct Filter {
    policy: Option<Regex>,
    case: Option<Regex>,
}

impl Filter {
    fn new(pattern: Option<&str>) -> Result<Filter, Error> {
        let regex = |text: &str| {
            let built = crate::regexp::translate(text)
                .and_then(|text| Regex::new(&text).map_err(|error| error.to_string()))
                // the last of its lines says what, those before draw where
                .map_err(|error| error.lines().last().unwrap_or_default().replacen("error: ", "", 1));
            built.map_err(|why| {
                Error::new(ErrorKind::Config, format!("`{text}` is not a regular expression: {why}"))
            })
        };
        let (policy, case) = match pattern {
            None => (None, None),
            Some(pattern) => match pattern.split_once('/') {
                Some((policy, case)) => (Some(regex(policy)?), Some(regex(case)?)),
                None => (Some(regex(pattern)?), None),
            },
        };
        Ok(Filter { policy, case })
    }

    fn policy(&self, name: &str) -> bool {
        self.policy.as_ref().is_none_or(|regex| regex.is_match(name))
    }

    fn case(&self, name: &str) -> bool {
        self.case.as_ref().is_none_or(|regex| regex.is_match(name))
    }
}

fn name_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn policies_at(files: &dyn Files, path: &str) -> Result<Vec<String>, Error> {
    if path.ends_with(".sentinel") {
        // without cases nobody else would look at it
        read_text(files, path)?;
        return Ok(vec![path.to_owned()]);
    }
    let names = files
        .list(path)
        .map_err(|error| Error::new(ErrorKind::File, format!("cannot list `{path}`: {error}")))?;
    let join = |name: &String| if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
    Ok(names.iter().filter(|name| name.ends_with(".sentinel")).map(join).collect())
}

fn test_policy(
    sources: &Sources<'_>,
    path: &str,
    filter: &Filter,
    limits: Limits,
    host: &dyn Host,
) -> PolicyReport {
    let name = name_of(path);
    let base = folder(path);
    let cases_in =
        [base, "test", name].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
    let mut report = PolicyReport { path: path.to_owned(), errors: Vec::new(), cases: Vec::new() };
    let names = match sources.files().list(&cases_in) {
        Ok(names) => names,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Vec::new()
        }
        Err(error) => {
            report.errors.push(Error::new(ErrorKind::File, format!("cannot list `{cases_in}`: {error}")));
            return report;
        }
    };
    let cases = names.iter().filter(|name| name.ends_with(".hcl") || name.ends_with(".json"));
    for case in cases {
        if filter.case(name_of(case)) {
            report.cases.push(run_case(sources, path, &format!("{cases_in}/{case}"), limits, host));
        }
    }
    report
}

/// Runs one case.
pub fn run_case(
    sources: &Sources<'_>,
    policy: &str,
    case: &str,
    limits: Limits,
    host: &dyn Host,
) -> CaseReport {
    let start = Instant::now();
    let mut report = CaseReport {
        path: case.to_owned(),
        status: Status::Error,
        errors: Vec::new(),
        mismatches: Vec::new(),
        trace: None,
        result: None,
        warnings: Vec::new(),
        legacy: false,
        duration: Duration::ZERO,
    };
    if let Err(error) = try_case(sources, policy, case, limits, host, &mut report) {
        report.errors.push(error);
    }
    report.duration = start.elapsed();
    report
}

fn try_case(
    sources: &Sources<'_>,
    policy: &str,
    case: &str,
    limits: Limits,
    host: &dyn Host,
    report: &mut CaseReport,
) -> Result<(), Error> {
    let config = crate::set::read_config(sources.files(), case)?;
    report.warnings.clone_from(&config.warnings);
    report.warnings.extend(config.unknown_settings());
    report.legacy = config.legacy;
    let unit = sources.unit_at(policy)?;
    let environment = sources.environment(&config, folder(case));
    // published libraries have many such cases: what they assert is what decides
    let given = config.params.iter().map(|(name, _)| name.as_str());
    report.warnings.extend(unknown_params(&unit, given).iter().map(|error| error.message().to_owned()));
    let params: HashMap<String, Data> = config.params.iter().cloned().collect();
    let evaluation = evaluate(&unit, &environment, &params, limits, host);
    report.status = Status::Pass;
    let main = match &evaluation.outcome {
        Outcome::Passed(value) | Outcome::Failed(value) => Some(value.clone()),
        Outcome::Undefined(_) => Some(Data::Undefined),
        Outcome::Errored(error) => {
            report.errors.push(error.clone());
            report.status = Status::Error;
            None
        }
    };
    report.result = match &evaluation.outcome {
        Outcome::Errored(_) => None,
        outcome => Some(outcome.passed()),
    };
    // a case that asserts nothing asserts that the policy passes, so that no case is without a meaning
    let expected = config.test.unwrap_or_default();
    if expected.is_empty() && report.result == Some(false) {
        report.status = Status::Fail;
        let (rule, expected) = ("main".to_owned(), Data::Bool(true));
        report.mismatches.push(Mismatch { rule, expected, actual: main.clone() });
    }
    for (rule, expected) in expected {
        let actual = match rule.as_str() {
            "main" => main.clone(),
            name => evaluation.trace.rule(name).cloned(),
        };
        if report.status != Status::Error && !actual.as_ref().is_some_and(|actual| actual.same(&expected)) {
            report.status = Status::Fail;
            report.mismatches.push(Mismatch { rule, expected, actual });
        }
    }
    if report.status == Status::Fail
        && let Some(error) = evaluation.outcome.error()
    {
        report.errors.push(error);
    }
    report.trace = Some(evaluation.trace);
    Ok(())
}
