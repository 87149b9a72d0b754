//! The taking itself, from the request to the report.

use files::Replacement;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use text::escaped;

use crate::backend::{self, Keeping};
use crate::directory;
use crate::error::Error;
use crate::estate::{self, Advice, Elsewhere, FoundState};
use crate::git::GitSource;
use crate::pack::pack;
use crate::report::{Commit, StateKept, TakeReport};
use crate::request::{FORMAT, Source, TakeRequest};
use crate::selection::Selection;
use crate::submodules::Submodules;
use crate::tree::{Taken, Tree};
use crate::unpack::{self, Taking};
use crate::words::{shown, without_credentials};

/// The state that terraform reads and writes without a backend.
const STATE_NAME: &str = "terraform.tfstate";

/// Who keeps the state of the configuration in this directory; `None` if that can't be told.
pub fn kept_in(directory: &Path) -> Option<StateKept> {
    let files = backend::terraform_files(directory).ok()?;
    Some(match backend::keeping(directory, &files).ok()? {
        Keeping::Backend(kind) => StateKept::ByBackend { kind },
        Keeping::Daemon | Keeping::DaemonInstead { .. } => StateKept::ByDaemon,
    })
}

/// What a directory shows of its state before any run: who keeps it, and what lies elsewhere than where a run would look.
/// `None` if it is no configuration, or one that can't be read.
pub fn state_of(directory: &Path) -> Option<(StateKept, Option<Elsewhere>)> {
    let files = backend::terraform_files(directory).ok().filter(|files| !files.is_empty())?;
    let keeping = backend::keeping(directory, &files).ok()?;
    let (keeps, instead_of, local) = keeping.by();
    let (found, initialised) = estate::look_at(directory, local);
    let known = estate::Known {
        has_state: false,
        kept: None,
        keeps: &keeps,
        instead_of,
        initialised: initialised.as_deref(),
        found: &found,
    };
    let elsewhere = estate::elsewhere(known);
    Some((keeps, elsewhere))
}

/// Takes a configuration and tells the reader of `log`; git, where it is needed, writes to standard output and error.
///
/// On an error nothing is reported, and what already lies in the work directory is of no use.
pub fn take(request: &TakeRequest, log: &mut dyn Write) -> Result<TakeReport, Error> {
    if request.format != FORMAT {
        return Err(Error::Format { found: request.format });
    }
    let request = absolute(request)?;
    keep_apart(&request)?;
    let Filled { taken, root, commit, left } = fill(&request, log)?;

    let place = if root.as_os_str().is_empty() { taken.work.clone() } else { taken.work.join(&root) };
    let files = backend::terraform_files(&place).map_err(|cause| Error::Unreadable {
        path: place.clone(),
        cause,
        advice: "name a directory",
    })?;
    if files.is_empty() {
        return Err(Error::NoFiles {
            root: named(&request.source, &root),
            found: taken.directories_with_terraform_files(),
        });
    }
    let keeping = backend::keeping(&place, &files)?;
    ask_about_the_state(&request, &place, &root, &keeping, &left, log)?;
    let count = taken.files();
    say(
        log,
        &format!(
            "Taken: {} in {count} {}.",
            text::bytes(taken.bytes),
            if count == 1 { "file" } else { "files" }
        ),
    );

    // before anything of ours is added: the record holds what the user wrote
    let digest = request.archive.as_deref().map(|path| pack(&taken, path)).transpose()?;
    let state = match keeping {
        Keeping::Backend(kind) => {
            say(log, &format!("State: kept by the backend \"{}\".", escaped(&kind)));
            StateKept::ByBackend { kind }
        }
        Keeping::Daemon => {
            say(log, "State: kept by signalbox.");
            StateKept::ByDaemon
        }
        Keeping::DaemonInstead { of, file } => {
            say(
                log,
                &format!(
                    "State: kept by signalbox, in place of {} ({} is added).",
                    of.words(),
                    shown(Path::new(&file))
                ),
            );
            create(&place.join(file), 0o644, &mut backend::OVERRIDE.as_bytes())?;
            StateKept::ByDaemon
        }
    };
    for FoundState { path, .. } in left {
        let by = match &state {
            StateKept::ByDaemon => "signalbox".to_owned(),
            StateKept::ByBackend { kind } => format!("the backend \"{}\"", escaped(kind)),
        };
        say(log, &format!("Left out {}: the state of this workspace is kept by {by}.", shown(&path)));
    }
    if let (StateKept::ByDaemon, Some(current)) = (&state, &request.state) {
        let mut current = directory::open_named(current, "the daemon keeps it: look into its log")?;
        create(&place.join(STATE_NAME), 0o600, &mut current)?;
    }

    let report = TakeReport { format: FORMAT, root: place, commit, digest, state };
    write(&report, &request)?;
    Ok(report)
}

