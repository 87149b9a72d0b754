//! Small things that messages are made of: text that is safe to show, amounts, and the name that was probably meant.
//!
//! Invariants: nothing here fails, and nothing takes longer than its input is long; [`nearest`] gives up on what would.

mod amount;
mod escape;
mod nearest;

pub use amount::{bytes, count, hex};
pub use escape::{escaped, is_steering, without_colours};
pub use nearest::nearest;
