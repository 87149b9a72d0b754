//! Text of strings and heredocs.

use std::borrow::Cow;

use crate::place::Span;
use crate::tree::{Expression, Kind, Part};

/// What stands between the quotes, or between the lines of a heredoc.
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Value(Expression<'t>),
}

/// The string or the template that the pieces make.
pub(crate) fn assemble<'t>(parts: Vec<Part<'t>>) -> Kind<'t> {
    if parts.iter().any(|part| matches!(part, Part::Value(_))) {
        return Kind::Template(parts);
    }
    let mut texts = parts.into_iter().filter_map(|part| match part {
        Part::Text(text) => Some(text),
        Part::Value(_) => None,
    });
    let mut whole = texts.next().unwrap_or_default();
    texts.for_each(|text| whole.to_mut().push_str(&text));
    Kind::String(whole)
}

/// What a text between quotes stands for, or where a backslash stands that nothing can be made of, and how much of it.
pub(crate) fn unescape(text: &str) -> Result<Cow<'_, str>, Span> {
    if !text.contains(['\\', '$', '%']) {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '$', '%']) {
        let (before, from) = rest.split_at(at);
        plain.push_str(before);
        rest = match from.strip_prefix('\\') {
            None => template_sign(from, &mut plain),
            Some(escape) => match escaped(escape) {
                Some((char, length)) => {
                    plain.push(char);
                    &escape[length..]
                }
                None => {
                    let start = text.len() - from.len();
                    return Err(start..start + 1 + escape.chars().next().map_or(0, char::len_utf8));
                }
            },
        };
    }
    plain.push_str(rest);
    Ok(Cow::Owned(plain))
}

/// What follows a backslash: the character, and the length of what was written for it.
fn escaped(escape: &str) -> Option<(char, usize)> {
    let code = |length: usize| {
        let digits =
            escape.get(1..1 + length).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        Some((char::from_u32(u32::from_str_radix(digits, 16).ok()?)?, 1 + length))
    };
    match escape.as_bytes().first()? {
        b'n' => Some(('\n', 1)),
        b'r' => Some(('\r', 1)),
        b't' => Some(('\t', 1)),
        b'"' => Some(('"', 1)),
        b'\\' => Some(('\\', 1)),
        b'u' => code(4),
        b'U' => code(8),
        _ => None,
    }
}

/// At a `$` or `%`: `$${` stands for `${`. What is left behind it.
fn template_sign<'t>(text: &'t str, plain: &mut String) -> &'t str {
    let sign = &text[..1];
    plain.push_str(sign);
    match text.get(1..3) {
        Some("${") if sign == "$" => {}
        Some("%{") if sign == "%" => {}
        _ => return &text[1..],
    }
    plain.push('{');
    &text[3..]
}

/// A heredoc's text, in which a backslash is a character like any other.
fn without_template_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains("$${") && !text.contains("%%{") {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['$', '%']) {
        plain.push_str(&rest[..at]);
        rest = template_sign(&rest[at..], &mut plain);
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The parts of a heredoc; with `<<-`, what all of its lines are indented by is dropped.
pub(crate) fn heredoc(pieces: Vec<Piece<'_>>, indented: bool) -> Vec<Part<'_>> {
    let indent = if indented { common_indent(&pieces) } else { 0 };
    let mut fresh = true;
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Value(value) => {
            fresh = false;
            Part::Value(value)
        }
        Piece::Text(text) if indent == 0 => Part::Text(without_template_escapes(text)),
        Piece::Text(text) => {
            let mut kept = String::with_capacity(text.len());
            for line in text.split_inclusive('\n') {
                let cut = fresh && !is_blank(line);
                let start = line.char_indices().nth(indent).map_or(line.len(), |(at, _)| at);
                kept.push_str(if cut { &line[start..] } else { line });
                fresh = line.ends_with('\n');
            }
            Part::Text(Cow::Owned(without_template_escapes(&kept).into_owned()))
        }
    });
    parts.collect()
}

/// How many characters of white space every line begins with. Blank lines have no say, and stay as they are.
fn common_indent(pieces: &[Piece<'_>]) -> usize {
    let mut least = usize::MAX;
    let mut fresh = true;
    for piece in pieces {
        match piece {
            Piece::Value(_) if fresh => return 0,
            Piece::Value(_) => {}
            Piece::Text(text) => {
                for line in text.split_inclusive('\n') {
                    if fresh && !is_blank(line) {
                        let indent = line.chars().take_while(|char| char.is_whitespace()).count();
                        least = least.min(indent);
                    }
                    fresh = line.ends_with('\n');
                }
            }
        }
    }
    if least == usize::MAX { 0 } else { least }
}

fn is_blank(line: &str) -> bool {
    line.ends_with('\n') && line.trim().is_empty()
}
