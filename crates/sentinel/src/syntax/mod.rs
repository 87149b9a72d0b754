//! The text of policies: tokens, syntax tree, parser.

pub(crate) mod ast;
pub(crate) mod lexer;
mod parse_expr;
mod parser;
pub(crate) mod token;

pub(crate) use parser::{Mark, marks, parse};
