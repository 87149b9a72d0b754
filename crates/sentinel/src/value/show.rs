//! Values as `print`, traces and error messages show them.

use std::fmt::Write;

use super::{Data, Key, Seen, Str, Value};
use crate::stack;

/// How much text one value is shown as. Lists that hold one list many times over can be small and yet
/// have more text than there is memory.
const MAX_LENGTH: usize = 4 << 20;

/// How many elements of one collection are looked at: each has a character and a comma at least.
const MAX_ITEMS: usize = MAX_LENGTH / 2;

/// How much of a value an error message repeats.
const EXCERPT: usize = 200;

/// How deep nested values are shown; what is deeper (or a cycle) is shown as `...`.
const MAX_DEPTH: usize = 64;

/// The text of a value for `print`: a string as it is, strings inside collections quoted.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Str(s) => s.to_text().into_owned(),
        other => {
            let mut out = String::new();
            stack::deeper(|| write_value(&mut out, other, 0));
            out
        }
    }
}

/// A value for an error message, which tells what was wrong and does not repeat all of it.
pub(crate) fn excerpt(value: &Value) -> String {
    match value {
        // the last character must be a whole one, and there must be one behind the cut
        Value::Str(text) => excerpt_of(&text.to_text_within(EXCERPT + 4)),
        other => excerpt_of(&show(other)),
    }
}

/// A text for an error message.
pub(crate) fn excerpt_of(text: &str) -> String {
    cut(text, EXCERPT)
}

/// Stands where a text was cut. What is left of a secret is found by it.
pub(crate) const CUT: &str = " ...";

/// A text, with an end to it.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= most) {
        Some(at) => format!("{}{CUT}", &text[..at]),
        None => text.to_owned(),
    }
}

fn write_value(out: &mut String, value: &Value, depth: usize) {
    if full(out) {
        return;
    }
    match value {
        Value::Undefined(_) => out.push_str("undefined"),
        Value::Null => out.push_str("null"),
        Value::Bool(b) => write_fmt(out, b),
        Value::Int(i) => write_fmt(out, i),
        Value::Float(f) => out.push_str(&show_float(*f)),
        Value::Str(s) => write_str(out, s),
        Value::List(_) | Value::Map(_) if depth >= MAX_DEPTH => out.push_str("..."),
        Value::List(list) => {
            out.push('[');
            for (at, item) in list.peek(MAX_ITEMS).iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_seen(out, item, depth + 1);
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.peek(MAX_ITEMS).iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_key(out, key);
                out.push_str(": ");
                write_seen(out, item, depth + 1);
            }
            out.push('}');
        }
        Value::Func(_) | Value::Builtin(_) | Value::Native(_) => out.push_str("<func>"),
        Value::Rule(_) => out.push_str("<rule>"),
    }
}

fn write_seen(out: &mut String, seen: &Seen, depth: usize) {
    match seen {
        Seen::Value(value) => write_value(out, value, depth),
        Seen::Data(data) => write_data(out, data, depth),
    }
}

/// The text of data, strings quoted: the language's own notation.
pub(crate) fn show_data(data: &Data) -> String {
    let mut out = String::new();
    write_data(&mut out, data, 0);
    out
}

/// Whether there is enough text; the first time that is shown.
fn full(out: &mut String) -> bool {
    if out.len() < MAX_LENGTH {
        return false;
    }
    if !out.ends_with(CUT) {
        out.push_str(CUT);
    }
    true
}

fn write_data(out: &mut String, data: &Data, depth: usize) {
    if full(out) {
        return;
    }
    match data {
        Data::List(_) | Data::Map(_) if depth >= MAX_DEPTH => out.push_str("..."),
        Data::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_data(out, item, depth + 1);
            }
            out.push(']');
        }
        Data::Map(map) => {
            out.push('{');
            for (at, (key, item)) in map.entries().iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_key(out, key);
                out.push_str(": ");
                write_data(out, item, depth + 1);
            }
            out.push('}');
        }
        scalar => write_value(out, &Value::from_data(scalar), depth),
    }
}

/// A string, when there is room for it: a part of a secret would not be known as one.
fn write_str(out: &mut String, text: &Str) {
    if text.len() > MAX_LENGTH.saturating_sub(out.len()) {
        out.push_str("...");
    } else {
        quote(out, &text.to_text());
    }
}

fn write_key(out: &mut String, key: &Key) {
    match key {
        Key::Str(s) => write_str(out, s),
        other => out.push_str(&show_key(other)),
    }
}

/// What is shown for data that is too large.
pub(crate) const TOO_LARGE: &str = "(too large to be shown)";

/// The [`size`] up to which people and programs want to look at one value.
pub(crate) const SHOWABLE: usize = 250_000;

/// How much there is to show of data: about one for each element and each sixteen bytes of text. None when
/// it is more than `most`.
pub(crate) fn size(data: &Data, most: usize) -> Option<usize> {
    fn take(data: &Data, left: &mut usize) -> bool {
        let text = |bytes: usize| 1 + bytes / 16;
        let size = match data {
            Data::Str(value) => text(value.len()),
            Data::Map(map) => map.entries().iter().fold(1, |sum, (key, _)| match key {
                Key::Str(name) => sum + name.len() / 16,
                _ => sum,
            }),
            _ => 1,
        };
        match left.checked_sub(size) {
            None => false,
            Some(rest) => {
                *left = rest;
                data.items().iter().all(|item| take(item, left))
                    && data.entries().iter().all(|(_, item)| take(item, left))
            }
        }
    }
    let mut left = most;
    stack::deeper(|| take(data, &mut left)).then(|| most - left)
}

/// The text of a key without quotes.
pub(crate) fn show_key(key: &Key) -> String {
    match key {
        Key::Bool(b) => b.to_string(),
        Key::Int(i) => i.to_string(),
        Key::Float(f) => show_float(*f),
        Key::Str(s) => s.to_text().into_owned(),
    }
}

/// The shortest text that reads back as this float.
pub(crate) fn show_float(f: f64) -> String {
    if f.is_nan() {
        "NaN".into()
    } else if f.is_infinite() {
        if f > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else if f != 0.0 && (f.abs() >= 1e21 || f.abs() < 1e-5) {
        format!("{f:e}")
    } else {
        format!("{f}")
    }
}

fn write_fmt(out: &mut String, value: &impl std::fmt::Display) {
    // writing to a String cannot fail
    let _ = write!(out, "{value}");
}

/// Writes a string literal of the language.
pub(crate) fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' || c == '\u{7f}' => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_that_is_not_all_of_a_text_says_so() {
        for character in ["a", "é", "€", "🙂"] {
            for before in 0..8 {
                let text = "x".repeat(before) + &character.repeat(EXCERPT);
                let excerpt = excerpt(&Value::Str(text.as_str().into()));
                let cut = excerpt.strip_suffix(CUT);
                assert!(cut.map_or(text == excerpt, |cut| text.starts_with(cut)), "{excerpt}");
            }
        }
    }

    #[test]
    fn a_string_that_there_is_no_room_for_is_not_shown_in_parts() {
        let text: Value = Value::Str("a".repeat(MAX_LENGTH).as_str().into());
        assert_eq!(show(&Value::list(vec![Value::Str("b".into()), text, Value::Int(1)])), "[\"b\", ..., 1]");
    }
}
