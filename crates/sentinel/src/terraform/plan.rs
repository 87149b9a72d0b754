//! `tfplan/v2`.

use super::build::{empty, named, null, or, str_of, text};
use super::state::{outputs, resources};
use crate::value::Data;

pub(super) fn derive(plan: &Data) -> Data {
    let values = or(plan, "planned_values", empty());
    let planned = Data::map([("outputs", outputs(&values)), ("resources", resources(&values))]);
    Data::map([
        ("terraform_version", text(plan, "terraform_version")),
        ("variables", variables(plan)),
        ("planned_values", planned),
        ("resource_changes", changes(plan, "resource_changes")),
        ("resource_drift", changes(plan, "resource_drift")),
        ("output_changes", output_changes(plan)),
        ("raw", plan.clone()),
    ])
}

fn variables(plan: &Data) -> Data {
    let entries = named(plan.get("variables")).map(|(name, variable)| {
        (name, Data::map([("name", name.into()), ("value", null(variable, "value"))]))
    });
    Data::map(entries.collect::<Vec<_>>())
}

fn changes(plan: &Data, member: &str) -> Data {
    let changes = plan.get(member).map(Data::items).unwrap_or_default();
    Data::map(changes.iter().map(|resource| {
        let (address, deposed) = (str_of(resource, "address"), str_of(resource, "deposed"));
        let key = if deposed.is_empty() { address.to_owned() } else { format!("{address}:{deposed}") };
        let data = Data::map([
            ("address", address.into()),
            ("module_address", text(resource, "module_address")),
            ("mode", text(resource, "mode")),
            ("type", text(resource, "type")),
            ("name", text(resource, "name")),
            ("index", null(resource, "index")),
            ("provider_name", text(resource, "provider_name")),
            ("deposed", deposed.into()),
            ("change", change(resource.get("change"))),
        ]);
        (key, data)
    }))
}

/// Of a change only these four: what is sensitive, and why something is replaced, is not shown.
fn change(change: Option<&Data>) -> Data {
    let absent = empty();
    let change = change.unwrap_or(&absent);
    // what is wholly unknown has no value; what will be gone is null
    let unknown = matches!(change.get("after_unknown"), Some(Data::Bool(true)));
    let after = or(change, "after", if unknown { Data::Undefined } else { Data::Null });
    Data::map([
        ("actions", or(change, "actions", Data::list([]))),
        ("before", null(change, "before")),
        ("after", after),
        ("after_unknown", or(change, "after_unknown", empty())),
    ])
}

fn output_changes(plan: &Data) -> Data {
    let entries = named(plan.get("output_changes"))
        .map(|(name, output)| (name, Data::map([("name", name.into()), ("change", change(Some(output)))])));
    Data::map(entries.collect::<Vec<_>>())
}
