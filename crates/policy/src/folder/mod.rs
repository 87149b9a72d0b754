//! The files of a policy set. Nothing outside the set's folder is ever read.
//!
//! A set may be a folder within that folder: then what its manifest names may lie beside it, as modules that several
//! sets of a repository share.

mod walk;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::{LoadError, Mistake, Place};

/// A larger file is not a policy.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Files that are read and have more bytes together are no policy set: data in memory is many times as large.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What some editors write before the first character of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A regular file of a policy set.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SetFile {
    /// Its path in the set, with `/`.
    pub name: String,
    pub(super) path: PathBuf,
}

/// The folder of a policy set with the files of the set, hidden ones left out.
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
    /// If `path` is not a folder that can be read.
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
        let policies = policies.trim_matches('/').to_owned();
        let (mut files, mistakes) = walk::files(&root, &folder_of_set(&root, &policies)?, &policies);
        files.sort();
        Ok((Self { root, policies, files, read: AtomicU64::new(0) }, mistakes))
    }

    /// The folder with every symlink in its path resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where in the folder the set is, with `/`; empty for the folder itself.
    pub fn policies(&self) -> &str {
        &self.policies
    }

    /// The files of the set, sorted by name.
    pub fn files(&self) -> &[SetFile] {
        &self.files
    }

    /// The name, in the folder, of a file that lies at the root of the set.
    pub fn name_in_set(&self, name: &str) -> String {
        match self.policies.as_str() {
            "" => name.to_owned(),
            policies => format!("{policies}/{name}"),
        }
    }

    /// The set's manifest: its name in the folder and its text.
    ///
    /// # Errors
    ///
    /// If it is missing or cannot be read.
    pub fn manifest(&self, name: &str) -> Result<(String, String), Mistake> {
        let name = self.name_in_set(name);
        match self.file(&name) {
            Some(file) => Ok((name, self.read(&file)?)),
            None => Err(Mistake::of_file(name, "is missing")),
        }
    }

    /// The file of that name, which may lie beside the set.
    pub fn file(&self, name: &str) -> Option<SetFile> {
        self.files.iter().find(|file| file.name == name).cloned().or_else(|| self.beside(name))
    }

    /// What lies beside a set is looked for when somebody names it: it may be a large repository.
    fn beside(&self, name: &str) -> Option<SetFile> {
        if name.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
            return None;
        }
        let path = fs::canonicalize(self.root.join(name)).ok()?;
        let is_inside = path.starts_with(&self.root) && path.is_file();
        is_inside.then(|| SetFile { name: name.to_owned(), path })
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
        let mut bytes = fs::read(&file.path).map_err(unreadable)?;
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.drain(..BYTE_ORDER_MARK.len());
        }
        String::from_utf8(bytes).map_err(|e| {
            let (valid, _) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
            let text = String::from_utf8_lossy(valid);
            Mistake::at(&file.name, &text, Place::at(&text, text.len()), "is not UTF-8 from here on")
                .help("save the file as UTF-8")
        })
    }
}

/// The folder of the set in the folder that holds all it uses, with every symlink resolved.
fn folder_of_set(root: &Path, policies: &str) -> Result<PathBuf, LoadError> {
    if policies.is_empty() {
        return Ok(root.to_owned());
    }
    let refused = |why: String| {
        Mistake::of_file("", format!("the folder {policies} of the policy set {} {why}", root.display()))
            .help("`policies_path` is where, in the folder that `path` names, the set is")
            .into()
    };
    if policies.split('/').any(|part| part.is_empty() || part.starts_with('.')) {
        return Err(refused("is hidden or outside: no part of it may begin with a dot".to_owned()));
    }
    match fs::canonicalize(root.join(policies)) {
        Err(e) => Err(refused(format!("cannot be read: {e}"))),
        Ok(folder) if !folder.starts_with(root) => Err(refused("is a symlink that leaves it".to_owned())),
        Ok(folder) if !folder.is_dir() => Err(refused("is not a folder".to_owned())),
        Ok(folder) => Ok(folder),
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
    fn a_symlink_to_a_folder_that_is_not_walked_otherwise_brings_its_files() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["lib", "aws/.hidden", "aws/own"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        for name in ["lib/b.rego", "aws/.hidden/c.rego", "aws/own/d.rego"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        for (target, link) in
            [("../lib", "aws/lib"), (".hidden", "aws/shown"), ("own", "aws/again"), ("../../aws", "lib/back")]
        {
            symlink(target, dir.path().join(link)).unwrap();
        }
        let (folder, mistakes) = SetFolder::open(dir.path(), "aws").unwrap();
        assert_eq!(names(&folder), ["aws/lib/b.rego", "aws/own/d.rego", "aws/shown/c.rego"]);
        assert!(mistakes.iter().all(|mistake| mistake.file == "aws/lib/back"), "{mistakes:?}");
    }

    #[test]
    fn a_circle_of_symlinks_is_a_mistake() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["set", "one", "two"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for (target, link) in
            [("../one", "set/one"), ("../two", "one/two"), ("../one", "two/one"), ("..", "set/up")]
        {
            symlink(target, dir.path().join(link)).unwrap();
        }
        let (_, mut mistakes) = SetFolder::open(dir.path(), "set").unwrap();
        mistakes.sort_by(|a, b| a.file.cmp(&b.file));
        let files: Vec<_> = mistakes.iter().map(|mistake| mistake.file.as_str()).collect();
        assert_eq!(files, ["set/one/two/one", "set/up"]);
    }

    #[test]
    fn what_lies_beside_a_set_is_found_by_its_name_and_not_counted() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["set", "lib", ".git"] {
            fs::create_dir(dir.path().join(folder)).unwrap();
        }
        for name in ["set/a.rego", "lib/b.rego", ".git/config"] {
            fs::write(dir.path().join(name), "x").unwrap();
        }
        symlink("/etc/passwd", dir.path().join("lib/out")).unwrap();
        let (folder, mistakes) = SetFolder::open(dir.path(), "set/").unwrap();
        assert_eq!((names(&folder), mistakes), (vec!["set/a.rego"], vec![]));
        let found = |name| folder.file(name).is_some();
        assert!(found("lib/b.rego") && found("set/a.rego"));
        for name in ["lib/out", "lib", ".git/config", "lib/../lib/b.rego", "../x", "/etc/passwd", ""] {
            assert!(!found(name), "{name}");
        }
    }

    #[test]
    fn a_folder_that_is_no_set_is_told_why() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".hidden")).unwrap();
        fs::write(dir.path().join("file"), "x").unwrap();
        symlink(outside.path(), dir.path().join("out")).unwrap();
        for (policies, why) in [
            ("gone", "cannot be read"),
            ("file", "is not a folder"),
            ("out", "is a symlink that leaves it"),
            (".hidden", "is hidden"),
            ("a/../..", "is hidden or outside"),
        ] {
            let error = SetFolder::open(dir.path(), policies).unwrap_err().to_string();
            assert!(error.contains(why) && error.contains("policies_path"), "{error}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_text() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.rego"), "\u{feff}package a\n").unwrap();
        let (folder, _) = SetFolder::open(dir.path(), "").unwrap();
        assert_eq!(folder.read(&folder.files()[0]).unwrap(), "package a\n");
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
