//! Makes the files that matter durable, and describes them.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use files::{Found, Hashed};

use crate::directory::sync_together;
use crate::result::{Salvaged, SalvagedFile};

/// Describes each of `files`, relative ones taken from `working_dir`, and says what has to be flushed so that they
/// last: those that are there, and their directories.
pub(crate) fn salvage(working_dir: &Path, files: &[PathBuf]) -> (Vec<Salvaged>, Vec<File>) {
    let mut salvaged = Vec::new();
    let mut to_sync = Vec::new();
    let mut parents = BTreeSet::new();
    for path in files {
        let place = working_dir.join(path);
        let described = files::open(&place).and_then(Found::file).and_then(|file| {
            let described = digest(&file)?;
            to_sync.push(file);
            parents.extend(place.parent().map(Path::to_owned));
            Ok(described)
        });
        salvaged.push(Salvaged { path: path.clone(), file: describe(described) });
    }
    // a directory that cannot be opened is no reason to lose what can be read from it
    to_sync.extend(parents.iter().filter_map(|parent| File::open(parent).ok()));
    (salvaged, to_sync)
}

/// The same, after everything was flushed, as far as the disk lets it.
pub(crate) fn salvage_durably(working_dir: &Path, files: &[PathBuf]) -> Vec<Salvaged> {
    let (salvaged, to_sync) = salvage(working_dir, files);
    let _ = sync_together(&to_sync);
    salvaged
}

fn describe(read: io::Result<(u64, String)>) -> SalvagedFile {
    match read {
        Ok((size, sha256)) => SalvagedFile::Present { size, sha256 },
        Err(error) if error.kind() == io::ErrorKind::NotFound => SalvagedFile::Absent,
        Err(error) => SalvagedFile::Unreadable { why: error.to_string() },
    }
}

/// Why the file does not have this content, in words; `None` if it has.
pub(crate) fn mismatch(path: &Path, sha256: &str) -> Option<String> {
    match files::open(path).and_then(Found::file).and_then(|file| digest(&file)) {
        Ok((_, found)) if found.eq_ignore_ascii_case(sha256) => None,
        Ok((_, found)) => Some(format!(
            "{} is not the file that was expected: its SHA-256 is {found}, not {sha256}",
            path.display()
        )),
        Err(error) => Some(format!("{} cannot be compared with what was expected: {error}", path.display())),
    }
}

fn digest(mut file: &File) -> io::Result<(u64, String)> {
    let mut hashed = Hashed::new(io::sink());
    io::copy(&mut file, &mut hashed)?;
    let (sha256, size) = hashed.finish()?;
    Ok((size, text::hex(&sha256)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn describes_what_is_there_and_what_is_not() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("state"), "abc").unwrap();
        std::os::unix::fs::symlink("state", directory.path().join("link")).unwrap();
        std::fs::create_dir(directory.path().join("folder")).unwrap();
        let files: Vec<PathBuf> = ["state", "none", "link", "folder", "no/where"].map(PathBuf::from).into();
        let files = salvage_durably(directory.path(), &files)
            .into_iter()
            .map(|salvaged| salvaged.file)
            .collect::<Vec<_>>();
        assert_eq!(files[0], SalvagedFile::Present { size: 3, sha256: ABC.to_owned() });
        assert_eq!(files[1], SalvagedFile::Absent);
        assert_eq!(files[2], SalvagedFile::Unreadable { why: "it is a symbolic link".to_owned() });
        assert_eq!(files[3], SalvagedFile::Unreadable { why: "it is not a regular file".to_owned() });
        assert_eq!(files[4], SalvagedFile::Absent);
    }

    #[test]
    fn only_the_expected_content_matches() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan");
        assert!(mismatch(&path, ABC).unwrap().contains("cannot be compared"));
        std::fs::write(&path, "abc").unwrap();
        assert_eq!(mismatch(&path, ABC), None);
        std::fs::write(&path, "abd").unwrap();
        assert!(mismatch(&path, ABC).unwrap().contains("is not the file that was expected"));
    }
}
