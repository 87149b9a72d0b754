//! Values as `print`, traces and error messages show them.

use std::fmt::Write;

use super::{Data, Key, Value};

/// How much text one value is shown as. Lists that hold one list many times over can be small and yet
/// have more text than there is memory.
const MAX_LENGTH: usize = 4 << 20;

/// How deep nested values are shown; what is deeper (or a cycle) is shown as `...`.
const MAX_DEPTH: usize = 64;

/// The text of a value for `print`: a string as it is, strings inside collections quoted.
pub(crate) fn show(value: &Value) -> String {
    match value {
        Value::Str(s) => s.to_text().into_owned(),
        other => {
            let mut out = String::new();
            write_value(&mut out, other, 0);
            out
        }
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
        Value::Str(s) => quote(out, &s.to_text()),
        Value::List(_) | Value::Map(_) if depth >= MAX_DEPTH => out.push_str("..."),
        Value::List(list) => {
            if let Some(data) = list.pristine() {
                return write_data(out, &Data::List(data), depth);
            }
            out.push('[');
            for (at, item) in list.snapshot().iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_value(out, item, depth + 1);
            }
            out.push(']');
        }
        Value::Map(map) => {
            if let Some(data) = map.pristine() {
                return write_data(out, &Data::Map(data), depth);
            }
            out.push('{');
            for (at, (key, item)) in map.snapshot().iter().enumerate() {
                if out.len() >= MAX_LENGTH {
                    full(out);
                    break;
                }
                if at > 0 {
                    out.push_str(", ");
                }
                write_key(out, key);
                out.push_str(": ");
                write_value(out, item, depth + 1);
            }
            out.push('}');
        }
        Value::Func(_) | Value::Builtin(_) | Value::Native(_) => out.push_str("<func>"),
        Value::Rule(_) => out.push_str("<rule>"),
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
    if !out.ends_with(" ...") {
        out.push_str(" ...");
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

fn write_key(out: &mut String, key: &Key) {
    match key {
        Key::Str(s) => quote(out, &s.to_text()),
        other => out.push_str(&show_key(other)),
    }
}

/// Whether data is of a size that people and programs want to look at.
pub(crate) fn is_showable(data: &Data) -> bool {
    fn count(data: &Data, left: &mut usize) -> bool {
        let size = match data {
            Data::Str(text) => 1 + text.len() / 16,
            _ => 1,
        };
        match left.checked_sub(size) {
            None => false,
            Some(rest) => {
                *left = rest;
                data.items().iter().all(|item| count(item, left))
                    && data.entries().iter().all(|(_, item)| count(item, left))
            }
        }
    }
    count(data, &mut 250_000)
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
