//! Addresses that carry their own permission: a keyed digest in the path (tfe-api.md 0.5).
//!
//! Clients fetch logs without a token and replace the query, so the secret has to stand in the path. It
//! is HMAC-SHA256 over run and stage with a key of this data directory: it can't be guessed, gives
//! nothing else away, and stays good for as long as the log is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use lifecycle::Stage;
use lifecycle::id::RunId;
use sha2::Sha256;

const FILE: &str = "log-key";
const LENGTH: usize = 32;

/// The key of the addresses of logs can't be read or made.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}: the data directory has to be readable and writable", path.display())]
pub struct LogKeyError {
    path: PathBuf,
    source: io::Error,
}

/// The key of the addresses of logs.
#[derive(Clone)]
pub(crate) struct LogKey([u8; LENGTH]);

impl LogKey {
    /// The key of this data directory, made when it is first asked for.
    pub(crate) fn load_or_create(data_dir: &Path) -> Result<Self, LogKeyError> {
        let path = data_dir.join(FILE);
        match fs::read(&path) {
            Ok(bytes) if bytes.len() == LENGTH => {
                let mut key = [0; LENGTH];
                key.copy_from_slice(&bytes);
                Ok(Self(key))
            }
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(LogKeyError { path, source }),
            // absent, or cut short by a crash: no address that was given out depends on half a key
            _ => Self::create(&path).map_err(|source| LogKeyError { path, source }),
        }
    }

    fn create(path: &Path) -> io::Result<Self> {
        let mut key = [0; LENGTH];
        getrandom::fill(&mut key).map_err(io::Error::other)?;
        let fresh = path.with_extension("new");
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(&key)?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())?;
        Ok(Self(key))
    }

    fn mac(&self, run: RunId, stage: Stage) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key");
        mac.update(format!("{run}/{stage}").as_bytes());
        mac
    }

    /// The secret of the address of this log.
    pub(crate) fn secret(&self, run: RunId, stage: Stage) -> String {
        self.mac(run, stage).finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether it is that secret, in a time that does not depend on where it differs.
    pub(crate) fn is_secret(&self, run: RunId, stage: Stage, secret: &str) -> bool {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = secret.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
        rest.is_empty() && bytes.is_some_and(|bytes| self.mac(run, stage).verify_slice(&bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn run(n: u8) -> RunId {
        RunId::from_entropy([n; 16])
    }

    #[test]
    fn a_secret_opens_one_log_and_no_other() {
        let key = LogKey([7; LENGTH]);
        let secret = key.secret(run(1), Stage::Plan);
        assert_eq!(secret.len(), 64);
        assert!(key.is_secret(run(1), Stage::Plan, &secret));
        assert!(!key.is_secret(run(1), Stage::Apply, &secret));
        assert!(!key.is_secret(run(2), Stage::Plan, &secret));
        assert!(!LogKey([8; LENGTH]).is_secret(run(1), Stage::Plan, &secret));
        for wrong in ["", "00", &secret[1..], &secret[2..], &format!("{secret}00"), &"é".repeat(32)] {
            assert!(!key.is_secret(run(1), Stage::Plan, wrong), "{wrong}");
        }
    }

    #[test]
    fn the_key_stays_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let secret = || LogKey::load_or_create(folder.path()).unwrap().secret(run(1), Stage::Plan);
        let first = secret();
        assert_eq!(first, secret());
        let mode = fs::metadata(folder.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(folder.path().join(FILE), b"half").unwrap();
        let second = secret();
        assert_ne!(first, second);
        assert_eq!(second, secret());
    }

    #[test]
    fn a_data_directory_that_is_not_there_is_named() {
        let error = LogKey::load_or_create(Path::new("/nonexistent/data")).err().unwrap();
        assert!(error.to_string().contains("/nonexistent/data"), "{error}");
    }
}
