//! Where a configuration keeps its state.
//!
//! A wrong guess loses a state or puts it where it does not belong, so there is none: what cannot be read, and could
//! name a backend, is refused. Every other mistake is left to `terraform init`, which says more about it.

mod json;
mod native;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::error::Error;
use crate::report::StateKept;

/// What a `terraform` block says of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Named {
    /// `cloud {}`.
    Cloud,
    /// `backend "local" {}` whose file lies in the working directory, and would be lost with it; its path, if it names one.
    LocalInside(Option<String>),
    /// Any other `backend`, by its label.
    Backend(String),
}

/// What cannot be read, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Unclear {
    line: usize,
    reason: String,
}

/// Where the state of a configuration is kept, and what that takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// By the backend of this kind.
    Backend(String),
    /// By the daemon: no backend is named.
    Daemon,
    /// By the daemon, once an override file of this name has put `backend "local" {}` in place of what is named.
    DaemonInstead { of: Instead, file: OsString },
}

impl Keeping {
    /// Who keeps it, what that is in place of where it lies elsewhere, and the path that a local backend names.
    pub(crate) fn by(&self) -> (StateKept, Option<&'static str>, Option<&str>) {
        match self {
            Self::Backend(kind) => (StateKept::ByBackend { kind: kind.clone() }, None, None),
            Self::Daemon => (StateKept::ByDaemon, None, None),
            Self::DaemonInstead { of: Instead::Local(path), .. } => {
                (StateKept::ByDaemon, None, path.as_deref())
            }
            Self::DaemonInstead { of, .. } => (StateKept::ByDaemon, Some(of.words()), None),
        }
    }
}

/// What the daemon keeps the state in place of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Instead {
    /// `cloud {}`.
    Cloud,
    /// `backend "remote" {}`.
    Remote,
    /// `backend "local" {}`, with its path.
    Local(Option<String>),
}

impl Instead {
    pub(crate) const fn words(&self) -> &'static str {
        match self {
            Self::Cloud => "the cloud block",
            Self::Remote => "the backend \"remote\"",
            Self::Local(_) => "the backend \"local\"",
        }
    }
}

/// The content of that override file.
pub(crate) const OVERRIDE: &str =
    "# the state of this workspace is kept by signalbox\nterraform {\n  backend \"local\" {}\n}\n";

const OVERRIDE_NAME: &str = "zz_signalbox_override.tf";
const OVERRIDE_SUFFIX: &str = "_signalbox_override.tf";
const MAX_NAME: usize = 255;

/// For a path of which it cannot be told whether it is absolute.
const PLAIN_PATH: &str = "the path of the backend \"local\" must begin with plain text";

/// Whether terraform reads a file of this name.
pub(crate) fn is_terraform_file(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    let of_an_editor = bytes.ends_with(b"~") || bytes.starts_with(b"#") && bytes.ends_with(b"#");
    stem(bytes).is_some() && !bytes.starts_with(b".") && !of_an_editor
}

fn stem(name: &[u8]) -> Option<&[u8]> {
    name.strip_suffix(b".tf").or_else(|| name.strip_suffix(b".tf.json"))
}

fn is_override(name: &OsStr) -> bool {
    stem(name.as_encoded_bytes()).is_some_and(|stem| stem == b"override" || stem.ends_with(b"_override"))
}

/// The terraform files in a directory, in the order in which terraform merges them: overrides last.
pub(crate) fn terraform_files(root: &Path) -> io::Result<Vec<OsString>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root)? {
        let entry = entry?;
        if is_terraform_file(&entry.file_name()) && !entry.file_type()?.is_dir() {
            files.push(entry.file_name());
        }
    }
    files.sort_by_cached_key(|name| (is_override(name), name.clone()));
    Ok(files)
}

/// Where the configuration whose `files` lie in `root` keeps its state.
pub(crate) fn keeping(root: &Path, files: &[OsString]) -> Result<Keeping, Error> {
    let mut named = None;
    for name in files {
        // terraform says better what is wrong with a link that leads nowhere
        let Ok(content) = fs::read(root.join(name)) else { continue };
        let text = String::from_utf8_lossy(&content);
        let read =
            if name.as_encoded_bytes().ends_with(b".json") { json::read(&text) } else { native::read(&text) };
        let found =
            read.map_err(|Unclear { line, reason }| Error::Backend { path: name.into(), line, reason })?;
        // of several in one file terraform refuses all, and an override takes the place of all before it
        named = found.into_iter().next_back().or(named);
    }
    let of = match named {
        None => return Ok(Keeping::Daemon),
        Some(Named::Backend(kind)) if kind != "remote" => return Ok(Keeping::Backend(kind)),
        Some(Named::Backend(_)) => Instead::Remote,
        Some(Named::Cloud) => Instead::Cloud,
        Some(Named::LocalInside(path)) => Instead::Local(path),
    };
    Ok(Keeping::DaemonInstead { of, file: override_name(files)? })
}

/// A name that terraform reads after all override files that there are: it takes them in the order of their bytes.
fn override_name(files: &[OsString]) -> Result<OsString, Error> {
    let last = files.iter().filter(|name| is_override(name)).max();
    let Some(last) = last.filter(|last| last.as_os_str() >= OsStr::new(OVERRIDE_NAME)) else {
        return Ok(OVERRIDE_NAME.into());
    };
    // `x_override_…` comes after `x_override.…`
    let mut name = stem(last.as_bytes()).unwrap_or_default().to_owned();
    name.extend_from_slice(OVERRIDE_SUFFIX.as_bytes());
    if name.len() > MAX_NAME {
        return Err(Error::OverrideName { path: last.into() });
    }
    Ok(OsString::from_vec(name))
}

/// Whether a text that cannot be read could name a backend.
fn could_name_one(text: &str) -> bool {
    text.contains("backend") || text.contains("cloud")
}

#[cfg(test)]
mod tests;
