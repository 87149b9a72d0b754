//! The Terraform imports, derived from plans.

mod support;

#[path = "terraform/derived.rs"]
mod derived;
#[path = "terraform/old.rs"]
mod old;
#[path = "terraform/real.rs"]
mod real;
