//! What lies in a directory: the root modules of terraform, and the git repository that it belongs to.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use source::{Elsewhere, StateKept};

/// No deeper than so.
const MAX_DEPTH: usize = 8;
/// Larger files are not looked into.
const MAX_BYTES: usize = 1 << 20;
/// Folders whose modules are called by others, or by nobody.
const NOT_ROOTS: [&str; 5] = ["modules", "examples", "example", "test", "tests"];

/// A directory in which somebody runs terraform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootModule {
    /// Below the directory that was looked at; empty for that itself.
    pub(super) path: PathBuf,
    /// The kind of the backend that keeps its state; none if signalbox would.
    pub(super) backend: Option<String>,
    /// A state that exists elsewhere than where a run would look for it.
    pub(super) elsewhere: Option<Elsewhere>,
}

/// The repository that a directory belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    pub(super) url: String,
    pub(super) branch: String,
    /// Where the directory lies in it.
    pub(super) prefix: PathBuf,
}

/// The root modules below a directory, in the order of their paths: those that no other calls.
pub(super) fn root_modules(base: &Path) -> Vec<RootModule> {
    let mut directories = BTreeSet::new();
    collect(base, &PathBuf::new(), 0, &mut directories);
    let called: BTreeSet<PathBuf> =
        directories.iter().flat_map(|directory| calls(&base.join(directory), directory)).collect();
    let root = |path: PathBuf| {
        let (kept, elsewhere) = source::state_of(&base.join(&path))?;
        let backend = match kept {
            StateKept::ByBackend { kind } => Some(kind),
            StateKept::ByDaemon => None,
        };
        let named = path.components().any(|part| NOT_ROOTS.iter().any(|name| part.as_os_str() == *name));
        // a state shows that somebody runs it all the same
        let is_root = !called.contains(&path) && (!named || backend.is_some() || elsewhere.is_some());
        is_root.then_some(RootModule { path, backend, elsewhere })
    };
    directories.into_iter().filter_map(root).collect()
}

fn collect(base: &Path, below: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    let Ok(entries) = fs::read_dir(base.join(below)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                let is_skipped = name.starts_with('.') || ["node_modules", "vendor"].contains(&name);
                if !is_skipped && depth < MAX_DEPTH {
                    collect(base, &below.join(name), depth + 1, found);
                }
            }
            Ok(kind) if kind.is_file() && (name.ends_with(".tf") || name.ends_with(".tf.json")) => {
                found.insert(below.to_owned());
            }
            _ => {}
        }
    }
}

/// The directories whose modules the configuration in this one calls.
fn calls(directory: &Path, path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let files = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|file| file.extension().is_some_and(|it| it == "tf"));
    let mut called = Vec::new();
    for file in files {
        let Ok(text) = fs::read_to_string(file) else { continue };
        // one that is broken calls nothing; terraform says why
        let Ok(document) = hcl_reader::parse(&text, MAX_BYTES) else { continue };
        for block in document.body.blocks.iter().filter(|block| block.kind.as_str() == "module") {
            let source = block.body.attribute("source").and_then(|source| source.value.to_json().ok());
            let source = source.as_ref().and_then(|source| source.as_str()).unwrap_or_default();
            if source.starts_with("./") || source.starts_with("../") {
                called.extend(normal(&path.join(source)));
            }
        }
    }
    called
}

/// Without `.` and `..`; none if it leads out.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(normal)
}

/// The repository with a remote that the directory belongs to.
pub(super) fn repository(base: &Path) -> Option<Repository> {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.arg("-C").arg(base).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
        let output = git.output().ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?.trim_end_matches('\n').to_owned();
        Some(text).filter(|text| !text.is_empty())
    };
    let url = git(&["config", "--get", "remote.origin.url"])?;
    let branch = git(&["symbolic-ref", "--short", "HEAD"])?;
    let prefix = git(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    Some(Repository { url, branch, prefix: PathBuf::from(prefix.trim_end_matches('/')) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_module_is_one_that_nobody_calls_and_that_is_no_example() {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("main.tf", "module \"net\" {\n  source = \"./lib/net\"\n}\n");
        write("lib/net/main.tf", "module \"deep\" {\n  source = \"../deep\"\n}\n");
        write("lib/deep/main.tf", "");
        write("live/prod/main.tf", "terraform {\n  backend \"s3\" {}\n}\n");
        write("live/test/main.tf", "terraform {\n  backend \"s3\" {}\n}\n");
        write("modules/unused/main.tf", "");
        write("examples/all/main.tf", "");
        write("with-state/main.tf", "");
        let state = r#"{"version":4,"serial":3,"lineage":"x","outputs":{},"resources":[{}]}"#;
        write("with-state/terraform.tfstate", state);
        write(".terraform/modules/x/main.tf", "");
        write("docs/readme.md", "");
        let found = root_modules(dir.path());
        let paths: Vec<_> = found.iter().map(|root| root.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["", "live/prod", "live/test", "with-state"]);
        assert_eq!(found[1].backend.as_deref(), Some("s3"));
        assert!(matches!(found[3].elsewhere, Some(Elsewhere::File { .. })));
    }
}
