//! `json`: documents to values and back.

use super::Call;
use crate::error::Error;
use crate::limits::Meter;
use crate::stack;
use crate::value::ops::nested;
use crate::value::{Data, Value, show};

pub(super) const FUNCTIONS: &[&str] = &["marshal", "unmarshal", "valid"];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    let [value] = call.exactly()?;
    if let Some(undefined) = call.undefined() {
        return Ok(undefined);
    }
    match call.function {
        "unmarshal" => {
            let text = call.string(&value)?;
            call.eval.meter.steps(text.len() / 8)?;
            // a value takes at most some thirty times its text: `[0,0,…`
            call.eval.meter.alloc(text.len().saturating_mul(16))?;
            let data: Data =
                stack::foreign(|| serde_json::from_slice(text.as_bytes())).map_err(
                    |error| match is_too_deep(text.as_bytes()) {
                        true => call
                            .error(format!("was given a document that is nested more than {MAX_DEPTH} deep")),
                        false => call.error(format!("was given no JSON document: {error}")),
                    },
                )?;
            Ok(Value::from_data(&data))
        }
        "valid" => {
            let text = match &value {
                Value::Str(text) => text,
                _ => return Ok(Value::Bool(false)),
            };
            call.eval.meter.steps(text.len() / 8)?;
            let valid = || serde_json::from_slice::<serde::de::IgnoredAny>(text.as_bytes()).is_ok();
            Ok(Value::Bool(stack::foreign(valid)))
        }
        _ => {
            let mut out = Out { text: String::new(), meter: &call.eval.meter };
            marshal(&call, &value, &mut out, 0)?;
            // counted as it was written
            Ok(Value::str(out.text))
        }
    }
}

/// How deep a document may be nested: what the parser, which recurses, goes along with.
const MAX_DEPTH: usize = 127;

/// Whether a text, if it is JSON, is nested deeper than it may be.
fn is_too_deep(text: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => {
                while let Some(byte) = bytes.next()
                    && *byte != b'"'
                {
                    if *byte == b'\\' {
                        bytes.next();
                    }
                }
            }
            _ => {}
        }
        if depth > MAX_DEPTH {
            return true;
        }
    }
    false
}

/// JSON as it is written: each piece counts before it is made.
struct Out<'m> {
    text: String,
    meter: &'m Meter,
}

impl Out<'_> {
    fn push(&mut self, piece: &str) -> Result<(), Error> {
        self.meter.alloc(piece.len())?;
        self.text.push_str(piece);
        Ok(())
    }

    fn quote(&mut self, text: &str) -> Result<(), Error> {
        self.meter.read(text.len())?;
        // a control character is written as up to six
        let escapes: usize = text.bytes().map(|byte| usize::from(byte < b' ') * 5).sum();
        self.meter.room(text.len() + escapes)?;
        let quoted = serde_json::to_string(text).unwrap_or_default();
        self.push(&quoted)
    }
}

/// Members and elements that are undefined are left out; functions cannot be written.
fn marshal(call: &Call<'_, '_>, value: &Value, out: &mut Out<'_>, depth: u32) -> Result<(), Error> {
    out.meter.step()?;
    match value {
        Value::List(_) | Value::Map(_) => {
            nested(out.meter, depth, || marshal_collection(call, value, out, depth))
        }
        Value::Null | Value::Undefined(_) => out.push("null"),
        Value::Bool(b) => out.push(if *b { "true" } else { "false" }),
        Value::Int(i) => out.push(&i.to_string()),
        Value::Float(f) if f.is_finite() => out.push(&show::show_float(*f)),
        Value::Float(_) => Err(call.error("cannot write a float that is not a finite number")),
        Value::Str(s) => out.quote(&s.to_text()),
        other => Err(call.error(format!("cannot write a {}", other.type_name()))),
    }
}

fn marshal_collection(
    call: &Call<'_, '_>,
    value: &Value,
    out: &mut Out<'_>,
    depth: u32,
) -> Result<(), Error> {
    match value {
        Value::List(list) => {
            out.push("[")?;
            let items = list.snapshot(out.meter)?;
            for (at, item) in items.iter().filter(|item| !item.is_undefined()).enumerate() {
                if at > 0 {
                    out.push(",")?;
                }
                marshal(call, item, out, depth + 1)?;
            }
            out.push("]")
        }
        Value::Map(map) => {
            out.push("{")?;
            let entries = map.snapshot(out.meter)?;
            for (at, (key, item)) in entries.iter().filter(|(_, item)| !item.is_undefined()).enumerate() {
                if at > 0 {
                    out.push(",")?;
                }
                out.quote(&show::show_key(key))?;
                out.push(":")?;
                marshal(call, item, out, depth + 1)?;
            }
            out.push("}")
        }
        scalar => marshal(call, scalar, out, depth),
    }
}
