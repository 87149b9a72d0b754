//! Configurations in JSON: the form that mirrors HCL, and the one of before 0.16.

use super::blocks::{pairs, read};
use super::plan::check_settings;
use super::tree::Block;
use super::{Config, ImportConfig, Mock};
use crate::error::{Error, ErrorKind};
use crate::imports::Std;
use crate::source::{Source, Span};
use crate::value::Data;

fn document(source: &Source) -> Result<Data, Error> {
    let data: Data = serde_json::from_str(source.text()).map_err(|error| {
        let before: usize =
            source.text().split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
        let start = (before + error.column().saturating_sub(1)).min(source.text().len()) as u32;
        Error::new(ErrorKind::Config, format!("the file is no JSON: {error}"))
            .at(source, Span { start, end: start })
    })?;
    match data {
        Data::Map(_) => Ok(data),
        _ => Err(Error::config("the file must be a JSON object").at(source, Span::default())),
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
    let mut config = Config { legacy: true, ..Config::default() };
    for (key, value) in data.entries() {
        let key = key.as_str().unwrap_or_default();
        let members = object(source, key, value)?;
        match key {
            "mock" | "mocks" => {
                for (name, mock) in members {
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
            "param" | "params" => config.params.extend(members),
            "global" | "globals" => config.globals.extend(members),
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
    Ok(config)
}

/// The blocks that a JSON document stands for: an object for each label.
fn to_blocks(source: &Source, data: &Data) -> Result<Block, Error> {
    let mut root = empty("", Vec::new());
    for (key, value) in data.entries() {
        let kind = key.as_str().unwrap_or_default();
        let labels = match kind {
            "policy" | "module" | "mock" | "param" | "global" => 1,
            "import" => 2,
            "test" | "sentinel" => 0,
            other => {
                return Err(Error::config(format!("unknown key `{other}`")).at(source, Span::default()));
            }
        };
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
