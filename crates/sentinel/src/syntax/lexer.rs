//! From text to tokens. Semicolons are put in at line ends by the specification's rule.

use super::letters::{continues_name, shown, starts_name};
use super::token::{Kw, Op, Tok, Token};
use crate::error::{Error, ErrorKind};
use crate::source::{Source, Span};
use crate::value::Str;

/// A comment, for descriptions and for the formatter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comment {
    pub(crate) span: Span,
}

/// Reads one token after another. Cloning is cheap: it is how the parser looks ahead.
#[derive(Clone)]
pub(crate) struct Lexer<'s> {
    source: &'s Source,
    text: &'s [u8],
    at: usize,
    /// Whether the last token ends a statement when a line break follows.
    ends_line: bool,
    /// Whether the last token was a `.`: then any word is a name.
    after_dot: bool,
    /// Whether the last token was a `-`: then the magnitude of the smallest integer is in range.
    after_minus: bool,
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s Source) -> Result<Lexer<'s>, Error> {
        if u32::try_from(source.text().len()).is_err() {
            return Err(Error::new(ErrorKind::Syntax, "the file is larger than 4 GiB"));
        }
        // a byte order mark is not part of the text
        let at = if source.text().starts_with('\u{feff}') { 3 } else { 0 };
        Ok(Lexer {
            source,
            text: source.text().as_bytes(),
            at,
            ends_line: false,
            after_dot: false,
            after_minus: false,
        })
    }

    /// Whether the next thing in the text, but for blanks and comments, is a selector: `.name`.
    pub(crate) fn before_selector(&self) -> bool {
        let mut ahead = Lexer { ends_line: false, ..self.clone() };
        ahead.skip(None).is_ok() && ahead.peek() == b'.' && !ahead.peek_at(1).is_ascii_digit()
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    fn error(&self, start: usize, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, message).at(self.source, self.span(start))
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn peek_at(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Skips blanks and comments; returns a semicolon when a line break ends a statement.
    fn skip(&mut self, mut comments: Option<&mut Vec<Comment>>) -> Result<Option<Token>, Error> {
        loop {
            let start = self.at;
            match self.peek() {
                b'\n' => {
                    self.at += 1;
                    if self.ends_line {
                        return Ok(Some(self.line_end(start)));
                    }
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                b'#' => self.line_comment(comments.as_deref_mut()),
                b'/' if self.peek_at(1) == b'/' => self.line_comment(comments.as_deref_mut()),
                b'/' if self.peek_at(1) == b'*' => {
                    let rest = &self.text[self.at + 2..];
                    let Some(length) = rest.windows(2).position(|pair| pair == b"*/") else {
                        self.at += 2;
                        return Err(self.error(start, "a comment is not closed").label("`*/` is missing"));
                    };
                    self.at += length + 4;
                    if let Some(comments) = comments.as_deref_mut() {
                        comments.push(Comment { span: self.span(start) });
                    }
                    // a comment over several lines counts as a line break
                    if self.ends_line && rest[..length].contains(&b'\n') {
                        return Ok(Some(self.line_end(start)));
                    }
                }
                _ => return Ok(None),
            }
        }
    }

    fn line_comment(&mut self, comments: Option<&mut Vec<Comment>>) {
        let start = self.at;
        while self.at < self.text.len() && self.peek() != b'\n' {
            self.at += 1;
        }
        if let Some(comments) = comments {
            comments.push(Comment { span: self.span(start) });
        }
    }

    fn line_end(&mut self, start: usize) -> Token {
        self.ends_line = false;
        self.after_dot = false;
        Token {
            tok: Tok::Semicolon { written: false },
            span: Span { start: start as u32, end: start as u32 },
        }
    }

    pub(crate) fn next(&mut self, comments: Option<&mut Vec<Comment>>) -> Result<Token, Error> {
        if let Some(semicolon) = self.skip(comments)? {
            return Ok(semicolon);
        }
        let start = self.at;
        let after_dot = std::mem::take(&mut self.after_dot);
        if start >= self.text.len() {
            if self.ends_line {
                return Ok(self.line_end(start));
            }
            return Ok(Token { tok: Tok::Eof, span: self.span(start) });
        }
        let tok = match self.peek() {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => self.word(after_dot)?,
            b'0'..=b'9' => self.number()?,
            b'.' if self.peek_at(1).is_ascii_digit() && !after_dot => self.number()?,
            b'"' => self.string()?,
            b'`' => self.raw_string()?,
            b';' => {
                self.at += 1;
                Tok::Semicolon { written: true }
            }
            _ => self.operator()?,
        };
        self.ends_line = match &tok {
            Tok::Ident | Tok::Int(_) | Tok::Float(_) | Tok::Str(_) => true,
            Tok::Keyword(word) => matches!(word, Kw::Break | Kw::Continue | Kw::Return | Kw::Empty),
            Tok::Op(op) => matches!(op, Op::RParen | Op::RBracket | Op::RBrace),
            _ => false,
        };
        self.after_dot = tok == Tok::Op(Op::Dot);
        self.after_minus = tok == Tok::Op(Op::Minus);
        Ok(Token { tok, span: self.span(start) })
    }

    fn word(&mut self, after_dot: bool) -> Result<Tok, Error> {
        let start = self.at;
        loop {
            match self.peek() {
                b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'0'..=b'9' => self.at += 1,
                0x80.. => {
                    let rest = &self.source.text()[self.at..];
                    let Some(c) = rest.chars().next() else { break };
                    let fits = if self.at == start { starts_name } else { continues_name };
                    if !fits(c) {
                        if self.at > start {
                            break;
                        }
                        self.at += c.len_utf8();
                        return Err(self.error(start, format!("{} cannot be used here", shown(c))));
                    }
                    self.at += c.len_utf8();
                }
                _ => break,
            }
        }
        let word = &self.text[start..self.at];
        match Kw::lookup(word) {
            Some(keyword) if !after_dot => Ok(Tok::Keyword(keyword)),
            _ => Ok(Tok::Ident),
        }
    }

    fn digits(&mut self) {
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
    }

    fn number(&mut self) -> Result<Tok, Error> {
        let start = self.at;
        if self.peek() == b'0' && matches!(self.peek_at(1), b'x' | b'X') {
            self.at += 2;
            while self.peek().is_ascii_alphanumeric() {
                self.at += 1;
            }
            return self.integer(start);
        }
        self.digits();
        let mut float = false;
        if self.peek() == b'.' {
            float = true;
            self.at += 1;
            self.digits();
        }
        let sign = usize::from(matches!(self.peek_at(1), b'+' | b'-'));
        if matches!(self.peek(), b'e' | b'E') && self.peek_at(1 + sign).is_ascii_digit() {
            float = true;
            self.at += 1 + sign;
            self.digits();
        }
        if self.peek().is_ascii_alphabetic() || self.peek() == b'_' {
            while self.peek().is_ascii_alphanumeric() || self.peek() == b'_' {
                self.at += 1;
            }
            return Err(self.error(start, "a number runs into a word"));
        }
        if !float {
            return self.integer(start);
        }
        let text = &self.source.text()[start..self.at];
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Tok::Float(value)),
            _ => Err(self.error(start, format!("`{text}` is too large for a float"))),
        }
    }

    fn integer(&mut self, start: usize) -> Result<Tok, Error> {
        let text = &self.source.text()[start..self.at];
        let (radix, digits) = match text.as_bytes() {
            [b'0', b'x' | b'X', ..] => (16, &text[2..]),
            [b'0', _, ..] => (8, &text[1..]),
            _ => (10, text),
        };
        if digits.is_empty() || !digits.bytes().all(|b| (b as char).is_digit(radix)) {
            let kind = if radix == 16 { "hexadecimal" } else { "octal" };
            return Err(self.error(start, format!("`{text}` is not {} {kind} number", article(radix))));
        }
        match u64::from_str_radix(digits, radix) {
            Ok(value) if value <= i64::MAX as u64 => Ok(Tok::Int(value as i64)),
            // negating wraps, which makes the smallest integer of it
            Ok(value) if value == 1 << 63 && self.after_minus => Ok(Tok::Int(i64::MIN)),
            _ => Err(self
                .error(start, format!("`{text}` does not fit an integer"))
                .note("integers have 64 bits, from -9223372036854775808 to 9223372036854775807")),
        }
    }

    fn string(&mut self) -> Result<Tok, Error> {
        let start = self.at;
        self.at += 1;
        let body = self.at;
        while !matches!(self.peek(), b'"' | b'\\' | b'\n') && self.at < self.text.len() {
            self.at += 1;
        }
        if self.peek() == b'"' {
            let text = Str::shared(&self.text[body..self.at]);
            self.at += 1;
            return Ok(Tok::Str(text));
        }
        let mut bytes = self.text[body..self.at].to_vec();
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(Tok::Str(bytes.into()));
                }
                b'\\' => self.escape(&mut bytes)?,
                b'\n' => return Err(self.unclosed(start)),
                _ if self.at >= self.text.len() => return Err(self.unclosed(start)),
                byte => {
                    bytes.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    fn unclosed(&self, start: usize) -> Error {
        self.error(start, "a string is not closed").label("`\"` is missing before the end of the line")
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let start = self.at;
        let kind = self.peek_at(1);
        self.at += 2.min(self.text.len() - self.at);
        let simple = match kind {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' => b'\\',
            b'"' => b'"',
            b'x' => {
                let value = self.escape_digits(start, 16, 2)?;
                bytes.push(value as u8);
                return Ok(());
            }
            b'0'..=b'7' => {
                self.at -= 1;
                let value = self.escape_digits(start, 8, 3)?;
                let Ok(byte) = u8::try_from(value) else {
                    return Err(self.error(start, "an octal escape is at most `\\377`"));
                };
                bytes.push(byte);
                return Ok(());
            }
            b'u' | b'U' => {
                let value = self.escape_digits(start, 16, if kind == b'u' { 4 } else { 8 })?;
                let Some(c) = char::from_u32(value) else {
                    return Err(self.error(start, "the escape is not a Unicode character"));
                };
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            _ => {
                return Err(self
                    .error(start, "unknown escape in a string")
                    .note("a backslash itself is written `\\\\`"));
            }
        };
        bytes.push(simple);
        Ok(())
    }

    fn escape_digits(&mut self, start: usize, radix: u32, count: usize) -> Result<u32, Error> {
        let mut value = 0;
        for _ in 0..count {
            let Some(digit) = (self.peek() as char).to_digit(radix) else {
                return Err(self.error(start, format!("the escape needs {count} digits")));
            };
            value = value * radix + digit;
            self.at += 1;
        }
        Ok(value)
    }

    fn raw_string(&mut self) -> Result<Tok, Error> {
        let start = self.at;
        self.at += 1;
        let rest = &self.text[self.at..];
        let Some(length) = rest.iter().position(|b| *b == b'`') else {
            return Err(self
                .error(start, "a raw string is not closed")
                .label("the closing backquote is missing"));
        };
        self.at += length + 1;
        // carriage returns are dropped, so that a file's line ends do not change its values
        let bytes: Vec<u8> = rest[..length].iter().copied().filter(|b| *b != b'\r').collect();
        Ok(Tok::Str(bytes.into()))
    }

    fn operator(&mut self) -> Result<Tok, Error> {
        let start = self.at;
        let assign = self.peek_at(1) == b'=';
        let (op, length) = match self.peek() {
            b'+' if assign => (Op::PlusAssign, 2),
            b'-' if assign => (Op::MinusAssign, 2),
            b'*' if assign => (Op::StarAssign, 2),
            b'/' if assign => (Op::SlashAssign, 2),
            b'%' if assign => (Op::PercentAssign, 2),
            b'=' if assign => (Op::Equal, 2),
            b'!' if assign => (Op::NotEqual, 2),
            b'<' if assign => (Op::LessEqual, 2),
            b'>' if assign => (Op::GreaterEqual, 2),
            b'+' => (Op::Plus, 1),
            b'-' => (Op::Minus, 1),
            b'*' => (Op::Star, 1),
            b'/' => (Op::Slash, 1),
            b'%' => (Op::Percent, 1),
            b'<' => (Op::Less, 1),
            b'>' => (Op::Greater, 1),
            b'=' => (Op::Assign, 1),
            b'!' => (Op::Bang, 1),
            b'(' => (Op::LParen, 1),
            b')' => (Op::RParen, 1),
            b'[' => (Op::LBracket, 1),
            b']' => (Op::RBracket, 1),
            b'{' => (Op::LBrace, 1),
            b'}' => (Op::RBrace, 1),
            b',' => (Op::Comma, 1),
            b'.' => (Op::Dot, 1),
            b':' => (Op::Colon, 1),
            other => {
                self.at += 1;
                return Err(self.error(start, format!("{} cannot be used here", shown(other.into()))));
            }
        };
        self.at += length;
        Ok(Tok::Op(op))
    }
}

fn article(radix: u32) -> &'static str {
    if radix == 16 { "a" } else { "an" }
}
