//! `signalbox sentinel fmt`.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::Path;

use sentinel::format;
use serde_json::{Map, json};

use super::args::FmtArgs;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::safe;

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
        output.print(&named.map(|file| safe::line(file) + "\n").collect::<String>())?;
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
        replace(Path::new(file), &formatted)
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
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    // a file that may not be written is not replaced either
    let mut old = fs::OpenOptions::new().write(true).open(&path)?;
    let metadata = old.metadata()?;
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    let other = match metadata.nlink() {
        1 => tempfile::Builder::new().prefix(".signalbox-fmt-").tempfile_in(folder),
        // its other names would keep the old text
        _ => Err(io::ErrorKind::Unsupported.into()),
    };
    let Ok(mut file) = other else {
        old.write_all(text.as_bytes())?;
        old.set_len(text.len() as u64)?;
        return old.sync_all();
    };
    file.write_all(text.as_bytes())?;
    keep_owner(file.as_file(), &metadata)?;
    file.as_file().set_permissions(metadata.permissions())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

/// Before the mode is set, of which a change of the owner takes bits away.
fn keep_owner(file: &fs::File, old: &fs::Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match fchown(file, Some(old.uid()), Some(old.gid())) {
        // who may write a file needs not be able to give one away
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        done => done,
    }
}
