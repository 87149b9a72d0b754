use std::fmt;
use std::io;

use rustix::io::Errno;

/// Whether an error of the operating system can pass by itself, so that trying again later makes sense: what was
/// refused for want of space, of memory, of descriptors or of time may be granted in a minute. A missing right, a missing
/// file or one of the wrong kind stays so until somebody does something.
///
/// This is the one place that decides it. What is not known can pass: it is tried again for a while, and not for ever.
pub fn can_pass(error: &io::Error) -> bool {
    match Errno::from_io_error(error) {
        Some(errno) => !matches!(
            errno,
            Errno::PERM
                | Errno::ACCESS
                | Errno::NOENT
                | Errno::NOTDIR
                | Errno::ISDIR
                | Errno::EXIST
                | Errno::NOTEMPTY
                | Errno::INVAL
                | Errno::LOOP
                | Errno::NAMETOOLONG
                | Errno::XDEV
                | Errno::FBIG
                | Errno::NXIO
                | Errno::NODEV
                | Errno::NOSYS
                | Errno::NOTSUP
                | Errno::NOEXEC
                | Errno::TOOBIG
                | Errno::OVERFLOW
                | Errno::ILSEQ
        ),
        None => !matches!(
            error.kind(),
            io::ErrorKind::NotFound
                | io::ErrorKind::PermissionDenied
                | io::ErrorKind::AlreadyExists
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidFilename
                | io::ErrorKind::ArgumentListTooLong
                | io::ErrorKind::FileTooLarge
                | io::ErrorKind::CrossesDevices
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::IsADirectory
                | io::ErrorKind::DirectoryNotEmpty
                | io::ErrorKind::Unsupported
        ),
    }
}

/// An error of the operating system that can be kept and copied: its words, and whether it [can pass](can_pass).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    words: String,
    can_pass: bool,
}

impl Failure {
    /// Whether it can pass by itself.
    pub const fn can_pass(&self) -> bool {
        self.can_pass
    }
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self { words: error.to_string(), can_pass: can_pass(error) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_short_can_pass_and_what_is_wrong_can_not() {
        for (errno, passes) in [
            (Errno::NOSPC, true),
            (Errno::DQUOT, true),
            (Errno::MFILE, true),
            (Errno::NFILE, true),
            (Errno::NOMEM, true),
            (Errno::AGAIN, true),
            (Errno::IO, true),
            (Errno::ROFS, true),
            (Errno::STALE, true),
            (Errno::ACCESS, false),
            (Errno::PERM, false),
            (Errno::NOENT, false),
            (Errno::NAMETOOLONG, false),
        ] {
            let error = io::Error::from(errno);
            assert_eq!(can_pass(&error), passes, "{error}");
            assert_eq!(Failure::from(&error).can_pass(), passes);
            // with the words of whoever passes it on
            let told = io::Error::new(error.kind(), format!("x: {error}"));
            if !passes {
                assert!(!can_pass(&told), "{told}");
            }
        }
    }
}
