//! Sentinel, HashiCorp's policy language: an independent implementation from its public specification.

mod builtins;
mod compile;
mod config;
mod error;
mod eval;
mod files;
mod host;
mod imports;
mod limits;
mod outcome;
mod policy;
mod redact;
mod regexp;
mod set;
mod source;
mod sources;
mod syntax;
mod testing;
mod value;

pub use compile::{Unit, compile};
pub use config::{Config, EnforcementLevel, ImportConfig, Mock, PolicyConfig};
pub use error::{Error, ErrorKind, Limit, Place};
pub use eval::{Environment, RuleTrace, Trace};
pub use files::{DirFiles, Files, normalize};
pub use host::{FixedHost, Host, HttpRequest, HttpResponse, Import, SystemHost};
pub use imports::VERSION;
pub use limits::Limits;
pub use outcome::{Counts, PolicyOutcome, SetOutcome};
pub use policy::{Evaluation, Outcome, evaluate};
pub use redact::{MASK, Secrets};
pub use set::{Inputs, PolicySet, load_config, parse_param};
pub use source::{Position, Source, Span};
pub use sources::Sources;
pub use testing::{CaseReport, Mismatch, PolicyReport, Status, TestOptions, TestReport, run_case, run_tests};
pub use value::{Data, DataMap, Key, Str};
