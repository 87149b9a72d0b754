//! The text of policies: tokens, syntax tree, parser.

pub(crate) mod ast;
mod comments;
pub(crate) mod letters;
pub(crate) mod lexer;
mod parse_expr;
mod parse_stmt;
mod parser;
pub(crate) mod token;

pub(crate) use parser::{Mark, marks, parse};
