use std::io::{self, Write};

use aead_stream::StreamPrimitive as _;

use crate::format::{Head, PIECE, Stream, TAG};
use crate::key::{Key, random};

/// Seals what is written to it. Without [`finish`](Self::finish) the file has no end, and can't be read.
pub struct Sealer<W> {
    into: W,
    head: Head,
    stream: Stream,
    position: u32,
    /// The piece that is not full yet.
    piece: Vec<u8>,
}

impl<W: Write> Sealer<W> {
    /// Writes the head.
    ///
    /// # Errors
    /// Of the writer; or when the operating system has no random bytes.
    pub fn new(key: &Key, mut into: W) -> io::Result<Self> {
        let head = Head::new(key.id(), random()?);
        into.write_all(&head.0)?;
        let stream = head.stream(key);
        Ok(Self { into, head, stream, position: 0, piece: Vec::with_capacity(PIECE + TAG) })
    }

    /// Writes what is left, and the end.
    ///
    /// # Errors
    /// Of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_piece(true)?;
        self.into.flush()?;
        Ok(self.into)
    }

    fn write_piece(&mut self, last: bool) -> io::Result<()> {
        self.stream
            .encrypt_in_place(self.position, last, &self.head.0, &mut self.piece)
            .map_err(|_| io::Error::other("the file is too long to be sealed"))?;
        self.into.write_all(&self.piece)?;
        self.piece.clear();
        if !last {
            let next = self.position.checked_add(1);
            self.position = next.ok_or_else(|| io::Error::other("the file is too long to be sealed"))?;
        }
        Ok(())
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // a full piece waits for more, since only then it is known not to be the last
        if self.piece.len() == PIECE && !bytes.is_empty() {
            self.write_piece(false)?;
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// What is not a whole piece yet stays here.
    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

/// Bytes as a sealed file.
///
/// # Errors
/// When the operating system has no random bytes.
pub fn seal(key: &Key, bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut sealer = Sealer::new(key, Vec::with_capacity(bytes.len() + PIECE))?;
    sealer.write_all(bytes)?;
    sealer.finish()
}
