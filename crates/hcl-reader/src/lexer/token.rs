//! The pieces of a text.

use crate::error::ErrorKind;
use crate::place::Span;

/// A piece of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Newline,
    Name,
    /// Without a sign.
    Number,
    /// `"`, the first of two.
    Quote,
    QuoteEnd,
    /// `<<END` or `<<-END` with the line break behind it.
    Heredoc {
        indented: bool,
    },
    HeredocEnd,
    /// Text of a string or heredoc, with its escapes.
    Text,
    /// `${`, or `${~`
    Interpolation {
        trims: bool,
    },
    /// `%{`, or `%{~`
    Directive,
    /// `}` or `~}` of either.
    TemplateEnd {
        trims: bool,
    },
    /// `(`, `[` or `{`
    Open(u8),
    /// `)`, `]` or `}`
    Close(u8),
    Comma,
    Equals,
    Colon,
    Minus,
    /// `.`
    Dot,
    /// Anything else that an expression may have.
    Operator,
    Broken(ErrorKind),
    End,
}

impl Token {
    /// The same token, shown as if it ended there.
    pub(super) fn ending(mut self, end: usize) -> Self {
        self.span.end = end;
        self
    }
}
