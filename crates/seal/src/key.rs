//! Keys, and the ring of those that a daemon knows.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use sha2::{Digest as _, Sha256};

/// The bytes of a key.
const LENGTH: usize = 32;

/// Names a key without telling it: the beginning of a digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub(crate) [u8; 8]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// A text that is not the id of a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the id of a key: that has sixteen hexadecimal digits")]
pub struct InvalidKeyId(String);

impl FromStr for KeyId {
    type Err = InvalidKeyId;

    fn from_str(text: &str) -> Result<Self, InvalidKeyId> {
        let invalid = || InvalidKeyId(text.to_owned());
        if text.len() != 16 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(invalid());
        }
        u64::from_str_radix(text, 16).map(|id| Self(id.to_be_bytes())).map_err(|_| invalid())
    }
}

/// A text that is not a key. It is not repeated: it may be nearly one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a key: write 32 bytes in base64, as `signalbox encryption key` prints them")]
pub struct InvalidKey;

/// A key.
#[derive(Clone)]
pub struct Key {
    id: KeyId,
    cipher: XChaCha20Poly1305,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

impl Key {
    /// Reads a key as [`generate`](Self::generate) writes it. White space around it does no harm.
    ///
    /// # Errors
    /// [`InvalidKey`].
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let bytes = BASE64_STANDARD.decode(text.trim()).map_err(|_| InvalidKey)?;
        let bytes: [u8; LENGTH] = bytes.try_into().map_err(|_| InvalidKey)?;
        Ok(Self::of(&bytes))
    }

    /// The text of a new key.
    ///
    /// # Errors
    /// When the operating system has no random bytes.
    pub fn generate() -> std::io::Result<String> {
        Ok(BASE64_STANDARD.encode(random::<LENGTH>()?))
    }

    /// A key that ends with this process.
    ///
    /// # Errors
    /// When the operating system has no random bytes.
    pub fn ephemeral() -> std::io::Result<Self> {
        Ok(Self::of(&random::<LENGTH>()?))
    }

    fn of(bytes: &[u8; LENGTH]) -> Self {
        let mut digest = Sha256::new_with_prefix("signalbox key id\0");
        digest.update(bytes);
        let mut id = [0; 8];
        id.copy_from_slice(&digest.finalize()[..8]);
        Self { id: KeyId(id), cipher: XChaCha20Poly1305::new(bytes.into()) }
    }

    /// Its name.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn cipher(&self) -> XChaCha20Poly1305 {
        self.cipher.clone()
    }
}

pub(crate) fn random<const N: usize>() -> std::io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes)
}

/// The keys that a daemon knows: the one that it writes with, if any, and those that it reads with besides.
#[derive(Clone, Default)]
pub struct Keyring {
    current: Option<Key>,
    previous: Arc<[Key]>,
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ids()).finish()
    }
}

/// By the ids of the keys.
impl PartialEq for Keyring {
    fn eq(&self, other: &Self) -> bool {
        self.writes_with() == other.writes_with() && self.ids().eq(other.ids())
    }
}

impl Eq for Keyring {}

impl Keyring {
    /// Without `current` what is written lies in clear.
    pub fn new(current: Option<Key>, previous: impl IntoIterator<Item = Key>) -> Self {
        Self { current, previous: previous.into_iter().collect() }
    }

    /// The key that is written with.
    pub const fn current(&self) -> Option<&Key> {
        self.current.as_ref()
    }

    /// The id of the key that is written with.
    pub fn writes_with(&self) -> Option<KeyId> {
        self.current.as_ref().map(Key::id)
    }

    /// The key of this name.
    pub fn key(&self, id: KeyId) -> Option<&Key> {
        self.current.iter().chain(self.previous.iter()).find(|key| key.id == id)
    }

    /// The names of all of them, the one that is written with first.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> {
        self.current.iter().chain(self.previous.iter()).map(Key::id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_base64_and_told_by_its_id_alone() {
        let text = Key::generate().unwrap();
        let key = Key::parse(&format!(" {text}\n")).unwrap();
        assert_eq!(key.id(), Key::parse(&text).unwrap().id());
        assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        assert!("0123".parse::<KeyId>().is_err() && "+123456789abcdef".parse::<KeyId>().is_err());
        assert_ne!(key.id(), Key::ephemeral().unwrap().id());
        let shown = format!("{key:?} {:?}", Keyring::new(Some(key.clone()), []));
        assert!(
            !shown.contains(text.trim_end_matches('=')) && shown.contains(&key.id().to_string()),
            "{shown}"
        );
        for wrong in ["", "hunter2", "aGVsbG8=", &text[..text.len() - 2]] {
            assert_eq!(Key::parse(wrong).map(|key| key.id()), Err(InvalidKey), "{wrong}");
        }
    }
}
