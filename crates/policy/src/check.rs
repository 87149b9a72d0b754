//! A whole check as a process: a request file in, a log on standard output and a report file out.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    Input, InputError, Limits, PolicyReport, PolicySet, ReportError, SetReport, SetSettings,
    progress::{Event, followed},
    render_text,
};

/// The format this build writes, and the only one it reads.
pub const REQUEST_FORMAT: u32 = 2;

/// What to check, and where to put the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRequest {
    /// The request's format, [`REQUEST_FORMAT`].
    pub format: u32,
    /// The output of `terraform show -json PLAN`.
    pub plan_json: PathBuf,
    /// The run, as policies see it under `input.run`.
    pub run: serde_json::Value,
    /// The policy sets in the order in which they are evaluated.
    pub sets: Vec<SetRequest>,
    /// Where the report goes. The file appears when the check is over, and whole.
    pub report: PathBuf,
}

/// A policy set to be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRequest {
    /// Its name in the configuration.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Wall time for each of its policies in milliseconds, more than 0.
    #[serde(default = "default_time_limit_ms")]
    pub time_limit_ms: u64,
    /// What the configuration says of it beside that.
    #[serde(default)]
    pub settings: SetSettings,
}

fn default_time_limit_ms() -> u64 {
    crate::result::millis(Limits::default().time)
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// A file of the request could not be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The request is not one.
    #[error("policy check request {path}: {source}")]
    Malformed {
        /// The request file.
        path: PathBuf,
        /// Where and why.
        source: serde_json::Error,
    },
    /// A request of another version of Signalbox.
    #[error("the policy check request has format {0}, this build reads format {REQUEST_FORMAT}")]
    Format(u32),
    /// No policy can end in no time.
    #[error("the time limit of policy set {0} is 0; give each policy at least 1 ms")]
    NoTime(String),
    /// The plan is not usable.
    #[error("{path}: {source}")]
    Plan {
        /// The plan's JSON.
        path: PathBuf,
        /// What is wrong with it.
        source: InputError,
    },
    /// The report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl CheckRequest {
    /// Reads a request file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or is no request of this format.
    pub fn read(path: &Path) -> Result<Self, CheckError> {
        let bytes =
            fs::read(path).map_err(|source| CheckError::Unreadable { path: path.to_owned(), source })?;
        serde_json::from_slice(&bytes)
            .map_err(|source| CheckError::Malformed { path: path.to_owned(), source })
    }
}

/// Evaluates every policy of every set of the request. Does not write the report.
///
/// # Errors
///
/// If the request or its plan is not usable. A set that cannot be loaded is no error: it is in the report.
pub fn check(request: &CheckRequest) -> Result<PolicyReport, CheckError> {
    check_telling(request, &|_| ())
}

fn check_telling(request: &CheckRequest, tell: &dyn Fn(Event)) -> Result<PolicyReport, CheckError> {
    let started = Instant::now();
    if request.format != REQUEST_FORMAT {
        return Err(CheckError::Format(request.format));
    }
    if let Some(set) = request.sets.iter().find(|set| set.time_limit_ms == 0) {
        return Err(CheckError::NoTime(set.name.clone()));
    }
    let path = &request.plan_json;
    let plan =
        fs::read_to_string(path).map_err(|source| CheckError::Unreadable { path: path.clone(), source })?;
    let input = Input::new(plan, request.run.clone())
        .map_err(|source| CheckError::Plan { path: path.clone(), source })?;
    let input = Arc::new(input);
    let sets = request.sets.iter().map(|set| check_set(set, &input, tell)).collect();
    Ok(PolicyReport::new(sets, started.elapsed()))
}

fn check_set(request: &SetRequest, input: &Arc<Input>, tell: &dyn Fn(Event)) -> SetReport {
    let name = request.name.clone();
    let limits = Limits { time: Duration::from_millis(request.time_limit_ms) };
    tell(Event::Begins(format!("Policy set {name}: loading")));
    match PolicySet::load(&*request.name, &request.path, &request.settings) {
        Ok(set) => SetReport {
            name,
            engine: Some(set.engine()),
            error: None,
            warnings: set.warnings(),
            policies: set.evaluate_telling(input, limits, tell),
        },
        Err(error) => {
            SetReport { name, engine: None, error: Some(error), warnings: Vec::new(), policies: Vec::new() }
        }
    }
}

/// The process entry of `signalbox policy-check REQUEST`: evaluates the request, prints the policy log to standard
/// output, then writes the report. Exits with 0 if there is a report, whatever its outcome; else with 1 and the
/// reason on standard error.
pub fn run_check(request: &Path) -> ExitCode {
    match checked(request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // there is no one left to tell if standard error is gone too
            let _ = writeln!(io::stderr(), "policy check: {error}");
            ExitCode::FAILURE
        }
    }
}

fn checked(path: &Path) -> Result<(), CheckError> {
    let request = CheckRequest::read(path)?;
    let report = followed(io::stdout(), |tell| check_telling(&request, tell))?;
    // the log is complete before the report says that the check is over
    let mut stdout = io::stdout().lock();
    let printed = stdout.write_all(render_text(&report).as_bytes()).and_then(|()| stdout.flush());
    if let Err(error) = printed {
        // the outcome stands without its log, which can be rendered again from the report
        let _ = writeln!(io::stderr(), "policy check: the log cannot be written: {error}");
    }
    Ok(report.write(&request.report)?)
}
