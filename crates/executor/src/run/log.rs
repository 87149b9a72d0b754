//! The log that the steps write to, and the executor's own words in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{FallocateFlags, fallocate};

use crate::run::diagnostics::complain;

/// One open file description that every step writes to, so that the order of its output is kept.
pub(crate) struct Log {
    file: File,
}

impl Log {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        // what a repeatable execution had written before a power cut that took its claim; it may be kept under another name
        if fs::symlink_metadata(path).is_ok_and(|left| left.is_file()) {
            files::remove(path)?;
        }
        Self::go_on(path)
    }

    /// One that an execution before this has begun, or may have.
    pub(crate) fn go_on(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file })
    }

    /// A log that cannot be written (a full disk) must not stop the work: what is lost is said on standard error.
    pub(crate) fn write(&mut self, text: &str) {
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            complain(format_args!("cannot write to the log: {error}; it lacks {text:?}"));
        }
    }

    /// Gives the log blocks on the disk beyond its end, in case that there are none left when they are needed.
    pub(crate) fn reserve(&self, bytes: u64) {
        if bytes > 0
            && let Err(error) = fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, bytes)
        {
            complain(format_args!("cannot set space aside for the log: {error}"));
        }
    }

    /// Gives back what was set aside and not needed.
    pub(crate) fn give_back(&self) {
        let given_back = self.file.metadata().and_then(|metadata| self.file.set_len(metadata.len()));
        if let Err(error) = given_back {
            complain(format_args!("cannot give back the space that was set aside for the log: {error}"));
        }
    }

    /// A line of the executor's own, on a line of its own.
    pub(crate) fn say(&mut self, words: &str) {
        let break_before = if self.ends_within_a_line() { "\n" } else { "" };
        self.write(&format!("{break_before}signalbox: {words}\n"));
    }

    /// For a child's standard output or standard error.
    pub(crate) fn stdio(&self) -> io::Result<Stdio> {
        self.file.try_clone().map(Stdio::from)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    fn ends_within_a_line(&self) -> bool {
        let mut last = [0];
        self.file
            .metadata()
            .and_then(|metadata| metadata.len().checked_sub(1).ok_or(io::ErrorKind::UnexpectedEof.into()))
            .and_then(|offset| self.file.read_exact_at(&mut last, offset))
            .is_ok_and(|()| last != *b"\n")
    }
}
