//! Override files: `override.hcl` and `*_override.hcl`.
//!
//! A block changes the one with the same header, which is its type and its labels. Each argument that it has
//! replaces the one of that name; the others stay.

use super::blocks::{Reader, header, readers};
use super::tree::Block;
use super::{Config, ImportConfig};
use crate::error::Error;
use crate::source::Source;

/// Applies an override file. The blocks that it changes must exist; only `test` may be new.
pub(super) fn merge(config: &mut Config, source: &Source, root: &Block) -> Result<(), Error> {
    for reader in readers(source, root)? {
        let block = reader.block;
        let unknown = || {
            reader.error("an override file can only change what is defined already").note(format!(
                "there is no block `{}` in the other files",
                std::iter::once(block.kind.clone())
                    .chain(block.labels.iter().map(|label| format!("\"{label}\"")))
                    .collect::<Vec<_>>()
                    .join(" ")
            ))
        };
        reader.note_sources(config);
        let known = header(&block.kind, block.labels.iter().map(String::as_str));
        let is_known = config.headers.contains(&known);
        match block.kind.as_str() {
            "policy" if is_known => change_policy(&reader, config)?,
            "import" | "module" => {
                let (name, kind) = match &block.labels[..] {
                    [kind, name] if block.kind == "import" => (name, kind.as_str()),
                    [name] if block.kind == "import" => (name, "plugin"),
                    [name] => (name, "module"),
                    _ => return Err(reader.error("its labels are not those of an import")),
                };
                if kind != "plugin" {
                    reader.respects_standard(name, &ImportConfig::Module { source: String::new() })?;
                }
                let at = config.imports.iter().position(|(known, _)| known == name);
                let at = at.filter(|_| is_known).ok_or_else(unknown)?;
                let (_, import) = &mut config.imports[at];
                change_import(&reader, name, import, &mut config.warnings)?;
                reader.respects_standard(name, import)?;
            }
            "mock" => {
                let name = reader.label("the name of an import")?;
                let change = reader.mock()?;
                config.mocks.iter_mut().find(|(known, _)| *known == name).ok_or_else(unknown)?.1 = change;
            }
            "param" | "global" => {
                let name = reader.label("a name")?;
                let value = reader.value()?;
                let values = if block.kind == "param" { &mut config.params } else { &mut config.globals };
                values.iter_mut().find(|(known, _)| *known == name).ok_or_else(unknown)?.1 = value;
            }
            "test" => config.test = Some(reader.test()?),
            "sentinel" if is_known => config.sentinel = Some(reader.whole()?),
            "policy" | "sentinel" => return Err(unknown()),
            other => return Err(reader.error(format!("unknown block `{other}`"))),
        }
    }
    Ok(())
}

fn change_policy(reader: &Reader<'_>, config: &mut Config) -> Result<(), Error> {
    let change = reader.policy()?;
    reader.note_params(config, &change.name);
    let Some(policy) = config.policies.iter_mut().find(|known| known.name == change.name) else {
        return Ok(());
    };
    let has = |name| reader.span_of(name).is_some();
    if has("source") {
        policy.source = change.source;
    }
    if has("enforcement_level") {
        policy.enforcement_level = change.enforcement_level;
    }
    if has("description") {
        policy.description = change.description;
    }
    if has("params") {
        policy.params = change.params;
    }
    Ok(())
}

fn change_import(
    reader: &Reader<'_>,
    name: &str,
    import: &mut ImportConfig,
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    match import {
        ImportConfig::Module { source } => {
            reader.only(&["source"], &[])?;
            *source = reader.text("source")?.unwrap_or_else(|| std::mem::take(source));
        }
        ImportConfig::Static { source } => {
            reader.only(&["source", "format"], &[])?;
            if let Some(format) = reader.text("format")? {
                reader.static_format(&format)?;
            }
            *source = reader.text("source")?.unwrap_or_else(|| std::mem::take(source));
        }
        ImportConfig::Plugin { source, config } => {
            let (change_source, change) = reader.plugin(name, warnings)?;
            *source = change_source.or(source.take());
            if reader.span_of("config").is_some() {
                *config = change;
            }
        }
    }
    Ok(())
}
