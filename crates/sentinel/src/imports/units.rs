//! `units`: sizes of bytes, base 2.

use crate::value::Value;

pub(super) fn constant(name: &str) -> Option<Value> {
    let power = match name {
        "byte" => 0,
        "kilobyte" => 1,
        "megabyte" => 2,
        "gigabyte" => 3,
        "terabyte" => 4,
        "petabyte" => 5,
        _ => return None,
    };
    Some(Value::Int(1 << (10 * power)))
}
