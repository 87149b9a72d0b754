//! `collection`: filter, find, matches, reject, reduce over lists and maps.

use super::Call;
use crate::error::Error;
use crate::value::Value;
use crate::value::ops::{self, Truth};

pub(super) const FUNCTIONS: &[&str] = &["filter", "find", "matches", "reject", "reduce"];

pub(super) fn call(mut call: Call<'_, '_>) -> Result<Value, Error> {
    if call.function == "reduce" {
        return reduce(call);
    }
    let [items, with] = call.exactly()?;
    if items.is_undefined() {
        return Ok(items);
    }
    let entries = entries(&call, &items)?;
    match call.function {
        "matches" => {
            let Value::Map(partial) = &with else { return Err(call.wanted("a map to compare with", &with)) };
            let partial = Value::Map(partial.clone());
            let mut kept = Vec::new();
            for (_, item) in entries {
                if includes(&call, &item, &partial, 0)? {
                    kept.push(item);
                }
            }
            Ok(Value::list(kept))
        }
        "find" => {
            for (key, item) in entries {
                if predicate(&mut call, &with, &key, &item)? == Truth::True {
                    return Ok(item);
                }
            }
            Ok(call.missing())
        }
        function => {
            // an undefined predicate is not true: `filter` leaves the element out, `reject` keeps it
            let wanted = function == "filter";
            let mut kept = Vec::new();
            for (key, item) in entries {
                let truth = predicate(&mut call, &with, &key, &item)?;
                if (truth == Truth::True) == wanted {
                    kept.push(item);
                }
            }
            Ok(Value::list(kept))
        }
    }
}

/// The elements with their index or key.
fn entries(call: &Call<'_, '_>, items: &Value) -> Result<Vec<(Value, Value)>, Error> {
    match items {
        Value::List(_) => {
            let items = call.list(items)?.into_iter().enumerate();
            Ok(items.map(|(at, value)| (Value::Int(at as i64), value)).collect())
        }
        Value::Map(map) => {
            Ok(call.entries(map)?.into_iter().map(|(key, value)| (Value::from_key(&key), value)).collect())
        }
        other => Err(call.wanted("a list or a map", other)),
    }
}

/// Calls back with the value, and with the key or index too when the function takes two.
fn predicate(call: &mut Call<'_, '_>, with: &Value, key: &Value, item: &Value) -> Result<Truth, Error> {
    let result = match with {
        Value::Func(closure) if closure.arity() == 2 => {
            call.callback(with, vec![item.clone(), key.clone()])?
        }
        Value::Func(_) | Value::Builtin(_) | Value::Native(_) => call.callback(with, vec![item.clone()])?,
        other => return Err(call.wanted("a function", other)),
    };
    Ok(match result {
        Value::Bool(value) => value.into(),
        Value::Undefined(origin) => Truth::Undefined(origin),
        _ => Truth::False,
    })
}

fn reduce(mut call: Call<'_, '_>) -> Result<Value, Error> {
    let (items, with, initial) = match &call.args[..] {
        [items, with, initial] => (items.clone(), with.clone(), initial.clone()),
        // the first call gets undefined then, which a function that needs a start cannot overlook
        [items, with] => (items.clone(), with.clone(), call.missing()),
        args => return Err(call.error(format!("takes 2 or 3 arguments, not {}", args.len()))),
    };
    if items.is_undefined() {
        return Ok(items);
    }
    let entries = entries(&call, &items)?;
    let arity = match &with {
        Value::Func(closure) => closure.arity(),
        Value::Builtin(_) | Value::Native(_) => 2,
        other => return Err(call.wanted("a function", other)),
    };
    let mut result = initial;
    for (key, item) in entries {
        let mut args = vec![result, item];
        if arity > 2 {
            args.push(key);
        }
        result = call.callback(&with, args)?;
    }
    Ok(result)
}

/// Whether everything in `partial` is in `item` too.
fn includes(call: &Call<'_, '_>, item: &Value, partial: &Value, depth: u32) -> Result<bool, Error> {
    let meter = &call.eval.meter;
    meter.step()?;
    ops::nested(meter, depth, || match (item, partial) {
        (Value::Map(item), Value::Map(partial)) => {
            for (key, wanted) in partial.snapshot(meter)? {
                meter.look_up(&key)?;
                let Some(found) = item.get(&key) else { return Ok(false) };
                if !includes(call, &found, &wanted, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::List(item), Value::List(partial)) => {
            if item.len() != partial.len() {
                return Ok(false);
            }
            for (found, wanted) in item.snapshot(meter)?.iter().zip(partial.snapshot(meter)?) {
                if !includes(call, found, &wanted, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (item, partial) => Ok(ops::equal(item, partial, meter)? == Truth::True),
    })
}
