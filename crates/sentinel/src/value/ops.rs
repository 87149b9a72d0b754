//! Operators on values: equality, order, inclusion, arithmetic.

use std::cmp::Ordering;

use memchr::memmem;

use super::{Data, Key, List, Map, Origin, Value};
use crate::error::{Error, Limit};
use crate::limits::Meter;

/// How deep values may be nested for operators that look into them. It also ends the walk of a list
/// that contains itself.
pub(crate) const MAX_NESTING: u32 = 500;

/// Goes a level deeper into a value.
pub(crate) fn nested<T>(
    meter: &Meter,
    depth: u32,
    look: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    if depth >= MAX_NESTING {
        return Err(too_deep());
    }
    meter.deeper(look)
}

pub(crate) fn too_deep() -> Error {
    Error::limit(Limit::Depth, format!("a value is nested more than {MAX_NESTING} deep or contains itself"))
}

/// A truth value that may be undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Truth {
    True,
    False,
    Undefined(Origin),
}

impl Truth {
    pub(crate) fn negate(self) -> Truth {
        match self {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            undefined => undefined,
        }
    }

    pub(crate) fn value(self) -> Value {
        match self {
            Truth::True => Value::Bool(true),
            Truth::False => Value::Bool(false),
            Truth::Undefined(origin) => Value::Undefined(origin),
        }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Truth {
        if value { Truth::True } else { Truth::False }
    }
}

/// `==`. Values of different types are not equal, except that numbers compare across int and float
/// (release note of 0.11, against the text of the specification).
pub(crate) fn equal(a: &Value, b: &Value, meter: &Meter) -> Result<Truth, Error> {
    equal_at(a, b, meter, 0)
}

fn equal_at(a: &Value, b: &Value, meter: &Meter, depth: u32) -> Result<Truth, Error> {
    meter.step()?;
    Ok(match (a, b) {
        (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Truth::Undefined(*origin),
        (Value::Str(a), Value::Str(b)) if a.len() != b.len() => Truth::False,
        (Value::Str(a), Value::Str(b)) => {
            meter.scan(a.len())?;
            (a == b).into()
        }
        (Value::Bool(a), Value::Bool(b)) => (a == b).into(),
        (Value::Int(a), Value::Int(b)) => (a == b).into(),
        (Value::Float(a), Value::Float(b)) => (a == b).into(),
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => (*a as f64 == *b).into(),
        (Value::Null, Value::Null) => Truth::True,
        (Value::List(a), Value::List(b)) => nested(meter, depth, || equal_lists(a, b, meter, depth))?,
        (Value::Map(a), Value::Map(b)) => nested(meter, depth, || equal_maps(a, b, meter, depth))?,
        _ => Truth::False,
    })
}

/// Elementwise: one unequal pair makes the lists unequal even beside an undefined one.
fn equal_lists(a: &List, b: &List, meter: &Meter, depth: u32) -> Result<Truth, Error> {
    if a.len() != b.len() {
        return Ok(Truth::False);
    }
    let mut result = Truth::True;
    for at in 0..a.len() {
        let (Some(x), Some(y)) = (a.get(at), b.get(at)) else { return Ok(Truth::False) };
        match equal_at(&x, &y, meter, depth + 1)? {
            Truth::False => return Ok(Truth::False),
            Truth::Undefined(origin) => result = Truth::Undefined(origin),
            Truth::True => {}
        }
    }
    Ok(result)
}

fn equal_maps(a: &Map, b: &Map, meter: &Meter, depth: u32) -> Result<Truth, Error> {
    if a.len() != b.len() {
        return Ok(Truth::False);
    }
    let mut result = Truth::True;
    for (key, x) in a.snapshot(meter)? {
        meter.look_up(&key)?;
        let Some(y) = b.get(&key) else { return Ok(Truth::False) };
        match equal_at(&x, &y, meter, depth + 1)? {
            Truth::False => return Ok(Truth::False),
            Truth::Undefined(origin) => result = Truth::Undefined(origin),
            Truth::True => {}
        }
    }
    Ok(result)
}

/// Whether two values are of types that have an order: two numbers or two strings.
pub(crate) fn have_order(a: &Value, b: &Value) -> bool {
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    is_number(a) && is_number(b) || matches!((a, b), (Value::Str(_), Value::Str(_)))
}

/// The order of two numbers or two strings; `None` for a NaN, and for everything that has no order.
pub(crate) fn order(a: &Value, b: &Value, meter: &Meter) -> Result<Option<Ordering>, Error> {
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Float(b)) => (*a as f64).partial_cmp(b),
        (Value::Float(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Str(a), Value::Str(b)) => {
            meter.scan(a.len().min(b.len()))?;
            Some(a.cmp(b))
        }
        _ => None,
    })
}

