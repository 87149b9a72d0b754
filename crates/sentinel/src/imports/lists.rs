//! `collection/lists`.

use super::Call;
use crate::error::Error;
use crate::value::Value;
use crate::value::ops::{self, Truth};

pub(super) const FUNCTIONS: &[&str] =
    &["concat", "diff", "difference", "intersection", "sort", "sum", "union"];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    if call.args.is_empty() {
        return Err(call.error("needs a list"));
    }
    if call.function != "sort"
        && let Some(undefined) = call.undefined()
    {
        return Ok(undefined);
    }
    match call.function {
        "concat" => {
            if call.args.len() < 2 {
                return Err(call.error("needs at least two lists"));
            }
            let mut all = Vec::new();
            for arg in &call.args {
                all.extend(call.list(arg)?);
            }
            Ok(Value::list(all))
        }
        "sum" => {
            let [items] = call.exactly()?;
            let mut sum = 0.0;
            for item in call.list(&items)? {
                match item {
                    Value::Int(i) => sum += i as f64,
                    Value::Float(f) => sum += f,
                    Value::Undefined(origin) => return Ok(Value::Undefined(origin)),
                    other => return Err(call.wanted("numbers", &other)),
                }
            }
            Ok(Value::Float(sum))
        }
        "sort" => sort(call),
        _ => sets(&call),
    }
}

/// `union` has every element of all lists once, `intersection` once those that are in all of them,
/// `difference` all of the first that are in no other. The order is that of first appearance.
fn sets(call: &Call<'_, '_>) -> Result<Value, Error> {
    let lists = call.args.iter().map(|arg| call.list(arg)).collect::<Result<Vec<_>, _>>()?;
    let (first, others) = (&lists[0], &lists[1..]);
    let candidates: Vec<&Value> = match call.function {
        "union" => lists.iter().flatten().collect(),
        _ => first.iter().collect(),
    };
    let mut kept: Vec<Value> = Vec::new();
    for item in candidates {
        let fits = match call.function {
            "union" => true,
            "intersection" => {
                let mut everywhere = true;
                for other in others {
                    everywhere = everywhere && has(call, other, item)?;
                }
                everywhere
            }
            _ => {
                let mut anywhere = false;
                for other in others {
                    anywhere = anywhere || has(call, other, item)?;
                }
                !anywhere
            }
        };
        let repeats = matches!(call.function, "union" | "intersection") && has(call, &kept, item)?;
        if fits && !repeats {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn has(call: &Call<'_, '_>, items: &[Value], wanted: &Value) -> Result<bool, Error> {
    for item in items {
        if ops::equal(item, wanted, &call.eval.meter)? == Truth::True {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A merge sort, because the order is decided by a function of the policy: it may fail, and it may
/// contradict itself, which the standard library's sort answers with a panic.
fn sort(mut call: Call<'_, '_>) -> Result<Value, Error> {
    let [items, compare] = call.exactly()?;
    if items.is_undefined() {
        return Ok(items);
    }
    let mut items = call.list(&items)?;
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for run in items.chunks(width * 2) {
            let (left, right) = run.split_at(width.min(run.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                let order = call.callback(&compare, vec![(*a).clone(), (*b).clone()])?;
                let greater = match order {
                    Value::Int(order) => order > 0,
                    Value::Float(order) => order > 0.0,
                    other => return Err(call.wanted("a function that returns -1, 0 or 1", &other)),
                };
                merged.extend(if greater { right.next() } else { left.next() }.cloned());
            }
            merged.extend(left.cloned());
            merged.extend(right.cloned());
        }
        items = merged;
        width *= 2;
    }
    Ok(Value::list(items))
}
