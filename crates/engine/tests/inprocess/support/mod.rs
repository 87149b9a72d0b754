//! What the tests are made of.

mod checks;
mod executor;
mod held_reads;
mod life;
mod script;
mod trap;
mod world;

pub use checks::{assert_legal, assert_one_holder};
pub use executor::Scripted;
pub use life::{Life, Rows};
pub use script::{End, Interrupted, Script};
pub use trap::{Action, FETCH, Point};
pub use world::{Shape, World};

use engine::RunRequest;

/// A run as the workspace says.
pub fn plain() -> RunRequest {
    RunRequest::default()
}

/// A run that needs nobody's confirmation.
pub fn auto() -> RunRequest {
    RunRequest { auto_apply: Some(true), ..RunRequest::default() }
}

pub fn plan_only() -> RunRequest {
    RunRequest { plan_only: true, ..RunRequest::default() }
}
