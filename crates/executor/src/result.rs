//! How an execution ended: the contents of `result.json`.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What became of an execution. Decided by exit statuses, never by the text of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionResult {
    /// [`FORMAT`](crate::FORMAT) of the writer.
    pub format: u32,
    /// The label of the spec.
    pub label: String,
    /// What decides.
    pub outcome: Outcome,
    /// Exit code of the last step that ended by exiting; `None` when none did.
    pub exit_code: Option<i32>,
    /// One entry per step of the spec, in its order; steps that never started are there too.
    pub steps: Vec<StepResult>,
    /// Somebody asked to stop it while it ran (by an interrupt or a kill), whatever came of it.
    pub interrupted: bool,
    /// The whole tree was killed: on request, or because the grace period of an interrupt was over.
    pub killed: bool,
    /// Processes that a step had left behind and that were killed before its end was recorded.
    pub swept: u32,
    /// The files of [`Spec::salvage`](crate::Spec::salvage) as they were at the end.
    pub salvaged: Vec<Salvaged>,
    /// When the executor took the execution over.
    pub started_at: Timestamp,
    /// When everything was over and nothing that it had started was alive.
    pub ended_at: Timestamp,
}

/// The end of an execution in one word, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every step ran and ended with an exit code of its `continue_on`.
    Succeeded,
    /// A step did not end as it should, and nobody had asked to stop it.
    Failed {
        /// Name of the step; empty when it failed before the first one.
        step: String,
        /// In words, fit to be shown as they are: "terraform plan exited with 1".
        why: String,
    },
    /// Somebody asked to stop it, and it did not reach its natural success all the same.
    Interrupted,
}

/// How one step ended and what it used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepResult {
    /// Name of the step.
    pub name: String,
    /// How it ended.
    pub ended: StepEnd,
    /// When its program was started; `None` if it never was.
    pub started_at: Option<Timestamp>,
    /// Until its program ended, in milliseconds; the sweep afterwards is not counted.
    pub duration_ms: u64,
    /// CPU time in user mode, in milliseconds: of the program, of the descendants that it waited for, and of those
    /// that the executor had to reap in its place.
    pub user_cpu_ms: u64,
    /// CPU time in the kernel, in milliseconds, of the same processes.
    pub system_cpu_ms: u64,
    /// The largest resident set in bytes that any *single one* of these processes had (`ru_maxrss` of wait4), not
    /// their sum. Never below that of the executor itself (a few MiB), from which the program was started.
    pub peak_memory_bytes: u64,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepEnd {
    /// By exiting.
    Exited {
        /// 0 to 255.
        code: i32,
    },
    /// By a signal.
    Signaled {
        /// Its number.
        signal: i32,
    },
    /// It exceeded its time limit and was interrupted or killed for it, however it ended then.
    TimeLimit,
    /// It never started.
    NotStarted {
        /// Why, in words.
        why: String,
    },
}

/// A file that is made durable at the end of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salvaged {
    /// As the spec names it.
    pub path: PathBuf,
    /// What was found there.
    pub file: SalvagedFile,
}

/// What was found where a file was to be salvaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SalvagedFile {
    /// A regular file.
    Present {
        /// In bytes.
        size: u64,
        /// In lower-case hexadecimal.
        sha256: String,
    },
    /// Nothing.
    Absent,
    /// Something that could not be read, or is not a regular file.
    Unreadable {
        /// Why, in words.
        why: String,
    },
}

impl ExecutionResult {
    /// The result of the step of this name.
    pub fn step(&self, name: &str) -> Option<&StepResult> {
        self.steps.iter().find(|step| step.name == name)
    }
}

impl StepResult {
    /// The exit code, if it exited by itself.
    pub fn exit_code(&self) -> Option<i32> {
        match self.ended {
            StepEnd::Exited { code } => Some(code),
            StepEnd::Signaled { .. } | StepEnd::TimeLimit | StepEnd::NotStarted { .. } => None,
        }
    }

    pub(crate) fn not_started(name: &str, why: &str) -> Self {
        Self {
            name: name.to_owned(),
            ended: StepEnd::NotStarted { why: why.to_owned() },
            started_at: None,
            duration_ms: 0,
            user_cpu_ms: 0,
            system_cpu_ms: 0,
            peak_memory_bytes: 0,
        }
    }
}
