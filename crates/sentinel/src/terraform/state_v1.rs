//! The old `tfstate`.

use super::build::{
    ByType, empty, index_key, list, module_path, named, null, or, str_of, text, with_modules,
};
use crate::value::{Data, show};

pub(super) fn derive(plan: &Data) -> Data {
    let state = or(plan, "prior_state", empty());
    let values = or(&state, "values", empty());
    let mut modules = Vec::new();
    if let Some(root) = values.get("root_module") {
        walk(root, &values, &mut modules);
    }
    let root = match modules.first() {
        Some((path, namespace)) if path.is_empty() => namespace.clone(),
        _ => namespace(&empty(), &values, &[]),
    };
    let version = state.get("terraform_version").or(plan.get("terraform_version"));
    with_modules(modules, vec![("terraform_version", version.cloned().unwrap_or("".into()))], root)
}

fn walk(module: &Data, values: &Data, modules: &mut Vec<(Vec<String>, Data)>) {
    let path = match str_of(module, "address") {
        "" => Vec::new(),
        address => module_path(address),
    };
    modules.push((path.clone(), namespace(module, values, &path)));
    for child in module.get("child_modules").map(Data::items).unwrap_or_default() {
        walk(child, values, modules);
    }
}

fn namespace(module: &Data, values: &Data, path: &[String]) -> Data {
    let (mut resources, mut data) = (ByType::default(), ByType::default());
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        // what is left of a replaced object has the place of the one that is current
        if !str_of(resource, "deposed_key").is_empty() {
            continue;
        }
        let attributes = or(resource, "values", empty());
        let instance = Data::map([
            ("attr", attributes.clone()),
            ("depends_on", list(resource, "depends_on")),
            ("id", text(&attributes, "id")),
            ("tainted", or(resource, "tainted", Data::Bool(false))),
        ]);
        let by_type = if str_of(resource, "mode") == "data" { &mut data } else { &mut resources };
        by_type.add(str_of(resource, "type"), str_of(resource, "name"), index_key(resource), instance);
    }
    let outputs = if path.is_empty() { outputs(values) } else { empty() };
    Data::map([
        ("path", Data::list(path.iter().map(|name| name.as_str().into()))),
        ("data", data.data()),
        ("resources", resources.data()),
        ("outputs", outputs),
    ])
}

/// Outputs, with the three types that there were; a value that is not a collection is text.
fn outputs(values: &Data) -> Data {
    let entries = named(values.get("outputs")).map(|(name, output)| {
        let value = null(output, "value");
        let (kind, value) = match value {
            Data::List(_) => ("list", value),
            Data::Map(_) => ("map", value),
            Data::Str(_) | Data::Null => ("string", value),
            scalar => ("string", show::show_data(&scalar).into()),
        };
        let data = Data::map([
            ("sensitive", or(output, "sensitive", Data::Bool(false))),
            ("type", kind.into()),
            ("value", value),
        ]);
        (name, data)
    });
    Data::map(entries.collect::<Vec<_>>())
}
