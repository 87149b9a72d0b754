//! From tokens to the tree: one token at a time, none of them twice.

mod expression;
mod skip;
mod strings;
mod structure;

use std::borrow::Cow;

use crate::MAX_DEPTH;
use crate::error::{Error, ErrorKind, Expected};
use crate::lexer::{Kind as Sign, Lexer, Token};
use crate::place::Span;
use crate::tree::{Body, Duplicate, Expression, Word};

type Result<T> = std::result::Result<T, Error>;

/// Whether the end of a line ends an expression, as it does unless it stands in brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lines {
    Matter,
    AreBlanks,
}

/// What ends an expression, besides the bracket around it and a comma.
#[derive(Debug, Clone, Copy)]
struct Until {
    lines: Lines,
    /// Whether it is the key of a map, which ends at its `=` or `:`.
    is_key: bool,
}

pub(crate) struct Parser<'t> {
    text: &'t str,
    lexer: Lexer<'t>,
    /// The token that comes next.
    token: Token,
    /// The end of the one before, line breaks aside.
    end: usize,
    /// How many expressions and blocks are within each other.
    depth: usize,
    pub(crate) duplicates: Vec<Duplicate<'t>>,
}

impl<'t> Parser<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let mut lexer = Lexer::new(text);
        let token = lexer.next();
        Self { text, lexer, token, end: 0, depth: 0, duplicates: Vec::new() }
    }

    /// The whole text as the content of a file.
    pub(crate) fn file(&mut self) -> Result<Body<'t>> {
        self.body(None)
    }

    /// The whole text as one expression.
    pub(crate) fn value(&mut self) -> Result<Expression<'t>> {
        let value = self.expression(Lines::AreBlanks)?;
        self.expect(Sign::End, Expected::End)?;
        Ok(value)
    }

    #[cfg(test)]
    pub(crate) fn steps(&self) -> usize {
        self.lexer.steps()
    }

    /// Takes the next token.
    fn take(&mut self) -> Result<Token> {
        if let Sign::Broken(kind) = self.token.kind {
            return Err(Error::new(kind, self.token.span.clone()));
        }
        if self.token.kind != Sign::Newline {
            self.end = self.token.span.end;
        }
        Ok(std::mem::replace(&mut self.token, self.lexer.next()))
    }

    fn take_if(&mut self, sign: Sign) -> Result<bool> {
        let is_it = self.token.kind == sign;
        if is_it {
            self.take()?;
        }
        Ok(is_it)
    }

    fn skip_newlines(&mut self) -> Result<()> {
        while self.take_if(Sign::Newline)? {}
        Ok(())
    }

    fn expect(&mut self, sign: Sign, expected: Expected) -> Result<()> {
        if self.take_if(sign)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: Expected) -> Error {
        let kind = match self.token.kind {
            Sign::Broken(kind) => kind,
            sign => ErrorKind::Expected { expected, found: Self::name_of(sign) },
        };
        Error::new(kind, self.token.span.clone())
    }

    /// What a token is, without what it says: that may be secret.
    fn name_of(sign: Sign) -> &'static str {
        match sign {
            Sign::Newline => "the end of the line",
            Sign::Name => "a name",
            Sign::Number => "a number",
            Sign::Quote | Sign::Text => "a string",
            Sign::QuoteEnd => "the end of a string",
            Sign::Heredoc { .. } | Sign::HeredocEnd => "a heredoc",
            Sign::Interpolation { .. } => "`${`",
            Sign::Directive => "`%{`",
            Sign::Open(b'(') => "`(`",
            Sign::Open(b'[') => "`[`",
            Sign::Open(_) => "`{`",
            Sign::Close(b')') => "`)`",
            Sign::Close(b']') => "`]`",
            Sign::Close(_) | Sign::TemplateEnd { .. } => "`}`",
            Sign::Comma => "`,`",
            Sign::Equals => "`=`",
            Sign::Colon => "`:`",
            Sign::Minus => "`-`",
            Sign::Dot => "`.`",
            Sign::Operator | Sign::Broken(_) => "an operator",
            Sign::End => "the end of the text",
        }
    }

    fn text_of(&self, span: &Span) -> &'t str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    fn word(&mut self) -> Result<Word<'t>> {
        let Token { span, .. } = self.take()?;
        Ok(Word { text: Cow::Borrowed(self.text_of(&span)), span })
    }

    /// Goes one level down, if that isn't too deep.
    fn within<T>(&mut self, opening: &Token, read: impl FnOnce(&mut Self, &Token) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(Error::new(ErrorKind::TooDeep, opening.span.clone()));
        }
        self.depth += 1;
        let read = read(self, opening);
        self.depth -= 1;
        read
    }

    /// Takes a closing bracket.
    fn closing(&mut self, bracket: u8, expected: Expected, opening: &Token) -> Result<()> {
        match self.token.kind {
            Sign::Close(closing) if closing == bracket => self.take().map(drop),
            Sign::End => Err(unclosed(opening)),
            _ => Err(self.unexpected(expected)),
        }
    }
}

/// The text ends within what was opened there.
fn unclosed(opening: &Token) -> Error {
    let kind = match opening.kind {
        Sign::Open(bracket) => ErrorKind::OpenBracket(char::from(bracket)),
        Sign::Heredoc { .. } => ErrorKind::OpenHeredoc,
        _ => ErrorKind::OpenQuote,
    };
    Error::new(kind, opening.span.clone())
}
