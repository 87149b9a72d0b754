//! The Terraform imports, derived from plans.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "these are tests, with their helpers")]

mod support;

#[path = "terraform/derived.rs"]
mod derived;
#[path = "terraform/mocks.rs"]
mod mocks;
#[path = "terraform/old.rs"]
mod old;
#[path = "terraform/real.rs"]
mod real;
