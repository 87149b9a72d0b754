//! The files of a set as the language sees them, and its errors as mistakes of the set.

use std::io;

use ::sentinel::{Error, ErrorKind, Files};

use super::network;
use crate::{Mistake, Place, SetFolder};

/// The files of a set, and remote sources over https.
pub(super) struct FolderFiles<'f>(pub(super) &'f SetFolder);

impl Files for FolderFiles<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let missing = || io::Error::new(io::ErrorKind::NotFound, "there is no such file in the policy set");
        let file = self.0.file(path).ok_or_else(missing)?;
        let text = self.0.read(&file).map_err(|mistake| io::Error::other(mistake.message))?;
        Ok(text.into_bytes())
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let inside = |name: &str| match folder {
            "" => Some(name.to_owned()),
            folder => Some(name.strip_prefix(folder)?.strip_prefix('/')?.to_owned()),
        };
        let mut names: Vec<String> = self
            .0
            .files()
            .iter()
            .filter_map(|file| inside(&file.name))
            .map(|name| name.split_once('/').map_or(name.clone(), |(first, _)| format!("{first}/")))
            .collect();
        names.dedup();
        Ok(names)
    }

    fn fetch(&self, url: &str) -> Result<Vec<u8>, String> {
        network::fetch_source(url)
    }
}

/// An error of an evaluation, with its place if it has one.
pub(super) fn words(error: &Error) -> String {
    mistake_of_file("", error).to_string()
}

/// An error of the language as a mistake of the set. What has no place of its own is about what the manifest says.
pub(super) fn mistake(error: &Error, folder: &SetFolder) -> Mistake {
    let mistake = mistake_of_file(&folder.name_in_set(super::MANIFEST), error);
    match error.kind() {
        ErrorKind::Outside => mistake.help(
            "give as `path` the folder that holds all that the set uses, and as `policies_path` where in it the set is",
        ),
        _ => mistake,
    }
}

pub(super) fn mistake_of_file(file: &str, error: &Error) -> Mistake {
    let mistake = match error.place() {
        None => Mistake::of_file(file, error.message()),
        Some(place) => {
            let position = &place.position;
            let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
            // the language counts bytes, people count characters
            let before = place.line.get(..position.column.saturating_sub(1)).unwrap_or(&place.line);
            Mistake {
                file: position.filename.clone(),
                place: Some(Place { line: count(position.line), column: count(before.chars().count() + 1) }),
                source_line: Some(place.line.clone()),
                message: error.message().to_owned(),
                help: None,
            }
        }
    };
    match error.notes() {
        [] => mistake,
        notes => mistake.help(notes.join("; ")),
    }
}
