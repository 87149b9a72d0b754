//! Sentinel policies of others as a test of the language: runs every test case below a folder, and derives the
//! Terraform imports of every mock that carries the plan it was made of.
//!
//! The folder has a folder for each repository. Nothing of it is part of this project, and nothing in it is
//! changed. A case that can't be run here counts as skipped, with the reason; every other one that does not pass
//! counts as failed.

mod cases;
mod derivation;

pub use cases::{Outcome, Repository, Skipped, run};
pub use derivation::{Derivation, derivation};