/// `contains`: any equal element of a list, a key of a map, a substring of a string.
pub(crate) fn contains(collection: &Value, item: &Value, meter: &Meter) -> Result<Truth, Error> {
    if let Value::Undefined(origin) = collection {
        return Ok(Truth::Undefined(*origin));
    }
    match collection {
        Value::List(list) => list_contains(list, item, meter),
        Value::Map(map) => Ok(match item {
            Value::Undefined(origin) => Truth::Undefined(*origin),
            item => match item.to_key() {
                Some(key) => {
                    meter.look_up(&key)?;
                    map.has(&key).into()
                }
                None => Truth::False,
            },
        }),
        Value::Str(text) => match item {
            Value::Undefined(origin) => Ok(Truth::Undefined(*origin)),
            Value::Str(part) => {
                meter.scan(text.len() + part.len())?;
                Ok(memmem::find(text.as_bytes(), part.as_bytes()).is_some().into())
            }
            other => {
                Err(Error::runtime(format!("a string can only contain a string, not {}", other.type_name())))
            }
        },
        other => Err(Error::runtime(format!(
            "{} cannot contain anything: expected a list, a map or a string",
            other.type_name()
        ))),
    }
}

fn list_contains(list: &List, item: &Value, meter: &Meter) -> Result<Truth, Error> {
    let mut result = Truth::False;
    if let Value::Undefined(origin) = item {
        // "any instance of undefined results in undefined" (release note of 0.16.1)
        return Ok(Truth::Undefined(*origin));
    }
    for at in 0..list.len() {
        let Some(element) = list.get(at) else { break };
        match equal(&element, item, meter)? {
            Truth::True => return Ok(Truth::True),
            Truth::Undefined(origin) => result = Truth::Undefined(origin),
            Truth::False => {}
        }
    }
    Ok(result)
}

/// An arithmetic operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl Arithmetic {
    fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Sub => "-",
            Arithmetic::Mul => "*",
            Arithmetic::Div => "/",
            Arithmetic::Rem => "%",
        }
    }
}

/// `+ - * / %`: numbers, where an int beside a float becomes one; `+` also joins strings and lists.
pub(crate) fn arithmetic(op: Arithmetic, a: &Value, b: &Value, meter: &Meter) -> Result<Value, Error> {
    match (a, b) {
        (Value::Undefined(origin), _) | (_, Value::Undefined(origin)) => Ok(Value::Undefined(*origin)),
        (Value::Int(a), Value::Int(b)) => integers(op, *a, *b),
        (Value::Float(a), Value::Float(b)) => Ok(floats(op, *a, *b)),
        (Value::Int(a), Value::Float(b)) => Ok(floats(op, *a as f64, *b)),
        (Value::Float(a), Value::Int(b)) => Ok(floats(op, *a, *b as f64)),
        (Value::Str(a), Value::Str(b)) if op == Arithmetic::Add => {
            meter.text(a.len() + b.len())?;
            Ok(Value::str([a.as_bytes(), b.as_bytes()].concat()))
        }
        (Value::List(a), Value::List(b)) if op == Arithmetic::Add => {
            meter.alloc((a.len() + b.len()) * size_of::<Value>())?;
            let mut items = a.snapshot(meter)?;
            items.extend(b.snapshot(meter)?);
            Ok(Value::list(items))
        }
        _ => Err(Error::runtime(format!(
            "`{}` is not defined for {} and {}",
            op.symbol(),
            a.type_name(),
            b.type_name()
        ))),
    }
}

fn integers(op: Arithmetic, a: i64, b: i64) -> Result<Value, Error> {
    let result = match op {
        Arithmetic::Add => a.wrapping_add(b),
        Arithmetic::Sub => a.wrapping_sub(b),
        Arithmetic::Mul => a.wrapping_mul(b),
        Arithmetic::Div | Arithmetic::Rem if b == 0 => {
            return Err(Error::runtime("division by zero"));
        }
        Arithmetic::Div => a.wrapping_div(b),
        Arithmetic::Rem => a.wrapping_rem(b),
    };
    Ok(Value::Int(result))
}

