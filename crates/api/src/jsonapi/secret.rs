//! Addresses that carry their own permission: a keyed digest in the path (docs/api.md, "Log URLs", "State versions").
//!
//! Clients fetch logs and send states without a token, and replace the query of a log's address, so the secret has to
//! stand in the path. It is a time, and HMAC-SHA256 over the subject of the address and that time with a key of this data
//! directory: it can't be guessed, gives nothing else away, and is good until then. Each document gives a new one.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use lifecycle::Stage;
use lifecycle::id::{RunId, StateVersionId};
use sha2::Sha256;

const FILE: &str = "log-key";
const LENGTH: usize = 32;

/// How long an address is good at least, in seconds: the terraform CLI asks for it once and follows a whole plan by
/// it. As long as those of Terraform Enterprise.
const GOOD_FOR: i64 = 25 * 3600;
/// The times at which addresses expire are multiples of this.
const ROUND: i64 = 3600;

/// What a secret is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secret {
    Good,
    /// It was good once.
    Expired,
    Wrong,
}

/// What an address is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Log(RunId, Stage),
    /// Where the bytes of a state are sent.
    StateUpload(StateVersionId),
    /// The same of its JSON.
    StateJsonUpload(StateVersionId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Log(run, stage) => write!(f, "{run}/{stage}"),
            Self::StateUpload(id) => write!(f, "{id}/state"),
            Self::StateJsonUpload(id) => write!(f, "{id}/json-state"),
        }
    }
}

/// The key of addresses can't be read or made.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}: the data directory has to be readable and writable", path.display())]
pub struct AddressKeyError {
    path: PathBuf,
    source: io::Error,
}

/// The key of addresses.
#[derive(Clone)]
pub(crate) struct AddressKey([u8; LENGTH]);

impl AddressKey {
    /// The key of this data directory, made when it is first asked for.
    pub(crate) fn load_or_create(data_dir: &Path) -> Result<Self, AddressKeyError> {
        let path = data_dir.join(FILE);
        match fs::read(&path) {
            Ok(bytes) if bytes.len() == LENGTH => {
                let mut key = [0; LENGTH];
                key.copy_from_slice(&bytes);
                Ok(Self(key))
            }
            Err(source) if source.kind() != io::ErrorKind::NotFound => Err(AddressKeyError { path, source }),
            // absent, or cut short by a crash: no address that was given out depends on half a key
            _ => Self::create(&path).map_err(|source| AddressKeyError { path, source }),
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

    fn mac(&self, subject: Subject, expires: i64) -> Hmac<Sha256> {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key");
        mac.update(format!("{subject}/{expires}").as_bytes());
        mac
    }

    /// The secret of the address of this, given out at this time. It stays the same for an hour, so that
    /// documents that say the same are the same.
    pub(crate) fn secret(&self, subject: Subject, now: Timestamp) -> String {
        let expires = (now.as_second().div_euclid(ROUND) + 1) * ROUND + GOOD_FOR;
        let mac = self.mac(subject, expires).finalize().into_bytes();
        mac.iter().fold(format!("{expires}-"), |secret, byte| secret + &format!("{byte:02x}"))
    }

    /// What a secret is worth at this time, found out in a time that does not depend on where it differs.
    pub(crate) fn check(&self, subject: Subject, secret: &str, now: Timestamp) -> Secret {
        let Some((expires, mac)) = secret.split_once('-') else { return Secret::Wrong };
        match expires.parse() {
            Ok(expires) if !self.is_mac(subject, expires, mac) => Secret::Wrong,
            Ok(expires) if expires <= now.as_second() => Secret::Expired,
            Ok(_) => Secret::Good,
            Err(_) => Secret::Wrong,
        }
    }

    fn is_mac(&self, subject: Subject, expires: i64, secret: &str) -> bool {
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = secret.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect();
        rest.is_empty() && bytes.is_some_and(|bytes| self.mac(subject, expires).verify_slice(&bytes).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn run(n: u8) -> RunId {
        RunId::from_entropy([n; 16])
    }

    fn log(n: u8) -> Subject {
        Subject::Log(run(n), Stage::Plan)
    }

    #[test]
    fn a_secret_opens_one_log_and_no_other() {
        let key = AddressKey([7; LENGTH]);
        let secret = key.secret(log(1), at(0));
        let check =
            |key: &AddressKey, n, stage, secret: &str| key.check(Subject::Log(run(n), stage), secret, at(0));
        assert_eq!(check(&key, 1, Stage::Plan, &secret), Secret::Good);
        assert_eq!(check(&key, 1, Stage::Apply, &secret), Secret::Wrong);
        assert_eq!(check(&key, 2, Stage::Plan, &secret), Secret::Wrong);
        assert_eq!(check(&AddressKey([8; LENGTH]), 1, Stage::Plan, &secret), Secret::Wrong);
        let (expires, mac) = secret.split_once('-').unwrap();
        let later = format!("{}-{mac}", expires.parse::<i64>().unwrap() + 1);
        let cut = format!("{expires}-{}", &mac[2..]);
        for wrong in
            ["", "-", "00", "-00", mac, &secret[1..], &later, &cut, &format!("{secret}00"), &"é".repeat(32)]
        {
            assert_eq!(check(&key, 1, Stage::Plan, wrong), Secret::Wrong, "{wrong}");
        }
    }

    #[test]
    fn a_secret_is_good_for_a_day_and_an_hour_and_then_known_to_have_expired() {
        let key = AddressKey([7; LENGTH]);
        for given in [0, 1, 3599, 3600] {
            let secret = key.secret(log(1), at(given));
            let check = |seconds| key.check(log(1), &secret, at(seconds));
            assert_eq!(check(given + GOOD_FOR), Secret::Good, "given out at {given}");
            assert_eq!(check(given + GOOD_FOR + ROUND), Secret::Expired, "given out at {given}");
        }
        let secret = |seconds| key.secret(log(1), at(seconds));
        assert_eq!(secret(3600), secret(7199));
        assert_ne!(secret(7199), secret(7200));
    }

    #[test]
    fn the_key_stays_and_only_its_owner_can_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let secret = || AddressKey::load_or_create(folder.path()).unwrap().secret(log(1), at(0));
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
        let error = AddressKey::load_or_create(Path::new("/nonexistent/data")).err().unwrap();
        assert!(error.to_string().contains("/nonexistent/data"), "{error}");
    }
}
