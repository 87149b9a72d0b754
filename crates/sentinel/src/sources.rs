//! Sources of policies, modules and data: resolved, fetched, compiled and kept, each once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::compile::{Unit, compile};
use crate::config::plan::{PLAN_PATH, SCHEMAS_PATH};
use crate::config::{Config, ImportConfig, Mock};
use crate::error::{Error, ErrorKind, Place};
use crate::eval::Environment;
use crate::files::{Files, read_text, without_bom};
use crate::terraform::{DocumentError, TERRAFORM_IMPORTS, read_document};
use crate::value::Data;

/// Compiles the files of a policy set, each once, whoever needs it.
pub struct Sources<'f> {
    files: &'f dyn Files,
    units: Mutex<HashMap<Located, Result<Arc<Unit>, Error>>>,
    data: Mutex<HashMap<Located, Result<Data, Error>>>,
}

/// Where a source is. A path is told from a URL by how the source is written, not by the folder that it is in,
/// which may have any name.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Located {
    /// The URL as it is.
    Remote(String),
    /// A path among the files, with the sum that the file must have if the source says so.
    Local { path: String, sum: Option<String> },
}

impl Located {
    fn name(&self) -> &str {
        match self {
            Located::Remote(name) | Located::Local { path: name, .. } => name,
        }
    }
}

impl<'f> Sources<'f> {
    /// Sources below the root of some files.
    pub fn new(files: &'f dyn Files) -> Sources<'f> {
        Sources { files, units: Mutex::default(), data: Mutex::default() }
    }

    /// The files.
    pub fn files(&self) -> &'f dyn Files {
        self.files
    }

    /// The compiled file that a source names, relative to a folder.
    pub fn unit(&self, folder: &str, source: &str) -> Result<Arc<Unit>, Error> {
        self.compiled(&self.locate(folder, source)?)
    }

    /// The compiled file of a path that is no source: `::` and `?` are letters of it.
    pub fn unit_at(&self, path: &str) -> Result<Arc<Unit>, Error> {
        self.compiled(&Located::Local { path: path.to_owned(), sum: None })
    }

    fn compiled(&self, at: &Located) -> Result<Arc<Unit>, Error> {
        kept(&self.units, at, || Ok(Arc::new(compile(at.name(), self.text(at)?)?)))
    }

    /// The JSON document that a source names, relative to a folder.
    pub fn json(&self, folder: &str, source: &str) -> Result<Data, Error> {
        let at = self.locate(folder, source)?;
        kept(&self.data, &at, || {
            read_document(without_bom(&self.text(&at)?).as_bytes()).map_err(|error| {
                let what = match error {
                    DocumentError::NotJson(_) => "is not JSON",
                    DocumentError::NumberTooLarge { .. } => "cannot be read",
                };
                Error::new(ErrorKind::File, format!("`{}` {what}: {error}", at.name()))
            })
        })
    }

    fn locate(&self, folder: &str, source: &str) -> Result<Located, Error> {
        if is_remote(source) {
            return Ok(Located::Remote(source.to_owned()));
        }
        let (path, sum) = match source.split_once('?') {
            None => (source, None),
            Some((path, query)) => (path, Some(local_checksum(source, query)?)),
        };
        let path = self.files.resolve(folder, path).ok_or_else(|| {
            let refused = |why| Error::new(ErrorKind::Outside, format!("the source `{source}` {why}"));
            match path.starts_with('/') {
                true => {
                    refused("is absolute").note("it must be relative to the folder of the file that names it")
                }
                false => refused("is outside of the policy set"),
            }
        })?;
        Ok(Located::Local { path, sum })
    }

    fn text(&self, at: &Located) -> Result<String, Error> {
        let refused = |why: String| Error::new(ErrorKind::File, why);
        let (name, bytes) = match at {
            Located::Local { path, sum: None } => return read_text(self.files, path),
            Located::Local { path, sum: Some(sum) } => {
                let bytes =
                    self.files.read(path).map_err(|why| refused(format!("cannot read `{path}`: {why}")))?;
                require_sum(&bytes, sum, path)?;
                (path.as_str(), bytes)
            }
            Located::Remote(source) => {
                let (url, sum) = checksum(source)?;
                let bytes =
                    self.files.fetch(url).map_err(|why| refused(format!("cannot fetch {url}: {why}")))?;
                require_sum(&bytes, &sum, url)?;
                (url, bytes)
            }
        };
        String::from_utf8(bytes).map_err(|_| refused(format!("cannot read `{name}`: it is not UTF-8")))
    }

    /// What a configuration lets policies import and see. A source that cannot be had is told to the
    /// policies that import it, not to others.
    pub fn environment(&self, config: &Config, folder: &str) -> Environment {
        let mut environment = Environment::default();
        let at = |source: &str| config.named_at.get(source);
        for (name, import) in &config.imports {
            match import {
                ImportConfig::Module { source } => {
                    self.bind_unit(&mut environment, name, folder, source, at(source));
                }
                ImportConfig::Static { source } => match self.json(folder, source) {
                    Ok(data) => environment.set_data(name, data),
                    Err(error) => environment.set_missing(name, error.at_place(at(source))),
                },
                ImportConfig::Plugin { source: None, config } => {
                    if !self.bind_plan(&mut environment, name, folder, config, at) {
                        environment.configure(name, config.clone());
                    }
                }
                ImportConfig::Plugin { source: Some(program), .. } => environment.set_missing(
                    name,
                    Error::config(format!("the import `{name}` is the program {program}, which is not run"))
                        .note("programs are not run, because policies come from many hands; use a module")
                        .at_place(at(program)),
                ),
            }
        }
        for (name, mock) in &config.mocks {
            match mock {
                Mock::Module { source } => {
                    self.bind_unit(&mut environment, name, folder, source, at(source));
                }
                Mock::Data(data) => environment.set_data(name, data.clone()),
            }
        }
        for (name, value) in &config.globals {
            environment.set_global(name, value.clone());
        }
        environment
    }