fn write(report: &TakeReport, request: &TakeRequest) -> Result<(), Error> {
    let write = || {
        let mut new = Replacement::begin(&request.report)?;
        new.file().write_all(&serde_json::to_vec_pretty(report)?)?;
        new.commit()
    };
    write().map_err(|cause| Error::Unwritable { path: request.report.clone(), cause })
}

/// A configuration that lies in the work directory.
struct Filled {
    taken: Taken,
    /// Where terraform runs, relative to the work directory.
    root: PathBuf,
    commit: Option<Commit>,
    /// States of the source that were not taken.
    left: Vec<FoundState>,
}

fn fill(request: &TakeRequest, log: &mut dyn Write) -> Result<Filled, Error> {
    let mut left = Vec::new();
    let limits = request.limits;
    let root = cleaned(&request.working_directory)?;
    let at = if root.as_os_str().is_empty() { String::new() } else { format!(", in {}", shown(&root)) };
    let (taken, commit) = match &request.source {
        Source::Directory { path } => {
            say(log, &format!("Configuration: {}{at}", shown(path)));
            let source = directory::open(path)?;
            let ignore = directory::ignore_rules(&source)?;
            let here = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let inside = |file: &PathBuf| file.strip_prefix(&here).ok().map(Path::to_owned);
            let left_out = request.leave_out.iter().filter_map(inside).collect();
            let selection = Selection { root: root.clone(), ignore, left_out, ..Selection::default() };
            let mut tree = Tree::new(emptied(&request.work)?, limits);
            directory::copy(&source, &selection, &mut tree, &mut left)?;
            (tree.finish()?, None)
        }
        Source::Git { url, reference } => {
            say(log, &format!("Configuration: {} at {}{at}", without_credentials(url), escaped(reference)));
            let source = GitSource::new(url, reference)?;
            let mut fetched = source.fetch(&request.scratch, log)?;
            let commit = &fetched.commit;
            say(log, &format!("Commit: {} {}", commit.sha, escaped(commit.subject().unwrap_or_default())));
            let mut tree = Tree::new(emptied(&request.work)?, limits);
            let selection = Selection {
                root: root.clone(),
                ignore: std::mem::take(&mut fetched.ignore),
                ..Selection::default()
            };
            let top = Path::new("");
            let mut taking = Taking { limits, selection: &selection, tree: &mut tree, left: &mut left };
            fetched.repository.unpack(&source, &fetched.commit, top, &mut taking)?;
            let mut submodules = Submodules { scratch: &request.scratch, taking, log, count: 0 };
            submodules.fetch(&source, &fetched, top, 1)?;
            let taken = tree.finish()?;
            no_pointers(&taken)?;
            (taken, Some(fetched.commit))
        }
        Source::Archive { path } => {
            say(log, &format!("Configuration: {}{at}", shown(path)));
            let file = directory::open_named(path, "upload the configuration again")?;
            // whoever packed it has followed its .terraformignore
            let selection = Selection { root: root.clone(), installed_modules: true, ..Selection::default() };
            let mut tree = Tree::new(emptied(&request.work)?, limits);
            let mut taking = Taking { limits, selection: &selection, tree: &mut tree, left: &mut left };
            unpack::archive(path, file, &mut taking)?;
            (tree.finish()?, None)
        }
    };
    is_directory(&taken, &root)?;
    Ok(Filled { taken, root, commit, left })
}

