use std::ffi::OsString;
use std::io::{self, Read};
use std::path::Path;

/// What reading a configuration asks of the machine, so that tests can answer instead.
pub trait Host {
    /// The environment variable of that name, if it is set.
    fn env(&self, name: &str) -> Option<OsString>;

    /// Whether the path is a directory, or a link to one.
    fn is_dir(&self, path: &Path) -> bool;

    /// The whole file.
    ///
    /// # Errors
    ///
    /// Whatever the file system answers; the text ends up in a diagnostic.
    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The machine that the program runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemHost;

impl SystemHost {
    /// Bytes that a file may have, the configuration as well as one read by `file("…")`: enough for 10,000 workspaces
    /// with more settings than most have.
    pub const FILE_LIMIT: u64 = 16 << 20;
}

impl Host for SystemHost {
    fn env(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn is_dir(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        // before the open: opening a named pipe would block a reload for ever
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let mut content = Vec::new();
        std::fs::File::open(path)?.take(Self::FILE_LIMIT + 1).read_to_end(&mut content)?;
        if content.len() as u64 > Self::FILE_LIMIT {
            return Err(io::Error::other(format!("larger than {} MiB", Self::FILE_LIMIT >> 20)));
        }
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "content").unwrap();
        assert_eq!(SystemHost.read_file(&path).unwrap(), b"content");
        std::fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(SystemHost::FILE_LIMIT + 1)
            .unwrap();
        assert_eq!(SystemHost.read_file(&path).unwrap_err().to_string(), "larger than 16 MiB");
        assert_eq!(SystemHost.read_file(folder.path()).unwrap_err().to_string(), "not a regular file");
        assert!(SystemHost.is_dir(folder.path()) && !SystemHost.is_dir(&path));
    }
}
