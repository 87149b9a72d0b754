use std::path::{Path, PathBuf};
use std::sync::Arc;

use hcl_reader::{Block, Body};
use indexmap::IndexMap;

use crate::context::{Context, Names};
use crate::diagnostic::{Code, Counts, Diagnostic, Diagnostics, Severity};
use crate::fields::Fields;
use crate::host::Host;
use crate::index::Index;
use crate::model::Config;
use crate::parse::parse;
use crate::schema::FILE;
use crate::sections::{self, Tokens};
use crate::source::SourceFile;
use crate::text::Name;

/// A configuration that can be used, with what is odd about it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The configuration.
    pub config: Config,
    /// Warnings only.
    pub warnings: Diagnostics,
}

/// All that was found in a config file, whether it can be used or not.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Mistakes and warnings.
    pub findings: Diagnostics,
    /// The configuration as far as it could be read: without what a mistake was found in, and so not for use unless
    /// there is none. `None` if the file is not HCL.
    pub config: Option<Config>,
}

impl Checked {
    fn usable(self) -> Result<Loaded, Diagnostics> {
        match self.config {
            Some(config) if self.findings.count(Severity::Error) == 0 => {
                Ok(Loaded { config, warnings: self.findings })
            }
            _ => Err(self.findings),
        }
    }
}

impl Config {
    /// Reads a config file.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, and the warnings.
    pub fn load(path: &Path, host: &dyn Host) -> Result<Loaded, Diagnostics> {
        Self::check(path, host).usable()
    }

    /// Reads a config file for the sake of what is wrong with it.
    pub fn check(path: &Path, host: &dyn Host) -> Checked {
        let name = path.display().to_string();
        let content = match host.read_file(path) {
            Ok(content) => content,
            Err(error) => {
                let message = format!("can't read the config file: {error}");
                let help = "name a file that the daemon may read";
                let source = SourceFile::new(name, String::new());
                return alone(source, Code::Unreadable, message, help, None);
            }
        };
        match String::from_utf8(content) {
            Ok(text) => read(&text, name, path, host),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let source = SourceFile::new(name, String::from_utf8_lossy(error.as_bytes()).into_owned());
                let message = "the config file is not UTF-8".to_owned();
                alone(source, Code::InvalidUtf8, message, "save it as UTF-8", Some(valid))
            }
        }
    }

    /// Reads a configuration from its text, as if it stood in that file. Nothing is read but what the text names.
    ///
    /// # Errors
    ///
    /// Everything that is wrong with it, and the warnings.
    pub fn parse(text: &str, file: &Path, host: &dyn Host) -> Result<Loaded, Diagnostics> {
        read(text, file.display().to_string(), file, host).usable()
    }
}

/// One finding that leaves nothing else to be looked at.
fn alone(source: SourceFile, code: Code, message: String, help: &str, at: Option<usize>) -> Checked {
    let finding = Diagnostic {
        code,
        severity: Severity::Error,
        file: source.name().to_owned(),
        location: at.map(|at| source.locate(&(at..at + 1))),
        message,
        label: String::new(),
        help: Some(help.to_owned()),
        related: Vec::new(),
    };
    let mut found = Counts::default();
    found.add(finding.severity);
    let findings = Diagnostics { source: Arc::new(source), findings: vec![finding], found };
    Checked { findings, config: None }
}

fn read(text: &str, name: String, path: &Path, host: &dyn Host) -> Checked {
    // some editors put a byte order mark in front
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // fails for an empty path, or where there is no current directory: then paths stay relative
    let file = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let base = file.parent().map(Path::to_path_buf).unwrap_or_default();
    let mut context = Context::new(host, &base, SourceFile::new(name, text.to_owned()));
    let config = parse(text, &mut context).map(|body| decode(&body, file.clone(), &mut context));
    Checked { findings: context.finish(), config }
}

/// Mistakes are in the findings; what they are in is left out.
fn decode(body: &Body<'_>, file: PathBuf, context: &mut Context<'_>) -> Config {
    let fields = Fields::read(body, "the config file".into(), &(0..0), &FILE, context);
    let users = labelled(&fields, "user", |names| &mut names.users, context);
    let teams = labelled(&fields, "team", |names| &mut names.teams, context);
    let policy_sets = labelled(&fields, "policy_set", |names| &mut names.policy_sets, context);
    let workspaces = labelled(&fields, "workspace", |names| &mut names.workspaces, context);

    let organization = fields.required("organization", context).map_or_else(String::new, |Name(name)| name);
    let server = sections::server(fields.blocks("server"), context);
    let mut tokens = Tokens::new();
    let users = decoded(users, |name, block| sections::user(name, block, &mut tokens, context));
    sections::warn_without_owners(&teams, context);
    let teams = decoded(teams, |name, block| sections::team(name, block, context));
    let policy_sets = decoded(policy_sets, |name, block| sections::policy_set(name, block, context));
    let workspaces =
        decoded(workspaces, |name, block| sections::workspace(name, block, server.retention, context));
    let index = Index::of(&users, &teams);
    let secret_files = context.secret_files();
    Config { file, server, organization, users, teams, policy_sets, workspaces, secret_files, index }
}

/// The blocks of one type with their names; the names are now known.
fn labelled<'a>(
    fields: &Fields<'a>,
    kind: &str,
    registry: impl FnOnce(&mut crate::context::Registry) -> &mut Names,
    context: &mut Context<'_>,
) -> Vec<(&'a str, &'a Block<'a>)> {
    let example = FILE.block(kind).map_or("", |entry| entry.example);
    let mut names = Names::new();
    let blocks = fields
        .blocks(kind)
        .map(|block| (sections::register(block, example, &mut names, context).unwrap_or_default(), block))
        .collect();
    *registry(&mut context.names) = names;
    blocks
}

/// Every body is read, for the sake of its mistakes; of two with one name the first stays.
fn decoded<'a, T>(
    blocks: Vec<(&'a str, &'a Block<'a>)>,
    mut decode: impl FnMut(&str, &'a Block<'a>) -> Option<T>,
) -> IndexMap<String, T> {
    let mut all = IndexMap::with_capacity(blocks.len());
    for (name, block) in blocks {
        if let Some(decoded) = decode(name, block) {
            all.entry(name.to_owned()).or_insert(decoded);
        }
    }
    all
}
