//! The policy stage: policy sets, the engines that evaluate them, and what the results mean for a run.
//!
//! ```text
//!  folder ── PolicySet::load ──► engine (Rego, Sentinel) ──► CompiledSet
//!                                                             │ evaluate, one policy at a time, in a guarded thread
//!  plan JSON + run ── Input ──────────────────────────────────┤
//!                                                             ▼
//!            outcome (T11, T12, T15) ◄── PolicyResult* ── PolicyReport ──► render_text, JSON
//! ```
//!
//! # Invariants
//!
//! - Fail closed. Only an empty answer of a policy passes. An error inside a policy, an undefined answer, an
//!   answer of the wrong kind, a panic of the engine and a policy out of time are all failures at the policy's
//!   level; a set that cannot be loaded counts as a hard-mandatory failure.
//! - [`outcome`] is a pure function of the results, and monotone: one more failure, or a stricter level, never
//!   betters it.
//! - A set reads nothing outside its folder: a symlink that leaves it is a mistake of the set. It reaches no host but
//!   those that the configuration allows ([`SetSettings::http_hosts`]); remote sources of Sentinel sets are fetched
//!   over https when the set is loaded, and must have the sum that the set names.
//! - What policies say holds no value that the plan or the run marks as sensitive (`Input::secrets`), as far as a text
//!   can be searched for it, and has an end (`keep`).
//! - An engine cannot take another policy's result with it: each policy is evaluated from the same compiled
//!   state, in a thread of its own.
//!
//! # Failure modes
//!
//! Memory is not bounded here: [`run_check`] is meant to be a process of its own, under the executor's limits of
//! memory and time. If that process dies, there is no report, and the caller has to treat the check as failed.

mod check;
mod diagnostics;
mod engine;
mod folder;
mod guard;
mod input;
mod outcome;
mod progress;
#[cfg_attr(not(feature = "rego"), path = "without_rego.rs")]
mod rego;
mod render;
mod report;
mod result;
mod sentinel;
mod set;
mod settings;
mod truncate;

pub use check::{CheckError, CheckRequest, REQUEST_FORMAT, SetRequest, check, run_check};
pub use diagnostics::{LoadError, Mistake, Place};
pub use engine::{CompiledSet, EngineKind, Evaluation, Limits, Policy, PolicyEngine};
pub use folder::{SetFile, SetFolder};
pub use input::{Input, InputError};
pub use outcome::{PolicyOutcome, outcome};
pub use render::render_text;
pub use report::{Counts, PolicyReport, REPORT_FORMAT, ReportError, SetReport};
pub use result::{EnforcementLevel, PolicyResult, Verdict};
pub use sentinel::{PolicyHost, fetch_source};
pub use set::PolicySet;
pub use settings::{Parameter, SetSettings};
