//! The text of a first config file.

use std::fmt::Write as _;
use std::path::Path;

use super::discover::{Repository, RootModule};

/// What the file is made of.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) listen: String,
    pub(super) data_dir: &'a Path,
    pub(super) organization: String,
    pub(super) user: &'a str,
    pub(super) token_sha256: String,
    /// Where the configurations come from; none for the directory itself.
    pub(super) repository: Option<&'a Repository>,
    pub(super) base: &'a Path,
    /// With the names of their workspaces.
    pub(super) modules: Vec<(String, &'a RootModule)>,
}

impl Plan<'_> {
    pub(super) fn text(&self) -> String {
        let quoted = |text: &str| hcl(text);
        let mut text = format!(
            "# Written by `signalbox init`. A running daemon takes changes of this file over. `signalbox config check` says \
             what is wrong\n# with it, and docs/ and config/signalbox.hcl of Signalbox have every setting.\n\n\
             server {{\n  listen   = {}\n  data_dir = {}\n}}\n\norganization = {}\n\n",
            quoted(&self.listen),
            quoted(&self.data_dir.display().to_string()),
            quoted(&self.organization)
        );
        // writing into a string can't fail
        let _ = write!(
            text,
            "# `signalbox token new NAME` prints a block like this for each colleague.\nuser {} {{\n  token_sha256 = {}\n}}\n\n\
             # Owners may do everything; other teams get access in each workspace.\nteam \"owners\" {{\n  members = [{}]\n}}\n",
            quoted(self.user),
            quoted(&self.token_sha256),
            quoted(self.user)
        );
        for (name, module) in &self.modules {
            let _ = write!(text, "\nworkspace {} {{\n{}}}\n", quoted(name), self.source(module));
        }
        text
    }

    fn source(&self, module: &RootModule) -> String {
        let folder = |path: &Path| match path.to_str() {
            None | Some("") => String::new(),
            Some(path) => format!("  working_directory = {}\n", hcl(path)),
        };
        match self.repository {
            Some(repository) => format!(
                "  source \"git\" {{\n    url = {}\n    ref = {}\n  }}\n{}",
                hcl(&repository.url),
                hcl(&repository.branch),
                folder(&repository.prefix.join(&module.path))
            ),
            None => format!(
                "  source \"directory\" {{\n    path = {}\n  }}\n{}",
                hcl(&self.base.display().to_string()),
                folder(&module.path)
            ),
        }
    }
}

/// A text as an HCL string.
fn hcl(text: &str) -> String {
    super::super::variable::quoted(text)
}

/// A name that the config file takes, made of a path: `live/prod` is `live-prod`.
pub(super) fn name_of(path: &str, otherwise: &str) -> String {
    let fits =
        |char: char| if char.is_ascii_alphanumeric() || char == '_' || char == '-' { char } else { '-' };
    let name: String = path.chars().map(fits).take(90).collect();
    let name = name.trim_matches('-').to_owned();
    if name.is_empty() { otherwise.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use config::{Config, SystemHost};

    use super::*;

    #[test]
    fn what_is_written_is_a_config_file_without_mistakes() {
        let dir = tempfile::tempdir().unwrap();
        let modules = ["", "live/prod", "odd \"name\" ${x}"].map(|path| RootModule {
            path: path.into(),
            backend: None,
            elsewhere: None,
        });
        let repository = Repository {
            url: "git@git.example.com:acme/infra.git".into(),
            branch: "main".into(),
            prefix: "terraform".into(),
        };
        for repository in [None, Some(&repository)] {
            let plan = Plan {
                listen: "127.0.0.1:8080".into(),
                data_dir: Path::new("/var/lib/signalbox"),
                organization: name_of("my infra", "main"),
                user: "ada",
                token_sha256: "ab".repeat(32),
                repository,
                base: Path::new("/srv/infra"),
                modules: modules
                    .iter()
                    .map(|module| (name_of(module.path.to_str().unwrap(), "infra"), module))
                    .collect(),
            };
            let file = dir.path().join("signalbox.hcl");
            std::fs::write(&file, plan.text()).unwrap();
            let checked = Config::check(&file, &SystemHost);
            assert!(checked.config.is_some(), "{}\n{}", checked.findings.render(false), plan.text());
            let config = checked.config.unwrap();
            assert_eq!(
                config.workspaces.keys().collect::<Vec<_>>(),
                ["infra", "live-prod", "odd--name----x"]
            );
        }
    }

    #[test]
    fn names_are_made_of_paths() {
        for (path, name) in [("live/prod", "live-prod"), ("", "infra"), ("../x y", "x-y"), ("ä", "infra")] {
            assert_eq!(name_of(path, "infra"), name);
        }
    }
}
