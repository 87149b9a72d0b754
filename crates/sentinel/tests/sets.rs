//! Policy sets: configuration, modules, evaluation, outcomes; the test runner; limits; masking.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests, with their helpers")]

mod support;

#[path = "sets/config.rs"]
mod config;
#[path = "sets/config_json.rs"]
mod config_json;
#[path = "sets/config_nesting.rs"]
mod config_nesting;
#[path = "sets/config_overrides.rs"]
mod config_overrides;
#[path = "sets/errors.rs"]
mod errors;
#[path = "sets/evaluation.rs"]
mod evaluation;
#[path = "sets/formatter.rs"]
mod formatter;
#[path = "sets/limits.rs"]
mod limits;
#[path = "sets/modules.rs"]
mod modules;
#[path = "sets/params.rs"]
mod params;
#[path = "sets/runner.rs"]
mod runner;
#[path = "sets/stack.rs"]
mod stack;
#[path = "sets/work.rs"]
mod work;
