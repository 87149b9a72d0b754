//! `signalbox sentinel fmt`.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use sentinel::format;
use serde_json::json;

use super::args::FmtArgs;
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::safe;

const STDIN: &str = "-";

pub(super) fn run(args: &FmtArgs, output: Output) -> Result<Exit, Failure> {
    let mut unformatted = Vec::new();
    let mut failed = None;
    for file in &args.files {
        match one(file, args, output) {
            Ok(false) => {}
            Ok(true) => unformatted.push(file.as_str()),
            Err(failure) if failure.is_closed_output() => return Err(failure),
            // the others are formatted none the less
            Err(failure) => {
                output.failure(&failure);
                failed.get_or_insert(failure.exit());
            }
        }
    }
    if output.json {
        output
            .document(&json!({ "unformatted": unformatted, "written": args.write && !args.check }), false)?;
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

/// Whether it was not formatted.
fn one(file: &str, args: &FmtArgs, output: Output) -> Result<bool, Failure> {
    let can_not = |what: &str, error: &io::Error| {
        Failure::usage(format!("can't {what} {file}: {error}"), "it has to be a file of a policy, in UTF-8")
    };
    let text = if file == STDIN { stdin() } else { fs::read_to_string(file) };
    let text = text.map_err(|error| can_not("read", &error))?;
    let formatted = format(if file == STDIN { "stdin" } else { file }, &text)?;
    let changes = formatted != text;
    if args.check {
        return Ok(changes);
    }
    if file == STDIN || !args.write {
        if !output.json {
            output.print(&formatted)?;
        }
    } else if changes {
        replace(Path::new(file), &formatted)
            .map_err(|error| Failure::Local(format!("can't write {file}: {error}")))?;
    }
    Ok(changes)
}

fn stdin() -> io::Result<String> {
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text)?;
    Ok(text)
}

/// The file has the old text or the new one at every moment, and keeps its mode; a link to it stays a link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = path.canonicalize()?;
    // a file that may not be written is not replaced either
    let permissions = fs::OpenOptions::new().write(true).open(&path)?.metadata()?.permissions();
    let mut file = tempfile::Builder::new()
        .prefix(".signalbox-fmt-")
        .tempfile_in(path.parent().unwrap_or_else(|| Path::new("/")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}
