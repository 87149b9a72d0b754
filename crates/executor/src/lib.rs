//! Runs the steps of an execution in a process of their own, which outlives the one that asked for it.

mod error;
mod observation;
mod result;
mod spec;

pub use error::Error;
pub use observation::{BoxFuture, Delivery, Executor, Launched, Lost, Observation, Running};
pub use result::{ExecutionResult, Outcome, Salvaged, SalvagedFile, StepEnd, StepResult};
pub use spec::{DEFAULT_TIME_LIMIT_GRACE, FORMAT, FileDigest, Spec, Stdout, Step};
