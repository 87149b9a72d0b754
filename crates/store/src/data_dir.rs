//! The data directory, and the lock that gives it to one daemon alone.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::Error;

/// A data directory that is ours while this lives. The kernel drops the lock with the process, however
/// that ends.
#[derive(Debug)]
pub(crate) struct DataDir {
    path: PathBuf,
    claimed_at: SystemTime,
    _lock: File,
}

impl DataDir {
    /// Makes the directory and what belongs in it, and locks it.
    pub(crate) fn claim(path: &Path) -> Result<Self, Error> {
        private_dir(path).map_err(|error| Error::data_dir(path, &error))?;
        // children may run in another directory, and paths are recorded
        let path = path.canonicalize().map_err(|error| Error::data_dir(path, &error))?;
        let lock = lock(&path)?;
        let claimed_at = lock.metadata().and_then(|metadata| metadata.modified());
        let claimed_at = claimed_at.map_err(|error| Error::data_dir(&path, &error))?;
        let claimed = Self { path, claimed_at, _lock: lock };
        for dir in [claimed.blobs(), claimed.blobs().join(crate::blobs::UNFINISHED)] {
            private_dir(&dir).map_err(|error| Error::data_dir(&dir, &error))?;
        }
        let database = claimed.database();
        claimed.prepare_database(&database).map_err(|error| Error::data_dir(&database, &error))?;
        crate::blobs::remove_unfinished(&claimed.blobs())?;
        Ok(claimed)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// When it was claimed, by the clock of its file system.
    pub(crate) const fn claimed_at(&self) -> SystemTime {
        self.claimed_at
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path.join("signalbox.db")
    }

    pub(crate) fn blobs(&self) -> PathBuf {
        self.path.join("blobs")
    }

    /// SQLite would make the file readable for all; its journals take over the mode of the file.
    fn prepare_database(&self, database: &Path) -> std::io::Result<()> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(database)?;
        files::sync_directory(&self.path)
    }
}

/// How long a daemon that is there may take to stop: it may have been told so just now.
const WHILE_IT_STOPS: Duration = Duration::from_secs(1);

/// How long the lock may outlive its holder. A child that the holder was about to start has the lock, as it has all open
/// files, from the moment at which it is made to that at which its program starts, which is short after; and it lives on
/// when the holder is killed in between.
const WHILE_NOBODY_IS_LEFT: Duration = Duration::from_secs(10);

const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// Who says in the file that it has the lock.
fn holder(file: &mut File) -> Option<u32> {
    let mut holder = String::new();
    file.rewind().ok()?;
    file.read_to_string(&mut holder).ok()?;
    holder.trim().parse().ok()
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn lock(dir: &Path) -> Result<File, Error> {
    let path = dir.join("lock");
    let unusable = |error: &std::io::Error| Error::data_dir(&path, error);
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true).mode(0o600);
    let mut file = options.open(&path).map_err(|error| unusable(&error))?;
    let started = Instant::now();
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(unusable(&error.into())),
        }
        let holder = holder(&mut file);
        let patience = if holder.is_some_and(is_alive) { WHILE_IT_STOPS } else { WHILE_NOBODY_IS_LEFT };
        if started.elapsed() >= patience {
            return Err(Error::DataDirInUse { path: dir.to_owned(), pid: holder });
        }
        std::thread::sleep(LOCK_PAUSE);
    }
    let write = |file: &mut File| {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write(&mut file).map_err(|error| unusable(&error))?;
    Ok(file)
}

/// Makes a directory for this user alone, parents included; one that is there is left as it is.
pub(crate) fn private_dir(path: &Path) -> std::io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        private_dir(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        // somebody else was faster, which is fine for a directory and nothing else
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => files::sync_directory(parent),
            None => Ok(()),
        },
    }
}
