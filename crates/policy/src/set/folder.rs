//! The files of a policy set. Nothing outside the set's folder is ever read.
//!
//! A set may be a folder within that folder: then what its manifest names may lie beside it, as modules that several
//! sets of a repository share.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{LoadError, Mistake, Place};

/// Folders nested deeper than this are a mistake, not a policy set.
const MAX_DEPTH: usize = 32;
/// More files than this are a mistake, not a policy set.
const MAX_FILES: usize = 10_000;
/// A larger file is no policy.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Files that are read and have more bytes together are no policy set: data in memory is many times as large.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A regular file of a policy set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetFile {
    /// Its path in the set, with `/`.
    pub name: String,
    path: PathBuf,
}

/// The folder of a policy set with the files that belong to it, hidden ones left out.
#[derive(Debug)]
pub struct SetFolder {
    root: PathBuf,
    /// Where in it the set is, with `/` and without one at either end; empty for the folder itself.
    policies: String,
    files: Vec<SetFile>,
    /// The bytes of what was read so far.
    read: AtomicU64,
}

impl SetFolder {
    /// Lists the folder, in which the set is at `policies` (empty for the folder itself). Symlinks of the set that
    /// leave the folder, lead nowhere or lead to something that is neither file nor folder come back as mistakes
    /// beside it.
    ///
    /// # Errors
    ///
    /// If `path` is no folder that can be read.
    pub(super) fn open(path: &Path, policies: &str) -> Result<(Self, Vec<Mistake>), LoadError> {
        let root = fs::canonicalize(path)
            .and_then(|root| match root.is_dir() {
                true => Ok(root),
                false => Err(io::Error::new(io::ErrorKind::NotADirectory, "not a folder")),
            })
            .map_err(|e| {
                Mistake::of_file("", format!("cannot read the policy set {}: {e}", path.display()))
                    .help("give the path of a folder with a policies.hcl or a sentinel.hcl")
            })?;
        let mut walk = Walk { root: &root, files: Vec::new(), mistakes: Vec::new() };
        walk.folder(&root, "", 0);
        let Walk { mut files, mut mistakes, .. } = walk;
        files.sort();
        let folder =
            Self { root, policies: policies.trim_matches('/').to_owned(), files, read: AtomicU64::new(0) };
        // what else lies beside the set is nobody's mistake: it is not listed, so nothing of it can be read
        mistakes.retain(|mistake| mistake.file.is_empty() || folder.is_of_set(&mistake.file));
        Ok((folder, mistakes))
    }

    /// The folder with every symlink in its path resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where in the folder the set is, with `/`; empty for the folder itself.
    pub fn policies(&self) -> &str {
        &self.policies
    }

    /// The files, sorted by name.
    pub fn files(&self) -> &[SetFile] {
        &self.files
    }

    /// Those of them that lie in the set itself.
    pub fn files_of_set(&self) -> impl Iterator<Item = &SetFile> {
        self.files.iter().filter(|file| self.is_of_set(&file.name))
    }

    /// The name, in the folder, of a file that lies at the root of the set.
    pub fn name_in_set(&self, name: &str) -> String {
        match self.policies.as_str() {
            "" => name.to_owned(),
            policies => format!("{policies}/{name}"),
        }
    }

    fn is_of_set(&self, name: &str) -> bool {
        match self.policies.as_str() {
            "" => true,
            policies => name.strip_prefix(policies).is_some_and(|rest| rest.starts_with('/')),
        }
    }

    /// The file of that name.
    pub fn file(&self, name: &str) -> Option<&SetFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// Reads a text file of the set.
    ///
    /// # Errors
    ///
    /// If it cannot be read, is larger than a policy can be, the set is larger than a set can be, or it is not UTF-8.
    pub fn read(&self, file: &SetFile) -> Result<String, Mistake> {
        let unreadable = |e: io::Error| Mistake::of_file(&file.name, format!("cannot be read: {e}"));
        let bytes = fs::metadata(&file.path).map_err(unreadable)?.len();
        if bytes > MAX_FILE_BYTES {
            return Err(Mistake::of_file(&file.name, format!("is {bytes} bytes long"))
                .help(format!("a file of a policy set may have {MAX_FILE_BYTES} bytes")));
        }
        if self.read.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) > MAX_BYTES {
            let message = format!("the files of the set have more than {MAX_BYTES} bytes together");
            return Err(
                Mistake::of_file(&file.name, message).help("keep data that is this large out of policies")
            );
        }
        String::from_utf8(fs::read(&file.path).map_err(unreadable)?).map_err(|e| {
            let (valid, _) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
            let text = String::from_utf8_lossy(valid);
            Mistake::at(&file.name, &text, Place::at(&text, text.len()), "is not UTF-8 from here on")
                .help("save the file as UTF-8")
        })
    }
}

