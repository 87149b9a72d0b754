//! Runs the steps of an execution in a process of their own, which outlives the one that asked for it.
//!
//! A daemon that starts `terraform apply` as its child takes it down when it dies. So it starts something small
//! instead, an *executor* (the same program, with a hidden subcommand that calls [`run()`]), which owns the steps and
//! everything they start. The daemon only watches, through [`LocalExecutor`]: it can be killed, upgraded and
//! restarted, and finds the execution where it is.
//!
//! ```text
//!  daemon (tokio)                         executor (one thread, no runtime)        steps
//!  ┌───────────────┐ launch: posix_spawn  ┌────────────────────────────────┐      own process group each,
//!  │ LocalExecutor │─────────────────────▶│ own session, subreaper, lock   │─────▶ stdin /dev/null,
//!  │               │ interrupt, kill      │ poll: control socket, signals, │      stdout and stderr: log
//!  │               │─────control.sock────▶│       SIGCHLD, time limits     │
//!  │               │ wait: pidfd          │ sweep, salvage                 │
//!  └───────┬───────┘                      └───────────────┬────────────────┘
//!          │ reads                                 writes │
//!          ▼                                              ▼
//!    execution directory (0700): spec.json → claim.json → state.json, log → result.json
//! ```
//!
//! | file | what it is | lives |
//! |---|---|---|
//! | `spec.json` | [`Spec`], with secrets | from the launch until the claim |
//! | `lock` | held (`flock`) by the executor for life | |
//! | `claim.json` | who has taken the execution over; there before the first step | never changed |
//! | `state.json` | the step that runs, its process, wishes to stop | replaced |
//! | `control.sock` | takes `interrupt`, `kill`, `status` and `wait`: a line of JSON each way | |
//! | `control.key` | what requests have to show: code that is confined can't read it | until the clean-up |
//! | `log` | all output, in order, as bytes | appended |
//! | `result.json` | [`ExecutionResult`]; the last thing that is written | never changed |
//! | `executor.err` | the executor's own diagnostics; empty when all went well | appended |
//!
//! # Invariants
//!
//! 1. *The steps of a directory are run at most once, ever*, however often and from wherever it is launched: the claim
//!    is made under the lock, before the first step, and is never taken back. It is durable by then, unless the spec
//!    says that its steps are repeatable: then a power cut may take it, and they run again.
//! 2. *When an end is told, nothing that was started is alive.* After each step the executor kills and reaps every
//!    descendant (as a subreaper it inherits them all) until it has no child; only then is the end recorded. When
//!    the executor itself was killed, whoever observes that does the same ([`Observation::Lost`]).
//! 3. *One SIGINT per execution, to the step's process alone*, recorded before it is sent; then, after the grace period,
//!    SIGKILL for all. The executor keeps the deadline, so that it holds even if the daemon dies.
//! 4. *The exit status decides*, never the text of the log.
//! 5. *A child gets what the spec says*: that environment (and `SIGNALBOX_EXECUTION`, the mark by which leftovers are
//!    found), three descriptors, no ignored signal.
//!
//! # Failure modes
//!
//! - The disk gets full: the [`Reserve`] of the spec is released. It is full all the same: the log loses text beyond what it
//!   was given in advance, `state.json` is not updated, both are said in `executor.err`, and the steps go on. For the
//!   result, space was set aside before the first step; if it cannot be written all the same, the executor keeps the
//!   lock and tries for two minutes, then exits with 1: the execution is lost.
//! - The executor is killed: [`Observation::Lost`], with the reason in words, leftovers killed and files salvaged. A
//!   process that had shed everything that ties it to the execution (see `leftovers`) is not found then.
//! - A process in uninterruptible sleep cannot be killed: the executor waits for it, and says so in the log.
//! - The machine stops: nothing of it is alive; the claim is durable, so that nothing runs twice that must not.
//! - A newer release's files: [`Error::UnknownFormat`]. An older release's are read; unknown fields are ignored.
//! - systemd stops a unit with all its processes unless it says `KillMode=process`, and a container ends with its first
//!   process: both end executors with the daemon, which is for the operator to set right.

mod confinement;
mod control;
mod directory;
mod error;
mod handshake;
mod leftovers;
mod local;
mod observation;
mod observe;
mod procfs;
mod record;
mod result;
mod revoke;
mod run;
mod salvage;
mod spec;
mod standby;

pub use confinement::{Confinement, Isolation};
pub use directory::{expendable, sync_together};
pub use error::Error;
pub use local::LocalExecutor;
pub use observation::{BoxFuture, Delivery, Executor, Launched, Lost, Observation, Running};
pub use result::{ExecutionResult, Outcome, Salvaged, SalvagedFile, StepEnd, StepResult};
pub use run::{confine, run, space_left};
pub use spec::{DEFAULT_TIME_LIMIT_GRACE, FORMAT, FileDigest, Reserve, Spec, Stdout, Step};
