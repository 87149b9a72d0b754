use std::io;
use std::os::unix::fs::FileExt;

use aead_stream::StreamPrimitive as _;

use crate::format::{HEAD, Head, PIECE, Stream, TAG};
use crate::key::{KeyId, Keyring};

/// Why a sealed file can't be read.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its key is not among those that are known.
    #[error("it is encrypted with key {0}, which is not among the keys of the configuration")]
    UnknownKey(KeyId),
    /// It is not what was sealed, or not with the key of that name.
    #[error("it was damaged or changed since it was encrypted")]
    Damaged,
    /// It can't be read.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A sealed file that is open. Each read decrypts the pieces that it needs, and fails if one of them is not what was sealed.
pub struct Opened<F> {
    file: F,
    head: Head,
    stream: Stream,
    /// Of the content.
    length: u64,
}

impl<F> std::fmt::Debug for Opened<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("key", &self.head.key())
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

impl<F: FileExt> Opened<F> {
    /// Opens a sealed file of that many bytes. Its last piece is looked at, so that one that was cut off is told here.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn new(file: F, bytes: u64, keys: &Keyring) -> Result<Self, OpenError> {
        let mut head = [0; HEAD];
        file.read_exact_at(&mut head, 0).map_err(cut_off)?;
        let head = Head::read(head).ok_or(OpenError::Damaged)?;
        let key = keys.key(head.key()).ok_or(OpenError::UnknownKey(head.key()))?;
        let body = bytes.checked_sub(HEAD as u64).ok_or(OpenError::Damaged)?;
        let length = content_length(body).ok_or(OpenError::Damaged)?;
        let opened = Self { file, stream: head.stream(key), head, length };
        opened.piece(opened.last())?;
        Ok(opened)
    }

    /// The bytes of the content.
    pub const fn len(&self) -> u64 {
        self.length
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The key that it is sealed with.
    pub fn key(&self) -> KeyId {
        self.head.key()
    }

    /// Reads bytes from this offset on; none at the end.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, OpenError> {
        if offset >= self.length || buffer.is_empty() {
            return Ok(0);
        }
        let piece = self.piece(offset / PIECE as u64)?;
        let from = usize::try_from(offset % PIECE as u64).map_err(|_| OpenError::Damaged)?;
        let bytes = piece.get(from..).unwrap_or_default();
        let read = bytes.len().min(buffer.len());
        buffer[..read].copy_from_slice(&bytes[..read]);
        Ok(read)
    }

    /// The number of the last piece.
    const fn last(&self) -> u64 {
        self.length.saturating_sub(1) / PIECE as u64
    }

    fn piece(&self, number: u64) -> Result<Vec<u8>, OpenError> {
        let last = number == self.last();
        let length = if last { self.length - number * PIECE as u64 } else { PIECE as u64 };
        let length = usize::try_from(length).map_err(|_| OpenError::Damaged)?;
        let mut bytes = vec![0; length + TAG];
        let place = HEAD as u64 + number * (PIECE + TAG) as u64;
        self.file.read_exact_at(&mut bytes, place).map_err(cut_off)?;
        let position = u32::try_from(number).map_err(|_| OpenError::Damaged)?;
        self.stream
            .decrypt_in_place(position, last, &self.head.0, &mut bytes)
            .map_err(|_| OpenError::Damaged)?;
        Ok(bytes)
    }
}

/// Of the content, from that of the pieces with their tags. A content that ends where a piece ends has no empty piece behind
/// it, but for an empty content.
fn content_length(body: u64) -> Option<u64> {
    let whole = (PIECE + TAG) as u64;
    let (full, rest) = (body / whole, body % whole);
    match rest {
        0 if full > 0 => Some(full * PIECE as u64),
        0 => None,
        rest => {
            let rest = rest.checked_sub(TAG as u64)?;
            // an empty piece stands alone
            (rest > 0 || full == 0).then_some(full * PIECE as u64 + rest)
        }
    }
}

fn cut_off(error: io::Error) -> OpenError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => OpenError::Damaged,
        _ => OpenError::Io(error),
    }
}

/// The key that these bytes are sealed with; `None` if they are not sealed at all.
pub fn sealed_with(bytes: &[u8]) -> Option<KeyId> {
    let head = bytes.get(..HEAD)?.try_into().ok()?;
    Head::read(head).map(|head| head.key())
}

