//! `strings`.

use super::Call;
use crate::error::Error;
use crate::value::ops::{MAX_NESTING, find, too_deep};
use crate::value::{Str, Value, show};

pub(super) const FUNCTIONS: &[&str] = &[
    "has_prefix",
    "has_suffix",
    "join",
    "replace",
    "split",
    "to_lower",
    "to_upper",
    "trim",
    "trim_left",
    "trim_prefix",
    "trim_right",
    "trim_space",
    "trim_suffix",
];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    match call.function {
        "to_lower" | "to_upper" | "trim_space" => {
            let [text] = call.exactly()?;
            let text = call.text(&text)?;
            match call.function {
                "to_lower" => call.result(text.to_lowercase()),
                "to_upper" => call.result(text.to_uppercase()),
                _ => call.result(text.trim()),
            }
        }
        "join" => {
            let [items, separator] = call.exactly()?;
            let separator = call.string(&separator)?;
            let mut parts = Vec::new();
            flatten(&call, &items, &mut parts, 0)?;
            let bytes: Vec<&[u8]> = parts.iter().map(Str::as_bytes).collect();
            let length: usize = bytes.iter().map(|part| part.len() + separator.len()).sum();
            call.eval.meter.alloc(length)?;
            call.result(bytes.join(separator.as_bytes()))
        }
        "split" => split(&call),
        "replace" => replace(&call),
        _ => {
            let [text, part] = call.exactly()?;
            affixes(&call, &call.string(&text)?, &call.string(&part)?)
        }
    }
}

fn affixes(call: &Call<'_, '_>, text: &Str, part: &Str) -> Result<Value, Error> {
    let (bytes, affix) = (text.as_bytes(), part.as_bytes());
    match call.function {
        "has_prefix" => Ok(Value::Bool(bytes.starts_with(affix))),
        "has_suffix" => Ok(Value::Bool(bytes.ends_with(affix))),
        "trim_prefix" => Ok(bytes.strip_prefix(affix).map_or(Value::Str(text.clone()), Value::str)),
        "trim_suffix" => Ok(bytes.strip_suffix(affix).map_or(Value::Str(text.clone()), Value::str)),
        // the second argument is a set of characters here
        function => {
            let (text, set) = (text.to_text(), part.to_text());
            let in_set = |c: char| set.contains(c);
            call.result(match function {
                "trim_left" => text.trim_start_matches(in_set),
                "trim_right" => text.trim_end_matches(in_set),
                _ => text.trim_matches(in_set),
            })
        }
    }
}

/// The parts of a list to join: lists inside of lists are flattened, scalars become text.
fn flatten(call: &Call<'_, '_>, items: &Value, parts: &mut Vec<Str>, depth: u32) -> Result<(), Error> {
    if depth >= MAX_NESTING {
        return Err(too_deep());
    }
    for item in call.list(items)? {
        match item {
            Value::List(_) => flatten(call, &item, parts, depth + 1)?,
            Value::Str(text) => parts.push(text),
            Value::Int(_) | Value::Bool(_) => parts.push(show::show(&item).into()),
            Value::Float(f) => parts.push(show::show_float(f).into()),
            other => return Err(call.wanted("a list of strings, numbers and bools", &other)),
        }
    }
    Ok(())
}

fn split(call: &Call<'_, '_>) -> Result<Value, Error> {
    let [text, separator] = call.exactly()?;
    if let Value::List(_) = text {
        return Ok(text);
    }
    let (text, separator) = (call.string(&text)?, call.string(&separator)?);
    call.eval.meter.steps(text.len() / 8)?;
    let mut parts = Vec::new();
    if separator.is_empty() {
        parts.extend(text.to_text().chars().map(|c| Value::str(c.to_string())));
    } else {
        let mut rest = text.as_bytes();
        while let Some(at) = find(rest, separator.as_bytes()) {
            parts.push(Value::str(&rest[..at]));
            rest = &rest[at + separator.len()..];
        }
        parts.push(Value::str(rest));
    }
    call.eval.meter.alloc(text.len() + parts.len() * size_of::<Value>())?;
    Ok(Value::list(parts))
}

/// All occurrences, or as many as a fourth argument says.
fn replace(call: &Call<'_, '_>) -> Result<Value, Error> {
    let (text, old, new, count) = match &call.args[..] {
        [text, old, new] => (text, old, new, usize::MAX),
        [text, old, new, Value::Int(count)] => {
            (text, old, new, usize::try_from(*count).unwrap_or(usize::MAX))
        }
        [_, _, _, other] => return Err(call.wanted("an int as its fourth argument", other)),
        args => return Err(call.error(format!("takes 3 or 4 arguments, not {}", args.len()))),
    };
    let (text, old, new) = (call.text(text)?, call.text(old)?, call.text(new)?);
    let occurrences = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&old).count() };
    call.eval.meter.alloc(occurrences.min(count).saturating_mul(new.len()))?;
    call.result(text.replacen(&old, &new, count))
}
