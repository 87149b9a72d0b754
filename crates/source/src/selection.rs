//! What of a source belongs to the configuration.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::ignore::IgnoreRules;

/// What becomes of an entry of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Take,
    /// Left out, with all that is in it.
    Leave,
    /// Left out, but what is in it may be taken.
    LeaveButDescend,
}

/// The rules for one source. Three kinds of things are left out:
///
/// - `.git` and `.terraform` at any depth: what they hold is no configuration, and `init` makes `.terraform` anew. Of an
///   archive `.terraform/modules` is taken, since the Terraform CLI packs it for those who cannot fetch the modules;
/// - what terraform leaves behind in the directory that it runs in: states, their backups and locks, crash logs. An old
///   state there would be taken for the current one. Elsewhere such files are data, as for `terraform_remote_state`;
/// - what `.terraformignore` says, where there is one.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    /// Where terraform runs, relative to the configuration.
    pub(crate) root: PathBuf,
    /// Whether `.terraform/modules` is part of it.
    pub(crate) installed_modules: bool,
    /// The `.terraformignore` of the source.
    pub(crate) ignore: IgnoreRules,
    /// Files that are never taken, whatever the rules say; relative to the configuration.
    pub(crate) left_out: Vec<PathBuf>,
}

impl Selection {
    /// What becomes of `path`, which is relative and has no `..` in it.
    pub(crate) fn verdict(&self, path: &Path, directory: bool) -> Verdict {
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            if component.as_os_str() == ".git" {
                return Verdict::Leave;
            }
            if component.as_os_str() == ".terraform" {
                match components.peek() {
                    Some(next) if self.installed_modules && next.as_os_str() == "modules" => {}
                    None if self.installed_modules && directory => return Verdict::LeaveButDescend,
                    _ => return Verdict::Leave,
                }
            }
        }
        if self.remains(path).is_some_and(is_remains) || self.left_out.iter().any(|left| left == path) {
            return Verdict::Leave;
        }
        self.ignore.verdict(path, directory)
    }

    /// Whether `path` is a state that terraform left where it runs, or lies in the directory of such states.
    pub(crate) fn is_state(&self, path: &Path) -> bool {
        self.remains(path).is_some_and(is_state)
    }

    /// The name, in the directory that terraform runs in, of the thing that `path` is or lies in.
    fn remains<'a>(&self, path: &'a Path) -> Option<&'a OsStr> {
        match path.strip_prefix(&self.root).ok()?.components().next()? {
            Component::Normal(name) => Some(name),
            _ => None,
        }
    }
}

fn is_state(name: &OsStr) -> bool {
    // with its backups, and the directory of the states of other terraform workspaces
    name == "errored.tfstate" || name.as_encoded_bytes().starts_with(b"terraform.tfstate")
}

fn is_remains(name: &OsStr) -> bool {
    is_state(name) || name == ".terraform.tfstate.lock.info" || name == "crash.log"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_terraform_directories_are_left_out_at_any_depth() {
        let selection = Selection::default();
        for path in
            [".git", ".git/config", "a/.git", "a/b/.git/HEAD", ".terraform", "a/.terraform/modules/x/main.tf"]
        {
            assert_eq!(selection.verdict(Path::new(path), false), Verdict::Leave, "{path}");
        }
        for path in [".gitignore", "a.git", ".terraform.lock.hcl", ".terraformrc", "git/x", "terraform/x"] {
            assert_eq!(selection.verdict(Path::new(path), false), Verdict::Take, "{path}");
        }
    }

    #[test]
    fn of_an_archive_the_installed_modules_are_taken() {
        let selection = Selection { installed_modules: true, ..Selection::default() };
        let table = [
            (".terraform", true, Verdict::LeaveButDescend),
            (".terraform/modules", true, Verdict::Take),
            (".terraform/modules/x/main.tf", false, Verdict::Take),
            (".terraform/modules/x/.git/config", false, Verdict::Leave),
            (".terraform/providers/p", false, Verdict::Leave),
            (".terraform/terraform.tfstate", false, Verdict::Leave),
        ];
        for (path, directory, verdict) in table {
            assert_eq!(selection.verdict(Path::new(path), directory), verdict, "{path}");
        }
    }

    #[test]
    fn states_are_left_out_where_terraform_runs_and_are_data_elsewhere() {
        let selection = Selection { root: "network".into(), ..Selection::default() };
        for name in [
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "terraform.tfstate.1700000000.backup",
            "terraform.tfstate.d/other/terraform.tfstate",
            "errored.tfstate",
        ] {
            let inside = Path::new("network").join(name);
            assert_eq!(selection.verdict(&inside, false), Verdict::Leave, "{name}");
            assert!(selection.is_state(&inside), "{name}");
            assert_eq!(selection.verdict(Path::new(name), false), Verdict::Take, "{name} beside");
            assert!(!selection.is_state(Path::new(name)), "{name} beside");
        }
        for name in ["crash.log", ".terraform.tfstate.lock.info"] {
            assert_eq!(selection.verdict(&Path::new("network").join(name), false), Verdict::Leave, "{name}");
        }
        for name in ["prod.tfstate", "my.terraform.tfstate", ".terraform.lock.hcl", "crash.log.md"] {
            assert_eq!(selection.verdict(&Path::new("network").join(name), false), Verdict::Take, "{name}");
        }
    }
}
