//! What is to be run: the contents of `spec.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::confinement::Confinement;
use crate::error::Error;

/// The version of every file in an execution directory that this build writes, and the newest that it reads.
///
/// It grows only when an older reader would *misunderstand* a file; a field that it may ignore needs no new number.
pub const FORMAT: u32 = 1;

/// How long a step that exceeds its time limit may take to end after its interrupt, when the spec does not say.
pub const DEFAULT_TIME_LIMIT_GRACE: Duration = Duration::from_secs(10);

/// A list of steps that run one after the other in one directory and one environment.
///
/// Holds secrets (the environment): [`fmt::Debug`] shows the names of variables only, the file is created 0600
/// and is removed as soon as
/// an executor has read it and claimed the execution.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// [`FORMAT`] of the writer.
    pub format: u32,
    /// Names the execution for people, as `run-abc/plan`.
    pub label: String,
    /// Absolute; every step that names no other runs in it, and every relative path in the spec is taken from it.
    pub working_dir: PathBuf,
    /// The whole environment of every step. Only `SIGNALBOX_EXECUTION` is added to it, by which leftovers are found.
    pub environment: BTreeMap<String, String>,
    /// Written to the log before anything else.
    #[serde(default)]
    pub preamble: String,
    /// An absolute path of a log that several executions write to, one after the other, instead of the one in the
    /// directory of each: this one goes on at its end.
    #[serde(default)]
    pub log: Option<PathBuf>,
    /// Run in this order; at least one.
    pub steps: Vec<Step>,
    /// Files to make durable and to describe when the execution is over, however it ended.
    #[serde(default)]
    pub salvage: Vec<PathBuf>,
    /// The steps change nothing outside of their directory, so that they may run again if the machine stops before
    /// whoever launched them has kept what they made. Nothing of such an execution waits for the disk.
    #[serde(default)]
    pub repeatable: bool,
    /// Space for what must not be lost when the disk gets full while the steps run.
    #[serde(default)]
    pub reserve: Option<Reserve>,
}

/// Space on the disk that others can't use up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reserve {
    /// A file that only takes up space. It is removed when less than [`Reserve::when_below`] is left in the file system
    /// of the working directory, and may be shared by several executions.
    pub path: PathBuf,
    /// Bytes.
    pub when_below: u64,
    /// Bytes that the log gets in advance, and gives back at the end: terraform prints a state that it can write
    /// nowhere else.
    pub log: u64,
}

/// One program to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Names the step in results and in words such as "`terraform plan` exited with 1"; unique in its spec.
    pub name: String,
    /// An absolute path; or a bare name, looked up in the `PATH` of the spec's environment; or a path from `working_dir`.
    pub program: PathBuf,
    /// Without the program itself.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Where it runs, instead of the spec's `working_dir`: absolute. It has to be there when the step starts.
    #[serde(default)]
    pub working_dir: Option<PathBuf>,
    /// What of the machine it sees. `None`: all that its user does.
    #[serde(default)]
    pub confinement: Option<Confinement>,
    /// Exit codes with which the step counts as done well and the next may start; any other fails the execution.
    #[serde(default = "only_zero")]
    pub continue_on: Vec<i32>,
    /// Where standard output goes. Standard error always goes to the log.
    #[serde(default)]
    pub stdout: Stdout,
    /// The step gets one interrupt when it has run for so long, and is killed with all its descendants
    /// [`Step::time_limit_grace`] later.
    #[serde(default, rename = "time_limit_ms", with = "optional_milliseconds")]
    pub time_limit: Option<Duration>,
    /// Where a person changes the limit, in words: it is told with the end that the limit made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit_setting: Option<String>,
    /// Between the interrupt and the kill once the time limit is exceeded.
    #[serde(default = "default_grace", rename = "time_limit_grace_ms", with = "milliseconds")]
    pub time_limit_grace: Duration,
    /// Bytes of address space (`RLIMIT_AS`) for each of the step's processes.
    #[serde(default)]
    pub memory_limit: Option<u64>,
    /// A file (made if it is missing) that the step holds locked while it runs: of all steps that name the same one, in
    /// whatever execution, one runs at a time.
    #[serde(default)]
    pub exclusive: Option<PathBuf>,
    /// Files that must have this content right before the step starts, or else it does not start and the execution
    /// fails. This is how an apply proves that the plan it applies is the plan that was approved.
    #[serde(default)]
    pub require: Vec<FileDigest>,
    /// Files that the step must have written when it ends with an exit code of `continue_on`, or else it failed.
    ///
    /// An exit code alone may not tell: the Go runtime ends a program with 2 when it runs out of memory, and
    /// `terraform plan -detailed-exitcode` says "there are changes" with the same 2.
    #[serde(default)]
    pub must_write: Vec<PathBuf>,
}

