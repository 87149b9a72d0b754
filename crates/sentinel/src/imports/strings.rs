//! `strings`.

use std::collections::HashSet;

use memchr::memmem;

use super::Call;
use crate::error::Error;
use crate::value::ops::nested;
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
            // a change of case may make a text longer: three bytes of two at most
            call.eval.meter.room(text.len() * 2)?;
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
            let length = parts.iter().map(|part| part.len() + separator.len()).sum();
            call.eval.meter.room(length)?;
            let bytes: Vec<&[u8]> = parts.iter().map(Str::as_bytes).collect();
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
    let meter = &call.eval.meter;
    let shorter = |rest: Option<&[u8]>| match rest {
        Some(rest) => call.result(rest),
        None => Ok(Value::Str(text.clone())),
    };
    meter.scan(affix.len().min(bytes.len()))?;
    match call.function {
        "has_prefix" => Ok(Value::Bool(bytes.starts_with(affix))),
        "has_suffix" => Ok(Value::Bool(bytes.ends_with(affix))),
        "trim_prefix" => shorter(bytes.strip_prefix(affix)),
        "trim_suffix" => shorter(bytes.strip_suffix(affix)),
        // the second argument is a set of characters here
        function => {
            meter.read(bytes.len() + affix.len())?;
            meter.room(bytes.len() + affix.len())?;
            let text = text.to_text();
            let set: HashSet<char> = part.to_text().chars().collect();
            let in_set = |c: char| set.contains(&c);
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
    for item in call.list(items)? {
        match item {
            Value::List(_) => {
                nested(&call.eval.meter, depth, || flatten(call, &item, parts, depth + 1))?;
            }
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
    let meter = &call.eval.meter;
    // each part is a value and a string of its own
    let count = |parts: usize| {
        meter.items(parts, size_of::<Value>())?;
        meter.texts(parts, text.len())
    };
    if separator.is_empty() {
        meter.read(text.len())?;
        meter.room(text.len())?;
        let text = text.to_text();
        count(text.chars().count())?;
        return Ok(Value::list(text.chars().map(|c| Value::str(c.to_string())).collect()));
    }
    meter.scan(2 * text.len())?;
    let (bytes, finder) = (text.as_bytes(), memmem::Finder::new(separator.as_bytes()));
    count(finder.find_iter(bytes).count() + 1)?;
    let ends = finder.find_iter(bytes).chain([bytes.len()]);
    let parts = ends.scan(0, |start, end| {
        let part = Value::str(&bytes[*start..end]);
        *start = end + separator.len();
        Some(part)
    });
    Ok(Value::list(parts.collect()))
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
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&*old).count() };
    let added = found.min(count).saturating_mul(new.len());
    call.eval.meter.read(added)?;
    call.eval.meter.room(added.saturating_add(text.len()))?;
    call.result(text.replacen(&*old, &new, count))
}
