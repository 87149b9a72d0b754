//! `tfplan.config` and `tfplan.state` of the old `tfplan`: the data of other imports, with their `module`.

use super::Call;
use crate::error::Error;
use crate::terraform::{MODULES, address_of};
use crate::value::{Map, Value, ops};

pub(super) const METHODS: &[&str] = &["module"];

/// `module(path)`: the namespace of a module; null when there is none, as with the import itself.
pub(super) fn method(call: Call<'_, '_>, map: &Map) -> Result<Value, Error> {
    let [path] = call.exactly()?;
    if path.is_undefined() {
        return Ok(path);
    }
    let data = ops::to_data(&path, &call.eval.meter)?;
    let Some(names) = data.as_ref().filter(|_| matches!(path, Value::List(_))) else {
        return Err(call.wanted("the path of a module, a list of strings", &path));
    };
    let Some(address) = address_of(names.items()) else { return Ok(Value::Null) };
    let found = match map.get_name(MODULES.as_bytes()) {
        Some(Value::Map(modules)) => modules.get_name(address.as_bytes()),
        _ => None,
    };
    Ok(found.unwrap_or(Value::Null))
}
