//! The old `tfconfig`.

use std::collections::BTreeMap;

use super::build::{empty, list, named, null, or, str_of, text, with_modules};
use crate::value::Data;

pub(super) fn derive(plan: &Data) -> Data {
    let configuration = or(plan, "configuration", empty());
    let mut modules = Vec::new();
    if let Some(root) = configuration.get("root_module") {
        walk(root, &configuration, Vec::new(), &mut modules);
    } else {
        modules.push((Vec::new(), namespace(&empty(), &configuration, &[])));
    }
    let root = modules[0].1.clone();
    with_modules(modules, Vec::new(), root)
}

fn walk(module: &Data, configuration: &Data, path: Vec<String>, modules: &mut Vec<(Vec<String>, Data)>) {
    modules.push((path.clone(), namespace(module, configuration, &path)));
    for (name, call) in named(module.get("module_calls")) {
        if let Some(inner) = call.get("module") {
            let mut path = path.clone();
            path.push(name.to_owned());
            walk(inner, configuration, path, modules);
        }
    }
}

fn namespace(module: &Data, configuration: &Data, path: &[String]) -> Data {
    let mut by_mode: [BTreeMap<String, BTreeMap<String, Data>>; 2] = Default::default();
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        let at = usize::from(str_of(resource, "mode") == "data");
        let names = by_mode[at].entry(str_of(resource, "type").to_owned()).or_default();
        names.insert(str_of(resource, "name").to_owned(), self::resource(resource));
    }
    let [resources, data] =
        by_mode.map(|kinds| Data::map(kinds.into_iter().map(|(kind, names)| (kind, Data::map(names)))));
    let calls = named(module.get("module_calls")).map(|(name, call)| {
        let (config, references) = split(call.get("expressions"));
        let data = Data::map([
            ("config", config),
            ("references", references),
            ("source", text(call, "source")),
            ("version", text(call, "version_constraint")),
        ]);
        (name, data)
    });
    let outputs = named(module.get("outputs")).map(|(name, output)| {
        let expression = output.get("expression");
        let data = Data::map([
            ("depends_on", list(output, "depends_on")),
            ("description", text(output, "description")),
            ("sensitive", or(output, "sensitive", Data::Bool(false))),
            ("references", expression.map_or_else(|| Data::list([]), |e| list(e, "references"))),
            // a value that is not a constant is not there
            ("value", expression.and_then(|e| e.get("constant_value")).cloned().unwrap_or(Data::Undefined)),
        ]);
        (name, data)
    });
    let variables = named(module.get("variables")).map(|(name, variable)| {
        let data = Data::map([
            ("default", null(variable, "default")),
            ("description", text(variable, "description")),
        ]);
        (name, data)
    });
    Data::map([
        ("data", data),
        ("resources", resources),
        ("modules", Data::map(calls.collect::<Vec<_>>())),
        ("outputs", Data::map(outputs.collect::<Vec<_>>())),
        ("variables", Data::map(variables.collect::<Vec<_>>())),
        ("providers", providers(configuration, path)),
    ])
}

fn resource(resource: &Data) -> Data {
    let (config, references) = split(resource.get("expressions"));
    let provisioners = match resource.get("provisioners").map(Data::items).unwrap_or_default() {
        [] => Data::Null,
        provisioners => Data::list(provisioners.iter().map(|provisioner| {
            let (config, references) = split(provisioner.get("expressions"));
            Data::map([("config", config), ("references", references), ("type", text(provisioner, "type"))])
        })),
    };
    Data::map([("config", config), ("references", references), ("provisioners", provisioners)])
}

/// The providers that a module configures: by type, with the aliased ones below. The one without an
/// alias is there under the empty alias too.
fn providers(configuration: &Data, path: &[String]) -> Data {
    let address = super::build::module_address(path);
    let mut kinds: BTreeMap<String, BTreeMap<String, Data>> = BTreeMap::new();
    for (_, provider) in named(configuration.get("provider_config")) {
        if str_of(provider, "module_address") != address {
            continue;
        }
        let (config, references) = split(provider.get("expressions"));
        let data = Data::map([
            ("config", config),
            ("references", references),
            ("version", text(provider, "version_constraint")),
        ]);
        let aliases = kinds.entry(str_of(provider, "name").to_owned()).or_default();
        aliases.insert(str_of(provider, "alias").to_owned(), data);
    }
    Data::map(kinds.into_iter().map(|(kind, aliases)| {
        let default = aliases.get("").cloned().unwrap_or_else(|| {
            Data::map([("config", empty()), ("references", empty()), ("version", "".into())])
        });
        let mut members: Vec<(crate::value::Key, Data)> = default.entries().to_vec();
        members.push(("alias".into(), Data::map(aliases)));
        (kind, Data::map(members))
    }))
}

/// Expressions as constant values and as references: an attribute that is not a constant is only in the
/// second, and one that is has no references there.
fn split(expressions: Option<&Data>) -> (Data, Data) {
    let mut config = Vec::new();
    let mut references = Vec::new();
    for (name, expression) in named(expressions) {
        let (value, refers) = split_one(expression);
        if let Some(value) = value {
            config.push((name, value));
        }
        references.push((name, refers));
    }
    (Data::map(config), Data::map(references))
}

fn split_one(expression: &Data) -> (Option<Data>, Data) {
    match expression {
        Data::List(blocks) => {
            let (config, references): (Vec<Data>, Vec<Data>) =
                blocks.iter().map(|block| split(Some(block))).unzip();
            (Some(Data::list(config)), Data::list(references))
        }
        Data::Map(_) if is_expression(expression) => {
            (expression.get("constant_value").cloned(), list(expression, "references"))
        }
        Data::Map(_) => {
            let (config, references) = split(Some(expression));
            (Some(config), references)
        }
        _ => (None, Data::list([])),
    }
}

/// An expression has a constant value, references, or neither; a block has attributes, which may have these
/// names. What an attribute has is not a list of texts.
pub(super) fn is_expression(data: &Data) -> bool {
    named(Some(data)).all(|(name, value)| match name {
        "constant_value" => true,
        "references" => {
            matches!(value, Data::List(names) if names.iter().all(|name| name.as_str().is_some()))
        }
        _ => false,
    })
}
