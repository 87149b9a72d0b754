//! Configurations in JSON: the form that mirrors HCL, and the one of before 0.16.

use super::blocks::{header, pairs, read, require_plain};
use super::plan::check_settings;
use super::tree::Block;
use super::{Config, ImportConfig, Mock, names_of};
use crate::error::{Error, ErrorKind};
use crate::imports::Std;
use crate::source::{Source, Span};
use crate::value::Data;

fn document(source: &Source) -> Result<Data, Error> {
    let data: Data = serde_json::from_str(source.text()).map_err(|error| {
        let before: usize =
            source.text().split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let start = (before + error.column().saturating_sub(1)).min(source.text().len()) as u32;
        Error::new(ErrorKind::Config, format!("the file is not JSON: {error}"))
            .at(source, Span { start, end: start })
    })?;
    match data {
        Data::Map(_) => Ok(without_comments(&data, None)),
        _ => Err(Error::config("the file must be a JSON object").at(source, Span::default())),
    }
}

/// How many labels blocks of a kind have; none for what is not a kind of block.
fn labels_of(kind: &str) -> Option<usize> {
    match kind {
        "policy" | "module" | "mock" | "param" | "global" => Some(1),
        "import" => Some(2),
        "test" | "sentinel" => Some(0),
        _ => None,
    }
}

/// The document without its members `//`, which are comments wherever a block or its labels stand; those of
/// values are values. `deeper`: how many objects of labels are between here and the block.
fn without_comments(data: &Data, deeper: Option<usize>) -> Data {
    let inner = |name: &str, value: &Data| match deeper {
        None => labels_of(name).map_or_else(|| value.clone(), |labels| without_comments(value, Some(labels))),
        Some(0) => value.clone(),
        Some(labels) => without_comments(value, Some(labels - 1)),
    };
    match data {
        Data::Map(map) => {
            let members = map.entries().iter().filter(|(key, _)| key.as_str() != Some("//"));
            Data::map(
                members.map(|(key, value)| (key.clone(), inner(key.as_str().unwrap_or_default(), value))),
            )
        }
        Data::List(items) => Data::list(items.iter().map(|item| without_comments(item, deeper))),
        other => other.clone(),
    }
}

pub(super) fn parse(source: &Source) -> Result<Config, Error> {
    let data = document(source)?;
    if is_legacy(&data) { legacy(source, &data) } else { read(source, &to_blocks(source, &data)?) }
}

pub(super) fn overrides(source: &Source) -> Result<Block, Error> {
    to_blocks(source, &document(source)?)
}

/// The form of before 0.16 has `modules`, paths instead of `module` blocks, bare values of parameters,
/// and assertions without `rules`.
fn is_legacy(data: &Data) -> bool {
    let bare = |name: &str, inner: &str| {
        let values = data.get(name).map(Data::entries).unwrap_or_default();
        values.iter().any(|(_, value)| value.get(inner).is_none() || value.entries().len() != 1)
    };
    let mocks = data.get("mock").map(Data::entries).unwrap_or_default();
    data.get("modules").is_some()
        || mocks.iter().any(|(_, mock)| mock.get("module").is_none() && mock.get("data").is_none())
        || bare("param", "value")
        || bare("global", "value")
        || data.get("test").is_some_and(|test| {
            !matches!(test.get("rules"), Some(Data::Map(_))) && !test.entries().is_empty()
        })
}

