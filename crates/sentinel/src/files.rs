//! Where policies, modules and data come from.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind};

/// The files of a policy set. Paths have `/` between their parts and are those that [`Files::resolve`] gives.
pub trait Files: Send + Sync {
    /// The path that `path` means where it stands in a file of `folder`; none when it may not be had. The
    /// default keeps below the root of the set.
    fn resolve(&self, folder: &str, path: &str) -> Option<String> {
        normalize(folder, path)
    }

    /// The content of a file.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The names in a folder; a name of a folder ends with `/`. The root is the empty path.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;

    /// Fetches a remote source. The crate asks only for `https` and checks the sum itself. The default
    /// refuses.
    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        Err(format!("remote sources are not available here, so not {url}"))
    }
}

/// A path without `.` and `..`; none when it is absolute or leads out of the root.
pub fn normalize(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The folder of a path.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Reads a file as text.
pub(crate) fn read_text(files: &dyn Files, path: &str) -> Result<String, Error> {
    let refused = |why: String| Error::new(ErrorKind::File, format!("cannot read `{path}`: {why}"));
    let bytes = files.read(path).map_err(|error| refused(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8".into()))
}

/// A text without the mark that some editors put at its start.
pub(crate) fn without_bom(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The bytes of a file of a policy set: much more than any policy, module or mock has.
const MAX_FILE: u64 = 64 << 20;

/// Reads what is no larger than a file of a policy set may be.
fn read_within(file: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// A folder of the disk as the root of a policy set. Symbolic links that lead out of it are refused.
#[derive(Debug, Clone)]
pub struct DirFiles {
    root: PathBuf,
}

impl DirFiles {
    /// The files below a folder.
    pub fn new(root: impl AsRef<Path>) -> io::Result<DirFiles> {
        Ok(DirFiles { root: root.as_ref().canonicalize()? })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn inside(&self, path: &str) -> io::Result<PathBuf> {
        let full = self.root.join(path).canonicalize()?;
        if full.starts_with(&self.root) {
            Ok(full)
        } else {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is outside of the policy set"))
        }
    }
}

impl Files for DirFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        // a file that others wrote: a pipe would be waited for, and a device has no end
        read_within(::files::open(&self.inside(path)?)?.file()?, MAX_FILE)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        names_in(&self.inside(folder)?)
    }
}

/// The disk as a person at a command line names it: paths are relative to the working directory, may begin
/// with `..`, and may be absolute. For policies of one's own: nothing is kept inside of anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFiles;

impl Files for LocalFiles {
    fn resolve(&self, folder: &str, path: &str) -> Option<String> {
        let folder = if path.starts_with('/') { "" } else { folder };
        let is_absolute = path.starts_with('/') || folder.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in folder.split('/').chain(path.split('/')) {
            match (part, parts.last()) {
                ("" | ".", _) => {}
                ("..", None) if is_absolute => {}
                ("..", Some(last)) if *last != ".." => drop(parts.pop()),
                (part, _) => parts.push(part),
            }
        }
        let path = parts.join("/");
        Some(if is_absolute { format!("/{path}") } else { path })
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        read_within(fs::File::open(path)?, MAX_FILE)
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        names_in(Path::new(if folder.is_empty() { "." } else { folder }))
    }
}

fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // what a link leads to is looked at when it is read; a folder behind one is not walked
        names.push(if entry.file_type()?.is_dir() { name + "/" } else { name });
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_root() {
        assert_eq!(normalize("test/p", "../../modules/a.sentinel").as_deref(), Some("modules/a.sentinel"));
        assert_eq!(normalize("", "./a//b/./c").as_deref(), Some("a/b/c"));
        assert_eq!(normalize("test", "/modules/a"), None);
        assert_eq!(normalize("test/p", "../../../etc/passwd"), None);
    }

    #[test]
    fn local_paths_are_those_of_a_shell() {
        let resolve = |folder: &str, path: &str| LocalFiles.resolve(folder, path).unwrap();
        assert_eq!(resolve("test/p", "../../modules/a.sentinel"), "modules/a.sentinel");
        assert_eq!(resolve("test/p", "../../../modules/a.sentinel"), "../modules/a.sentinel");
        assert_eq!(resolve("../up", "../../a"), "../../a");
        assert_eq!(resolve("", "./"), "");
        assert_eq!(resolve("", "/sets//a/../b"), "/sets/b");
        assert_eq!(resolve("/sets/a/test/p", "../../m.sentinel"), "/sets/a/m.sentinel");
        assert_eq!(resolve("/sets", "../../../a"), "/a");
    }

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let root = tempfile::tempdir().unwrap();
        let made = std::process::Command::new("mkfifo").arg(root.path().join("pipe")).status().unwrap();
        assert!(made.success());
        fs::create_dir(root.path().join("folder")).unwrap();
        let files = DirFiles::new(root.path()).unwrap();
        for path in ["pipe", "folder"] {
            assert_eq!(files.read(path).unwrap_err().to_string(), "it is not a regular file", "{path}");
        }
    }

    #[test]
    fn a_file_is_read_as_far_as_it_may_be_large() {
        let root = tempfile::tempdir().unwrap();
        fs::File::create(root.path().join("sparse")).unwrap().set_len(3 << 30).unwrap();
        let error = DirFiles::new(root.path()).unwrap().read("sparse").unwrap_err();
        assert_eq!(error.to_string(), "it has more than 67108864 bytes");
        assert_eq!(read_within(&b"1234"[..], 4).unwrap(), b"1234");
        assert!(read_within(&b"12345"[..], 4).is_err());
    }

    #[test]
    fn a_link_out_of_the_root_is_refused() {
        let outside = tempfile::tempdir().unwrap();
        let inside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("secret"), "s").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path().join("secret"), inside.path().join("link")).unwrap();
        let files = DirFiles::new(inside.path()).unwrap();
        assert_eq!(files.read("link").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