    /// `import "plugin" "tfplan/v2" { config = { plan_path = "plan.json" } }`: an import of Terraform
    /// over a plan in a file. Whether the configuration is of this kind.
    fn bind_plan<'c>(
        &self,
        environment: &mut Environment,
        name: &str,
        folder: &str,
        config: &Data,
        at: impl Fn(&str) -> Option<&'c Place>,
    ) -> bool {
        let path_of = |setting| config.get(setting).and_then(Data::as_str);
        let Some(path) = path_of(PLAN_PATH).filter(|_| TERRAFORM_IMPORTS.contains(&name)) else {
            return false;
        };
        let document = |path: &str, what: &str, check: fn(&Data) -> Result<(), &'static str>, made: &str| {
            let refused = |why| {
                Error::new(ErrorKind::File, format!("`{path}` is not a {what}: {why}"))
                    .note(format!("it is made by: {made}"))
            };
            self.json(folder, path)
                .and_then(|data| check(&data).map(|()| data).map_err(refused))
                .map_err(|error| error.at_place(at(path)))
        };
        let derived = document(path, "plan", require_plan, "terraform show -json PLAN").and_then(|plan| {
            let schemas = path_of(SCHEMAS_PATH)
                .map(|path| {
                    document(path, "schema of providers", require_schemas, "terraform providers schema -json")
                })
                .transpose()?;
            Ok(crate::terraform::imports(&crate::terraform::Documents { plan, schemas, run: None }))
        });
        match derived {
            Err(error) => environment.set_missing(name, error),
            Ok(imports) => {
                for (known, import) in imports.into_iter().filter(|(known, _)| known == name) {
                    environment.set_import(known, import);
                }
            }
        }
        true
    }

    fn bind_unit(
        &self,
        environment: &mut Environment,
        name: &str,
        folder: &str,
        source: &str,
        named_at: Option<&Place>,
    ) {
        match self.unit(folder, source) {
            Ok(unit) => environment.set_module(name, unit),
            Err(error) => environment.set_missing(name, error.at_place(named_at)),
        }
    }
}

/// Whether a document is what `terraform show -json` prints of a plan; why not. Over anything else, such as a
/// state, policies would find nothing to object to.
pub fn require_plan(document: &Data) -> Result<(), &'static str> {
    match document.get("planned_values") {
        Some(Data::Map(_)) => Ok(()),
        _ if document.get("values").is_some() || document.get("resources").is_some() => {
            Err("it is a state, without `planned_values`")
        }
        _ => Err("it has no `planned_values`"),
    }
}

/// The same for what `terraform providers schema -json` prints; without providers that has its version only.
fn require_schemas(document: &Data) -> Result<(), &'static str> {
    let is_empty = document.entries().len() == 1 && document.get("format_version").is_some();
    match document.get("provider_schemas") {
        Some(Data::Map(_)) => Ok(()),
        None if is_empty => Ok(()),
        _ => Err("it has no `provider_schemas`"),
    }
}

fn kept<T: Clone>(
    cache: &Mutex<HashMap<Located, Result<T, Error>>>,
    at: &Located,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    if let Some(known) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(at) {
        return known.clone();
    }
    let made = make();
    cache.lock().unwrap_or_else(PoisonError::into_inner).insert(at.clone(), made.clone());
    made
}

/// Whether a source is none of the files of a set.
pub(crate) fn is_remote(source: &str) -> bool {
    source.contains("://") || source.contains("::") || source.starts_with("git@")
}

fn require_sum(bytes: &[u8], sum: &str, name: &str) -> Result<(), Error> {
    let found = text::hex(&Sha256::digest(bytes));
    match found == sum {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::File, format!("the sha256 sum of {name} is {found}, not {sum}"))),
    }
}

/// The sum that the value of `checksum=` names; none if it is not a sha256 sum.
fn sha256_sum(text: &str) -> Option<String> {
    let sum = text.strip_prefix("sha256:").unwrap_or(text).to_ascii_lowercase();
    (sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit())).then_some(sum)
}

/// The sum that a local source must have. Nothing else can be asked of one: what was not understood could be
/// what somebody relies on.
fn local_checksum(source: &str, query: &str) -> Result<String, Error> {
    query.strip_prefix("checksum=").and_then(sha256_sum).ok_or_else(|| {
        Error::new(ErrorKind::File, format!("the source `{source}` asks for what is not understood"))
            .note("behind the `?` of a file there is its sum: `?checksum=sha256:…`")
    })
}

/// The URL of a remote source without its sum, and the sum.
fn checksum(source: &str) -> Result<(&str, String), Error> {
    let refused = |why: &str| {
        Error::new(ErrorKind::File, format!("the remote source {source} {why}"))
            .note("remote sources are https URLs with their sum: `?checksum=sha256:…`")
    };
    if !source.starts_with("https://") {
        return Err(refused("is not fetched over https"));
    }
    let (url, query) = source.split_once('?').ok_or_else(|| refused("has no checksum"))?;
    let sum = query.split('&').find_map(|pair| pair.strip_prefix("checksum="));
    let sum = sum.ok_or_else(|| refused("has no checksum"))?;
    let sum = sha256_sum(sum).ok_or_else(|| refused("has a checksum that is not a sha256 sum"))?;
    // what else the URL asks for is lost on purpose when only the sum is asked for
    let others = query.split('&').any(|pair| !pair.starts_with("checksum="));
    Ok((if others { source } else { url }, sum))
}
