//! What the blocks of a configuration mean.

use std::collections::HashSet;

use super::plan::{PLAN_PATH, SCHEMAS_PATH, check_settings};
use super::tree::{Block, parse_hcl};
use super::{Config, EnforcementLevel, ImportConfig, Mock, PolicyConfig};
use crate::error::{Error, Place, nearest};
use crate::imports::Std;
use crate::source::{Source, Span};
use crate::value::{Data, show};

/// The blocks of a file: each is compared with those of its kind that came before.
const MAX_BLOCKS: usize = 10_000;

pub(super) fn parse(source: &Source) -> Result<Config, Error> {
    read(source, &parse_hcl(source)?)
}

/// The blocks of a file, each of which is there once.
pub(super) fn readers<'b>(source: &'b Source, root: &'b Block) -> Result<Vec<Reader<'b>>, Error> {
    if let Some((name, _, span)) = root.attributes.first() {
        return Err(Error::config(format!("`{name}` cannot stand at the top of the file"))
            .note("the file consists of blocks: policy, import, module, mock, param, global, test, sentinel")
            .at(source, *span));
    }
    if let Some(block) = root.blocks.get(MAX_BLOCKS) {
        let message = format!("the file has more than {MAX_BLOCKS} blocks");
        return Err(Error::config(message).at(source, block.span));
    }
    let mut seen = HashSet::new();
    let mut readers = Vec::with_capacity(root.blocks.len());
    for block in &root.blocks {
        let reader = Reader { source, block };
        block
            .labels
            .iter()
            .try_for_each(|name| require_plain(name).map_err(|error| error.at(source, block.span)))?;
        if !seen.insert((&block.kind, &block.labels)) {
            return Err(reader.error(match block.labels.last() {
                Some(label) => format!("the {} `{label}` is defined twice", block.kind),
                None => format!("there are two `{}` blocks", block.kind),
            }));
        }
        readers.push(reader);
    }
    Ok(readers)
}

pub(super) fn read(source: &Source, root: &Block) -> Result<Config, Error> {
    let mut config = Config::default();
    for reader in readers(source, root)? {
        let block = reader.block;
        reader.note_sources(&mut config);
        config.headers.insert(header(&block.kind, block.labels.iter().map(String::as_str)));
        match block.kind.as_str() {
            "policy" => {
                let policy = reader.policy()?;
                config.named_at.entry(policy.source.clone()).or_insert_with(|| Place::of(source, block.span));
                reader.note_params(&mut config, &policy.name);
                config.policies.push(policy);
            }
            "import" => {
                let (name, import) = reader.import(&mut config.warnings)?;
                reader.add_import(&mut config, name, import)?;
            }
            "module" => {
                let (name, source) = reader.module()?;
                reader.add_import(&mut config, name, ImportConfig::Module { source })?;
            }
            "mock" => {
                let name = reader.label("the name of an import")?;
                let mock = reader.mock()?;
                config.mocks.push((name, mock));
            }
            "param" | "global" => {
                let name = reader.label("a name")?;
                let value = reader.value()?;
                if block.kind == "param" {
                    config.param_blocks_at.insert(name.clone(), Place::of(source, block.span));
                    config.params.push((name, value));
                } else {
                    config.globals.push((name, value));
                }
            }
            "test" => config.test = Some(reader.test()?),
            "sentinel" => config.sentinel = Some(reader.whole()?),
            other => {
                return Err(reader
                    .error(format!("unknown block `{other}`"))
                    .note("known are policy, import, module, mock, param, global, test, sentinel"));
            }
        }
    }
    Ok(config)
}

pub(super) struct Reader<'b> {
    pub(super) source: &'b Source,
    pub(super) block: &'b Block,
}

