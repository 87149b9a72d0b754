//! A tar stream as a source: an upload, or what `git archive` writes.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;
use tar::EntryType;

use crate::error::{Error, Kind};
use crate::estate::{Content, FoundState};
use crate::request::Limits;
use crate::selection::{Selection, Verdict};
use crate::tree::Tree;

/// Unpacked bytes per packed byte. Terraform files shrink to a tenth; gzip cannot do better than a thousandth.
const MAX_RATIO: u64 = 200;

/// So much may be unpacked whatever its ratio: a small archive of repetitive files is not an attack.
const RATIO_FROM: u64 = 16 * 1024 * 1024;

/// What an entry may cost beside its content: its header, padding, and those of a long name.
const MAX_ENTRY_OVERHEAD: u64 = 8 * 1024;

/// What a source is taken into, and what of it.
pub(crate) struct Taking<'a> {
    pub(crate) limits: Limits,
    pub(crate) selection: &'a Selection,
    pub(crate) tree: &'a mut Tree,
    /// States that are left out.
    pub(crate) left: &'a mut Vec<FoundState>,
}

/// Unpacks a `.tar.gz`.
pub(crate) fn archive(path: &Path, file: File, taking: &mut Taking<'_>) -> Result<(), Error> {
    let packed = Rc::new(Cell::new(0));
    let unpacked = MultiGzDecoder::new(Counted { inner: file, count: packed.clone() });
    tar(path, Path::new(""), unpacked, Some(packed), taking)
}

/// Unpacks a tar stream into the folder `below` of the configuration. `packed` counts the bytes that it is made from, if it
/// is compressed; `path` names it.
pub(crate) fn tar(
    path: &Path,
    below: &Path,
    stream: impl Read,
    packed: Option<Rc<Cell<u64>>>,
    taking: &mut Taking<'_>,
) -> Result<(), Error> {
    let limits = taking.limits;
    let stopped = Rc::new(Cell::new(None));
    let most = limits.max_bytes.saturating_add(limits.max_files.saturating_mul(MAX_ENTRY_OVERHEAD));
    let guard = Guard { inner: stream, count: 0, most, packed, stopped: stopped.clone() };
    let mut archive = tar::Archive::new(guard);
    let broken = |cause| Error::Archive { path: path.to_owned(), cause };
    let result = entries(&mut archive, &broken, below, taking).and_then(|()| {
        // the checksum of the compression stands at its end
        io::copy(&mut archive.into_inner(), &mut io::sink()).map(drop).map_err(broken)
    });
    match (stopped.get(), result) {
        (Some(Stop::Ratio), Err(_)) => Err(Error::Ratio { limit: MAX_RATIO }),
        (Some(Stop::Length), Err(_)) => Err(Error::Stream { limit: most }),
        (_, Err(Error::Copy { cause, .. })) if is_broken_stream(&cause) => Err(broken(cause)),
        (_, result) => result,
    }
}

fn entries(
    archive: &mut tar::Archive<impl Read>,
    broken: &impl Fn(io::Error) -> Error,
    below: &Path,
    Taking { selection, tree, left, .. }: &mut Taking<'_>,
) -> Result<(), Error> {
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let kind = entry.header().entry_type();
        if kind == EntryType::XGlobalHeader {
            continue;
        }
        let path = below.join(inside(&entry.path().map_err(broken)?)?);
        if path.as_os_str().is_empty() && kind == EntryType::Directory {
            continue;
        }
        match selection.verdict(&path, kind == EntryType::Directory) {
            Verdict::Take => {}
            Verdict::LeaveButDescend => continue,
            Verdict::Leave => {
                if selection.is_state(&path) && kind != EntryType::Directory {
                    left.push(FoundState { path, content: Content::read(&mut entry) });
                }
                continue;
            }
        }
        match kind {
            EntryType::Regular | EntryType::Continuous => {
                let mode = entry.header().mode().map_err(broken)?;
                let size = entry.size();
                if tree.file(&path, mode, size, &mut entry)? != size {
                    return Err(broken(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends too early")));
                }
            }
            EntryType::Directory => tree.directory(&path)?,
            EntryType::Symlink => {
                let target = entry.link_name().map_err(broken)?.unwrap_or_default().into_owned();
                tree.link(&path, target)?;
            }
            EntryType::Link => return Err(Error::Kind { path, kind: Kind::HardLink }),
            EntryType::Fifo => return Err(Error::Kind { path, kind: Kind::Fifo }),
            EntryType::Char | EntryType::Block => return Err(Error::Kind { path, kind: Kind::Device }),
            _ => return Err(Error::Kind { path, kind: Kind::Special }),
        }
    }
    Ok(())
}

/// The name of an entry without `.` in it, if it leads nowhere else.
fn inside(path: &Path) -> Result<PathBuf, Error> {
    let mut inside = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => inside.push(name),
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(Error::EntryLeaves { path: path.to_owned() });
            }
        }
    }
    Ok(inside)
}

/// What the decoders of gzip and tar say of a damaged stream, as opposed to what a full disk says.
fn is_broken_stream(cause: &io::Error) -> bool {
    matches!(
        cause.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Other
    )
}

struct Counted<R> {
    inner: R,
    count: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count.set(self.count.get() + count as u64);
        Ok(count)
    }
}

#[derive(Clone, Copy)]
enum Stop {
    Length,
    Ratio,
}

/// Ends a stream that is too long, whether what it holds is taken, left out, or the name of an entry.
struct Guard<R> {
    inner: R,
    count: u64,
    most: u64,
    packed: Option<Rc<Cell<u64>>>,
    stopped: Rc<Cell<Option<Stop>>>,
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.count += count as u64;
        let ratio = self.packed.as_ref().is_some_and(|packed| self.count / MAX_RATIO > packed.get());
        let stop = match () {
            () if self.count > self.most => Stop::Length,
            () if ratio && self.count > RATIO_FROM => Stop::Ratio,
            () => return Ok(count),
        };
        self.stopped.set(Some(stop));
        Err(io::Error::other("it is too long"))
    }
}
