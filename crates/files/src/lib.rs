//! Files where others may have put anything, and files that have to be whole: opening, replacing, hashing,
//! removing.
//!
//! Invariants: opening follows no link and waits for nobody ([`open`]); a file that is replaced is the old one or the
//! new one, never a part, and readable by its owner alone ([`Replacement`]).
//!
//! Failure modes: all errors are the system's own, [`std::io::Error`]; whoever calls knows the path. Whether one can pass
//! by itself is decided here, for everybody: [`can_pass`]. What is left of a
//! replacement that failed is removed; after a power cut it may stay, under a name that ends in `.tmp`.

mod failure;
mod hashed;
mod open;
mod remove_tree;
mod replace;

pub use failure::{Failure, can_pass};
pub use hashed::Hashed;
pub use open::{Found, open, open_at};
pub use remove_tree::{empty_directory, remove_tree};
pub use replace::{Replacement, create_private, remove, sync_directory};
