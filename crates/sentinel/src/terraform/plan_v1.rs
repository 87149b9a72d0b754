//! The old `tfplan`.
//!
//! Its `diff` is flat: `tags.%` is the number of keys of a map, `ingress.#` that of the elements of a
//! list, `ingress.0.from_port` an attribute of one. All values in it are text. Plans do not have such
//! diffs any more; it is made of the values before and after.
//!
//! `config` and `state` are the old `tfconfig` and `tfstate`, with their `module` functions.

use std::collections::BTreeMap;

use super::build::{ByType, empty, index_key, module_path, named, null, str_of, text, with_modules};
use super::{config_v1, state_v1};
use crate::value::{Data, Key, show};

pub(super) fn derive(plan: &Data, schemas: Option<&Data>) -> Data {
    let mut modules: BTreeMap<Vec<String>, (ByType, ByType)> = BTreeMap::new();
    for change in plan.get("resource_changes").map(Data::items).unwrap_or_default() {
        if !str_of(change, "deposed").is_empty() {
            continue;
        }
        let path = match str_of(change, "module_address") {
            "" => Vec::new(),
            address => module_path(address),
        };
        let (resources, data) = modules.entry(path).or_default();
        let (kind, name) = (str_of(change, "type"), str_of(change, "name"));
        let is_data = str_of(change, "mode") == "data";
        let instance = instance(change, is_data, attribute_types(schemas, change));
        let by_type = if is_data { data } else { resources };
        by_type.add(kind, name, index_key(change), instance);
    }
    let modules: Vec<(Vec<String>, Data)> = modules
        .into_iter()
        .map(|(path, (resources, data))| {
            let namespace = Data::map([
                ("path", Data::list(path.iter().map(|name| name.as_str().into()))),
                ("data", data.data()),
                ("resources", resources.data()),
            ]);
            (path, namespace)
        })
        .collect();
    let root = match modules.first() {
        Some((path, namespace)) if path.is_empty() => namespace.clone(),
        _ => Data::map([("path", Data::list([])), ("data", empty()), ("resources", empty())]),
    };
    let members = vec![
        ("terraform_version", text(plan, "terraform_version")),
        ("variables", variables(plan)),
        ("config", config_v1::derive(plan)),
        ("state", state_v1::derive(plan)),
    ];
    with_modules(modules, members, root)
}

/// Values of the root module's variables; those that are no collections are text.
fn variables(plan: &Data) -> Data {
    let entries = named(plan.get("variables")).map(|(name, variable)| {
        let value = match null(variable, "value") {
            scalar @ (Data::Bool(_) | Data::Int(_) | Data::Float(_)) => show::show_data(&scalar).into(),
            other => other,
        };
        (name, value)
    });
    Data::map(entries.collect::<Vec<_>>())
}

fn instance(resource: &Data, is_data: bool, types: Types<'_>) -> Data {
    let nothing = empty();
    let change = resource.get("change").unwrap_or(&nothing);
    let actions: Vec<&str> =
        change.get("actions").map(Data::items).unwrap_or_default().iter().filter_map(Data::as_str).collect();
    let has = |action: &str| actions.contains(&action);
    let before = change.get("before").unwrap_or(&Data::Null);
    let after = change.get("after").unwrap_or(&Data::Null);
    let unknown = change.get("after_unknown").unwrap_or(&Data::Null);
    let mut diff = BTreeMap::new();
    if !actions.is_empty() && actions != ["no-op"] {
        // a replaced resource is made anew: all its attributes are in the diff
        let anew = has("create") || has("read");
        object_diff("", before, after, unknown, anew, types, &mut diff);
    }
    let mut members = vec![("diff", Data::map(diff))];
    // what is destroyed and not made anew has nothing after it
    if actions != ["delete"] {
        members.push(("applied", known(after, unknown)));
    }
    if !is_data {
        members.push(("destroy", Data::Bool(has("delete"))));
        members.push(("requires_new", Data::Bool(has("delete") && has("create"))));
    }
    Data::map(members)
}

/// A value without what is not known yet: such attributes and elements are undefined.
fn known(value: &Data, unknown: &Data) -> Data {
    match (value, unknown) {
        (Data::Map(map), Data::Map(_)) => Data::map(map.entries().iter().filter_map(|(key, value)| {
            let mark = key.as_str().and_then(|name| unknown.get(name)).unwrap_or(&Data::Null);
            (!is_unknown(mark)).then(|| (key.clone(), known(value, mark)))
        })),
        (Data::List(items), Data::List(marks)) => {
            Data::list(items.iter().enumerate().map(
                |(at, item)| match marks.get(at).unwrap_or(&Data::Null) {
                    mark if is_unknown(mark) => Data::Undefined,
                    mark => known(item, mark),
                },
            ))
        }
        (value, _) => value.clone(),
    }
}

fn is_unknown(mark: &Data) -> bool {
    matches!(mark, Data::Bool(true))
}

/// Whether anything below is unknown.
fn has_unknown(mark: &Data) -> bool {
    match mark {
        Data::Bool(mark) => *mark,
        Data::List(items) => items.iter().any(has_unknown),
        Data::Map(map) => map.entries().iter().any(|(_, mark)| has_unknown(mark)),
        _ => false,
    }
}

