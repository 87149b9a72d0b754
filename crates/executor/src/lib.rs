//! Runs the steps of an execution in a process of their own, which outlives the one that asked for it.

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

pub use error::Error;
pub use local::LocalExecutor;
pub use observation::{BoxFuture, Delivery, Executor, Launched, Lost, Observation, Running};
pub use result::{ExecutionResult, Outcome, Salvaged, SalvagedFile, StepEnd, StepResult};
pub use run::run;
pub use spec::{DEFAULT_TIME_LIMIT_GRACE, FORMAT, FileDigest, Spec, Stdout, Step};
