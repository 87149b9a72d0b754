//! `collection/maps`: helpers with paths. A path is a string of keys with dots between them; a number
//! is an index where it comes to a list, and `*` means every element.

use std::collections::BTreeMap;

use super::Call;
use crate::error::Error;
use crate::value::ops::{self, MAX_NESTING, too_deep};
use crate::value::{Key, Map, Value};

pub(super) const FUNCTIONS: &[&str] = &["get", "has", "omit", "pick", "set", "unset"];

pub(super) fn call(call: Call<'_, '_>) -> Result<Value, Error> {
    match call.function {
        "get" => {
            let (object, path, default) = match &call.args[..] {
                [object, path] => (object, path, None),
                [object, path, default] => (object, path, Some(default.clone())),
                args => return Err(call.error(format!("takes 2 or 3 arguments, not {}", args.len()))),
            };
            let path = path_of(&call, path)?;
            let found = get(&call, object, &path, OfNothing::IsThere)?.filter(|value| !value.is_undefined());
            Ok(found.or(default).unwrap_or_else(|| call.missing()))
        }
        "has" => {
            let [object, path] = call.exactly()?;
            let path = path_of(&call, &path)?;
            let found = get(&call, &object, &path, OfNothing::IsMissing)?;
            Ok(Value::Bool(found.is_some_and(|value| !value.is_undefined())))
        }
        "set" => {
            let [object, path, value] = call.exactly()?;
            let path = path_of(&call, &path)?;
            map_of(&call, &object)?;
            copied(&call, set(&call, Some(&object), &path, &value)?)
        }
        "unset" => {
            let [object, path] = call.exactly()?;
            let path = path_of(&call, &path)?;
            map_of(&call, &object)?;
            copied(&call, unset(&call, &object, &path)?)
        }
        "omit" => {
            let [object, paths] = call.exactly()?;
            map_of(&call, &object)?;
            let mut object = object;
            for path in call.list(&paths)? {
                let path = path_of(&call, &path)?;
                object = unset(&call, &object, &path)?;
            }
            copied(&call, object)
        }
        _ => {
            let [object, paths] = call.exactly()?;
            map_of(&call, &object)?;
            let paths = call.list(&paths)?;
            let paths = paths.iter().map(|path| path_of(&call, path)).collect::<Result<Vec<_>, _>>()?;
            let paths: Vec<&[String]> = paths.iter().map(Vec::as_slice).collect();
            let picked = pick(&call, &object, &paths)?;
            copied(&call, picked.unwrap_or_else(|| Value::Map(Map::owned(BTreeMap::new()))))
        }
    }
}

/// What the functions make is a new map: changes of it, and of what is in it, are not seen in the old one.
fn copied(call: &Call<'_, '_>, value: Value) -> Result<Value, Error> {
    ops::duplicate(&value, &call.eval.meter)
}

fn path_of(call: &Call<'_, '_>, path: &Value) -> Result<Vec<String>, Error> {
    let text = call.text(path)?;
    if text.bytes().filter(|byte| *byte == b'.').count() >= MAX_NESTING as usize {
        return Err(too_deep());
    }
    call.eval.meter.room(text.len())?;
    Ok(text.split('.').map(str::to_owned).collect())
}

fn map_of(call: &Call<'_, '_>, object: &Value) -> Result<Map, Error> {
    match object {
        Value::Map(map) => Ok(map.clone()),
        other => Err(call.wanted("a map", other)),
    }
}

/// A key's value; a path is text, so a key that is a number is found by its text too.
fn entry(call: &Call<'_, '_>, map: &Map, part: &str) -> Result<Option<(Key, Value)>, Error> {
    call.eval.meter.look_up(&Key::from(part))?;
    let keys = [Some(Key::from(part)), part.parse().ok().map(Key::Int)];
    Ok(keys.into_iter().flatten().find_map(|key| map.get(&key).map(|value| (key, value))))
}

fn index(part: &str, length: usize) -> Option<usize> {
    part.parse().ok().filter(|at| *at < length)
}

