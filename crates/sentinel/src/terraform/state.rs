//! `tfstate/v2`: the state before the plan; and the shape that planned values share with it.

use super::build::{empty, list, named, null, object, or, str_of, text};
use crate::value::{Data, Key};

pub(super) fn derive(plan: &Data) -> Data {
    let state = or(plan, "prior_state", empty());
    let values = or(&state, "values", empty());
    let version = state.get("terraform_version").or(plan.get("terraform_version"));
    Data::map([
        ("terraform_version", version.cloned().unwrap_or("".into())),
        ("resources", resources(&values)),
        ("outputs", outputs(&values)),
    ])
}

pub(super) fn outputs(values: &Data) -> Data {
    let entries = named(values.get("outputs")).map(|(name, output)| {
        let data = Data::map([
            ("name", name.into()),
            ("sensitive", or(output, "sensitive", Data::Bool(false))),
            ("value", null(output, "value")),
        ]);
        (name, data)
    });
    Data::map(entries.collect::<Vec<_>>())
}

/// The resources of a module and of those below it, by address.
pub(super) fn resources(values: &Data) -> Data {
    let mut found = Vec::new();
    if let Some(root) = values.get("root_module") {
        collect(root, &mut found);
    }
    Data::map(found)
}

fn collect(module: &Data, found: &mut Vec<(Key, Data)>) {
    let module_address = text(module, "address");
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        let (address, deposed) = (str_of(resource, "address"), str_of(resource, "deposed_key"));
        let key = if deposed.is_empty() { address.to_owned() } else { format!("{address}:{deposed}") };
        let data = Data::map([
            ("address", address.into()),
            ("module_address", module_address.clone()),
            ("mode", text(resource, "mode")),
            ("type", text(resource, "type")),
            ("name", text(resource, "name")),
            ("index", null(resource, "index")),
            ("provider_name", text(resource, "provider_name")),
            ("values", object(resource, "values")),
            ("depends_on", list(resource, "depends_on")),
            ("tainted", or(resource, "tainted", Data::Bool(false))),
            ("deposed_key", deposed.into()),
        ]);
        found.push((Key::from(key), data));
    }
    for child in module.get("child_modules").map(Data::items).unwrap_or_default() {
        collect(child, found);
    }
}
