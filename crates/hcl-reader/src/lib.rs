//! Reads HCL: the text of files and of single values that people write, whoever they are.
//!
//! ```text
//!            ┌─ parse ───────> Document (blocks, attributes, expressions, each with its place)
//!  text ─────┼─ literal ─────> a value, exact or refused
//!            └─ cut_blocks ──> the blocks of one type, by their brackets alone
//! ```
//!
//! # The language
//!
//! The structure of HCL (attributes, blocks with labels), and of its expressions the literals: `null`, `true`, `false`,
//! numbers, strings in quotes with all of their escapes, heredocs, lists and maps, with parentheses around them or not.
//! [`Expression::constant`] says what is a literal, for every reader there is.
//!
//! Strings with `${…}` and calls `name(…)` are taken apart as well; what they mean is for the reader to say. All other
//! expressions are **not** part of the language: operators, conditionals, `for`, indices, `%{…}` and `~`. They are
//! skipped by their brackets, as [`Kind::Computed`], and who needs a value refuses them. What is left can be read in one
//! pass: for each token it is known at once what it belongs to, so that no input makes the reader try again what it has
//! tried. Parsers of the whole language do, and take twice as long for each bracket that a few bytes add.
//!
//! # Invariants
//!
//! - Time and memory grow with the length of the text, not faster. Each byte is looked at a fixed number of times at
//!   most, and names are compared by their hashes. A text may be as large as its reader says, and [`MAX_DEPTH`] deep.
//! - A number has the value that is written, or is refused: see [`Number::exact`].
//! - Every span is within the text and on the borders of characters.
//! - Names of attributes and keys of maps that stand there twice are found and kept; which counts, or whether that is
//!   an error, is for the reader to say.
//! - No error quotes the text, but for a single character that means nothing.
//!
//! # Failure modes
//!
//! [`parse`] ends at the first thing that is not HCL, with its place, and with the duplicates up to there. Nothing panics,
//! whatever the text.

mod constant;
mod cut;
mod duplicates;
mod error;
mod lexer;
mod number;
mod parser;
mod place;
#[cfg(test)]
mod steps;
mod template;
mod tree;

pub use constant::Constant;
pub use cut::{Fragment, cut_blocks};
pub use error::{Error, ErrorKind, Expected, What};
pub use number::Number;
pub use place::{Position, Span, position};
pub use tree::{
    Attribute, Block, Body, Call, Computed, Document, Duplicate, DuplicateOf, Entry, Expression, Kind, Part,
    Word,
};

/// How deep blocks, brackets and strings may be within each other.
pub const MAX_DEPTH: usize = 100;

/// A text that is not HCL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Broken<'t> {
    /// What is wrong with it.
    pub error: Error,
    /// The duplicates before that.
    pub duplicates: Vec<Duplicate<'t>>,
}

/// Reads the text of a file of at most `max_bytes`. A byte order mark in front is skipped.
///
/// ```
/// let document = hcl_reader::parse("policy \"tags\" {\n  level = 3\n}\n", 1 << 20).unwrap();
/// let policy = &document.body.blocks[0];
/// assert_eq!(policy.labels[0].as_str(), "tags");
/// assert_eq!(policy.body.attribute("level").unwrap().value.to_json().unwrap(), 3);
/// ```
///
/// # Errors
///
/// If it is larger, deeper than [`MAX_DEPTH`], or not HCL.
pub fn parse(text: &str, max_bytes: usize) -> Result<Document<'_>, Broken<'_>> {
    if let Some(error) = too_large(text, max_bytes) {
        return Err(Broken { error, duplicates: Vec::new() });
    }
    let mut parser = parser::Parser::new(text);
    let body = parser.file();
    let mut duplicates = parser.duplicates;
    duplicates.sort_by_key(|duplicate| duplicate.again.start);
    match body {
        Ok(body) => Ok(Document { body, duplicates }),
        Err(error) => Err(Broken { error, duplicates }),
    }
}

/// Reads a text of at most `max_bytes` that is one literal.
///
/// ```
/// assert_eq!(hcl_reader::literal("[\"a\", 2]", 1 << 20).unwrap(), serde_json::json!(["a", 2]));
/// let error = hcl_reader::literal("[0.1, 12345678901234567890123]", 1 << 20).unwrap_err();
/// assert_eq!(error.span, 6..29);
/// ```
///
/// # Errors
///
/// If it is larger, deeper than [`MAX_DEPTH`], not HCL, more than a literal, has a number that 64 bits would round, or a
/// key twice.
pub fn literal(text: &str, max_bytes: usize) -> Result<serde_json::Value, Error> {
    too_large(text, max_bytes).map_or_else(|| parser::Parser::new(text).value(), Err)?.to_json()
}

fn too_large(text: &str, limit: usize) -> Option<Error> {
    (text.len() > limit).then(|| Error::new(ErrorKind::TooLarge { limit }, 0..0))
}
