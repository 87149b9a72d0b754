//! Tokens that `signalbox login` keeps, one for each daemon, in a file that only its user can read.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::failure::Failure;

/// What the file has in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Credentials {
    /// The daemon that is meant where none is named: the one that was logged in to last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) address: Option<String>,
    /// By address.
    #[serde(default)]
    daemons: BTreeMap<String, Login>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Login {
    token: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Login(…)")
    }
}

/// Where it lies: `$XDG_CONFIG_HOME/signalbox/credentials.json`, by default below `~/.config`. None without a home.
pub(crate) fn path() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = set("XDG_CONFIG_HOME").filter(|path| path.is_absolute());
    let config = config.or_else(|| set("HOME").map(|home| home.join(".config")))?;
    Some(config.join("signalbox").join("credentials.json"))
}

/// An address as it is a key here: two spellings of one are one.
fn key(address: &str) -> &str {
    address.trim_end_matches('/')
}

impl Credentials {
    /// Those of this user; none if there is no file.
    pub(crate) fn read() -> Result<Self, Failure> {
        path().map_or_else(|| Ok(Self::default()), |path| Self::read_from(&path))
    }

    fn read_from(path: &Path) -> Result<Self, Failure> {
        let broken = |why: String| {
            Failure::refused(
                format!("can't read {}: {why}", path.display()),
                "`signalbox login` writes it anew when it is removed",
            )
        };
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(broken(error.to_string())),
        };
        let mode = fs::metadata(path).map_err(|error| broken(error.to_string()))?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(Failure::refused(
                format!("others can read {}, which holds your tokens", path.display()),
                format!("chmod 600 {}", path.display()),
            ));
        }
        serde_json::from_slice(&text).map_err(|error| broken(error.to_string()))
    }

    /// The token for this daemon.
    pub(crate) fn token(&self, address: &str) -> Option<&str> {
        self.daemons.get(key(address)).map(|login| login.token.as_str())
    }

    /// Keeps a token, and takes its daemon as the one that is meant from now on.
    pub(crate) fn keep(&mut self, address: &str, token: &str) {
        self.address = Some(key(address).to_owned());
        self.daemons.insert(key(address).to_owned(), Login { token: token.to_owned() });
    }

    /// Forgets the token for this daemon; says whether there was one.
    pub(crate) fn forget(&mut self, address: &str) -> bool {
        if self.address.as_deref() == Some(key(address)) {
            self.address = None;
        }
        self.daemons.remove(key(address)).is_some()
    }

    /// Writes the file as a whole.
    pub(crate) fn write(&self) -> Result<PathBuf, Failure> {
        let path = path().ok_or_else(|| {
            Failure::refused(
                "there is no place for tokens",
                "set HOME, or SIGNALBOX_TOKEN instead of logging in",
            )
        })?;
        self.write_to(&path)
            .map_err(|error| Failure::Local(format!("can't write {}: {error}", path.display())))?;
        Ok(path)
    }

    fn write_to(&self, path: &Path) -> std::io::Result<()> {
        let directory = path.parent().unwrap_or(Path::new("."));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
        let temporary = directory.join(format!(".credentials.{}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(serde_json::to_string_pretty(self)?.as_bytes())?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_kept_by_daemon_for_their_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep").join("credentials.json");
        assert_eq!(Credentials::read_from(&path).unwrap(), Credentials::default());
        let mut credentials = Credentials::default();
        credentials.keep("https://one.example/", "first");
        credentials.keep("https://two.example", "second");
        credentials.write_to(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let mut read = Credentials::read_from(&path).unwrap();
        assert_eq!(read.token("https://one.example"), Some("first"));
        assert_eq!(read.address.as_deref(), Some("https://two.example"));
        assert!(read.forget("https://two.example/") && !read.forget("https://two.example"));
        assert_eq!((read.token("https://two.example"), read.address.as_deref()), (None, None));
        assert!(!format!("{credentials:?}").contains("first"));
    }

    #[test]
    fn a_file_that_others_can_read_or_that_is_broken_is_refused_in_words() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("credentials.json");
        fs::write(&path, "{}").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Credentials::read_from(&path).unwrap_err().to_string().contains("others can read"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "{").unwrap();
        assert!(Credentials::read_from(&path).unwrap_err().to_string().contains("can't read"));
    }
}