/// Refuses a run that would make again what was made already, unless a person said that it may.
fn ask_about_the_state(
    request: &TakeRequest,
    place: &Path,
    root: &Path,
    keeping: &Keeping,
    left: &[FoundState],
    log: &mut dyn Write,
) -> Result<(), Error> {
    let uploaded = matches!(request.source, Source::Archive { .. });
    let (keeps, instead_of, local) = keeping.by();
    // terraform itself uploads what names the very daemon
    let instead_of = instead_of.filter(|_| !uploaded);
    let (mut found, initialised) = match &request.source {
        Source::Directory { path } => estate::look_at(&path.join(root), local),
        // what is not left out lies in the configuration
        Source::Git { .. } | Source::Archive { .. } => estate::look_at(place, local),
    };
    if !matches!(request.source, Source::Directory { .. }) {
        let inside = |state: FoundState| FoundState { path: inside(place, state.path), ..state };
        found = found.into_iter().map(inside).collect();
        found.extend(left.iter().filter(|state| is_current(&state.path, left)).cloned());
    }
    let known = estate::Known {
        has_state: request.state.is_some(),
        kept: request.kept.as_ref(),
        keeps: &keeps,
        instead_of,
        initialised: initialised.as_deref(),
        found: &found,
    };
    match estate::elsewhere(known) {
        None => Ok(()),
        Some(_) if request.allow_new_state => {
            say(log, "State: a new one, although another was found (--allow-new-state).");
            Ok(())
        }
        Some(elsewhere) => {
            let workspace = request.workspace.clone();
            Err(Error::StateElsewhere(Box::new(Advice { workspace, elsewhere })))
        }
    }
}

/// A path in the work directory as one in the configuration.
fn inside(place: &Path, path: PathBuf) -> PathBuf {
    path.strip_prefix(place).map(Path::to_owned).unwrap_or(path)
}

/// A backup counts only where there is nothing that it is the backup of.
fn is_current(path: &Path, left: &[FoundState]) -> bool {
    let text = path.to_string_lossy();
    if text.ends_with(".tfstate") {
        return true;
    }
    let of = text.ends_with("terraform.tfstate.backup").then(|| text.trim_end_matches(".backup"));
    of.is_some_and(|of| left.iter().all(|other| other.path != Path::new(of)))
}

/// Refuses a file of which only the pointer of Git LFS was checked out.
fn no_pointers(taken: &Taken) -> Result<(), Error> {
    use crate::tree::Entry;
    const BEGINNING: &[u8] = b"version https://git-lfs.github.com/spec/";
    /// As the specification of pointers has it.
    const LONGEST: u64 = 1024;
    for (path, entry) in &taken.entries {
        if matches!(entry, Entry::File { size, .. } if (BEGINNING.len() as u64..LONGEST).contains(size)) {
            let place = taken.work.join(path);
            let content = fs::read(&place).map_err(|cause| Error::Copy { path: path.clone(), cause })?;
            if content.starts_with(BEGINNING) && content.windows(12).any(|line| line == b"\noid sha256:") {
                return Err(Error::LfsPointer { path: path.clone() });
            }
        }
    }
    Ok(())
}

/// The working directory, without `.` and `..` in it; empty for the root of the source.
fn cleaned(working_directory: &str) -> Result<PathBuf, Error> {
    let mut inside = PathBuf::new();
    for component in Path::new(working_directory).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(name) => inside.push(name),
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(Error::WorkingDirectory(escaped(working_directory)));
            }
        }
    }
    Ok(inside)
}

/// What a person calls the directory that terraform runs in.
fn named(source: &Source, root: &Path) -> PathBuf {
    match source {
        Source::Directory { path } | Source::Archive { path } if root.as_os_str().is_empty() => path.clone(),
        Source::Git { .. } if root.as_os_str().is_empty() => PathBuf::from("the repository"),
        _ => root.to_owned(),
    }
}

/// Refuses a path that is not there, is a file, or leads through a link: terraform would see `..` elsewhere than git.
fn is_directory(taken: &Taken, root: &Path) -> Result<(), Error> {
    use crate::tree::Entry;
    let mut upper: Vec<&Path> = root.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    upper.reverse();
    for part in upper {
        match taken.entries.get(part) {
            Some(Entry::Directory) => {}
            Some(Entry::Link { target }) => {
                return Err(Error::LinkNotFollowed {
                    path: part.to_owned(),
                    target: target.clone(),
                    advice: "let the working directory name the directory itself",
                });
            }
            Some(Entry::File { .. }) | None => {
                let found = taken.directories_with_terraform_files();
                return Err(Error::NoSuchPath { path: shown(root), found });
            }
        }
    }
    Ok(())
}

