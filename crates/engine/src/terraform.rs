//! Which terraform a binary is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use crate::HostEnvironment;

/// `terraform version` takes 35 ms of CPU: asked once for each binary, and again when the file changes.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    known: Mutex<HashMap<Binary, Result<String, String>>>,
}

/// A file that was found, as it was then.
type Binary = (PathBuf, Option<SystemTime>);

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
        let Some(binary) = binary(program, host) else {
            return Terraform { program: program.to_owned(), version: None };
        };
        if let Some(Ok(version)) = self.told(&binary) {
            return Terraform { program: binary.0, version: Some(version) };
        }
        // not under the lock: a binary that hangs must not keep others waiting
        let said = ask(&binary.0, host).await;
        if let Err(why) = &said {
            tracing::warn!(program = %binary.0.display(), "terraform does not tell its version: {why}");
        }
        let version = said.clone().ok();
        self.known_versions().insert(binary.clone(), said);
        Terraform { program: binary.0, version }
    }

    /// What is known of the binary without asking it: its version, or why there is none.
    pub(crate) fn known(&self, program: &Path, host: &HostEnvironment) -> Result<String, String> {
        let Some(binary) = binary(program, host) else {
            let place = if program.components().count() > 1 { "there" } else { "in PATH" };
            return Err(format!("{} is not {place}", program.display()));
        };
        self.told(&binary).unwrap_or_else(|| Err(format!("{} was not asked yet", binary.0.display())))
    }

    /// A panic leaves nothing half done in it.
    fn known_versions(&self) -> MutexGuard<'_, HashMap<Binary, Result<String, String>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self, binary: &Binary) -> Option<Result<String, String>> {
        self.known_versions().get(binary).cloned()
    }
}

fn binary(program: &Path, host: &HostEnvironment) -> Option<Binary> {
    let found = look_up(program, &host.path)?;
    let changed = std::fs::metadata(&found).and_then(|meta| meta.modified()).ok();
    Some((found, changed))
}

/// Finds a program as a shell does: a bare name in `PATH`, anything with a slash as a path.
pub fn look_up(program: &Path, path: &str) -> Option<PathBuf> {
    let is_file = |candidate: &PathBuf| candidate.is_file();
    if program.components().count() > 1 {
        return Some(program.to_owned()).filter(is_file);
    }
    std::env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(program)).find(is_file)
}

/// What the binary says, or why it says nothing.
async fn ask(program: &Path, host: &HostEnvironment) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Version {
        terraform_version: String,
    }
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
    let named = |why: &dyn std::fmt::Display| format!("{} version: {why}", program.display());
    let mut child = child.map_err(|error| named(&error))?;
    let mut said = Vec::new();
    let stdout = child.stdout.as_mut().ok_or_else(|| named(&"it has no output"))?;
    let heard = tokio::time::timeout(Duration::from_secs(10), stdout.read_to_end(&mut said)).await;
    // it has said what it had to say, or hangs
    let _ = child.kill().await;
    heard.map_err(|_| named(&"no answer within ten seconds"))?.map_err(|error| named(&error))?;
    let version = serde_json::from_slice::<Version>(&said);
    version.map(|version| version.terraform_version).map_err(|_| named(&"it says something else"))
}

/// The three lines that clients of the API expect at the head of a log, and drop (docs/api.md, "Logs").
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
        let versions = Versions::default();
        let known = || versions.known(Path::new("terraform"), &host());
        assert!(known().unwrap_err().contains("not asked yet"));
        let terraform = versions.find(Path::new("terraform"), &host()).await;
        assert!(terraform.program.is_absolute());
        assert_eq!(terraform.version, known().ok());
        assert!(terraform.version.is_some_and(|version| version.starts_with("1.")));
    }

    #[tokio::test]
    async fn a_terraform_that_is_missing_has_no_version_and_stops_nothing() {
        let versions = Versions::default();
        let missing = versions.find(Path::new("terraform-nowhere"), &host()).await;
        let why = versions.known(Path::new("terraform-nowhere"), &host()).unwrap_err();
        assert!(why.contains("terraform-nowhere is not in PATH"), "{why}");
        versions.find(Path::new("true"), &host()).await;
        let why = versions.known(Path::new("true"), &host()).unwrap_err();
        assert!(why.ends_with("true version: it says something else"), "{why}");
        assert_eq!(missing, Terraform { program: "terraform-nowhere".into(), version: None });
        assert_eq!(preamble(None).lines().count(), 3);
    }
}
