use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use files::Replacement;
use seal::{KeyId, Keyring};

use super::UNFINISHED;
use crate::Error;

/// How files of a data directory lie there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lies {
    InClear,
    SealedWith(KeyId),
}

impl Lies {
    /// How what is written with these keys lies there.
    pub(crate) fn written_with(keys: &Keyring) -> Self {
        keys.writes_with().map_or(Self::InClear, Self::SealedWith)
    }
}

impl fmt::Display for Lies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InClear => f.write_str("clear"),
            Self::SealedWith(key) => key.fmt(f),
        }
    }
}

impl FromStr for Lies {
    type Err = seal::InvalidKeyId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "clear" { Ok(Self::InClear) } else { text.parse().map(Self::SealedWith) }
    }
}

/// `<data_dir>/keys`: how the files of a data directory may lie there, one way a line. A daemon that lacks one of the keys
/// learns of it here when it starts, and not from a run that can't be read.
#[derive(Debug, Clone)]
pub(crate) struct KeysInUse {
    path: PathBuf,
    ways: BTreeSet<Lies>,
}

impl KeysInUse {
    /// Reads them.
    pub(crate) fn read(data_dir: &Path) -> Result<Self, Error> {
        let path = data_dir.join("keys");
        let ways = match fs::read_to_string(&path) {
            Ok(text) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(|line| line.parse().map_err(|error| Error::damaged(path.display(), error)))
                .collect::<Result<_, _>>()?,
            // an earlier release wrote what is there
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let there =
                    any_blob(&data_dir.join("blobs")).map_err(|error| Error::data_dir(&path, &error))?;
                there.then_some(Lies::InClear).into_iter().collect()
            }
            Err(error) => return Err(Error::data_dir(&path, &error)),
        };
        Ok(Self { path, ways })
    }

    /// Refuses keys with which not everything can be read.
    pub(crate) fn check(&self, keys: &Keyring) -> Result<(), Error> {
        for way in &self.ways {
            if let Lies::SealedWith(key) = way
                && keys.key(*key).is_none()
            {
                let path = self.path.parent().unwrap_or(&self.path).to_owned();
                return Err(Error::NoKey { path, key: *key });
            }
        }
        Ok(())
    }

    pub(crate) fn has(&self, way: Lies) -> bool {
        self.ways.contains(&way)
    }

    /// Remembers that files may lie in this way. Durable when this returns.
    pub(crate) fn add(&mut self, way: Lies) -> Result<(), Error> {
        if self.ways.insert(way) { self.write() } else { Ok(()) }
    }

    /// Remembers that all of them lie in this way.
    pub(crate) fn only(&mut self, way: Lies) -> Result<(), Error> {
        self.ways = BTreeSet::from([way]);
        self.write()
    }

    fn write(&self) -> Result<(), Error> {
        let write = || {
            let mut file = Replacement::begin(&self.path)?;
            self.ways.iter().try_for_each(|way| writeln!(file.file(), "{way}"))?;
            file.commit_durably()
        };
        write().map_err(|error| Error::data_dir(&self.path, &error))
    }
}

fn any_blob(blobs: &Path) -> io::Result<bool> {
    match fs::read_dir(blobs) {
        Ok(mut entries) => entries.try_fold(false, |any, entry| Ok(any || entry?.file_name() != UNFINISHED)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
