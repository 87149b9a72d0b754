//! `signalbox sentinel fmt`.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, fchown};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use sentinel::format;
use serde_json::{Map, json};

use super::args::FmtArgs;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::terminal;

const STDIN: &str = "-";

pub(super) fn run(args: &FmtArgs, output: Output) -> Result<Exit, Failure> {
    let mut unformatted = Vec::new();
    let mut formatted = Map::new();
    let mut failed = None;
    for file in &args.files {
        match one(file, args, output) {
            Ok(Done { changes, text }) => {
                if changes {
                    unformatted.push(file.as_str());
                }
                formatted.extend(text.map(|text| (file.clone(), text.into())));
            }
            Err(failure) if failure.is_closed_output() => return Err(failure),
            // the others are formatted none the less
            Err(failure) => {
                output.failure(&failure);
                failed.get_or_insert(failure.exit());
            }
        }
    }
    if output.json {
        let mut document = json!({ "unformatted": unformatted, "written": args.write && !args.check });
        if !formatted.is_empty() {
            document["formatted"] = formatted.into();
        }
        output.document(&document, false)?;
    } else if args.check || args.write {
        // what came from stdin and went to stdout has no name to print
        let named = unformatted.iter().filter(|file| args.check || **file != STDIN);
        output.print(&named.map(|file| terminal::line(file) + "\n").collect::<String>())?;
    }
    Ok(match failed {
        Some(exit) => exit,
        None if args.check && !unformatted.is_empty() => Exit::Errored,
        None => Exit::Success,
    })
}

struct Done {
    /// Whether it was not formatted.
    changes: bool,
    /// What would have gone to stdout, for the document that goes there instead.
    text: Option<String>,
}

fn one(file: &str, args: &FmtArgs, output: Output) -> Result<Done, Failure> {
    let can_not = |what: &str, error: &io::Error| {
        Failure::usage(format!("can't {what} {file}: {error}"), "it has to be a file of a policy, in UTF-8")
    };
    let text = if file == STDIN { stdin() } else { fs::read_to_string(file) };
    let text = text.map_err(|error| can_not("read", &error))?;
    let formatted = format(if file == STDIN { "stdin" } else { file }, &text)?;
    let changes = formatted != text;
    let mut done = Done { changes, text: None };
    if args.check {
        return Ok(done);
    }
    if file == STDIN || !args.write {
        if output.json {
            done.text = Some(formatted);
        } else {
            output.print(&formatted)?;
        }
    } else if changes {
        replace(Path::new(file), &text, &formatted)
            .map_err(|error| Failure::Local(format!("can't write {file}: {error}")))?;
    }
    Ok(done)
}

fn stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// The file has the old text or the new one at every moment, and keeps its mode and its owner; a link to it stays
/// a link. Where no other file can be put in its place, it is written over.
fn replace(path: &Path, old: &str, new: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    // a file that may not be written is not replaced either
    let file = fs::OpenOptions::new().write(true).open(&path)?;
    let metadata = file.metadata()?;
    // its other names would keep the old text
    if metadata.nlink() == 1 && put_another(&path, &metadata, new)? {
        return Ok(());
    }
    write_over(&file, old, new)
}

/// Puts another file in the place of one. False: that is not allowed here, or the other one would not be like it,
/// and nothing has changed.
fn put_another(path: &Path, metadata: &fs::Metadata, text: &str) -> io::Result<bool> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    let mut other = match tempfile::Builder::new().prefix(".signalbox-fmt-").tempfile_in(folder) {
        Err(error) if is_forbidden(&error) => return Ok(false),
        made => made?,
    };
    // before the mode is set, of which a change of the owner takes bits away
    if !keeps_owner(other.as_file(), metadata)? {
        return Ok(false);
    }
    other.write_all(text.as_bytes())?;
    other.as_file().set_permissions(metadata.permissions())?;
    other.as_file().sync_all()?;
    match other.persist(path) {
        Err(error) if is_forbidden(&error.error) => Ok(false),
        Err(error) => Err(error.error),
        Ok(_) => Ok(true),
    }
}

/// Whether it is the folder that is in the way: it belongs to somebody else, or the file is mounted in it. With any
/// other error, such as a full disk, writing over the file would not go well either.
fn is_forbidden(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | ResourceBusy)
}

/// Whether a file has the owner and the group of another now. Who may write a file by its group needs not be able to
/// give one away, and must not lock the group out.
fn keeps_owner(file: &fs::File, old: &fs::Metadata) -> io::Result<bool> {
    let new = file.metadata()?;
    let is_same = (new.uid(), new.gid()) == (old.uid(), old.gid());
    Ok(is_same || fchown(file, Some(old.uid()), Some(old.gid())).is_ok())
}

fn write_over(file: &fs::File, old: &str, new: &str) -> io::Result<()> {
    if new.len() > old.len() {
        reserve(file, old.len() as u64, new.len() as u64)?;
    }
    or_put_back(file, old, || put(file, new))
}

/// Sees that there is room for the longer text, where the file system can say so.
fn reserve(file: &fs::File, old: u64, new: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, new) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(error) => {
            // gives back what it got
            let _ = file.set_len(old);
            Err(error.into())
        }
    }
}

fn put(file: &fs::File, text: &str) -> io::Result<()> {
    file.write_all_at(text.as_bytes(), 0)?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// Writes the old text again if it fails to write another.
fn or_put_back(file: &fs::File, old: &str, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    write().map_err(|error| match put(file, old) {
        Ok(()) => error,
        Err(again) => io::Error::new(
            error.kind(),
            format!("{error}; and its old text can't be put back, so that part of it may be lost: {again}"),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_written_over_has_all_of_the_new_text_or_all_of_the_old() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.sentinel");
        for (old, new) in [("main=true # old\n", "main = 1\n"), ("main=1\n", "main = true # longer\n")] {
            fs::write(&path, old).unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            let full = || {
                file.write_all_at(&new.as_bytes()[..new.len() - 2], 0)?;
                Err(io::ErrorKind::StorageFull.into())
            };
            let error = or_put_back(&file, old, full).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            assert_eq!(fs::read_to_string(&path).unwrap(), old);
            write_over(&file, old, new).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), new);
        }
    }

    #[test]
    fn a_file_is_written_over_only_if_its_folder_is_in_the_way() {
        for (errno, is) in [
            (Errno::ACCESS, true),
            (Errno::PERM, true),
            (Errno::ROFS, true),
            (Errno::BUSY, true),
            (Errno::NOSPC, false),
            (Errno::DQUOT, false),
            (Errno::IO, false),
            (Errno::MFILE, false),
        ] {
            assert_eq!(is_forbidden(&errno.into()), is, "{errno}");
        }
    }
}
