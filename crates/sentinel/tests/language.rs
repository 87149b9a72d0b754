//! The language, as a specification: each test is a source and what it comes to. Where the documents
//! leave a question open, the reason for the answer stands beside the test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests, with their helpers")]

mod support;

#[path = "language/arithmetic.rs"]
mod arithmetic;
#[path = "language/builtins.rs"]
mod builtins;
#[path = "language/collections.rs"]
mod collections;
#[path = "language/comparison.rs"]
mod comparison;
#[path = "language/functions.rs"]
mod functions;
#[path = "language/grammar.rs"]
mod grammar;
#[path = "language/lexis.rs"]
mod lexis;
#[path = "language/logic.rs"]
mod logic;
#[path = "language/quantifiers.rs"]
mod quantifiers;
#[path = "language/regexps.rs"]
mod regexps;
#[path = "language/rules.rs"]
mod rules;
#[path = "language/scope.rs"]
mod scope;
#[path = "language/statements.rs"]
mod statements;