/// What a schema says of the attributes of a resource.
#[derive(Clone, Copy)]
struct Types<'s>(Option<&'s Data>);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Scalar,
    List,
    Map,
    /// There is no schema to tell.
    Open,
}

fn attribute_types<'s>(schemas: Option<&'s Data>, resource: &Data) -> Types<'s> {
    let find = || {
        let provider = schemas?.get("provider_schemas")?.get(str_of(resource, "provider_name"))?;
        let kinds = match str_of(resource, "mode") {
            "data" => provider.get("data_source_schemas")?,
            _ => provider.get("resource_schemas")?,
        };
        kinds.get(str_of(resource, "type"))?.get("block")
    };
    Types(find())
}

impl Types<'_> {
    fn shape(self, name: &str) -> Shape {
        let Some(block) = self.0 else { return Shape::Open };
        if let Some(attribute) = block.get("attributes").and_then(|attributes| attributes.get(name)) {
            let kind = match attribute.get("type") {
                Some(Data::List(parts)) => parts.first().and_then(Data::as_str),
                Some(kind) => kind.as_str(),
                None => None,
            };
            return match kind {
                Some("list" | "set" | "tuple") => Shape::List,
                Some("map" | "object") => Shape::Map,
                Some("dynamic") | None => Shape::Open,
                Some(_) => Shape::Scalar,
            };
        }
        match block.get("block_types").and_then(|blocks| blocks.get(name)) {
            Some(_) => Shape::List,
            None => Shape::Open,
        }
    }
}

type Diff = BTreeMap<Key, Data>;

fn entry(diff: &mut Diff, key: String, old: &str, new: &str, computed: bool) {
    let data = Data::map([("computed", Data::Bool(computed)), ("new", new.into()), ("old", old.into())]);
    diff.insert(Key::from(key), data);
}

/// The attributes of an object, each with the difference between before and after.
fn object_diff(
    prefix: &str,
    before: &Data,
    after: &Data,
    unknown: &Data,
    anew: bool,
    types: Types<'_>,
    diff: &mut Diff,
) {
    let mut names: Vec<&str> =
        [before, after, unknown].iter().flat_map(|data| named(Some(data)).map(|(name, _)| name)).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        let of = |data: &Data| data.get(name).cloned().unwrap_or(Data::Null);
        let (old, new, mark) = (of(before), of(after), of(unknown));
        let gone = after.is_null();
        if !anew && !gone && !has_unknown(&mark) && old.same(&new) {
            continue;
        }
        let shape = if prefix.is_empty() { types.shape(name) } else { Shape::Open };
        value_diff(&format!("{prefix}{name}"), &old, &new, &mark, shape, diff);
    }
}

fn value_diff(key: &str, old: &Data, new: &Data, mark: &Data, shape: Shape, diff: &mut Diff) {
    let shape = match (old, new) {
        (Data::List(_), _) | (_, Data::List(_)) => Shape::List,
        (Data::Map(_), _) | (_, Data::Map(_)) => Shape::Map,
        _ => shape,
    };
    let count = |data: &Data| match data {
        Data::List(items) => items.len().to_string(),
        Data::Map(map) => map.len().to_string(),
        _ => String::new(),
    };
    if is_unknown(mark) {
        let old_count = count(old);
        if matches!(shape, Shape::Scalar | Shape::Open) {
            entry(diff, key.to_owned(), &scalar(old), "", true);
        }
        // without a schema an unknown value may be anything, so policies find it however they ask
        if matches!(shape, Shape::List | Shape::Open) {
            entry(diff, format!("{key}.#"), &old_count, "", true);
        }
        if matches!(shape, Shape::Map | Shape::Open) {
            entry(diff, format!("{key}.%"), &old_count, "", true);
        }
        return;
    }
    match (old, new) {
        (Data::List(_), _) | (_, Data::List(_)) => {
            entry(diff, format!("{key}.#"), &count(old), &count(new), false);
            let (olds, news, marks) = (old.items(), new.items(), mark.items());
            for at in 0..olds.len().max(news.len()) {
                let of = |items: &[Data]| items.get(at).cloned().unwrap_or(Data::Null);
                value_diff(&format!("{key}.{at}"), &of(olds), &of(news), &of(marks), Shape::Scalar, diff);
            }
        }
        // of an object that is known in parts only that is told
        (Data::Map(_), _) | (_, Data::Map(_)) if has_unknown(mark) => {
            entry(diff, format!("{key}.%"), &count(old), "", true);
        }
        (Data::Map(_), _) | (_, Data::Map(_)) => {
            entry(diff, format!("{key}.%"), &count(old), &count(new), false);
            object_diff(&format!("{key}."), old, new, mark, true, Types(None), diff);
        }
        _ => entry(diff, key.to_owned(), &scalar(old), &scalar(new), false),
    }
}

/// The text of a scalar; nothing and what is not a scalar are empty.
fn scalar(data: &Data) -> String {
    match data {
        Data::Str(text) => text.to_text().into_owned(),
        Data::Bool(_) | Data::Int(_) | Data::Float(_) => show::show_data(data),
        _ => String::new(),
    }
}
