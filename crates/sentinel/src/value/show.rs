//! Values as `print`, traces and error messages show them.

use std::fmt::Write;

use super::{Data, Key, Value};

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

fn write_data(out: &mut String, data: &Data, depth: usize) {
    match data {
        Data::List(_) | Data::Map(_) if depth >= MAX_DEPTH => out.push_str("..."),
        Data::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
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
