//! A look at HCL before it is parsed, for what the parser does not bound: it recurses, so that a file that
//! is nested without end would overflow the stack of the process that reads it, and it compares each key
//! of an object with all that came before. It also refuses keys that are repeated, which are found here. And it takes
//! twice as long for each bracket behind two operators: no constant has an operator, so none gets that far.

use std::collections::HashSet;

use crate::error::Error;
use crate::source::{Source, Span};

/// The bytes of a file.
const MAX_BYTES: usize = 1 << 20;

/// How deep brackets, strings and interpolations may be nested.
const MAX_NESTING: usize = 100;

/// How many members an object or a block may have.
const MAX_MEMBERS: usize = 2_000;

/// What is open: what closes it and, for braces, what is known of its members.
struct Open<'t> {
    closing: u8,
    members: Option<Members<'t>>,
}

/// The members of an object or a block so far.
struct Members<'t> {
    /// The keys of an object; a block refuses attributes that are repeated.
    keys: Option<HashSet<&'t str>>,
    count: usize,
    /// Where the key begins that is being read; none while a value is.
    key: Option<usize>,
}

/// Checks a file, and finds where keys of objects are repeated.
pub(super) fn check(source: &Source) -> Result<Vec<usize>, Error> {
    let text = source.text().as_bytes();
    if text.len() > MAX_BYTES {
        let message =
            format!("the file has more than {MAX_BYTES} bytes, which is more than a configuration needs");
        return Err(Error::config(message).at(source, Span::default()));
    }
    let mut repeated = Vec::new();
    let mut open: Vec<Open<'_>> = Vec::new();
    // the last byte that is neither blank nor comment: after `=` and its like, a brace opens an object
    let mut before = 0;
    let mut at = 0;
    while at < text.len() {
        let in_string = open.last().is_some_and(|open| open.closing == b'"');
        let next = text.get(at + 1).copied().unwrap_or(0);
        let start = at;
        let opens = |closing| Open { closing, members: None };
        let operator = || {
            let message = "an operator cannot be used here: the value must be a constant";
            let place = Span { start: start as u32, end: start as u32 + 1 };
            Error::config(message).at(source, place)
        };
        match text[at] {
            b'\\' if in_string => at += 1,
            b'$' | b'%' if in_string && next == text[at] => at += 1,
            b'$' | b'%' if in_string && next == b'{' => {
                open.push(opens(b'}'));
                at += 1;
            }
            b'"' if in_string => drop(open.pop()),
            _ if in_string => {}
            b'(' | b'[' | b'{' if before == b'-' => return Err(operator()),
            b'"' => open.push(opens(b'"')),
            b'(' => open.push(opens(b')')),
            b'[' => open.push(opens(b']')),
            b'{' => {
                let is_object = matches!(before, b'=' | b':' | b'[' | b',' | b'(');
                let keys = is_object.then(HashSet::new);
                let members = Members { keys, count: 0, key: Some(at + 1) };
                open.push(Open { closing: b'}', members: Some(members) });
            }
            closing @ (b')' | b']' | b'}') if open.last().is_some_and(|open| open.closing == closing) => {
                drop(open.pop());
            }
            b'#' => at = end_of_line(text, at),
            b'/' if next == b'/' => at = end_of_line(text, at),
            b'/' if next == b'*' => {
                let rest = text[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = rest.map_or(text.len(), |length| at + 3 + length);
            }
            b'<' if next == b'<' => at = heredoc(source, at)?,
            b'=' if next == b'=' => return Err(operator()),
            b'*' | b'/' | b'%' | b'+' | b'&' | b'|' | b'?' | b'!' | b'<' | b'>' => return Err(operator()),
            _ => {}
        }
        if open.len() > MAX_NESTING {
            let place = Span { start: at.min(text.len()) as u32, end: at as u32 };
            return Err(Error::config(format!("nested more than {MAX_NESTING} deep")).at(source, place));
        }
        let is_comment = text[start] == b'#' || (text[start] == b'/' && matches!(next, b'/' | b'*'));
        if let Some(members) = open.last_mut().and_then(|open| open.members.as_mut()) {
            match text[start] {
                b'=' | b':' => repeated.extend(members.key_ends(source, start)?),
                b',' | b'\n' => members.key = Some(start + 1),
                // the end of the line was a part of it
                b'#' | b'/' | b'<' if text.get(at) == Some(&b'\n') => members.key = Some(at + 1),
                b'/' if is_comment => members.key = members.key.map(|_| at + 1),
                _ => {}
            }
        }
        if !text[start].is_ascii_whitespace() && !is_comment {
            before = text[start];
        }
        at += 1;
    }
    Ok(repeated)
}

impl<'t> Members<'t> {
    /// Counts a key that ends; where it stands, when the object has it already.
    fn key_ends(&mut self, source: &'t Source, end: usize) -> Result<Option<usize>, Error> {
        let Some(start) = self.key.take() else { return Ok(None) };
        let key = source.text().get(start..end).unwrap_or_default();
        if key.trim().is_empty() {
            return Ok(None);
        }
        self.count += 1;
        if self.count > MAX_MEMBERS {
            let message = format!("an object or a block has at most {MAX_MEMBERS} members");
            return Err(Error::config(message).at(source, Span { start: start as u32, end: end as u32 }));
        }
        let start = start + (key.len() - key.trim_start().len());
        let key = key.trim();
        let is_new = self.keys.as_mut().is_none_or(|keys| keys.insert(key));
        // the mark of a quoted key is a part of its text
        Ok((!is_new).then_some(if key.starts_with('"') { start + 1 } else { start }))
    }
}

fn end_of_line(text: &[u8], at: usize) -> usize {
    text[at..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |length| at + length)
}

/// The end of a heredoc. It may not hold interpolations: their nesting could not be seen here, and their
/// values are not constant anyway.
fn heredoc(source: &Source, start: usize) -> Result<usize, Error> {
    let text = source.text();
    let line_end = end_of_line(text.as_bytes(), start);
    let marker = text[start + 2..line_end].trim_start_matches('-').trim();
    if marker.is_empty() {
        return Ok(start + 1);
    }
    let mut at = line_end + 1;
    while at < text.len() {
        let end = end_of_line(text.as_bytes(), at);
        let line = &text[at..end];
        if line.trim() == marker {
            return Ok(end);
        }
        let plain = line.replace("$${", "").replace("%%{", "");
        if plain.contains("${") || plain.contains("%{") {
            return Err(Error::config("an interpolation cannot be used here: the value must be a constant")
                .at(source, Span { start: at as u32, end: end as u32 }));
        }
        at = end + 1;
    }
    Ok(text.len())
}
