//! Strings and heredocs, up to the code that is in them.

use super::token::{Kind, Token};
use super::{Lexer, Open};
use crate::error::ErrorKind;

impl Lexer<'_> {
    pub(super) fn quoted(&mut self, quote: usize) -> Token {
        let start = self.at;
        loop {
            let end = self.scan(self.at, |byte| !matches!(byte, b'"' | b'\\' | b'$' | b'%' | b'\n'));
            self.at = end;
            match self.peek(0) {
                None | Some(b'\n') => {
                    self.open.pop();
                    return self.token(Kind::Broken(ErrorKind::OpenQuote), quote, end).ending(quote + 1);
                }
                Some(b'"') if end == start => {
                    self.open.pop();
                    return self.token(Kind::QuoteEnd, end, end + 1);
                }
                Some(b'"') => return self.token(Kind::Text, start, end),
                Some(b'\\') => self.at += if matches!(self.peek(1), None | Some(b'\n')) { 1 } else { 2 },
                Some(sign) => {
                    if let Some(token) = self.template(start, sign) {
                        return token;
                    }
                }
            }
        }
    }

    pub(super) fn heredoc(&mut self, marker: &str, opening: usize, mut fresh: bool) -> Token {
        let start = self.at;
        loop {
            if fresh {
                let line_end = self.scan(self.at, |byte| byte != b'\n');
                let line = self.text.get(self.at..line_end).unwrap_or_default();
                if line.trim() == marker {
                    if self.at > start {
                        self.set_fresh(true);
                        return self.token(Kind::Text, start, self.at);
                    }
                    self.open.pop();
                    return self.token(Kind::HeredocEnd, start, start + line.trim_end().len());
                }
                fresh = false;
            }
            let end = self.scan(self.at, |byte| !matches!(byte, b'$' | b'%' | b'\n'));
            self.at = end;
            match self.peek(0) {
                None => {
                    self.open.pop();
                    return self
                        .token(Kind::Broken(ErrorKind::OpenHeredoc), opening, end)
                        .ending(opening + 2);
                }
                Some(b'\n') => {
                    self.at += 1;
                    fresh = true;
                }
                Some(sign) => {
                    self.set_fresh(false);
                    if let Some(token) = self.template(start, sign) {
                        return token;
                    }
                }
            }
        }
    }

    fn set_fresh(&mut self, is_fresh: bool) {
        if let Some(Open::Heredoc { fresh, .. }) = self.open.last_mut() {
            *fresh = is_fresh;
        }
    }

    /// At a `$` or `%`: the text before it if it begins something, or what it begins, or nothing.
    fn template(&mut self, start: usize, sign: u8) -> Option<Token> {
        let at = self.at;
        if self.peek(1) == Some(sign) && self.peek(2) == Some(b'{') {
            self.at += 3;
            return None;
        }
        if self.peek(1) != Some(b'{') {
            self.at += 1;
            return None;
        }
        if at > start {
            return Some(self.token(Kind::Text, start, at));
        }
        self.open.push(Open::Interpolation);
        let trims = self.peek(2) == Some(b'~');
        let kind = if sign == b'$' { Kind::Interpolation { trims } } else { Kind::Directive };
        Some(self.token(kind, at, at + 2 + usize::from(trims)))
    }
}