impl Reader<'_> {
    pub(super) fn error(&self, message: impl Into<String>) -> Error {
        self.error_at(self.block.span, message)
    }

    pub(super) fn error_at(&self, span: Span, message: impl Into<String>) -> Error {
        Error::config(message).at(self.source, span)
    }

    /// Notes where the block, the module in a mock or the settings of an import name a file.
    pub(super) fn note_sources(&self, config: &mut Config) {
        let mut note = |path: &Data, span| {
            if let Some(path) = path.as_str() {
                config.named_at.entry(path.to_owned()).or_insert_with(|| Place::of(self.source, span));
            }
        };
        for block in std::iter::once(self.block).chain(&self.block.blocks) {
            for name in ["source", PLAN_PATH, SCHEMAS_PATH] {
                if let Some((path, span)) = block.attribute(name) {
                    note(path, span);
                }
            }
        }
        if let Some((settings, span)) = self.block.attribute("config") {
            let paths = [PLAN_PATH, SCHEMAS_PATH].into_iter().filter_map(|name| settings.get(name));
            paths.for_each(|path| note(path, span));
        }
    }

    /// Notes where the block has the values of parameters, if it has any.
    pub(super) fn note_params(&self, config: &mut Config, policy: &str) {
        if let Some(span) = self.span_of("params") {
            config.params_at.insert(policy.to_owned(), Place::of(self.source, span));
        }
    }

    /// Where an attribute or an inner block is.
    pub(super) fn span_of(&self, name: &str) -> Option<Span> {
        let inner = || self.block.blocks.iter().find(|block| block.kind == name).map(|block| block.span);
        self.block.attribute(name).map(|(_, span)| span).or_else(inner)
    }

    pub(super) fn label(&self, what: &str) -> Result<String, Error> {
        match &self.block.labels[..] {
            [label] => Ok(label.clone()),
            labels => Err(self.error(format!(
                "a `{}` block has one label, {what}; this one has {}",
                self.block.kind,
                labels.len()
            ))),
        }
    }

    fn unlabelled(&self) -> Result<(), Error> {
        match self.block.labels.is_empty() {
            true => Ok(()),
            false => Err(self.error(format!("a `{}` block has no label", self.block.kind))),
        }
    }

    /// Refuses attributes and inner blocks that the block does not know, and what is there twice: what
    /// was not looked at could be what somebody relies on.
    pub(super) fn only(&self, attributes: &[&str], blocks: &[&str]) -> Result<(), Error> {
        for (name, _, span) in &self.block.attributes {
            if !attributes.contains(&name.as_str()) {
                return Err(self.unknown(*span, name, attributes));
            }
        }
        for (at, inner) in self.block.blocks.iter().enumerate() {
            let name = inner.kind.as_str();
            if !blocks.contains(&name) {
                return Err(self.unknown(
                    inner.span,
                    name,
                    if blocks.is_empty() { attributes } else { blocks },
                ));
            }
            let again = self.block.blocks[..at].iter().any(|other| other.kind == name);
            if again || self.block.attribute(name).is_some() {
                return Err(self.error_at(inner.span, format!("`{name}` is set twice")));
            }
            Reader { source: self.source, block: inner }.unlabelled()?;
        }
        Ok(())
    }

    fn unknown(&self, span: Span, name: &str, known: &[&str]) -> Error {
        let error = self.error_at(span, format!("a `{}` block has no `{name}`", self.block.kind));
        match nearest(name, known.iter().copied()) {
            Some(near) => error.note(format!("did you mean `{near}`?")),
            None => error.note(format!("known are {}", known.join(", "))),
        }
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, Error> {
        match self.block.attribute(name) {
            None => Ok(None),
            Some((Data::Str(text), _)) => Ok(Some(text.to_text().into_owned())),
            Some((_, span)) => Err(self.error_at(span, format!("`{name}` must be a string"))),
        }
    }

    fn required(&self, name: &str) -> Result<String, Error> {
        self.text(name)?.ok_or_else(|| self.error(format!("a `{}` block needs `{name}`", self.block.kind)))
    }

    pub(super) fn pairs(&self, name: &str) -> Result<Vec<(String, Data)>, Error> {
        match self.block.attribute(name) {
            Some((data @ Data::Map(_), _)) => Ok(pairs(data)),
            Some((_, span)) => Err(self.error_at(span, format!("`{name}` must be a map"))),
            None => match self.block.blocks.iter().find(|block| block.kind == name) {
                Some(block) => {
                    if let Some(inner) = block.blocks.first() {
                        return Err(self.error_at(inner.span, format!("`{name}` holds values, not blocks")));
                    }
                    Ok(block.attributes.iter().map(|(name, data, _)| (name.clone(), data.clone())).collect())
                }
                None => Ok(Vec::new()),
            },
        }
    }

    pub(super) fn policy(&self) -> Result<PolicyConfig, Error> {
        let name = self.label("the name of the policy")?;
        self.only(&["source", "enforcement_level", "params", "description"], &["params"])?;
        let enforcement_level = match self.block.attribute("enforcement_level") {
            None => EnforcementLevel::default(),
            Some((level, span)) => level.as_str().and_then(EnforcementLevel::parse).ok_or_else(|| {
                self.error_at(span, "unknown enforcement level")
                    .note("the levels are advisory, soft-mandatory and hard-mandatory")
            })?,
        };
        let source = self.text("source")?.unwrap_or_else(|| format!("{name}.sentinel"));
        let description = self.text("description")?;
        Ok(PolicyConfig { name, source, enforcement_level, description, params: self.pairs("params")? })
    }

    pub(super) fn import(&self, warnings: &mut Vec<String>) -> Result<(String, ImportConfig), Error> {
        let (kind, name) = match &self.block.labels[..] {
            [kind, name] => (kind.as_str(), name.clone()),
            // before 0.19 an import was always a plugin
            [name] => ("plugin", name.clone()),
            _ => return Err(self.error("an `import` block has two labels: its kind and its name")),
        };
        let import = match kind {
            "module" => {
                self.only(&["source"], &[])?;
                ImportConfig::Module { source: self.required("source")? }
            }
            "static" => {
                self.only(&["source", "format"], &[])?;
                self.static_format(&self.required("format")?)?;
                ImportConfig::Static { source: self.required("source")? }
            }
            "plugin" => {
                let (source, config) = self.plugin(&name, warnings)?;
                ImportConfig::Plugin { source, config }
            }
            other => {
                return Err(self
                    .error(format!("unknown kind of import `{other}`"))
                    .note("the kinds are module, static and plugin"));
            }
        };
        Ok((name, import))
    }

    /// The program and the settings of a plugin.
    pub(super) fn plugin(
        &self,
        name: &str,
        warnings: &mut Vec<String>,
    ) -> Result<(Option<String>, Data), Error> {
        self.only(&["source", "path", "args", "env", "config"], &["config"])?;
        let source = match self.text("source")? {
            Some(source) => Some(source),
            None => self.text("path")?,
        };
        if source.is_some() {
            warnings.push(format!("the plugin `{name}` is a program, and programs are not run"));
        }
        Ok((source, Data::map(self.pairs("config")?)))
    }

    pub(super) fn static_format(&self, format: &str) -> Result<(), Error> {
        match format {
            "json" => Ok(()),
            other => Err(self.error(format!("the format `{other}` is unknown; it must be `json`"))),
        }
    }

    pub(super) fn module(&self) -> Result<(String, String), Error> {
        let name = self.label("the name of the module")?;
        self.only(&["source"], &[])?;
        Ok((name, self.required("source")?))
    }

    fn add_import(&self, config: &mut Config, name: String, import: ImportConfig) -> Result<(), Error> {
        self.respects_standard(&name, &import)?;
        if config.imports.iter().any(|(known, _)| *known == name) {
            return Err(self.error(format!("the import `{name}` is defined twice")));
        }
        config.imports.push((name, import));
        Ok(())
    }

    /// Refuses what would replace a standard import, and settings that one or a Terraform import does not have.
    pub(super) fn respects_standard(&self, name: &str, import: &ImportConfig) -> Result<(), Error> {
        if let ImportConfig::Plugin { source: None, config } = import {
            check_settings(name, config)
                .map_err(|error| error.at(self.source, self.span_of("config").unwrap_or(self.block.span)))?;
        }
        let Some(std) = Std::lookup(name) else { return Ok(()) };
        match import {
            ImportConfig::Plugin { source: None, config } => {
                std.check_settings(config).map_err(|error| error.at(self.source, self.block.span))
            }
            _ => Err(self
                .error(format!("`{name}` is a standard import, which cannot be replaced"))
                .note("a mock can stand in for it")),
        }
    }

    pub(super) fn mock(&self) -> Result<Mock, Error> {
        if let Some(data) = self.block.blocks.iter().find(|block| block.kind == "data") {
            return Err(self
                .error_at(data.span, "the `data` of a mock is not a block, but a value")
                .note("write it with `=`: data = { … }"));
        }
        self.only(&["data", "module"], &["module"])?;
        let inner = self.block.blocks.first();
        if let Some((data, span)) = self.block.attribute("data") {
            if inner.is_some() || self.block.attribute("module").is_some() {
                return Err(self.error_at(span, "a `mock` block has `data` or `module`, not both"));
            }
            return Ok(Mock::Data(data.clone()));
        }
        if let Some(block) = inner {
            let module = Reader { source: self.source, block };
            module.only(&["source"], &[])?;
            return Ok(Mock::Module { source: module.required("source")? });
        }
        if let Some((module, span)) = self.block.attribute("module") {
            let source = module.get("source").and_then(Data::as_str).filter(|_| module.entries().len() == 1);
            return match source {
                Some(source) => Ok(Mock::Module { source: source.to_owned() }),
                None => Err(self.error_at(span, "`module` must be a map with a `source`, a string")),
            };
        }
        Err(self.error("a `mock` block needs `data` or a `module` block with a `source`"))
    }

    pub(super) fn value(&self) -> Result<Data, Error> {
        self.only(&["value"], &[])?;
        match self.block.attribute("value") {
            Some((value, _)) => Ok(value.clone()),
            None => Err(self.error(format!("a `{}` block needs `value`", self.block.kind))),
        }
    }

    pub(super) fn test(&self) -> Result<Vec<(String, Data)>, Error> {
        self.unlabelled()?;
        self.only(&["rules"], &["rules"])?;
        self.pairs("rules")
    }

    pub(super) fn whole(&self) -> Result<Data, Error> {
        self.unlabelled()?;
        let attributes = self.block.attributes.iter().map(|(name, data, _)| (name.clone(), data.clone()));
        let blocks = self.block.blocks.iter().map(|block| {
            if self.block.attribute(&block.kind).is_some() {
                return Err(self.error_at(block.span, format!("`{}` is set twice", block.kind)));
            }
            Ok((block.kind.clone(), Reader { source: self.source, block }.whole()?))
        });
        Ok(Data::map(attributes.chain(blocks.collect::<Result<Vec<_>, _>>()?)))
    }
}

/// Refuses names that could forge lines where they are shown.
pub(super) fn require_plain(name: &str) -> Result<(), Error> {
    match name.contains(char::is_control) {
        true => Err(Error::config(format!("the name {name:?} has a control character, and must have none"))),
        false => Ok(()),
    }
}

/// What makes two blocks of different files the same: type and labels.
pub(super) fn header<'l>(kind: &'l str, labels: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    std::iter::once(kind).chain(labels).map(str::to_owned).collect()
}

pub(super) fn pairs(data: &Data) -> Vec<(String, Data)> {
    data.entries().iter().map(|(key, value)| (show::show_key(key), value.clone())).collect()
}
