//! Sentinel, HashiCorp's policy language: an independent implementation from its public specification.
//!
//! Policies that were written for the reference implementation run as they are: the language, its
//! standard imports, the Terraform imports, configuration files, tests, the formatter. The crate can be
//! used on its own; it knows nothing of servers and runs.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Arc;
//! use sentinel::{Documents, Environment, Limits, SystemHost, compile, evaluate, imports};
//!
//! // compiled once, shared by threads and runs
//! let policy = Arc::new(compile("small.sentinel", r#"
//!     import "tfplan/v2" as tfplan
//!
//!     servers = filter tfplan.resource_changes as _, rc { rc.type is "cloud_server" }
//!
//!     // Servers are small.
//!     main = rule { all servers as _, s { s.change.after.size is "small" } }
//! "#).unwrap());
//!
//! // what `terraform show -json` printed
//! let plan = serde_json::from_str(r#"{"resource_changes": [{"address": "cloud_server.a",
//!     "type": "cloud_server", "change": {"actions": ["create"], "after": {"size": "big"}}}]}"#).unwrap();
//! let mut environment = Environment::default();
//! for (name, import) in imports(&Documents { plan, schemas: None, run: None }) {
//!     environment.set_import(name, import);
//! }
//!
//! let result = evaluate(&policy, &environment, &HashMap::new(), Limits::default(), &SystemHost);
//! assert!(!result.outcome.passed());
//! assert_eq!(result.text(), "\
//! Result: false
//!
//! FALSE - small.sentinel:7:5 - Rule \"main\"
//!   Description:
//!     Servers are small.
//!
//!   Value:
//!     false
//! ");
//! ```
//!
//! # The way of a policy
//!
//! ```text
//!  text ── lexer ── parser ── lowering ──▶ Unit ───────────┐
//!  sentinel.hcl ── Config ── Sources ────▶ Environment ────┼──▶ Evaluator ──▶ Evaluation
//!  plan JSON ── derivation, when asked ──▶ Import ─────────┘                  (outcome, trace)
//! ```
//!
//! - [`compile`] and [`evaluate`] are the core: one policy. [`PolicySet`] is a folder with a
//!   `sentinel.hcl`: loaded once, evaluated for every run, with the log and the JSON of a policy check.
//! - [`run_tests`] runs `test/<policy>/*.{hcl,json}`. [`format()`] formats. [`mocks`] writes the mocks of
//!   a run. [`imports`] are the Terraform imports of a run.
//! - Everything from outside comes through traits: [`Files`], [`Host`] (clock and HTTP), [`Import`].
//!   [`DirFiles`] and [`SystemHost`] are for those who want the disk and the system's clock, and
//!   [`LocalFiles`] for a person's own files; nothing else in the crate touches any of these, except that a `timezone` that is configured for the `time` import
//!   is looked up in the system's time zone database.
//!
//! # Invariants
//!
//! - An evaluation ends: steps, depth, memory and time are limited ([`Limits`]). A policy that meets a
//!   limit, fails with an error or ends undefined has not passed ([`Outcome::passed`]).
//! - Work and memory count before they are made: whatever makes or looks at something whose size an argument
//!   decides asks the meter first (`limits.rs` has what for), so that no single call, and no call that is
//!   repeated, goes on beyond a limit. Strings are counted by their bytes, collections by their elements, the
//!   handles of collections by how many there are at a time, the stack by its segments. What an application
//!   gives (parameters, plans) is not counted, what a policy makes of it is. What the process takes is at most
//!   a few times the limit of memory.
//! - What an evaluation leaves behind has an end: errors repeat an excerpt of a value, the trace has each
//!   rule once, values that are too large for a log are named as such.
//! - The same input gives the same output: maps are walked in the order of their keys, `time.now` is
//!   one moment.
//! - [`Unit`], [`Data`], [`Environment`] and [`PolicySet`] never change and are shared without copying.
//!   What a policy changes is its own: data is copied piece by piece when it is first written.
//! - Files outside of the set's root are never read, unless the [`Files`] say otherwise; remote sources are fetched over https only and
//!   must have the sum that the configuration names; programs (plugins) are not run.
//! - No unsafe code, no recursion without a look at the stack (`stack.rs`): neither deep nesting in a text nor deep
//!   values or endless recursion in a policy bring the process down.
//!
//! # Failure modes
//!
//! - A file that is not a regular file or too large, a configuration that has more members or blocks than
//!   people write: an error, before it costs anything.
//! - A text that cannot be compiled: [`Error`] of the kinds `Syntax` and `Semantic`, with file, line,
//!   column and a rendering with a caret ([`Error::render`]).
//! - A configuration that means nothing: kind `Config`, with its place.
//! - A source that cannot be had: the policies that import it end with the error, others are not
//!   disturbed.
//! - A failure while evaluating: [`Outcome::Errored`], with the place of the innermost expression and,
//!   when an undefined value was the cause, where that came into being.
//!
//! # Where the documents leave a question open
//!
//! The answers, with their reasons, stand beside the tests in `tests/language`. The rule is: a question
//! that makes no sense, and that they do not answer, is an error, because every other answer could let a
//! policy pass by accident.

#![forbid(unsafe_code)]

mod builtins;
mod compile;
mod config;
mod error;
mod eval;
mod files;
mod fmt;
mod host;
mod imports;
mod limits;
mod outcome;
mod policy;
mod redact;
mod regexp;
#[cfg(all(test, target_os = "linux"))]
mod resources;
mod set;
mod source;
mod sources;
mod stack;
mod syntax;
mod terraform;
mod testing;
mod value;

pub use compile::{Unit, compile};
pub use config::{Config, EnforcementLevel, ImportConfig, Mock, PolicyConfig};
pub use error::{Error, ErrorKind, Limit, Place};
pub use eval::{Environment, RuleTrace, Trace};
pub use files::{DirFiles, Files, LocalFiles, normalize};
pub use fmt::format;
pub use host::{FixedHost, Host, HttpRequest, HttpResponse, Import, SystemHost};
pub use imports::VERSION;
pub use limits::Limits;
pub use outcome::{Counts, PolicyOutcome, SetOutcome, rules_text};
pub use policy::{Evaluation, Outcome, evaluate};
pub use redact::{MASK, Secrets};
pub use set::{Inputs, PolicySet, find_config, load_config, parse_param, read_config};
pub use source::{Position, Source, Span};
pub use sources::{Sources, require_plan};
pub use terraform::{
    DocumentError, Documents, Mocks, TERRAFORM_IMPORTS, imports, mocks, read_document, run_of_plan, secrets,
    tfrun,
};
pub use testing::{CaseReport, Mismatch, PolicyReport, Status, TestOptions, TestReport, run_case, run_tests};
pub use value::{Data, DataMap, Key, Str};
