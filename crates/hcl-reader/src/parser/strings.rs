//! Strings and heredocs.

use super::{Lines, Parser, Result, unclosed};
use crate::error::{Error, ErrorKind, Expected, What};
use crate::lexer::{Kind as Sign, Token};
use crate::template::{Piece, assemble, heredoc, unescape};
use crate::tree::{Computed, Expression, Kind, Part};

impl<'t> Parser<'t> {
    pub(super) fn quoted(&mut self, quote: &Token) -> Result<Kind<'t>> {
        let mut parts = Vec::new();
        loop {
            match self.token.kind {
                Sign::QuoteEnd => {
                    self.take()?;
                    return Ok(assemble(parts));
                }
                Sign::Text => {
                    let Token { span, .. } = self.take()?;
                    let text = unescape(self.text_of(&span)).map_err(|escape| {
                        Error::new(ErrorKind::Escape, span.start + escape.start..span.start + escape.end)
                    })?;
                    // nearly all strings are one text
                    if parts.is_empty() && self.take_if(Sign::QuoteEnd)? {
                        return Ok(Kind::String(text));
                    }
                    parts.push(Part::Text(text));
                }
                _ => parts.push(Part::Value(self.template_value(quote)?)),
            }
        }
    }

    pub(super) fn heredoc(&mut self, opening: &Token, indented: bool) -> Result<Kind<'t>> {
        let mut pieces = Vec::new();
        loop {
            match self.token.kind {
                Sign::HeredocEnd => {
                    self.take()?;
                    return Ok(assemble(heredoc(pieces, indented)));
                }
                Sign::Text => {
                    let Token { span, .. } = self.take()?;
                    pieces.push(Piece::Text(self.text_of(&span)));
                }
                _ => pieces.push(Piece::Value(self.template_value(opening)?)),
            }
        }
    }

    /// What stands between `${` and `}`.
    fn template_value(&mut self, opening: &Token) -> Result<Expression<'t>> {
        let start = self.token.span.start;
        let computed = |what, sign| Kind::Computed(Computed { what, sign });
        match self.token.kind {
            Sign::Interpolation { trims } => {
                self.take()?;
                let value = self.expression(Lines::AreBlanks)?;
                let Sign::TemplateEnd { trims: trims_too } = self.token.kind else {
                    return Err(match self.token.kind {
                        Sign::End => unclosed(opening),
                        _ => self.unexpected(Expected::InterpolationEnd),
                    });
                };
                self.take()?;
                match trims || trims_too {
                    true => Ok(Expression { kind: computed(What::TrimMarker, "~"), span: start..self.end }),
                    false => Ok(value),
                }
            }
            Sign::Directive => {
                self.skip_to_closing()?;
                Ok(Expression { kind: computed(What::Directive, "%{"), span: start..self.end })
            }
            _ => Err(self.unexpected(Expected::Value)),
        }
    }
}