struct Walk<'a> {
    root: &'a Path,
    files: Vec<SetFile>,
    mistakes: Vec<Mistake>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            self.mistakes.push(Mistake::of_file(prefix, format!("lies more than {MAX_DEPTH} folders deep")));
            return;
        }
        let entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(e) => return self.mistakes.push(Mistake::of_file(prefix, format!("cannot be read: {e}"))),
        };
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if self.files.len() >= MAX_FILES {
                self.mistakes.push(Mistake::of_file("", format!("the set has more than {MAX_FILES} files")));
                return;
            }
            let inside = if prefix.is_empty() { name.into_owned() } else { format!("{prefix}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&entry.path(), &inside, depth + 1),
                Ok(kind) if kind.is_file() => self.files.push(SetFile { name: inside, path: entry.path() }),
                Ok(kind) if kind.is_symlink() => self.symlink(&entry.path(), inside),
                Ok(_) => self.mistakes.push(
                    Mistake::of_file(inside, "is a device, a socket or a FIFO")
                        .help("keep only files in a policy set"),
                ),
                Err(e) => self.mistakes.push(Mistake::of_file(inside, format!("cannot be read: {e}"))),
            }
        }
    }

    /// A symlink to a file of the set, such as a manifest under another name, is that file. One to a folder of the
    /// set adds nothing: its files are found where they lie.
    fn symlink(&mut self, path: &Path, inside: String) {
        match fs::canonicalize(path) {
            Ok(target) if !target.starts_with(self.root) => self.mistakes.push(
                Mistake::of_file(inside, "is a symlink that leaves the policy set")
                    .help("put the file into the set"),
            ),
            Ok(target) if target.is_dir() => {}
            Ok(target) if target.is_file() => self.files.push(SetFile { name: inside, path: target }),
            Ok(_) => {
                self.mistakes.push(Mistake::of_file(inside, "is a symlink to something that is no file"))
            }
            Err(e) => {
                self.mistakes.push(Mistake::of_file(inside, format!("is a symlink that leads nowhere: {e}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &SetFolder) -> Vec<&str> {
        folder.files().iter().map(|file| file.name.as_str()).collect()
    }

    #[test]
    fn files_of_subfolders_belong_to_the_set_and_hidden_ones_do_not() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("lib/deep")).unwrap();
        fs::create_dir_all(dir.path().join(".git")).unwrap();
        for name in ["z.rego", "lib/deep/a.rego", ".git/config", ".hidden.rego"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        let (folder, mistakes) = SetFolder::open(dir.path(), "").unwrap();
        assert_eq!(names(&folder), ["lib/deep/a.rego", "z.rego"]);
        assert_eq!(mistakes, []);
    }

    #[test]
    fn a_symlink_may_point_inside_the_set_and_never_out_of_it() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret.rego"), "x").unwrap();
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("lib")).unwrap();
        fs::write(dir.path().join("lib/a.rego"), "x").unwrap();
        symlink("lib/a.rego", dir.path().join("alias.rego")).unwrap();
        symlink("..", dir.path().join("lib/loop")).unwrap();
        symlink(outside.path().join("secret.rego"), dir.path().join("file.rego")).unwrap();
        symlink(outside.path(), dir.path().join("folder")).unwrap();
        symlink("gone", dir.path().join("gone.rego")).unwrap();
        let (folder, mut mistakes) = SetFolder::open(dir.path(), "").unwrap();
        assert_eq!(names(&folder), ["alias.rego", "lib/a.rego"]);
        mistakes.sort_by(|a, b| a.file.cmp(&b.file));
        let files: Vec<_> =
            mistakes.iter().map(|m| (m.file.as_str(), m.message.split(':').next().unwrap())).collect();
        assert_eq!(
            files,
            [
                ("file.rego", "is a symlink that leaves the policy set"),
                ("folder", "is a symlink that leaves the policy set"),
                ("gone.rego", "is a symlink that leads nowhere"),
            ]
        );
    }

    #[test]
    fn text_that_is_not_utf8_is_a_mistake_with_its_place() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rego"), b"package a\n# \xff").unwrap();
        let (folder, _) = SetFolder::open(dir.path(), "").unwrap();
        let mistake = folder.read(&folder.files()[0]).unwrap_err();
        assert_eq!(mistake.place, Some(Place { line: 2, column: 3 }));
    }
}
