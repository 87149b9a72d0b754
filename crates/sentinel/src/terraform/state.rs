//! `tfstate/v2`: the state before the plan; and the shape that planned values share with it.

use std::collections::HashSet;

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
    let (mut managed, mut found) = (HashSet::new(), Vec::new());
    if let Some(root) = values.get("root_module") {
        note_managed(root, &mut managed);
        collect(root, &managed, &mut found);
    }
    Data::map(found)
}

fn items<'d>(module: &'d Data, member: &str) -> &'d [Data] {
    module.get(member).map(Data::items).unwrap_or_default()
}

fn is_data_source(resource: &Data) -> bool {
    str_of(resource, "mode") == "data"
}

fn note_managed<'d>(module: &'d Data, managed: &mut HashSet<&'d str>) {
    let resources = items(module, "resources").iter().filter(|resource| !is_data_source(resource));
    managed.extend(resources.map(|resource| str_of(resource, "address")));
    items(module, "child_modules").iter().for_each(|child| note_managed(child, managed));
}

/// The address; that of a data source has no `data.` here, unlike in the changes of the plan. It keeps it
/// where a managed resource has the address without: neither may hide the other.
fn address(resource: &Data, module: &str, managed: &HashSet<&str>) -> String {
    let address = str_of(resource, "address");
    let within = address.strip_prefix(module).map_or(address, |rest| rest.trim_start_matches('.'));
    let plain = match within.strip_prefix("data.") {
        Some(plain) if is_data_source(resource) && module.is_empty() => plain.to_owned(),
        Some(plain) if is_data_source(resource) => format!("{module}.{plain}"),
        _ => return address.to_owned(),
    };
    if managed.contains(plain.as_str()) { address.to_owned() } else { plain }
}

fn collect(module: &Data, managed: &HashSet<&str>, found: &mut Vec<(Key, Data)>) {
    let module_address = text(module, "address");
    for resource in items(module, "resources") {
        let deposed = str_of(resource, "deposed_key");
        let address = address(resource, str_of(module, "address"), managed);
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
    items(module, "child_modules").iter().for_each(|child| collect(child, managed, found));
}
