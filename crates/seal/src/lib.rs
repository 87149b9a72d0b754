//! Encryption of what lies on a disk: whole files, written piece by piece and read from any place.
//!
//! ```text
//! key      a key, its id, and the ring of those that a daemon knows
//! format   what a sealed file looks like
//! write    bytes in, a sealed file out
//! read     a sealed file in, its bytes out, at any offset
//! ```
//!
//! The cipher is XChaCha20-Poly1305 in the STREAM construction (Hoang, Reyhanitabar, Rogaway, Vizár, 2015): pieces of 64 KiB,
//! each with its place and whether it is the last in its nonce. So pieces can't be changed, exchanged, left out or cut off
//! without that being told when they are read. The nonce of a file is random, and long enough for that.
//!
//! Invariants:
//! * A key is in memory and in what the person gave it in, and nowhere else: files name it by an id, which is a digest.
//! * What can't be opened is an error that says which key it takes, and never empty or raw bytes.
//!
//! Failure modes: a key that is not known ([`OpenError::UnknownKey`]); bytes that are not those that were sealed
//! ([`OpenError::Damaged`]). Neither passes by itself.

mod format;
mod key;
mod read;
mod write;

pub use crate::format::PIECE;
pub use crate::key::{InvalidKey, InvalidKeyId, Key, KeyId, Keyring};
pub use crate::read::{OpenError, Opened, open, sealed_with};
pub use crate::write::{Sealer, seal};
