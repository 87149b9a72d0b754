//! Expressions that aren't taken apart: they end where their brackets and quotes do.

use super::{Lines, Parser, Result, Until, unclosed};
use crate::error::What;
use crate::lexer::{Kind as Sign, Token};
use crate::tree::{Computed, Kind};

impl<'t> Parser<'t> {
    /// Skips to the end of an expression, by the brackets and quotes that are open in it.
    pub(super) fn skip(&mut self, until: Until) -> Result<()> {
        loop {
            match self.token.kind {
                sign if opens(sign) => {
                    self.skip_to_closing()?;
                    continue;
                }
                sign if closes(sign) => return Ok(()),
                Sign::End | Sign::Comma => return Ok(()),
                Sign::Newline if until.lines == Lines::Matter => return Ok(()),
                Sign::Equals | Sign::Colon if until.is_key => return Ok(()),
                _ => self.take()?,
            };
        }
    }

    /// Skips what the next token opens.
    pub(super) fn skip_to_closing(&mut self) -> Result<()> {
        let opening = self.take()?;
        self.skip_open(&opening)
    }

    /// Skips to the end of what was opened.
    fn skip_open(&mut self, opening: &Token) -> Result<()> {
        let mut open: usize = 1;
        while open > 0 {
            match self.token.kind {
                sign if opens(sign) => open += 1,
                sign if closes(sign) => open -= 1,
                Sign::End => return Err(unclosed(opening)),
                _ => {}
            }
            self.take()?;
        }
        Ok(())
    }

    /// If a `for` comes next, the rest of the bracket.
    pub(super) fn loop_in(&mut self, opening: &Token) -> Result<Option<Kind<'t>>> {
        let sign = self.text_of(&self.token.span);
        if self.token.kind != Sign::Name || sign != "for" {
            return Ok(None);
        }
        self.skip_open(opening)?;
        Ok(Some(Kind::Computed(Computed { what: What::For, sign })))
    }
}

fn opens(sign: Sign) -> bool {
    matches!(
        sign,
        Sign::Open(_) | Sign::Quote | Sign::Heredoc { .. } | Sign::Interpolation { .. } | Sign::Directive
    )
}

pub(super) fn closes(sign: Sign) -> bool {
    matches!(sign, Sign::Close(_) | Sign::QuoteEnd | Sign::HeredocEnd | Sign::TemplateEnd { .. })
}
