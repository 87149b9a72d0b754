//! The files below the folder of a policy set.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::SetFile;
use crate::Mistake;

/// Folders nested deeper than this are a mistake, not a policy set.
const MAX_DEPTH: usize = 32;
/// More files than this are a mistake, not a policy set.
const MAX_FILES: usize = 10_000;

/// The files below `set`, a folder in `root`, named from `root` on, where the set is at `prefix`. Symlinks that leave
/// the root, lead nowhere or lead to something that is neither file nor folder come back as mistakes.
pub(super) fn files(root: &Path, set: &Path, prefix: &str) -> (Vec<SetFile>, Vec<Mistake>) {
    let mut walk =
        Walk { root, set, linked: Vec::new(), files: Vec::new(), mistakes: Vec::new(), full: false };
    walk.folder(set, prefix, 0);
    (walk.files, walk.mistakes)
}

struct Walk<'a> {
    root: &'a Path,
    set: &'a Path,
    /// The folders that symlinks led to on the way to where the walk is.
    linked: Vec<PathBuf>,
    files: Vec<SetFile>,
    mistakes: Vec<Mistake>,
    full: bool,
}

impl Walk<'_> {
    /// `folder` has no symlink in it.
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.mistakes.push(Mistake::of_file(prefix, format!("is more than {MAX_DEPTH} folders deep")));
            return;
        }
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(e) => return self.mistakes.push(Mistake::of_file(prefix, format!("cannot be read: {e}"))),
        };
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if self.full {
                return;
            }
            if name.starts_with('.') {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                self.full = true;
                self.mistakes.push(Mistake::of_file("", format!("the set has more than {MAX_FILES} files")));
                return;
            }
            let inside = if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&entry.path(), &inside, depth + 1),
                Ok(kind) if kind.is_file() => self.files.push(SetFile { name: inside, path: entry.path() }),
                Ok(kind) if kind.is_symlink() => self.symlink(folder, &entry.path(), inside, depth),
                Ok(_) => self.mistakes.push(
                    Mistake::of_file(inside, "is a device, a socket or a FIFO")
                        .help("keep only files in a policy set"),
                ),
                Err(e) => self.mistakes.push(Mistake::of_file(inside, format!("cannot be read: {e}"))),
            }
        }
    }

    /// A symlink to a file, such as a manifest under another name, is that file.
    fn symlink(&mut self, folder: &Path, path: &Path, inside: String, depth: usize) {
        match fs::canonicalize(path) {
            Ok(target) if !target.starts_with(self.root) => self.mistakes.push(
                Mistake::of_file(inside, "is a symlink that leaves the policy set")
                    .help("put the file into the set"),
            ),
            Ok(target) if target.is_dir() => self.linked_folder(folder, target, inside, depth),
            Ok(target) if target.is_file() => self.files.push(SetFile { name: inside, path: target }),
            Ok(_) => {
                self.mistakes.push(Mistake::of_file(inside, "is a symlink to something that is not a file"))
            }
            Err(e) => {
                self.mistakes.push(Mistake::of_file(inside, format!("is a symlink that leads nowhere: {e}")))
            }
        }
    }

    /// A symlink to a folder of the set adds nothing, since its files are found where they lie. One to any other
    /// folder does: rules in it must not be missing.
    fn linked_folder(&mut self, folder: &Path, target: PathBuf, inside: String, depth: usize) {
        if self.is_found_anyway(&target) {
            return;
        }
        if folder.starts_with(&target) || self.linked.contains(&target) {
            let message = "is a symlink to a folder that it lies in itself";
            self.mistakes.push(Mistake::of_file(inside, message).help("link to what the set needs of it"));
            return;
        }
        self.linked.push(target.clone());
        self.folder(&target, &inside, depth + 1);
        self.linked.pop();
    }

    fn is_found_anyway(&self, target: &Path) -> bool {
        let is_hidden = |part: std::path::Component<'_>| part.as_os_str().to_string_lossy().starts_with('.');
        target.strip_prefix(self.set).is_ok_and(|within| !within.components().any(is_hidden))
    }
}
