//! `decimal`: exact numbers of up to 100 digits, with infinities and not-a-number.

mod math;
mod number;

use number::Number;

use super::Call;
use crate::error::Error;
use crate::value::{Map, Value};

pub(super) const FUNCTIONS: &[&str] =
    &["new", "infinity", "inf", "is_nan", "isnan", "is_infinite", "is_inf", "isinf", "isinfinite"];

pub(super) const METHODS: &[&str] = &[
    "is",
    "is_not",
    "less_than",
    "lt",
    "less_than_or_equals",
    "lte",
    "greater_than",
    "gt",
    "greater_than_or_equals",
    "gte",
    "add",
    "subtract",
    "sub",
    "multiply",
    "mul",
    "divide",
    "div",
    "modulo",
    "mod",
    "remainder",
    "rem",
    "power",
    "pow",
    "exp",
    "loge",
    "ln",
    "log10",
    "log",
    "square_root",
    "sqrt",
    "ceiling",
    "ceil",
    "floor",
    "absolute",
    "abs",
    "negate",
    "neg",
];

pub(super) fn constant(name: &str) -> Option<Value> {
    (name == "nan").then(|| Number::Nan.object())
}

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    let [value] = call.exactly()?;
    if value.is_undefined() {
        return Ok(value);
    }
    let number = number(&call, &value)?;
    Ok(match call.function {
        "new" => number.object(),
        "infinity" | "inf" => Number::Infinite { negative: number.is_negative() }.object(),
        "is_nan" | "isnan" => Value::Bool(number == Number::Nan),
        _ => Value::Bool(matches!(number, Number::Infinite { .. })),
    })
}

/// The length of a number's text: beyond it, reading it takes more than any number is worth. A number has
/// a hundred digits at most.
const MAX_LENGTH: usize = 10_000;

/// A number from an int, a float, text or a decimal.
fn number(call: &Call<'_, '_>, value: &Value) -> Result<Number, Error> {
    let found = match value {
        Value::Int(i) => Some(Number::from(*i)),
        Value::Float(f) => Some(Number::from_float(*f)),
        Value::Str(text) if text.len() > MAX_LENGTH => None,
        Value::Str(text) => Number::parse(&text.to_text()),
        Value::Map(map) => match map.get_name(b"string") {
            Some(Value::Str(text)) if text.len() > MAX_LENGTH => None,
            Some(Value::Str(text)) => Number::parse(&text.to_text()),
            _ => return Err(call.wanted("a number", value)),
        },
        other => return Err(call.wanted("a number, a string or a decimal", other)),
    };
    let shown = || crate::value::show::excerpt(value);
    found.ok_or_else(|| call.error(format!("was given `{}`, which is not a decimal number", shown())))
}

pub(super) fn method(call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    // a decimal operation is some thousand times the work of a plain one
    call.eval.meter.steps(100)?;
    let this = number(&call, &Value::Map(map.clone()))?;
    let unary: Option<fn(&Number) -> Number> = match call.function {
        "exp" => Some(Number::exp),
        "loge" | "ln" => Some(Number::ln),
        "log10" | "log" => Some(Number::log10),
        "square_root" | "sqrt" => Some(Number::sqrt),
        "ceiling" | "ceil" => Some(Number::ceil),
        "floor" => Some(Number::floor),
        "absolute" | "abs" => Some(Number::abs),
        "negate" | "neg" => Some(Number::neg),
        _ => None,
    };
    if let Some(operation) = unary {
        let [] = call.exactly()?;
        return Ok(operation(&this).object());
    }
    let [other] = call.exactly()?;
    if other.is_undefined() {
        return Ok(other);
    }
    let other = number(&call, &other)?;
    let order = this.compare(&other);
    Ok(match call.function {
        "is" => Value::Bool(order.is_some_and(|order| order.is_eq())),
        "is_not" => Value::Bool(!order.is_some_and(|order| order.is_eq())),
        "less_than" | "lt" => Value::Bool(order.is_some_and(|order| order.is_lt())),
        "less_than_or_equals" | "lte" => Value::Bool(order.is_some_and(|order| order.is_le())),
        "greater_than" | "gt" => Value::Bool(order.is_some_and(|order| order.is_gt())),
        "greater_than_or_equals" | "gte" => Value::Bool(order.is_some_and(|order| order.is_ge())),
        "add" => this.add(&other).object(),
        "subtract" | "sub" => this.add(&other.neg()).object(),
        "multiply" | "mul" => this.multiply(&other).object(),
        "divide" | "div" => this.divide(&other).object(),
        "modulo" | "mod" | "remainder" | "rem" => this.remainder(&other).object(),
        _ => this.power(&other).object(),
    })
}
