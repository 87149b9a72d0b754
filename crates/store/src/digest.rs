use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A SHA-256, written as 64 lower-case hexadecimal digits: the name of a blob.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub(crate) const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The raw 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A text that is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a SHA-256: it would be 64 lower-case hexadecimal digits")]
pub struct InvalidDigest(String);

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidDigest(text.chars().take(80).collect());
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(invalid()),
        };
        let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return Err(invalid()) };
        let mut bytes = [0; 32];
        if pairs.len() != bytes.len() {
            return Err(invalid());
        }
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Ok(Self(bytes))
    }
}

/// Adds whatever looks like a digest in the text.
pub(crate) fn digests_in(text: &str, found: &mut HashSet<Digest>) {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let words = text.as_bytes().split(|byte| !is_digit(byte)).filter(|word| word.len() == 64);
    found.extend(words.filter_map(|word| std::str::from_utf8(word).ok()?.parse::<Digest>().ok()));
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::hex(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_sha256sum_does_and_read_back() {
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let digest = Digest::of(b"abc");
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
    }

    #[test]
    fn what_could_leave_the_blob_folder_is_no_digest() {
        let good = Digest::of(b"").to_string();
        for text in
            ["", "../../etc/passwd", &good[1..], &good.to_uppercase(), &format!("{good}0"), &"é".repeat(32)]
        {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
