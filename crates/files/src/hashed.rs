use std::io::{self, Write};

use sha2::{Digest as _, Sha256};

/// Counts and hashes what is written through it.
#[derive(Debug)]
pub struct Hashed<W> {
    inner: W,
    sha256: Sha256,
    size: u64,
}

impl<W: Write> Hashed<W> {
    /// Writes on to `inner`.
    pub fn new(inner: W) -> Self {
        Self { inner, sha256: Sha256::new(), size: 0 }
    }

    /// The SHA-256 of all bytes, and their number; what `inner` still held back has been written.
    ///
    /// # Errors
    /// When that can't be written.
    pub fn finish(mut self) -> io::Result<([u8; 32], u64)> {
        self.inner.flush()?;
        let (_, sha256, size) = self.into_parts();
        Ok((sha256, size))
    }

    /// What was written to, with the SHA-256 of all bytes, and their number. Nothing is flushed.
    pub fn into_parts(self) -> (W, [u8; 32], u64) {
        (self.inner, self.sha256.finalize().into(), self.size)
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sha256.update(&bytes[..written]);
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes two bytes at once.
    struct Slow(Vec<u8>);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend(bytes.iter().take(2));
            Ok(bytes.len().min(2))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_written_is_hashed_and_counted_once() {
        let mut hashed = Hashed::new(Slow(Vec::new()));
        hashed.write_all(b"abcde").unwrap();
        assert_eq!(hashed.inner.0, b"abcde");
        let expected: [u8; 32] = Sha256::digest(b"abcde").into();
        assert_eq!(hashed.finish().unwrap(), (expected, 5));
    }
}
