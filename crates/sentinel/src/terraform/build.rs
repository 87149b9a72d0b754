//! Small helpers for making data out of data.

use std::collections::BTreeMap;

use crate::value::{Data, Key};

/// A member, or something else when it is absent.
pub(super) fn or(data: &Data, name: &str, otherwise: Data) -> Data {
    data.get(name).cloned().unwrap_or(otherwise)
}

pub(super) fn text(data: &Data, name: &str) -> Data {
    or(data, name, "".into())
}

pub(super) fn null(data: &Data, name: &str) -> Data {
    or(data, name, Data::Null)
}

pub(super) fn list(data: &Data, name: &str) -> Data {
    or(data, name, Data::list([]))
}

pub(super) fn object(data: &Data, name: &str) -> Data {
    or(data, name, empty())
}

pub(super) fn empty() -> Data {
    Data::map::<&str>([])
}

pub(super) fn str_of<'d>(data: &'d Data, name: &str) -> &'d str {
    data.get(name).and_then(Data::as_str).unwrap_or_default()
}

/// Entries whose keys are text.
pub(super) fn named(data: Option<&Data>) -> impl Iterator<Item = (&str, &Data)> {
    data.map(Data::entries).unwrap_or_default().iter().filter_map(|(key, value)| Some((key.as_str()?, value)))
}

/// `module.x` and a name, as the keys of tfconfig have it; at the root the name alone.
pub(super) fn scoped(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}:{name}") }
}

/// The old imports' resources: type, name, index.
#[derive(Default)]
pub(super) struct ByType(BTreeMap<String, BTreeMap<String, Vec<(Key, Data)>>>);

impl ByType {
    pub(super) fn add(&mut self, kind: &str, name: &str, index: Key, data: Data) {
        self.0.entry(kind.to_owned()).or_default().entry(name.to_owned()).or_default().push((index, data));
    }

    pub(super) fn data(self) -> Data {
        Data::map(self.0.into_iter().map(|(kind, names)| {
            (kind, Data::map(names.into_iter().map(|(name, instances)| (name, Data::map(instances)))))
        }))
    }
}

/// The index of an instance of a resource; one that has none counts as the first.
pub(super) fn index_key(data: &Data) -> Key {
    match data.get("index") {
        Some(Data::Int(index)) => Key::Int(*index),
        Some(Data::Str(index)) => Key::Str(index.clone()),
        _ => Key::Int(0),
    }
}

/// The names in a module's address, with their indexes: `module.a[0].module.b` is `a[0]`, `b`.
pub(super) fn module_path(address: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut quoted = false;
    let mut escaped = false;
    for c in address.chars() {
        match c {
            '.' if !quoted => parts.push(std::mem::take(&mut part)),
            c => {
                quoted ^= c == '"' && !escaped;
                part.push(c);
            }
        }
        escaped = c == '\\' && !escaped;
    }
    parts.push(part);
    // `module`, name, `module`, name …
    parts.into_iter().skip(1).step_by(2).collect()
}

/// The address of a path that a policy has; none when it is not a path.
pub(crate) fn address_of(path: &[Data]) -> Option<String> {
    let names: Option<Vec<String>> = path.iter().map(|name| name.as_str().map(str::to_owned)).collect();
    names.map(|names| module_address(&names))
}

/// The address of a path of module names.
pub(super) fn module_address(path: &[String]) -> String {
    path.iter().map(|name| format!("module.{name}")).collect::<Vec<_>>().join(".")
}

/// Where the old imports keep the namespaces of their modules, by address.
pub(crate) const MODULES: &str = "\u{0}modules";

/// `module(path)`: the namespace of a module; null when there is none.
pub(super) fn module_of(data: &Data, path: &[Data]) -> Data {
    let found = address_of(path).and_then(|address| data.get(MODULES)?.get(&address).cloned());
    found.unwrap_or(Data::Null)
}

/// The members of an old import: the root module's namespace, the paths and namespaces of all modules.
pub(super) fn with_modules(
    modules: Vec<(Vec<String>, Data)>,
    mut members: Vec<(&str, Data)>,
    root: Data,
) -> Data {
    let paths = modules.iter().map(|(path, _)| Data::list(path.iter().map(|name| name.as_str().into())));
    members.push(("module_paths", Data::list(paths.collect::<Vec<_>>())));
    let mut all: Vec<(Key, Data)> = root.entries().to_vec();
    all.extend(members.into_iter().map(|(name, data)| (Key::from(name), data)));
    let by_address = modules.into_iter().map(|(path, data)| (module_address(&path), data));
    all.push((Key::from(MODULES), Data::map(by_address.collect::<Vec<_>>())));
    Data::map(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_module_has_its_indexes() {
        assert_eq!(module_path("module.a.module.b"), ["a", "b"]);
        assert_eq!(module_path("module.a[0].module.b[\"x.y\"]"), ["a[0]", "b[\"x.y\"]"]);
        assert_eq!(module_path(""), Vec::<String>::new());
    }
}