fn legacy(source: &Source, data: &Data) -> Result<Config, Error> {
    let error = |message: String| Error::config(message).at(source, Span::default());
    // in one form it is what stands in for an import or the value of a parameter, in the other it is around it
    let mixed = |what: &str| {
        error(format!("{what} is of the form of 0.16 and later, and other parts of the file of the one before"))
            .note("write all as later: \"param\": {\"p\": {\"value\": 1}}, \"test\": {\"rules\": {\"main\": true}}, \"import\": {\"module\": {\"m\": {\"source\": \"…\"}}}")
    };
    let has_only = |value: &Data, name: &str| value.entries().len() == 1 && value.get(name).is_some();
    let mut config = Config { legacy: true, ..Config::default() };
    for (key, value) in data.entries() {
        let key = key.as_str().unwrap_or_default();
        let members = object(source, key, value)?;
        members.iter().try_for_each(|(name, _)| {
            require_plain(name).map_err(|error| error.at(source, Span::default()))
        })?;
        match key {
            "mock" | "mocks" => {
                for (name, mock) in members {
                    if has_only(&mock, "module") {
                        return Err(mixed(&format!("the mock `{name}`")));
                    }
                    // an import may have such a member, and there is no other way to write it
                    if has_only(&mock, "data") {
                        config.warnings.push(format!(
                            "the file is of the form of before 0.16, in which `data` of the mock `{name}` is a member of the import"
                        ));
                    }
                    let mock = match &mock {
                        Data::Str(path) => Mock::Module { source: path.to_text().into_owned() },
                        other => Mock::Data(other.clone()),
                    };
                    config.mocks.push((name, mock));
                }
            }
            "modules" => {
                for (name, module) in members {
                    let path = module.get("path").or(module.get("source")).and_then(Data::as_str);
                    let Some(path) = path else {
                        return Err(error(format!("the module `{name}` needs `path`")));
                    };
                    config.imports.push((name, ImportConfig::Module { source: path.to_owned() }));
                }
            }
            "param" | "params" | "global" | "globals" => {
                if let Some((name, _)) = members.iter().find(|(_, value)| has_only(value, "value")) {
                    return Err(mixed(&format!("the {} `{name}`", key.trim_end_matches('s'))));
                }
                let values = if key.starts_with('p') { &mut config.params } else { &mut config.globals };
                values.extend(members);
            }
            "test" if has_only(value, "rules") && matches!(value.get("rules"), Some(Data::Map(_))) => {
                return Err(mixed("the test"));
            }
            "test" => config.test = Some(members),
            "imports" | "plugins" => {
                for (name, plugin) in members {
                    config
                        .warnings
                        .push(format!("the plugin `{name}` is a program, and programs are not run"));
                    let config_data = plugin.get("config").cloned().unwrap_or(Data::map::<&str>([]));
                    let program = plugin.get("path").and_then(Data::as_str).map(str::to_owned);
                    if program.is_none() {
                        let std = Std::lookup(&name).map_or(Ok(()), |std| std.check_settings(&config_data));
                        std.and_then(|()| check_settings(&name, &config_data))
                            .map_err(|error| error.at(source, Span::default()))?;
                    }
                    config
                        .imports
                        .push((name, ImportConfig::Plugin { source: program, config: config_data }));
                }
            }
            other => return Err(error(format!("unknown key `{other}`"))),
        }
    }
    let names = [
        ("mock", names_of(&config.mocks)),
        ("param", names_of(&config.params)),
        ("global", names_of(&config.globals)),
    ];
    for (kind, names) in names {
        config.headers.extend(names.iter().map(|name| header(kind, [name.as_str()])));
    }
    config.headers.extend(config.imports.iter().map(|(name, import)| match import {
        ImportConfig::Module { .. } => header("module", [name.as_str()]),
        _ => header("import", ["plugin", name]),
    }));
    Ok(config)
}

/// The blocks that a JSON document stands for: an object for each label.
fn to_blocks(source: &Source, data: &Data) -> Result<Block, Error> {
    let mut root = empty("", Vec::new());
    for (key, value) in data.entries() {
        let kind = key.as_str().unwrap_or_default();
        let labels = labels_of(kind)
            .ok_or_else(|| Error::config(format!("unknown key `{kind}`")).at(source, Span::default()))?;
        labelled(source, &mut root, kind, labels, Vec::new(), value)?;
    }
    Ok(root)
}

fn empty(kind: &str, labels: Vec<String>) -> Block {
    Block { kind: kind.to_owned(), labels, attributes: Vec::new(), blocks: Vec::new(), span: Span::default() }
}

fn labelled(
    source: &Source,
    root: &mut Block,
    kind: &str,
    count: usize,
    labels: Vec<String>,
    value: &Data,
) -> Result<(), Error> {
    if let Data::List(items) = value {
        return items.iter().try_for_each(|item| labelled(source, root, kind, count, labels.clone(), item));
    }
    let members = object(source, kind, value)?;
    if labels.len() < count {
        for (label, inner) in members {
            let mut labels = labels.clone();
            labels.push(label);
            labelled(source, root, kind, count, labels, &inner)?;
        }
        return Ok(());
    }
    let mut block = empty(kind, labels);
    for (name, data) in members {
        if kind == "mock" && name == "module" {
            labelled(source, &mut block, "module", 0, Vec::new(), &data)?;
        } else {
            block.attributes.push((name, data, Span::default()));
        }
    }
    root.blocks.push(block);
    Ok(())
}

/// The members of a value that has to be an object.
fn object(source: &Source, name: &str, value: &Data) -> Result<Vec<(String, Data)>, Error> {
    match value {
        Data::Map(_) => Ok(pairs(value)),
        _ => Err(Error::config(format!("`{name}` must be an object")).at(source, Span::default())),
    }
}
