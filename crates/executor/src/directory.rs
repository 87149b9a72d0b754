//! The execution directory: names of its files, and how they are read and written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use files::Replacement;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::result::ExecutionResult;
use crate::spec::FORMAT;

/// Paths inside one execution directory.
#[derive(Clone, Debug)]
pub(crate) struct Directory {
    path: PathBuf,
}

impl Directory {
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        if path.is_absolute() {
            Ok(Self { path: path.to_owned() })
        } else {
            Err(Error::RelativePath { path: path.to_owned() })
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn spec(&self) -> PathBuf {
        self.path.join("spec.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.path.join("lock")
    }

    pub(crate) fn claim(&self) -> PathBuf {
        self.path.join("claim.json")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.path.join("state.json")
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(crate) fn result(&self) -> PathBuf {
        self.path.join("result.json")
    }

    pub(crate) fn control_key(&self) -> PathBuf {
        self.path.join("control.key")
    }

    pub(crate) fn diagnostics(&self) -> PathBuf {
        self.path.join("executor.err")
    }

    /// Creates it, readable by its owner alone. Says which directories have to be made durable for that to last.
    pub(crate) fn create(&self) -> Result<Vec<PathBuf>, Error> {
        let missing: Vec<&Path> = self.path.ancestors().take_while(|path| !path.exists()).collect();
        if !missing.is_empty() {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&self.path)
                .map_err(Error::io("create", &self.path))?;
        }
        Ok(missing.into_iter().filter_map(Path::parent).map(Path::to_owned).collect())
    }

    /// Whether somebody has taken the execution over, or taken it back, so that nobody may start it any more.
    ///
    /// A claim that cannot be understood is one all the same; an empty one was never completed, so that nothing ran, or
    /// nothing that may not run again. A result without a claim is that of an execution that was taken back.
    pub(crate) fn is_claimed(&self) -> Result<bool, Error> {
        Ok(read_completed(&self.claim())?.is_some() || self.unclaimed_result()?.is_some())
    }

    /// The result of an execution that has no claim. One that is damaged was left by a repeatable execution whose claim
    /// was lost in a power cut, and counts as little as that.
    pub(crate) fn unclaimed_result(&self) -> Result<Option<ExecutionResult>, Error> {
        match read_versioned(&self.result()) {
            Err(Error::Damaged { .. }) => Ok(None),
            result => result,
        }
    }

    /// The control socket as a path short enough for `sockaddr_un`, whatever the length of the directory's own.
    pub(crate) fn control_socket(&self) -> io::Result<ControlSocket> {
        let directory = File::open(&self.path)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/control.sock", directory.as_raw_fd()));
        Ok(ControlSocket { path, _directory: directory })
    }
}

/// What nobody needs any more once the end of an execution is known for good: all of its directory but the claim and
/// the result, the log, the lock, and what the executor had to say about itself.
pub fn expendable(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let directory = Directory { path: directory.to_owned() };
    let mut kept = vec![directory.claim(), directory.result(), directory.log(), directory.lock()];
    if fs::metadata(directory.diagnostics()).is_ok_and(|said| said.len() > 0) {
        kept.push(directory.diagnostics());
    }
    let entries = match fs::read_dir(directory.path()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| !kept.contains(path)).collect())
}

/// The path holds as long as this does.
pub(crate) struct ControlSocket {
    path: PathBuf,
    _directory: File,
}

impl ControlSocket {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Replaces the file, or leaves the old one as it was. Durable when this returns.
pub(crate) fn write_atomically<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    new_content(path, content)?.commit_durably()
}

/// Creates a file that did not exist, or was never completed, in one piece. After a power cut it may be empty, which
/// counts as not there.
pub(crate) fn create<T: Serialize>(path: &Path, content: &T) -> io::Result<File> {
    let mut file = files::create_private(path)?;
    let written =
        serde_json::to_vec(content).map_err(Into::into).and_then(|content| file.write_all(&content));
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map(|()| file)
}

/// [`create`], and durable when this returns.
pub(crate) fn create_durably<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    let file = create(path, content)?;
    let directory = File::open(path.parent().unwrap_or(path));
    let synced = directory.and_then(|directory| sync_together([&file, &directory]));
    if synced.is_err() {
        let _ = fs::remove_file(path);
    }
    synced
}

/// A file to hold a lock on, made if it is not there; what it holds stays.
pub(crate) fn lock_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Makes files and directories durable at once: the disk is asked to flush its cache for each, which takes it some
/// milliseconds, and it does that once for all who ask together.
///
/// # Errors
/// The first, after all were tried.
pub fn sync_together<'a>(files: impl IntoIterator<Item = &'a File>) -> io::Result<()> {
    let mut files = files.into_iter();
    let Some(first) = files.next() else { return Ok(()) };
    std::thread::scope(|scope| {
        let started: Vec<_> = files
            .map(|file| (file, std::thread::Builder::new().spawn_scoped(scope, || file.sync_all())))
            .collect();
        let first = first.sync_all();
        let rest = started.into_iter().map(|(file, thread)| match thread.map(|thread| thread.join()) {
            Ok(Ok(synced)) => synced,
            // no thread to be had
            Ok(Err(_)) | Err(_) => file.sync_all(),
        });
        // not `collect`, which would leave what comes after an error untried
        rest.fold(first, Result::and)
    })
}

/// Replaces the file for all who read it from now on; after a power cut it may be the old one, or empty.
pub(crate) fn replace<T: Serialize>(path: &Path, content: &T) -> io::Result<()> {
    new_content(path, content)?.commit()
}

fn new_content<'p, T: Serialize>(path: &'p Path, content: &T) -> io::Result<Replacement<'p>> {
    let mut new = Replacement::begin(path)?;
    new.file().write_all(&serde_json::to_vec(content)?)?;
    Ok(new)
}

/// Reads a file of this crate; `None` if there is none, or one that was never completed.
pub(crate) fn read_versioned<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, Error> {
    read_completed(path)?.map(|bytes| parse_versioned(path, &bytes)).transpose()
}

/// A file whose content had not reached the disk when the power went is empty or full of zeros afterwards.
fn read_completed(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    match fs::read(path) {
        Ok(bytes) if bytes.iter().all(|byte| *byte == 0) => Ok(None),
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

fn parse_versioned<T: DeserializeOwned>(path: &Path, bytes: &[u8]) -> Result<T, Error> {
    #[derive(serde::Deserialize)]
    struct Header {
        format: u64,
    }
    let damaged = |error: serde_json::Error| Error::Damaged { path: path.to_owned(), why: error.to_string() };
    // the version first: what follows it may have another shape in another format
    let Header { format } = serde_json::from_slice(bytes).map_err(damaged)?;
    if format > u64::from(FORMAT) {
        return Err(Error::UnknownFormat { path: path.to_owned(), found: format, known: FORMAT });
    }
    serde_json::from_slice(bytes).map_err(damaged)
}
