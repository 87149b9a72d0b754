//! `json`: documents to values and back.

use super::Call;
use crate::error::Error;
use crate::value::ops::{MAX_NESTING, too_deep};
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
            let data: Data = serde_json::from_slice(text.as_bytes())
                .map_err(|error| call.error(format!("was given no JSON document: {error}")))?;
            Ok(Value::from_data(&data))
        }
        "valid" => {
            let text = match &value {
                Value::Str(text) => text,
                _ => return Ok(Value::Bool(false)),
            };
            call.eval.meter.steps(text.len() / 8)?;
            Ok(Value::Bool(serde_json::from_slice::<serde::de::IgnoredAny>(text.as_bytes()).is_ok()))
        }
        _ => {
            let mut out = String::new();
            marshal(&call, &value, &mut out, 0)?;
            call.result(out)
        }
    }
}

/// Members and elements that are undefined are left out; functions cannot be written.
fn marshal(call: &Call<'_, '_>, value: &Value, out: &mut String, depth: u32) -> Result<(), Error> {
    call.eval.meter.step()?;
    if out.len() as u64 > call.eval.meter.memory_left() {
        call.eval.meter.alloc(out.len())?;
    }
    match value {
        Value::List(_) | Value::Map(_) if depth >= MAX_NESTING => return Err(too_deep()),
        Value::Null | Value::Undefined(_) => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(i) => out.push_str(&i.to_string()),
        Value::Float(f) if f.is_finite() => out.push_str(&show::show_float(*f)),
        Value::Float(_) => return Err(call.error("cannot write a float that is no finite number")),
        Value::Str(s) => quote(out, &s.to_text()),
        Value::List(list) => {
            out.push('[');
            let items = list.snapshot();
            for (at, item) in items.iter().filter(|item| !item.is_undefined()).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                marshal(call, item, out, depth + 1)?;
            }
            out.push(']');
        }
        Value::Map(map) => {
            out.push('{');
            let entries = map.snapshot();
            for (at, (key, item)) in entries.iter().filter(|(_, item)| !item.is_undefined()).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                quote(out, &show::show_key(key));
                out.push(':');
                marshal(call, item, out, depth + 1)?;
            }
            out.push('}');
        }
        other => return Err(call.error(format!("cannot write a {}", other.type_name()))),
    }
    Ok(())
}

fn quote(out: &mut String, text: &str) {
    out.push_str(&serde_json::Value::from(text).to_string());
}
