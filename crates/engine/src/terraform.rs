//! Which terraform a binary is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::io::AsyncReadExt as _;
use tokio::sync::Mutex;

use crate::HostEnvironment;

/// `terraform version` takes 35 ms of CPU: asked once for each binary, and again when the file changes.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    known: Mutex<HashMap<(PathBuf, Option<SystemTime>), String>>,
}

/// A binary that a stage would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terraform {
    /// Absolute where it was found, else as it was configured.
    pub(crate) program: PathBuf,
    /// `1.11.4`; `None` if it could not be asked. Its stage will say why.
    pub(crate) version: Option<String>,
}

impl Versions {
    pub(crate) async fn find(&self, program: &Path, host: &HostEnvironment) -> Terraform {
        let Some(found) = look_up(program, &host.path) else {
            return Terraform { program: program.to_owned(), version: None };
        };
        let changed = std::fs::metadata(&found).and_then(|meta| meta.modified()).ok();
        let key = (found.clone(), changed);
        if let Some(version) = self.known.lock().await.get(&key) {
            return Terraform { program: found, version: Some(version.clone()) };
        }
        // not under the lock: a binary that hangs must not keep others waiting
        let version = ask(&found, host).await;
        if let Some(version) = &version {
            self.known.lock().await.insert(key, version.clone());
        }
        Terraform { program: found, version }
    }
}

/// Finds a program as a shell does: a bare name in `PATH`, anything with a slash as a path.
pub fn look_up(program: &Path, path: &str) -> Option<PathBuf> {
    let is_file = |candidate: &PathBuf| candidate.is_file();
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(is_file);
    }
    std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(program)).find(is_file)
}

async fn ask(program: &Path, host: &HostEnvironment) -> Option<String> {
    #[derive(Deserialize)]
    struct Version {
        terraform_version: String,
    }
    let warn = |why: &dyn std::fmt::Display| {
        tracing::warn!(program = %program.display(), "terraform does not tell its version: {why}");
    };
    let child = tokio::process::Command::new(program)
        .args(["version", "-json"])
        .env_clear()
        .env("PATH", &host.path)
        .env("HOME", &host.home)
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = child.inspect_err(|error| warn(error)).ok()?;
    let mut said = Vec::new();
    let stdout = child.stdout.as_mut()?;
    let heard = tokio::time::timeout(Duration::from_secs(10), stdout.read_to_end(&mut said)).await;
    if heard.is_err() {
        warn(&"no answer within ten seconds");
    }
    // it has said what it had to say, or hangs
    let _ = child.kill().await;
    serde_json::from_slice::<Version>(&said).ok().map(|version| version.terraform_version)
}

/// The three lines that clients of the API expect at the head of a log, and drop (tfe-api.md 4.10).
pub(crate) fn preamble(version: Option<&str>) -> String {
    let version = version.map(|version| format!(" v{version}")).unwrap_or_default();
    format!(
        "Terraform{version}\non {}_{}\nInitializing plugins and modules...\n",
        std::env::consts::OS,
        match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host() -> HostEnvironment {
        HostEnvironment { path: std::env::var("PATH").unwrap(), home: "/".into() }
    }

    #[test]
    fn a_bare_name_is_looked_up_in_the_path_and_a_path_is_taken_as_it_is() {
        assert_eq!(look_up(Path::new("sh"), "/nowhere:/bin"), Some(PathBuf::from("/bin/sh")));
        assert_eq!(look_up(Path::new("sh"), "bin:/nowhere"), None);
        assert_eq!(look_up(Path::new("/bin/sh"), ""), Some(PathBuf::from("/bin/sh")));
        assert_eq!(look_up(Path::new("/bin/nothing-of-this-name"), "/bin"), None);
    }

    #[tokio::test]
    async fn the_version_is_what_the_binary_says() {
        let terraform = Versions::default().find(Path::new("terraform"), &host()).await;
        assert!(terraform.program.is_absolute());
        assert!(terraform.version.is_some_and(|version| version.starts_with("1.")));
    }

    #[tokio::test]
    async fn a_terraform_that_is_missing_has_no_version_and_stops_nothing() {
        let missing = Versions::default().find(Path::new("terraform-nowhere"), &host()).await;
        assert_eq!(missing, Terraform { program: "terraform-nowhere".into(), version: None });
        assert_eq!(preamble(None).lines().count(), 3);
    }
}