/// What a splat over an empty collection comes to.
#[derive(Clone, Copy, PartialEq)]
enum OfNothing {
    /// An empty list: that is what there is.
    IsThere,
    /// Nothing: no element has the rest of the path.
    IsMissing,
}

fn get(
    call: &Call<'_, '_>,
    object: &Value,
    path: &[String],
    of_nothing: OfNothing,
) -> Result<Option<Value>, Error> {
    call.eval.meter.step()?;
    let Some((part, rest)) = path.split_first() else { return Ok(Some(object.clone())) };
    call.eval.meter.read(part.len())?;
    call.eval.meter.deeper(|| get_part(call, object, part, rest, of_nothing))
}

fn get_part(
    call: &Call<'_, '_>,
    object: &Value,
    part: &str,
    rest: &[String],
    of_nothing: OfNothing,
) -> Result<Option<Value>, Error> {
    match object {
        Value::Map(map) => match entry(call, map, part)? {
            Some((_, value)) => get(call, &value, rest, of_nothing),
            None if part == "*" => {
                let values = call.entries(map)?.into_iter().map(|(_, value)| value).collect();
                get_each(call, values, rest, of_nothing)
            }
            None => Ok(None),
        },
        Value::List(list) if part == "*" => get_each(call, call.list(object)?, rest, of_nothing),
        Value::List(list) => match index(part, list.len()).and_then(|at| list.get(at)) {
            Some(value) => get(call, &value, rest, of_nothing),
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// What the rest of a path finds in each element; elements where it finds nothing are left out. A path
/// that no element has is not there.
fn get_each(
    call: &Call<'_, '_>,
    items: Vec<Value>,
    rest: &[String],
    of_nothing: OfNothing,
) -> Result<Option<Value>, Error> {
    if items.is_empty() && of_nothing == OfNothing::IsThere {
        return Ok(Some(Value::list(Vec::new())));
    }
    let mut found = Vec::new();
    for item in items {
        if let Some(value) = get(call, &item, rest, of_nothing)? {
            found.push(value);
        }
    }
    let is_there = found.iter().any(|value| !value.is_undefined());
    Ok(is_there.then(|| Value::list(found)))
}

fn set(call: &Call<'_, '_>, object: Option<&Value>, path: &[String], value: &Value) -> Result<Value, Error> {
    call.eval.meter.step()?;
    let Some((part, rest)) = path.split_first() else { return Ok(value.clone()) };
    call.eval.meter.text(part.len())?;
    call.eval.meter.deeper(|| set_part(call, object, part, rest, value))
}

fn set_part(
    call: &Call<'_, '_>,
    object: Option<&Value>,
    part: &str,
    rest: &[String],
    value: &Value,
) -> Result<Value, Error> {
    match object {
        Some(Value::List(list)) => {
            let mut items = call.list(&Value::List(list.clone()))?;
            if part == "*" {
                for item in &mut items {
                    *item = set(call, Some(item), rest, value)?;
                }
            } else {
                let Some(at) = index(part, items.len()) else {
                    let part = crate::value::show::excerpt_of(part);
                    return Err(call.error(format!("found no element `{part}` in a list to set")));
                };
                items[at] = set(call, Some(&items[at]), rest, value)?;
            }
            Ok(Value::list(items))
        }
        Some(Value::Map(map)) => {
            let mut entries = copy(call, map)?;
            if part == "*" && entry(call, map, part)?.is_none() {
                for item in entries.values_mut() {
                    *item = set(call, Some(item), rest, value)?;
                }
            } else {
                let found = entry(call, map, part)?;
                let key = found.as_ref().map_or_else(|| Key::from(part), |(key, _)| key.clone());
                let inner = set(call, found.as_ref().map(|(_, value)| value), rest, value)?;
                entries.insert(key, inner);
            }
            Ok(Value::Map(Map::owned(entries)))
        }
        // what is not a collection is in the way of the path and is replaced
        _ => {
            let inner = set(call, None, rest, value)?;
            Ok(Value::Map(Map::owned(BTreeMap::from([(Key::from(part), inner)]))))
        }
    }
}

fn copy(call: &Call<'_, '_>, map: &Map) -> Result<BTreeMap<Key, Value>, Error> {
    Ok(call.entries(map)?.into_iter().collect())
}

fn unset(call: &Call<'_, '_>, object: &Value, path: &[String]) -> Result<Value, Error> {
    call.eval.meter.step()?;
    let Some((part, rest)) = path.split_first() else { return Ok(object.clone()) };
    call.eval.meter.read(part.len())?;
    call.eval.meter.deeper(|| unset_part(call, object, part, rest))
}

fn unset_part(call: &Call<'_, '_>, object: &Value, part: &str, rest: &[String]) -> Result<Value, Error> {
    match object {
        Value::Map(map) => {
            let mut entries = copy(call, map)?;
            let targets: Vec<Key> = match entry(call, map, part)? {
                Some((key, _)) => vec![key],
                None if part == "*" => entries.keys().cloned().collect(),
                None => return Ok(object.clone()),
            };
            for key in targets {
                match entries.get(&key) {
                    Some(value) if !rest.is_empty() => {
                        let inner = unset(call, value, rest)?;
                        entries.insert(key, inner);
                    }
                    _ => {
                        entries.remove(&key);
                    }
                }
            }
            Ok(Value::Map(Map::owned(entries)))
        }
        Value::List(list) => {
            let mut items = call.list(&Value::List(list.clone()))?;
            if part == "*" {
                if rest.is_empty() {
                    items.clear();
                }
                for item in &mut items {
                    *item = unset(call, item, rest)?;
                }
            } else if let Some(at) = index(part, items.len()) {
                if rest.is_empty() {
                    items.remove(at);
                } else {
                    items[at] = unset(call, &items[at], rest)?;
                }
            }
            Ok(Value::list(items))
        }
        other => Ok(other.clone()),
    }
}

/// The parts of an object that the paths lead to, with the structure around them; `None` when there
/// are none. Of a list only the elements on a path are kept.
fn pick(call: &Call<'_, '_>, object: &Value, paths: &[&[String]]) -> Result<Option<Value>, Error> {
    call.eval.meter.step()?;
    if paths.iter().any(|path| path.is_empty()) {
        return Ok(Some(object.clone()));
    }
    // the rest of the paths, by the first part, of those that go on with a given key
    let rests = |matches: &dyn Fn(&str) -> bool| -> Vec<&[String]> {
        paths.iter().filter(|path| matches(&path[0])).map(|path| &path[1..]).collect()
    };
    // each element is compared with the first part of each path
    let compared: usize = paths.iter().map(|path| 1 + path[0].len() / 16).sum();
    let pick = |value: &Value, rest: &[&[String]]| call.eval.meter.deeper(|| pick(call, value, rest));
    match object {
        Value::Map(map) => {
            let mut kept = BTreeMap::new();
            for (key, value) in copy(call, map)? {
                call.eval.meter.steps(compared)?;
                call.eval.meter.look_up(&key)?;
                let name = crate::value::show::show_key(&key);
                let rest = rests(&|part| part == name || part == "*");
                if !rest.is_empty()
                    && let Some(value) = pick(&value, &rest)?
                {
                    kept.insert(key, value);
                }
            }
            Ok((!kept.is_empty()).then(|| Value::Map(Map::owned(kept))))
        }
        Value::List(_) => {
            let mut kept = Vec::new();
            for (at, value) in call.list(object)?.into_iter().enumerate() {
                call.eval.meter.steps(compared)?;
                let rest = rests(&|part| part == "*" || part.parse() == Ok(at));
                if !rest.is_empty()
                    && let Some(value) = pick(&value, &rest)?
                {
                    kept.push(value);
                }
            }
            Ok((!kept.is_empty()).then(|| Value::list(kept)))
        }
        _ => Ok(None),
    }
}
