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
            // an output that is not known yet has no value
            ("value", or(output, "value", Data::Undefined)),
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

/// The address; that of a data source has no `data.` here, unlike in the changes of the plan.
fn address(resource: &Data, module: &str) -> String {
    let address = str_of(resource, "address");
    let within = address.strip_prefix(module).map_or(address, |rest| rest.trim_start_matches('.'));
    match within.strip_prefix("data.") {
        Some(plain) if str_of(resource, "mode") == "data" => {
            if module.is_empty() {
                plain.to_owned()
            } else {
                format!("{module}.{plain}")
            }
        }
        _ => address.to_owned(),
    }
}

fn collect(module: &Data, found: &mut Vec<(Key, Data)>) {
    let module_address = text(module, "address");
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        let deposed = str_of(resource, "deposed_key");
        let address = address(resource, str_of(module, "address"));
        let key = if deposed.is_empty() { address.clone() } else { format!("{address}:{deposed}") };
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
