//! The input as a Rego value, and Rego values as people read them.

use std::collections::BTreeMap;

use ::sentinel::{DocumentError, read_document};
use regorus::Value;

/// `{"plan": …, "run": …}`.
pub(crate) fn input(plan_json: &str, run: &serde_json::Value) -> Result<Value, String> {
    let plan = Value::from_json_str(plan_json).map_err(|e| {
        // a number that is too large is told with its place
        let why = match read_document(plan_json.as_bytes()) {
            Err(number @ DocumentError::NumberTooLarge { .. }) => number.to_string(),
            _ => e.to_string(),
        };
        format!("the plan cannot be read as Rego input: {why}")
    })?;
    let run = serde_json::from_value(run.clone())
        .map_err(|e| format!("the run cannot be read as Rego input: {e}"))?;
    Ok(BTreeMap::from([("plan".into(), plan), ("run".into(), run)]).into())
}

/// A value in Rego's own notation; a string without its quotes.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => {
            let mut out = String::new();
            notation(other, &mut out);
            out
        }
    }
}

/// The kind of a value, in words for a sentence.
pub(super) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(true) => "the boolean true",
        Value::Bool(false) => "the boolean false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Set(_) => "a set",
        Value::Object(_) => "an object",
        Value::Undefined => "undefined",
    }
}

fn notation(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number.format_decimal()),
        Value::String(text) => out.push_str(&serde_json::Value::from(text.as_ref()).to_string()),
        Value::Array(items) => sequence(out, ('[', ']'), items.iter(), notation),
        Value::Set(items) if items.is_empty() => out.push_str("set()"),
        Value::Set(items) => sequence(out, ('{', '}'), items.iter_sorted(), notation),
        Value::Object(fields) => sequence(out, ('{', '}'), fields.iter_sorted(), |(key, value), out| {
            notation(key, out);
            out.push_str(": ");
            notation(value, out);
        }),
        Value::Undefined => out.push_str("<undefined>"),
    }
}

fn sequence<T>(
    out: &mut String,
    (open, close): (char, char),
    items: impl Iterator<Item = T>,
    each: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        each(item, out);
    }
    out.push(close);
}