/// Where a step's standard output goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stdout {
    /// Into the execution's log, in order with standard error.
    #[default]
    Log,
    /// Into a file of its own, created 0600 (and emptied, if it exists). Complete only when the step has ended well.
    File(PathBuf),
}

/// A file and the content it must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The file; a relative path is taken from the spec's `working_dir`.
    pub path: PathBuf,
    /// SHA-256 in lower-case hexadecimal.
    pub sha256: String,
}

impl Spec {
    /// A spec without steps; add them to [`Spec::steps`].
    pub fn new(label: impl Into<String>, working_dir: impl Into<PathBuf>) -> Self {
        Self {
            format: FORMAT,
            label: label.into(),
            working_dir: working_dir.into(),
            environment: BTreeMap::new(),
            preamble: String::new(),
            log: None,
            steps: Vec::new(),
            salvage: Vec::new(),
            repeatable: false,
            reserve: None,
        }
    }

    /// Refuses what could not be run as meant, with all reasons in one message.
    pub fn validate(&self) -> Result<(), Error> {
        let mut wrong = Vec::new();
        if !self.working_dir.is_absolute() {
            wrong.push(format!("working_dir {:?} is not an absolute path", self.working_dir));
        }
        if self.steps.is_empty() {
            wrong.push("it has no steps".to_owned());
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains('=') || name.contains('\0') {
                wrong.push(format!("{name:?} cannot be the name of an environment variable"));
            }
            if value.contains('\0') {
                wrong.push(format!("the value of environment variable {name:?} has a NUL byte in it"));
            }
        }
        let mut names = BTreeSet::new();
        for (index, step) in self.steps.iter().enumerate() {
            if step.name.is_empty() {
                wrong.push(format!("step {index} has no name"));
            } else if !names.insert(&step.name) {
                wrong.push(format!("two steps are named {:?}", step.name));
            }
            if step.program.as_os_str().is_empty() {
                wrong.push(format!("step {:?} has no program", step.name));
            }
            if step.arguments.iter().any(|argument| argument.contains('\0')) {
                wrong.push(format!("an argument of step {:?} has a NUL byte in it", step.name));
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(Error::InvalidSpec { reasons: wrong.join("; ") }) }
    }

    /// `path` as it is meant: from `working_dir`, unless it is absolute.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        self.working_dir.join(path)
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Spec")
            .field("format", &self.format)
            .field("label", &self.label)
            .field("working_dir", &self.working_dir)
            .field("environment", &self.environment.keys())
            .field("log", &self.log)
            .field("steps", &self.steps)
            .field("salvage", &self.salvage)
            .field("repeatable", &self.repeatable)
            .field("reserve", &self.reserve)
            .finish_non_exhaustive()
    }
}

impl Step {
    /// A step that must exit with 0, logs its output, and has no limits.
    pub fn new(name: impl Into<String>, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: Vec::new(),
            working_dir: None,
            confinement: None,
            continue_on: only_zero(),
            stdout: Stdout::Log,
            time_limit: None,
            time_limit_setting: None,
            time_limit_grace: DEFAULT_TIME_LIMIT_GRACE,
            memory_limit: None,
            exclusive: None,
            require: Vec::new(),
            must_write: Vec::new(),
        }
    }

    /// Limits the time of the step, by a setting that a person can change.
    pub fn limit_time(&mut self, limit: Duration, setting: &str) {
        self.time_limit = Some(limit);
        self.time_limit_setting = Some(setting.to_owned());
    }

    /// The same step with these arguments.
    pub fn arguments<I, S>(mut self, arguments: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.arguments = arguments.into_iter().map(Into::into).collect();
        self
    }
}

fn only_zero() -> Vec<i32> {
    vec![0]
}

fn default_grace() -> Duration {
    DEFAULT_TIME_LIMIT_GRACE
}

pub(crate) fn to_milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(super::to_milliseconds(*duration))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

mod optional_milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        duration.map(super::to_milliseconds).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}
