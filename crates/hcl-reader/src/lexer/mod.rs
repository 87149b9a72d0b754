//! Tokens. One pass without a way back, and without recursion: what is open is on a stack of its own.
//!
//! The scanner never fails. What is no token is [`Kind::Broken`], and it goes on behind it: a reader of the language
//! refuses that, and one that looks for blocks by their brackets need not.

mod text;
mod token;

use unicode_ident::{is_xid_continue, is_xid_start};

use crate::error::ErrorKind;

pub(crate) use token::{Kind, Token};

enum Open<'t> {
    /// What closes it.
    Bracket(u8),
    Interpolation,
    Quote {
        start: usize,
    },
    Heredoc {
        marker: &'t str,
        start: usize,
        /// Whether a line begins.
        fresh: bool,
    },
}

pub(crate) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    open: Vec<Open<'t>>,
    /// How many bytes were looked at, each time that one was.
    steps: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        let at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        Self { text, bytes: text.as_bytes(), at, open: Vec::new(), steps: 0 }
    }

    /// How many brackets, quotes and heredocs are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    #[cfg(test)]
    pub(crate) fn steps(&self) -> usize {
        self.steps
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = match self.open.last() {
            Some(&Open::Quote { start }) => self.quoted(start),
            Some(&Open::Heredoc { marker, start, fresh }) => self.heredoc(marker, start, fresh),
            _ => self.code(),
        };
        self.steps += 1;
        token
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    /// The end of the bytes that are such, from `from` on.
    fn scan(&mut self, from: usize, is_such: impl Fn(u8) -> bool) -> usize {
        let rest = self.bytes.get(from..).unwrap_or_default();
        let length = rest.iter().position(|byte| !is_such(*byte)).unwrap_or(rest.len());
        self.steps += length + 1;
        from + length
    }

    /// The token from `start` to `end`, behind which it goes on.
    fn token(&mut self, kind: Kind, start: usize, end: usize) -> Token {
        self.at = end;
        Token { kind, span: start..end }
    }

    fn code(&mut self) -> Token {
        if let Some(broken) = self.skip_blanks() {
            return broken;
        }
        let start = self.at;
        let Some(byte) = self.peek(0) else { return self.token(Kind::End, start, start) };
        match byte {
            b'\n' => self.token(Kind::Newline, start, start + 1),
            b'"' => {
                self.open.push(Open::Quote { start });
                self.token(Kind::Quote, start, start + 1)
            }
            b'(' | b'[' | b'{' => {
                self.open.push(Open::Bracket(partner(byte)));
                self.token(Kind::Open(byte), start, start + 1)
            }
            b')' | b']' | b'}' => self.close(byte),
            b',' => self.token(Kind::Comma, start, start + 1),
            b'0'..=b'9' => self.number(),
            b'<' if self.peek(1) == Some(b'<') => self.begin_heredoc(),
            b'~' if self.peek(1) == Some(b'}') && matches!(self.open.last(), Some(Open::Interpolation)) => {
                self.open.pop();
                self.token(Kind::TemplateEnd { trims: true }, start, start + 2)
            }
            _ => self.name_or_sign(),
        }
    }

    /// White space and comments on a line.
    fn skip_blanks(&mut self) -> Option<Token> {
        loop {
            let start = self.scan(self.at, |byte| matches!(byte, b' ' | b'\t'));
            self.at = start;
            match (self.peek(0), self.peek(1)) {
                (Some(b'\r'), Some(b'\n')) => self.at += 1,
                (Some(b'#'), _) | (Some(b'/'), Some(b'/')) => {
                    self.at = self.scan(start, |byte| byte != b'\n')
                }
                (Some(b'/'), Some(b'*')) => {
                    let rest = self.bytes.get(start + 2..).unwrap_or_default();
                    let length = memchr::memmem::find(rest, b"*/");
                    self.steps += length.unwrap_or(rest.len());
                    match length {
                        Some(length) => self.at = start + 2 + length + 2,
                        None => {
                            let broken = Kind::Broken(ErrorKind::OpenComment);
                            return Some(self.token(broken, start, self.bytes.len()).ending(start + 2));
                        }
                    }
                }
                _ => return None,
            }
        }
    }

    fn close(&mut self, byte: u8) -> Token {
        let start = self.at;
        // a `}` ends what a `{` began, whatever else was left open within
        let innermost = match byte {
            b'}' => self.open.iter().rposition(|open| !matches!(open, Open::Bracket(b')' | b']'))),
            _ => self.open.len().checked_sub(1),
        };
        let mut kind = Kind::Close(byte);
        self.steps += self.open.len() - innermost.unwrap_or(0);
        match innermost.map(|innermost| (innermost, &self.open[innermost])) {
            None => self.open.clear(),
            Some((innermost, Open::Bracket(closing))) if *closing == byte => self.open.truncate(innermost),
            Some((innermost, Open::Interpolation)) if byte == b'}' => {
                self.open.truncate(innermost);
                kind = Kind::TemplateEnd { trims: false };
            }
            Some(_) => {}
        }
        self.token(kind, start, start + 1)
    }

    fn number(&mut self) -> Token {
        let start = self.at;
        let digits = |lexer: &mut Self, from| lexer.scan(from, |byte| byte.is_ascii_digit());
        let mut end = digits(self, start);
        if self.bytes.get(end) == Some(&b'.') {
            let fraction = digits(self, end + 1);
            end = if fraction > end + 1 { fraction } else { end };
        }
        if matches!(self.bytes.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
            let exponent = digits(self, end + 1 + sign);
            end = if exponent > end + 1 + sign { exponent } else { end };
        }
        self.token(Kind::Number, start, end)
    }

    fn begin_heredoc(&mut self) -> Token {
        let start = self.at;
        let indented = self.peek(2) == Some(b'-');
        let name = start + 2 + usize::from(indented);
        let end = self.name_end(name);
        let line_break = match self.bytes.get(end..).unwrap_or_default() {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        if end == name || line_break == 0 {
            return self.token(Kind::Operator, start, start + 1);
        }
        let marker = self.text.get(name..end).unwrap_or_default();
        self.open.push(Open::Heredoc { marker, start, fresh: true });
        self.token(Kind::Heredoc { indented }, start, end + line_break)
    }

    /// The end of the name that begins there, or `from`.
    fn name_end(&mut self, from: usize) -> usize {
        let rest = self.text.get(from..).unwrap_or_default();
        let mut chars = rest.char_indices();
        let begins = chars.next().is_some_and(|(_, char)| char == '_' || is_xid_start(char));
        let end = chars.find(|(_, char)| *char != '-' && !is_xid_continue(*char));
        let length = if begins { end.map_or(rest.len(), |(end, _)| end) } else { 0 };
        self.steps += length + 1;
        from + length
    }

    fn name_or_sign(&mut self) -> Token {
        let start = self.at;
        let end = self.name_end(start);
        if end > start {
            return self.token(Kind::Name, start, end);
        }
        let rest = self.bytes.get(start..).unwrap_or_default();
        let (kind, length) = match rest {
            [b'.', b'.', b'.', ..] => (Kind::Operator, 3),
            [b'=' | b'!' | b'<' | b'>', b'=', ..]
            | [b'=', b'>', ..]
            | [b'&', b'&', ..]
            | [b'|', b'|', ..]
            | [b':', b':', ..] => (Kind::Operator, 2),
            [b'=', ..] => (Kind::Equals, 1),
            [b':', ..] => (Kind::Colon, 1),
            [b'-', ..] => (Kind::Minus, 1),
            [b'.', ..] => (Kind::Dot, 1),
            [b'+' | b'*' | b'/' | b'%' | b'<' | b'>' | b'!' | b'?', ..] => (Kind::Operator, 1),
            _ => {
                let char = self.text.get(start..).and_then(|rest| rest.chars().next()).unwrap_or_default();
                (Kind::Broken(ErrorKind::Character(char)), char.len_utf8())
            }
        };
        self.token(kind, start, start + length)
    }
}

fn partner(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}
