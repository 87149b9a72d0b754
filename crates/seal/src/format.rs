//! What a sealed file looks like: a head, and pieces of the content, each with its tag.
//!
//! ```text
//! "signalbox\0" version(1) key id(8) nonce(19) | piece(65536) tag(16) | … | last piece(0…65536) tag(16)
//! ```
//!
//! There is always a last piece, and it is the only one that may be shorter, or empty. The head is authenticated with each piece.

use aead_stream::{NewStream as _, StreamBE32};
use chacha20poly1305::XChaCha20Poly1305;

use crate::key::{Key, KeyId};

/// The bytes of the content in a piece.
pub const PIECE: usize = 64 * 1024;
pub(crate) const TAG: usize = 16;
pub(crate) const NONCE: usize = 19;
pub(crate) const HEAD: usize = MAGIC.len() + 8 + NONCE;
/// The last byte is the version of the format.
const MAGIC: &[u8; 11] = b"signalbox\0\x01";

pub(crate) type Stream = StreamBE32<XChaCha20Poly1305>;

/// The beginning of a sealed file.
#[derive(Clone, Copy)]
pub(crate) struct Head(pub(crate) [u8; HEAD]);

impl Head {
    pub(crate) fn new(key: KeyId, nonce: [u8; NONCE]) -> Self {
        let mut bytes = [0; HEAD];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        bytes[MAGIC.len()..MAGIC.len() + 8].copy_from_slice(&key.0);
        bytes[MAGIC.len() + 8..].copy_from_slice(&nonce);
        Self(bytes)
    }

    /// `None` for what is not a head of this version.
    pub(crate) fn read(bytes: [u8; HEAD]) -> Option<Self> {
        bytes.starts_with(MAGIC).then_some(Self(bytes))
    }

    pub(crate) fn key(&self) -> KeyId {
        let mut id = [0; 8];
        id.copy_from_slice(&self.0[MAGIC.len()..MAGIC.len() + 8]);
        KeyId(id)
    }

    pub(crate) fn stream(&self, key: &Key) -> Stream {
        let mut nonce = [0; NONCE];
        nonce.copy_from_slice(&self.0[MAGIC.len() + 8..]);
        Stream::from_aead(key.cipher(), &nonce.into())
    }
}
