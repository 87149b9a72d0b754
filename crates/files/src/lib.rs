//! Files where others may have put anything, and files that have to be whole: opening, replacing, hashing.
//!
//! Invariants: opening follows no link and waits for nobody ([`open`]); a file that is replaced is the old one or the
//! new one, never a part, and readable by its owner alone ([`Replacement`]).
//!
//! Failure modes: all errors are the system's own, [`std::io::Error`]; whoever calls knows the path. What is left of a
//! replacement that failed is removed; after a power cut it may stay, under a name that ends in `.tmp`.

mod hashed;
mod open;
mod replace;

pub use hashed::Hashed;
pub use open::{Found, open, open_at};
pub use replace::{Replacement, create_private, remove, sync_directory};
