//! A machine made of tables.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use config::Host;

#[derive(Debug, Default)]
pub(crate) struct FakeHost {
    pub(crate) env: BTreeMap<String, OsString>,
    pub(crate) directories: BTreeSet<PathBuf>,
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl FakeHost {
    pub(crate) fn new() -> Self {
        let directories =
            ["/etc/signalbox/policies", "/etc/signalbox/policies/baseline"].map(PathBuf::from).into();
        let env = [("DB_PASSWORD", "hunter2"), ("TRICKY", "${file(\"/etc/shadow\")} %{ if true }\"\\\n")];
        let files =
            [("/etc/signalbox/secret", &b"from a file\n"[..]), ("/etc/signalbox/binary", b"\xff\xfe")];
        Self {
            env: env.map(|(name, value)| (name.into(), value.into())).into(),
            directories,
            files: files.map(|(path, content)| (path.into(), content.into())).into(),
        }
    }
}

impl Host for FakeHost {
    fn env(&self, name: &str) -> Option<OsString> {
        self.env.get(name).cloned()
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.directories.contains(path)
    }

    fn read_file(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(path).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}
