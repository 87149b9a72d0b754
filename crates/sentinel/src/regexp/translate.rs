//! RE2's syntax as that of `regex-automata`.
//!
//! The two differ: RE2's `\d`, `\w`, `\s` and `\b` are ASCII, `{` that starts no repetition is itself,
//! `\Q…\E` quotes, octal escapes exist, classes have neither set operators nor nested classes, and
//! there is no `x` flag. So a pattern is rewritten, and what RE2 refuses is refused.

use std::iter::Peekable;
use std::str::Chars;

/// Rewrites a pattern of RE2 as one of Rust's with the same meaning.
pub(crate) fn translate(pattern: &str) -> Result<String, String> {
    let mut translation = Translation {
        chars: pattern.chars().peekable(),
        no_more_posix: false,
        out: String::with_capacity(pattern.len() + 16),
    };
    translation.pattern()?;
    Ok(translation.out)
}

struct Translation<'p> {
    chars: Peekable<Chars<'p>>,
    /// Whether the end of a class like `[:alpha:]` was looked for in vain: there is none further on either.
    no_more_posix: bool,
    out: String,
}

const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0C\r ";
const WORD: &str = "0-9A-Za-z_";
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space",
    "upper", "word", "xdigit",
];

impl Translation<'_> {
    fn pattern(&mut self) -> Result<(), String> {
        // whether the last thing was a repetition: RE2 refuses another one right after it
        let mut repeated = false;
        while let Some(c) = self.chars.next() {
            let mut repeats = false;
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => {
                    self.repetition(c.to_string(), repeated)?;
                    repeats = true;
                }
                '{' => match self.counted()? {
                    Some(count) => {
                        self.repetition(count, repeated)?;
                        repeats = true;
                    }
                    None => self.out.push_str(r"\{"),
                },
                '}' | ']' => literal(&mut self.out, c),
                other => self.out.push(other),
            }
            repeated = repeats;
        }
        Ok(())
    }

    fn repetition(&mut self, operator: String, repeated: bool) -> Result<(), String> {
        if repeated {
            return Err("a repetition is repeated".into());
        }
        self.out.push_str(&operator);
        if self.chars.next_if_eq(&'?').is_some() {
            self.out.push('?');
        }
        Ok(())
    }

    /// `{2}`, `{2,}`, `{2,5}`; anything else after `{` is not a repetition.
    fn counted(&mut self) -> Result<Option<String>, String> {
        let mut ahead = self.chars.clone();
        let mut text = String::new();
        loop {
            match ahead.next() {
                Some('}') => break,
                Some(c) if c.is_ascii_digit() || c == ',' => text.push(c),
                _ => return Ok(None),
            }
        }
        let bounds: Vec<&str> = text.split(',').collect();
        let valid = match bounds[..] {
            [count] => !count.is_empty(),
            [least, _] => !least.is_empty(),
            _ => false,
        };
        if !valid {
            return Ok(None);
        }
        for bound in bounds.iter().filter(|bound| !bound.is_empty()) {
            if bound.parse::<u32>().map_or(true, |count| count > 1000) {
                return Err("a repetition counts at most 1000".into());
            }
        }
        self.chars = ahead;
        Ok(Some(format!("{{{text}}}")))
    }

    fn group(&mut self) -> Result<(), String> {
        self.out.push('(');
        if self.chars.next_if_eq(&'?').is_none() {
            return Ok(());
        }
        self.out.push('?');
        let mut ahead = self.chars.clone();
        match ahead.next() {
            Some('P') if ahead.next() == Some('<') => {
                self.chars.next();
                self.chars.next();
                self.out.push_str("P<");
                return Ok(());
            }
            Some('<') if !matches!(ahead.next(), Some('=' | '!')) => {
                self.chars.next();
                self.out.push('<');
                return Ok(());
            }
            _ => {}
        }
        loop {
            match self.chars.next() {
                Some(flag @ ('i' | 'm' | 's' | 'U' | '-')) => self.out.push(flag),
                Some(end @ (':' | ')')) => {
                    self.out.push(end);
                    return Ok(());
                }
                Some(other) => return Err(format!("`(?{other}` is unknown")),
                None => return Err("a group is not closed".into()),
            }
        }
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.chars.peek() {
            Some('Q') => {
                self.chars.next();
                self.quoted();
                return Ok(());
            }
            Some('b') => self.out.push_str(r"(?-u:\b)"),
            Some('B') => self.out.push_str(r"(?-u:\B)"),
            Some('A') => self.out.push_str(r"\A"),
            Some('z') => self.out.push_str(r"\z"),
            Some('d') => push_class(&mut self.out, "[", DIGIT),
            Some('D') => push_class(&mut self.out, "[^", DIGIT),
            Some('s') => push_class(&mut self.out, "[", SPACE),
            Some('S') => push_class(&mut self.out, "[^", SPACE),
            Some('w') => push_class(&mut self.out, "[", WORD),
            Some('W') => push_class(&mut self.out, "[^", WORD),
            Some('p' | 'P') => return self.property(),
            _ => {
                let c = self.escaped_char()?;
                literal(&mut self.out, c);
                return Ok(());
            }
        }
        self.chars.next();
        Ok(())
    }

    /// `\Q…\E`: everything in between is itself.
    fn quoted(&mut self) {
        while let Some(c) = self.chars.next() {
            if c == '\\' && self.chars.next_if_eq(&'E').is_some() {
                return;
            }
            literal(&mut self.out, c);
        }
    }

    /// `\pL`, `\p{Greek}`, `\p{^Greek}`, and the same with `P`.
    fn property(&mut self) -> Result<(), String> {
        let mut negated = self.chars.next() == Some('P');
        let name = match self.chars.next() {
            Some('{') => {
                let mut name = String::new();
                loop {
                    match self.chars.next() {
                        Some('}') => break name,
                        Some(c) => name.push(c),
                        None => return Err(r"`\p{` is not closed".into()),
                    }
                }
            }
            Some(c) => c.to_string(),
            None => return Err(r"`\p` needs the name of a class".into()),
        };
        let name = match name.strip_prefix('^') {
            Some(name) => {
                negated = !negated;
                name
            }
            None => &name,
        };
        self.out.push_str(if negated { r"\P{" } else { r"\p{" });
        self.out.push_str(name);
        self.out.push('}');
        Ok(())
    }

    /// The character after a backslash.
    fn escaped_char(&mut self) -> Result<char, String> {
        let Some(c) = self.chars.next() else { return Err("it ends with a backslash".into()) };
        Ok(match c {
            '1'..='7' if !self.chars.peek().is_some_and(|next| next.is_digit(8)) => {
                return Err(format!(r"there are no back-references, so no `\{c}`"));
            }
            '0'..='7' => {
                let mut value = c.to_digit(8).unwrap_or(0);
                for _ in 0..2 {
                    let Some(digit) = self.chars.peek().and_then(|next| next.to_digit(8)) else { break };
                    value = value * 8 + digit;
                    self.chars.next();
                }
                char::from_u32(value).ok_or("the escape is not a character")?
            }
            'x' => self.hexadecimal()?,
            'a' => '\x07',
            'f' => '\x0C',
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            'v' => '\x0B',
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => c,
            c => return Err(format!(r"`\{c}` is unknown")),
        })
    }

    fn hexadecimal(&mut self) -> Result<char, String> {
        let mut digits = String::new();
        if self.chars.next_if_eq(&'{').is_some() {
            loop {
                match self.chars.next() {
                    Some('}') => break,
                    Some(c) => digits.push(c),
                    None => return Err(r"`\x{` is not closed".into()),
                }
            }
        } else {
            digits.extend(self.chars.next());
            digits.extend(self.chars.next());
            if digits.chars().count() != 2 {
                return Err(r"`\x` needs two digits".into());
            }
        }
        let value = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        value.ok_or_else(|| format!(r"`\x{{{digits}}}` is not a character"))
    }

    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.chars.next_if_eq(&'^').is_some() {
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(&c) = self.chars.peek() else { return Err("a class is not closed".into()) };
            if c == ']' && !first {
                self.chars.next();
                self.out.push(']');
                return Ok(());
            }
            first = false;
            if c == '[' && self.posix()? {
                continue;
            }
            if c == '\\' && self.class_escape()? {
                continue;
            }
            let low = self.class_char()?;
            let mut ahead = self.chars.clone();
            let ranges = ahead.next() == Some('-') && !matches!(ahead.next(), None | Some(']'));
            literal(&mut self.out, low);
            if ranges {
                self.chars.next();
                let high = self.class_char()?;
                if high < low {
                    return Err(format!("the range `{low}-{high}` is empty"));
                }
                self.out.push('-');
                literal(&mut self.out, high);
            }
        }
    }

    /// `[:alpha:]` inside a class. What has the form of one but no known name is refused.
    fn posix(&mut self) -> Result<bool, String> {
        let mut ahead = self.chars.clone();
        ahead.next();
        if self.no_more_posix || ahead.next() != Some(':') {
            return Ok(false);
        }
        let mut name = String::new();
        while let Some(c) = ahead.next() {
            if c == ':' && ahead.next_if_eq(&']').is_some() {
                self.chars = ahead;
                return self.posix_class(&name).map(|()| true);
            }
            name.push(c);
        }
        self.no_more_posix = true;
        Ok(false)
    }

    fn posix_class(&mut self, name: &str) -> Result<(), String> {
        if !POSIX.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(format!("the class `[:{name}:]` is unknown"));
        }
        self.out.push_str("[:");
        self.out.push_str(name);
        self.out.push_str(":]");
        Ok(())
    }

    /// `\d` and its like inside a class.
    fn class_escape(&mut self) -> Result<bool, String> {
        let mut ahead = self.chars.clone();
        ahead.next();
        let (open, class) = match ahead.next() {
            Some('d') => ("[", DIGIT),
            Some('D') => ("[^", DIGIT),
            Some('s') => ("[", SPACE),
            Some('S') => ("[^", SPACE),
            Some('w') => ("[", WORD),
            Some('W') => ("[^", WORD),
            Some('p' | 'P') => {
                self.chars.next();
                self.property()?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        push_class(&mut self.out, open, class);
        self.chars = ahead;
        Ok(true)
    }

    fn class_char(&mut self) -> Result<char, String> {
        match self.chars.next() {
            Some('\\') => self.escaped_char(),
            Some(c) => Ok(c),
            None => Err("a class is not closed".into()),
        }
    }
}

fn push_class(out: &mut String, open: &str, class: &str) {
    out.push_str(open);
    out.push_str(class);
    out.push(']');
}

/// Writes a character that stands for itself, in a class too.
fn literal(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
        out.push('\\');
    }
    out.push(c);
}
