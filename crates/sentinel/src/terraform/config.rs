//! `tfconfig/v2`.

use super::build::{empty, list, named, null, object, or, scoped, str_of, text};
use crate::value::{Data, Key};

#[derive(Default)]
struct Collections {
    resources: Vec<(Key, Data)>,
    provisioners: Vec<(Key, Data)>,
    variables: Vec<(Key, Data)>,
    outputs: Vec<(Key, Data)>,
    module_calls: Vec<(Key, Data)>,
}

pub(super) fn derive(plan: &Data) -> Data {
    let configuration = or(plan, "configuration", empty());
    let mut all = Collections::default();
    if let Some(root) = configuration.get("root_module") {
        walk(root, "", &mut all);
    }
    Data::map([
        ("providers", providers(&configuration)),
        ("resources", Data::map(all.resources)),
        ("provisioners", Data::map(all.provisioners)),
        ("variables", Data::map(all.variables)),
        ("outputs", Data::map(all.outputs)),
        ("module_calls", Data::map(all.module_calls)),
    ])
}

fn providers(configuration: &Data) -> Data {
    let entries = named(configuration.get("provider_config")).map(|(key, provider)| {
        let mut members = vec![
            ("provider_config_key", key.into()),
            ("name", text(provider, "name")),
            ("alias", text(provider, "alias")),
            ("module_address", text(provider, "module_address")),
            ("config", object(provider, "expressions")),
            ("version_constraint", text(provider, "version_constraint")),
        ];
        if let Some(full_name) = provider.get("full_name") {
            members.push(("full_name", full_name.clone()));
        }
        (key, Data::map(members))
    });
    Data::map(entries.collect::<Vec<_>>())
}

fn walk(module: &Data, address: &str, all: &mut Collections) {
    let within =
        |inner: &str| if address.is_empty() { inner.to_owned() } else { format!("{address}.{inner}") };
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        let full = within(str_of(resource, "address"));
        let provisioners = self::provisioners(resource, &full);
        let keyed = provisioners.iter().enumerate();
        all.provisioners.extend(keyed.map(|(at, data)| (Key::from(format!("{full}:{at}")), data.clone())));
        all.resources.push((Key::from(full.clone()), self::resource(resource, address, &full, provisioners)));
    }
    for (name, variable) in named(module.get("variables")) {
        let data = Data::map([
            ("module_address", address.into()),
            ("name", name.into()),
            ("default", null(variable, "default")),
            ("description", text(variable, "description")),
        ]);
        all.variables.push((Key::from(scoped(address, name)), data));
    }
    for (name, output) in named(module.get("outputs")) {
        let data = Data::map([
            ("module_address", address.into()),
            ("name", name.into()),
            ("sensitive", or(output, "sensitive", Data::Bool(false))),
            ("value", object(output, "expression")),
            ("description", text(output, "description")),
            ("depends_on", list(output, "depends_on")),
        ]);
        all.outputs.push((Key::from(scoped(address, name)), data));
    }
    for (name, call) in named(module.get("module_calls")) {
        let data = Data::map([
            ("module_address", address.into()),
            ("name", name.into()),
            ("source", text(call, "source")),
            ("config", object(call, "expressions")),
            ("count", object(call, "count_expression")),
            ("depends_on", list(call, "depends_on")),
            ("for_each", object(call, "for_each_expression")),
            ("version_constraint", text(call, "version_constraint")),
        ]);
        all.module_calls.push((Key::from(scoped(address, name)), data));
        if let Some(inner) = call.get("module") {
            walk(inner, &within(&format!("module.{name}")), all);
        }
    }
}

/// The provisioners of a resource in their order: the collection of all has the same data.
fn provisioners(resource: &Data, full: &str) -> Vec<Data> {
    let provisioners = resource.get("provisioners").map(Data::items).unwrap_or_default();
    let one = |(at, provisioner): (usize, &Data)| {
        Data::map([
            ("resource_address", full.into()),
            ("type", text(provisioner, "type")),
            ("index", at.to_string().into()),
            ("config", object(provisioner, "expressions")),
        ])
    };
    provisioners.iter().enumerate().map(one).collect()
}

fn resource(resource: &Data, address: &str, full: &str, provisioners: Vec<Data>) -> Data {
    // in a child module the key names the module, even where the provider is inherited
    let key = str_of(resource, "provider_config_key");
    let key = match key.rsplit_once(':') {
        Some((_, provider)) if !address.is_empty() => scoped(address, provider),
        None if !address.is_empty() => scoped(address, key),
        _ => key.to_owned(),
    };
    Data::map([
        ("address", full.into()),
        ("module_address", address.into()),
        ("mode", text(resource, "mode")),
        ("type", text(resource, "type")),
        ("name", text(resource, "name")),
        ("provider_config_key", key.into()),
        ("provisioners", Data::list(provisioners)),
        ("config", object(resource, "expressions")),
        ("count", object(resource, "count_expression")),
        ("for_each", object(resource, "for_each_expression")),
        ("depends_on", list(resource, "depends_on")),
    ])
}