fn absolute(request: &TakeRequest) -> Result<TakeRequest, Error> {
    let absolute = |path: &Path| {
        std::path::absolute(path).map_err(|cause| Error::Unreadable {
            path: path.to_owned(),
            cause,
            advice: "give an absolute path",
        })
    };
    let source = match &request.source {
        Source::Directory { path } => Source::Directory { path: absolute(path)? },
        Source::Archive { path } => Source::Archive { path: absolute(path)? },
        git @ Source::Git { .. } => git.clone(),
    };
    Ok(TakeRequest {
        source,
        work: absolute(&request.work)?,
        scratch: absolute(&request.scratch)?,
        archive: request.archive.as_deref().map(absolute).transpose()?,
        state: request.state.as_deref().map(absolute).transpose()?,
        report: absolute(&request.report)?,
        ..request.clone()
    })
}

/// Makes the directory in which the work directory is to lie, and sees that emptying and filling that destroys nothing
/// that is needed, and copies nothing into itself.
fn keep_apart(request: &TakeRequest) -> Result<(), Error> {
    let unwritable = |cause| Error::Unwritable { path: request.work.clone(), cause };
    let (Some(beside), Some(name)) = (request.work.parent(), request.work.file_name()) else {
        return Err(unwritable(io::ErrorKind::InvalidInput.into()));
    };
    DirBuilder::new().recursive(true).mode(0o700).create(beside).map_err(unwritable)?;
    let work = fs::canonicalize(beside).map_err(unwritable)?.join(name);
    let overlap = |what, path: &Path, advice| {
        Err(Error::Overlap { what, path: path.to_owned(), work: request.work.clone(), advice })
    };
    if let Source::Directory { path } = &request.source {
        // one that is not there is reported when it is opened
        if let Ok(source) = fs::canonicalize(path)
            && (source.starts_with(&work) || work.starts_with(&source))
        {
            return overlap("the source directory", path, "move signalbox's `data_dir` out of the source");
        }
    }
    let archive = match &request.source {
        Source::Archive { path } => Some(path),
        Source::Directory { .. } | Source::Git { .. } => None,
    };
    let others = [
        ("the source archive", archive),
        ("the archive", request.archive.as_ref()),
        ("the state", request.state.as_ref()),
        ("the report", Some(&request.report)),
    ];
    for (what, path) in others {
        let Some(path) = path else { continue };
        let place = path.parent().and_then(|parent| fs::canonicalize(parent).ok());
        if place.is_some_and(|place| place.starts_with(&work)) || path.starts_with(&request.work) {
            return overlap(what, path, "keep it beside the work directory");
        }
    }
    Ok(())
}

/// The work directory with nothing in it.
fn emptied(work: &Path) -> Result<PathBuf, Error> {
    let unwritable = |cause| Error::Unwritable { path: work.to_owned(), cause };
    match fs::symlink_metadata(work) {
        Ok(found) if found.is_dir() => {
            files::empty_directory(work).map_err(unwritable)?;
            fs::set_permissions(work, Permissions::from_mode(0o700)).map_err(unwritable)?;
            return Ok(work.to_owned());
        }
        Ok(_) => return Err(unwritable(io::ErrorKind::NotADirectory.into())),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
        Err(cause) => return Err(unwritable(cause)),
    }
    DirBuilder::new().mode(0o700).create(work).map_err(unwritable)?;
    Ok(work.to_owned())
}

fn create(path: &Path, mode: u32, content: &mut dyn io::Read) -> Result<(), Error> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| io::copy(content, &mut file))
        .map(drop)
        .map_err(|cause| Error::Unwritable { path: path.to_owned(), cause })
}

/// A log that cannot be written to is no reason not to take a configuration.
fn say(log: &mut dyn Write, line: &str) {
    let _ = writeln!(log, "{}", line.trim_end()).and_then(|()| log.flush());
}
