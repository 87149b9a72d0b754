//! The conversions `int`, `float`, `string` and `bool`; anything they do not name is undefined.

use super::{Str, Value};

/// Reads text by the syntax of integer literals: decimal, `0` octal, `0x` hexadecimal, with a sign.
pub(crate) fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|b| (b as char).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    match negative {
        true if magnitude == 1 << 63 => Some(i64::MIN),
        true => i64::try_from(magnitude).ok().map(|m| -m),
        false => i64::try_from(magnitude).ok(),
    }
}

/// Reads text by the syntax of float literals, where an integer literal without prefix is one too.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let numeric =
        unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !numeric || !unsigned.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

pub(crate) fn to_int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) => Some(*i),
        Value::Float(f) => {
            let floor = f.floor();
            // i64::MAX itself is not a float; the next float above it does not fit
            (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0)
                .contains(&floor)
                .then_some(floor as i64)
        }
        Value::Str(s) => s.as_str().and_then(parse_int),
        Value::Bool(b) => Some(i64::from(*b)),
        _ => None,
    }
}

pub(crate) fn to_float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(f) => Some(*f),
        Value::Int(i) => Some(*i as f64),
        Value::Str(s) => s.as_str().and_then(parse_float),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        _ => None,
    }
}

pub(crate) fn to_string(value: &Value) -> Option<Str> {
    match value {
        Value::Str(s) => Some(s.clone()),
        Value::Int(i) => Some(i.to_string().into()),
        Value::Float(f) => Some(fixed(*f).into()),
        Value::Bool(b) => Some(b.to_string().into()),
        _ => None,
    }
}

/// `%f` of C: six digits after the point.
fn fixed(f: f64) -> String {
    if f.is_nan() {
        "NaN".into()
    } else if f.is_infinite() {
        if f > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else {
        format!("{f:.6}")
    }
}

pub(crate) fn to_bool(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(b) => Some(*b),
        Value::Int(i) => Some(*i != 0),
        Value::Float(f) => Some(*f != 0.0),
        Value::Str(s) => match s.as_bytes() {
            b"1" | b"t" | b"T" | b"TRUE" | b"true" | b"True" => Some(true),
            b"0" | b"f" | b"F" | b"FALSE" | b"false" | b"False" => Some(false),
            _ => None,
        },
        _ => None,
    }
}
