//! A look at the nesting of HCL before it is parsed: the parser recurses, and a file that is nested
//! without end would overflow the stack of the process that reads it.

use crate::error::Error;
use crate::source::{Source, Span};

/// How deep brackets, strings and interpolations may be nested.
const MAX_NESTING: usize = 100;

pub(super) fn check(source: &Source) -> Result<(), Error> {
    let text = source.text().as_bytes();
    // what closes each open bracket or string
    let mut open: Vec<u8> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let in_string = open.last() == Some(&b'"');
        let next = text.get(at + 1).copied().unwrap_or(0);
        match text[at] {
            b'\\' if in_string => at += 1,
            b'$' | b'%' if in_string && next == text[at] => at += 1,
            b'$' | b'%' if in_string && next == b'{' => {
                open.push(b'}');
                at += 1;
            }
            b'"' if in_string => drop(open.pop()),
            _ if in_string => {}
            b'"' => open.push(b'"'),
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            closing @ (b')' | b']' | b'}') if open.last() == Some(&closing) => drop(open.pop()),
            b'#' => at = end_of_line(text, at),
            b'/' if next == b'/' => at = end_of_line(text, at),
            b'/' if next == b'*' => {
                let rest = text[at + 2..].windows(2).position(|pair| pair == b"*/");
                at = rest.map_or(text.len(), |length| at + 3 + length);
            }
            b'<' if next == b'<' => at = heredoc(source, at)?,
            _ => {}
        }
        if open.len() > MAX_NESTING {
            let place = Span { start: at.min(text.len()) as u32, end: at as u32 };
            return Err(Error::config(format!("nested more than {MAX_NESTING} deep")).at(source, place));
        }
        at += 1;
    }
    Ok(())
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
