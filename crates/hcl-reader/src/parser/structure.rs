//! Blocks and attributes.

use super::{Lines, Parser, Result, unclosed};
use crate::duplicates;
use crate::error::{Error, ErrorKind, Expected};
use crate::lexer::{Kind as Sign, Token};
use crate::tree::{Attribute, Block, Body, Kind, Word};

impl<'t> Parser<'t> {
    /// What stands behind an opening bracket, or in the whole text.
    pub(super) fn body(&mut self, opening: Option<&Token>) -> Result<Body<'t>> {
        let mut body = Body::default();
        let read = self.items(opening, &mut body);
        // also if it was broken off: what was found must not be lost
        duplicates::in_body(&mut body, &mut self.duplicates);
        // a file of ten thousand blocks would hold room for four times as many
        body.attributes.shrink_to_fit();
        body.blocks.shrink_to_fit();
        read.map(|()| body)
    }

    fn items(&mut self, opening: Option<&Token>, body: &mut Body<'t>) -> Result<()> {
        loop {
            self.skip_newlines()?;
            match (self.token.kind, opening) {
                (Sign::End, None) => return Ok(()),
                (Sign::End, Some(opening)) => return Err(unclosed(opening)),
                (Sign::Close(b'}'), Some(_)) => return self.take().map(drop),
                (Sign::Name, _) => {
                    let name = self.word()?;
                    if self.token.kind == Sign::Equals {
                        body.attributes.push(self.attribute(name)?);
                    } else {
                        body.blocks.push(self.block(name)?);
                    }
                    if self.token.kind != Sign::End {
                        self.expect(Sign::Newline, Expected::LineEnd)?;
                    }
                }
                _ => return Err(self.unexpected(Expected::Item)),
            }
        }
    }

    fn attribute(&mut self, name: Word<'t>) -> Result<Attribute<'t>> {
        self.expect(Sign::Equals, Expected::EqualsOrBlock)?;
        Ok(Attribute { name, value: self.expression(Lines::Matter)?, repeated: false })
    }

    fn block(&mut self, kind: Word<'t>) -> Result<Block<'t>> {
        let mut labels = Vec::new();
        loop {
            match self.token.kind {
                Sign::Name => labels.push(self.word()?),
                Sign::Quote => labels.push(self.label()?),
                Sign::Open(b'{') => break,
                _ if labels.is_empty() => return Err(self.unexpected(Expected::EqualsOrBlock)),
                _ => return Err(self.unexpected(Expected::Label)),
            }
        }
        labels.shrink_to_fit();
        let opening = self.take()?;
        let body = self.within(&opening, |parser, opening| match parser.token.kind {
            Sign::Newline => parser.body(Some(opening)),
            _ => parser.body_on_one_line(opening),
        })?;
        Ok(Block { kind, labels, body })
    }

    fn label(&mut self) -> Result<Word<'t>> {
        let quote = self.take()?;
        let start = quote.span.start;
        match self.within(&quote, Self::quoted)? {
            Kind::String(text) => Ok(Word { text, span: start..self.end }),
            _ => {
                let kind = ErrorKind::Expected { expected: Expected::Label, found: "a template" };
                Err(Error::new(kind, start..self.end))
            }
        }
    }

    fn body_on_one_line(&mut self, opening: &Token) -> Result<Body<'t>> {
        let mut body = Body::default();
        if self.token.kind == Sign::Name {
            let name = self.word()?;
            if self.token.kind != Sign::Equals {
                return Err(Error::new(ErrorKind::OneLine, name.span));
            }
            body.attributes = vec![self.attribute(name)?];
            if matches!(self.token.kind, Sign::Name | Sign::Newline) {
                return Err(Error::new(ErrorKind::OneLine, self.token.span.clone()));
            }
        }
        self.closing(b'}', Expected::Item, opening)?;
        Ok(body)
    }
}