/// The content of a sealed file in memory.
///
/// # Errors
/// [`OpenError`].
pub fn open(keys: &Keyring, sealed: &[u8]) -> Result<Vec<u8>, OpenError> {
    let opened = Opened::new(Bytes(sealed), sealed.len() as u64, keys)?;
    let mut content = vec![0; usize::try_from(opened.len()).map_err(|_| OpenError::Damaged)?];
    let mut offset = 0;
    while offset < content.len() {
        match opened.read_at(&mut content[offset..], offset as u64)? {
            0 => return Err(OpenError::Damaged),
            read => offset += read,
        }
    }
    Ok(content)
}

struct Bytes<'a>(&'a [u8]);

impl FileExt for Bytes<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let rest = &self.0[from..];
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::Key;
    use crate::write::seal;

    fn keys() -> (Key, Keyring) {
        let key = Key::ephemeral().unwrap();
        (key.clone(), Keyring::new(Some(key), []))
    }

    fn content(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn what_was_sealed_is_opened_at_every_length_around_a_piece() {
        let (key, keys) = keys();
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE - 1, 200_000] {
            let sealed = seal(&key, &content(length)).unwrap();
            assert_eq!(open(&keys, &sealed).unwrap(), content(length), "{length}");
        }
    }

    #[test]
    fn a_key_that_is_not_known_is_told_by_its_id() {
        let (key, _) = keys();
        let error = open(&keys().1, &seal(&key, b"secret").unwrap()).unwrap_err();
        assert!(matches!(error, OpenError::UnknownKey(id) if id == key.id()), "{error}");
        assert!(error.to_string().contains(&key.id().to_string()));
        let both = Keyring::new(Some(Key::ephemeral().unwrap()), [key.clone()]);
        assert_eq!(open(&both, &seal(&key, b"secret").unwrap()).unwrap(), b"secret");
    }

    #[test]
    fn the_same_content_is_never_sealed_to_the_same_bytes() {
        let (key, _) = keys();
        assert_ne!(seal(&key, b"secret").unwrap(), seal(&key, b"secret").unwrap());
    }

    #[test]
    fn pieces_that_are_cut_off_left_out_or_exchanged_are_told() {
        let (key, keys) = keys();
        let sealed = seal(&key, &content(3 * PIECE + 5)).unwrap();
        let piece = PIECE + TAG;
        for end in [0, 5, HEAD, HEAD + 5, HEAD + piece, HEAD + 3 * piece, sealed.len() - 1] {
            assert!(open(&keys, &sealed[..end]).is_err(), "{end}");
        }
        let mut without = sealed.clone();
        without.drain(HEAD..HEAD + piece);
        assert!(matches!(open(&keys, &without), Err(OpenError::Damaged)));
        let mut exchanged = sealed.clone();
        exchanged[HEAD..HEAD + 2 * piece].rotate_left(piece);
        assert!(matches!(open(&keys, &exchanged), Err(OpenError::Damaged)));
        let mut longer = sealed;
        longer.extend_from_slice(&[0; 16]);
        assert!(matches!(open(&keys, &longer), Err(OpenError::Damaged)));
    }

    proptest! {
        #[test]
        fn every_bit_counts(length in 0_usize..300, at in any::<prop::sample::Index>(), bit in 0_u8..8) {
            let (key, keys) = keys();
            let mut sealed = seal(&key, &content(length)).unwrap();
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert!(open(&keys, &sealed).is_err());
        }

        #[test]
        fn every_range_can_be_read(length in 0_usize..200_000, offset in 0_usize..210_000, wanted in 1_usize..70_000) {
            let (key, keys) = keys();
            let content = content(length);
            let sealed = seal(&key, &content).unwrap();
            let opened = Opened::new(Bytes(&sealed), sealed.len() as u64, &keys).unwrap();
            let mut buffer = vec![0; wanted];
            let read = opened.read_at(&mut buffer, offset as u64).unwrap();
            let expected = content.get(offset..).unwrap_or_default();
            prop_assert_eq!(read == 0, expected.is_empty());
            prop_assert_eq!(&buffer[..read], &expected[..read]);
        }
    }
}