fn floats(op: Arithmetic, a: f64, b: f64) -> Value {
    Value::Float(match op {
        Arithmetic::Add => a + b,
        Arithmetic::Sub => a - b,
        Arithmetic::Mul => a * b,
        Arithmetic::Div => a / b,
        Arithmetic::Rem => a % b,
    })
}

/// The immutable data of a value; `None` when it holds something that is not data (a function, a
/// rule).
pub(crate) fn to_data(value: &Value, meter: &Meter) -> Result<Option<Data>, Error> {
    to_data_at(value, meter, 0)
}

fn to_data_at(value: &Value, meter: &Meter, depth: u32) -> Result<Option<Data>, Error> {
    meter.step()?;
    match value {
        Value::List(_) | Value::Map(_) => nested(meter, depth, || collection_data(value, meter, depth)),
        scalar => Ok(scalar_data(scalar)),
    }
}

fn scalar_data(value: &Value) -> Option<Data> {
    Some(match value {
        Value::Undefined(_) => Data::Undefined,
        Value::Null => Data::Null,
        Value::Bool(b) => Data::Bool(*b),
        Value::Int(i) => Data::Int(*i),
        Value::Float(f) => Data::Float(*f),
        Value::Str(s) => Data::Str(s.clone()),
        _ => return None,
    })
}

fn collection_data(value: &Value, meter: &Meter, depth: u32) -> Result<Option<Data>, Error> {
    Ok(Some(match value {
        Value::List(list) => match list.pristine(meter)? {
            Some(base) => Data::List(base),
            None => {
                meter.alloc(list.len() * size_of::<Data>())?;
                let mut items = Vec::with_capacity(list.len());
                for item in list.snapshot(meter)? {
                    let Some(item) = to_data_at(&item, meter, depth + 1)? else { return Ok(None) };
                    items.push(item);
                }
                Data::list(items)
            }
        },
        Value::Map(map) => match map.pristine(meter)? {
            Some(base) => Data::Map(base),
            None => {
                meter.alloc(map.len() * size_of::<(Key, Data)>())?;
                let mut entries = Vec::with_capacity(map.len());
                for (key, item) in map.snapshot(meter)? {
                    let Some(item) = to_data_at(&item, meter, depth + 1)? else { return Ok(None) };
                    entries.push((key, item));
                }
                Data::map(entries)
            }
        },
        other => return Ok(scalar_data(other)),
    }))
}

/// A copy that shares no mutable state with the original: what crosses the border of a module.
/// Functions and rules inside stay what they are.
pub(crate) fn duplicate(value: &Value, meter: &Meter) -> Result<Value, Error> {
    duplicate_at(value, meter, 0)
}

fn duplicate_at(value: &Value, meter: &Meter, depth: u32) -> Result<Value, Error> {
    meter.step()?;
    match value {
        Value::List(_) | Value::Map(_) => nested(meter, depth, || duplicate_nested(value, meter, depth)),
        other => Ok(other.clone()),
    }
}

fn duplicate_nested(value: &Value, meter: &Meter, depth: u32) -> Result<Value, Error> {
    Ok(match value {
        Value::List(list) => match list.pristine(meter)? {
            Some(base) => Value::List(List::frozen(base)),
            None => {
                meter.alloc(list.len() * size_of::<Value>())?;
                let mut items = Vec::with_capacity(list.len());
                for item in list.snapshot(meter)? {
                    items.push(duplicate_at(&item, meter, depth + 1)?);
                }
                Value::list(items)
            }
        },
        Value::Map(map) => match map.pristine(meter)? {
            Some(base) => Value::Map(map.frozen_like(base)),
            None => {
                meter.alloc(map.len() * size_of::<(Key, Value)>())?;
                let mut entries = std::collections::BTreeMap::new();
                for (key, item) in map.snapshot(meter)? {
                    entries.insert(key, duplicate_at(&item, meter, depth + 1)?);
                }
                Value::Map(map.owned_like(entries))
            }
        },
        other => other.clone(),
    })
}
