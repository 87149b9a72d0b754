//! Values and calls, and where an expression is more than that.

use super::skip::closes;
use super::{Lines, Parser, Result, Until, unclosed};
use crate::duplicates;
use crate::error::{Expected, What};
use crate::lexer::{Kind as Sign, Token};
use crate::number::Number;
use crate::place::Span;
use crate::tree::{Call, Computed, Entry, Expression, Kind, Word};

impl<'t> Parser<'t> {
    pub(super) fn expression(&mut self, lines: Lines) -> Result<Expression<'t>> {
        if lines == Lines::AreBlanks {
            self.skip_newlines()?;
        }
        let start = self.token.span.start;
        let term = self.term(Until { lines, is_key: false })?;
        self.rest(start, term, Until { lines, is_key: false })
    }

    /// What follows a term may make more of it: an expression that isn't taken apart.
    fn rest(&mut self, start: usize, term: Expression<'t>, until: Until) -> Result<Expression<'t>> {
        if until.lines == Lines::AreBlanks {
            self.skip_newlines()?;
        }
        let sign = self.text_of(&self.token.span);
        let what = match self.token.kind {
            Sign::Operator if sign == "?" => What::Conditional,
            Sign::Operator | Sign::Minus => What::Operator,
            Sign::Dot | Sign::Open(b'[') => What::Access,
            _ => return Ok(term),
        };
        self.skip(until)?;
        let kind = match term.kind {
            // the name is what is wrong; what it has there is no matter
            Kind::Variable(name) if what == What::Access => Kind::Variable(name),
            _ => Kind::Computed(Computed { what, sign }),
        };
        Ok(Expression { kind, span: start..self.end })
    }

    /// A literal, a call or a name; an operator in front makes all of it one.
    fn term(&mut self, until: Until) -> Result<Expression<'t>> {
        let start = self.token.span.start;
        let kind = match self.token.kind {
            Sign::Name => {
                let name = self.take()?;
                return self.named(name.span);
            }
            Sign::Number => {
                let Token { span, .. } = self.take()?;
                Kind::Number(Number::new(false, self.text_of(&span)))
            }
            Sign::Minus | Sign::Operator => {
                let Token { span, kind } = self.take()?;
                if kind == Sign::Minus && self.token.kind == Sign::Number {
                    let Token { span, .. } = self.take()?;
                    Kind::Number(Number::new(true, self.text_of(&span)))
                } else {
                    self.skip(until)?;
                    Kind::Computed(Computed { what: What::Operator, sign: self.text_of(&span) })
                }
            }
            Sign::Quote => {
                let quote = self.take()?;
                self.within(&quote, Self::quoted)?
            }
            Sign::Heredoc { indented } => {
                let opening = self.take()?;
                self.within(&opening, |parser, opening| parser.heredoc(opening, indented))?
            }
            Sign::Open(bracket) => {
                let opening = self.take()?;
                let read = match bracket {
                    b'(' => return self.within(&opening, Self::parenthesis),
                    b'[' => Self::list,
                    _ => Self::map,
                };
                self.within(&opening, read)?
            }
            _ => return Err(self.unexpected(Expected::Value)),
        };
        Ok(Expression { kind, span: start..self.end })
    }

    fn named(&mut self, name: Span) -> Result<Expression<'t>> {
        let start = name.start;
        let kind = match self.text_of(&name) {
            text if self.token.kind == Sign::Open(b'(') => {
                let opening = self.take()?;
                let arguments = self.within(&opening, |parser, opening| parser.items_until(b')', opening))?;
                Kind::Call(Box::new(Call { name: Word { text: text.into(), span: name }, arguments }))
            }
            "null" => Kind::Null,
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            text => Kind::Variable(text),
        };
        Ok(Expression { kind, span: start..self.end })
    }

    fn parenthesis(&mut self, opening: &Token) -> Result<Expression<'t>> {
        let inner = self.expression(Lines::AreBlanks)?;
        self.closing(b')', Expected::Parenthesis, opening)?;
        Ok(inner)
    }

    fn list(&mut self, opening: &Token) -> Result<Kind<'t>> {
        self.skip_newlines()?;
        match self.loop_in(opening)? {
            Some(kind) => Ok(kind),
            None => Ok(Kind::List(self.items_until(b']', opening)?)),
        }
    }

    /// Expressions with commas between them.
    fn items_until(&mut self, bracket: u8, opening: &Token) -> Result<Vec<Expression<'t>>> {
        let mut items = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.token.kind == Sign::Close(bracket) {
                break;
            }
            if self.token.kind == Sign::End {
                return Err(unclosed(opening));
            }
            items.push(self.expression(Lines::AreBlanks)?);
            if !self.take_if(Sign::Comma)? {
                break;
            }
        }
        self.closing(bracket, Expected::ListEnd, opening)?;
        Ok(items)
    }

    fn map(&mut self, opening: &Token) -> Result<Kind<'t>> {
        self.skip_newlines()?;
        if let Some(kind) = self.loop_in(opening)? {
            return Ok(kind);
        }
        let mut entries = Vec::new();
        let read = self.entries(opening, &mut entries);
        duplicates::in_map(&mut entries, &mut self.duplicates);
        read.map(|()| Kind::Map(entries))
    }

    fn entries(&mut self, opening: &Token, entries: &mut Vec<Entry<'t>>) -> Result<()> {
        loop {
            self.skip_newlines()?;
            match self.token.kind {
                Sign::Close(b'}') => return self.take().map(drop),
                Sign::End => return Err(unclosed(opening)),
                _ => {}
            }
            let key = self.key()?;
            if !matches!(self.token.kind, Sign::Equals | Sign::Colon) {
                return Err(self.unexpected(Expected::KeyValue));
            }
            self.take()?;
            let value = self.expression(Lines::Matter)?;
            entries.push(Entry { key, value, repeated: false });
            match self.token.kind {
                Sign::Comma | Sign::Newline => self.take().map(drop)?,
                _ => return self.closing(b'}', Expected::MapEnd, opening),
            }
        }
    }

    fn key(&mut self) -> Result<Expression<'t>> {
        let until = Until { lines: Lines::Matter, is_key: true };
        let start = self.token.span.start;
        let term = match self.token.kind {
            Sign::Name => {
                let Token { span, .. } = self.take()?;
                if matches!(self.token.kind, Sign::Equals | Sign::Colon) {
                    return Ok(Expression { kind: Kind::String(self.text_of(&span).into()), span });
                }
                self.named(span)?
            }
            Sign::Broken(_) => return Err(self.unexpected(Expected::Key)),
            sign if closes(sign) || matches!(sign, Sign::Comma | Sign::Equals | Sign::Colon | Sign::Dot) => {
                return Err(self.unexpected(Expected::Key));
            }
            _ => self.term(until)?,
        };
        let key = self.rest(start, term, until)?;
        Ok(Expression { span: start..self.end, ..key })
    }
}
