//! The other repositories that a repository is made of.
//!
//! An empty folder in place of a submodule is a configuration that lacks something, and a plan of it destroys what was made
//! of that. So each is fetched, as git would: from the address that `.gitmodules` has for it, at the commit that the tree
//! names, with its own submodules. What can't be had refuses the configuration.
//!
//! A repository does not choose for the daemon where it looks: one that comes from elsewhere can't name a path of this machine
//! or a program, and is let in elsewhere by the daemon's own git configuration alone.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use text::escaped;

use crate::error::Error;
use crate::git::{Fetched, GitSource, Repository};
use crate::selection::Verdict;
use crate::unpack::Taking;
use crate::words::{shown, without_credentials};

/// Of submodules in submodules.
const MAX_DEPTH: usize = 8;
/// Together.
const MAX_SUBMODULES: usize = 200;

/// Fetches what is missing in a tree.
pub(crate) struct Submodules<'a> {
    /// For what is needed only meanwhile.
    pub(crate) scratch: &'a Path,
    pub(crate) taking: Taking<'a>,
    pub(crate) log: &'a mut dyn Write,
    pub(crate) count: usize,
}

/// What `.gitmodules` says of one.
#[derive(Debug, Default, PartialEq, Eq)]
struct Mapping {
    path: String,
    url: String,
    /// `update = none`: whoever wrote it does not want it.
    unwanted: bool,
}

impl Submodules<'_> {
    /// Fetches the submodules of a commit that lies in the folder `below` of the configuration.
    pub(crate) fn fetch(
        &mut self,
        source: &GitSource<'_>,
        fetched: &Fetched,
        below: &Path,
        depth: usize,
    ) -> Result<(), Error> {
        let links = links(source, fetched)?;
        if links.is_empty() {
            return Ok(());
        }
        let mappings = mappings(&fetched.repository, &fetched.commit.sha);
        for (path, commit) in links {
            let place = below.join(&path);
            if self.taking.selection.verdict(&place, true) == Verdict::Leave {
                continue;
            }
            let refused = |reason: String| Error::Submodule { path: place.clone(), reason };
            let Some(mapping) = mappings.iter().find(|mapping| mapping.path == path) else {
                return Err(refused("`.gitmodules` has no address for it".to_owned()));
            };
            if mapping.unwanted {
                let _ = writeln!(self.log, "Submodule {} is not wanted (update = none).", shown(&place));
                continue;
            }
            self.count += 1;
            if depth > MAX_DEPTH || self.count > MAX_SUBMODULES {
                return Err(refused(format!(
                    "there may be {MAX_SUBMODULES} of them, {MAX_DEPTH} in each other"
                )));
            }
            let url = address(&source.remote.url, &mapping.url).map_err(&refused)?;
            let inner = source.submodule(&url, &commit)?;
            if inner.remote.is_local() && !source.remote.is_local() {
                return Err(refused(
                    "a repository from elsewhere can't name a path of this machine".to_owned(),
                ));
            }
            let _ =
                writeln!(self.log, "Submodule {}: {} at {commit}", shown(&place), without_credentials(&url));
            let there = inner.fetch(self.scratch, self.log)?;
            if there.commit.sha != commit {
                return Err(refused(format!("{} gave {} for {commit}", escaped(&url), there.commit.sha)));
            }
            self.taking.tree.directory(&place)?;
            there.repository.unpack(&inner, &there.commit, &place, &mut self.taking)?;
            self.fetch(&inner, &there, &place, depth + 1)?;
        }
        Ok(())
    }
}

/// The entries of the commit that stand for a commit of another repository, with that.
fn links(source: &GitSource<'_>, fetched: &Fetched) -> Result<BTreeMap<String, String>, Error> {
    let listed = fetched.repository.output(&["ls-tree", "-r", "-z", "--full-tree", &fetched.commit.sha]);
    let listed = listed.map_err(|failure| failure.while_doing(&source.doing("read")))?;
    let entries = listed.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"160000 "));
    entries
        .map(|entry| {
            let text = std::str::from_utf8(entry).ok();
            let parts = text.and_then(|text| text.split_once('\t'));
            match parts.and_then(|(attributes, path)| Some((path, attributes.split(' ').nth(2)?))) {
                Some((path, commit)) => Ok((path.to_owned(), commit.to_owned())),
                None => Err(Error::Submodule {
                    path: String::from_utf8_lossy(entry).into_owned().into(),
                    reason: "its name is not UTF-8".to_owned(),
                }),
            }
        })
        .collect()
}

/// What `.gitmodules` of the commit says; nothing if there is none, or git can't read it.
fn mappings(repository: &Repository, commit: &str) -> Vec<Mapping> {
    let blob = format!("{commit}:.gitmodules");
    let listed = repository.output(&["config", "--blob", &blob, "-z", "--list"]).unwrap_or_default();
    read_mappings(&String::from_utf8_lossy(&listed))
}

/// Reads `submodule.NAME.KEY`, a line break and the value, each with a NUL at its end.
fn read_mappings(listed: &str) -> Vec<Mapping> {
    let mut mappings: BTreeMap<&str, Mapping> = BTreeMap::new();
    for (key, value) in listed.split('\0').filter_map(|entry| entry.split_once('\n')) {
        let Some((name, key)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) else {
            continue;
        };
        let mapping = mappings.entry(name).or_default();
        match key {
            "path" => mapping.path = value.trim_end_matches('/').to_owned(),
            "url" => mapping.url = value.to_owned(),
            "update" => mapping.unwanted = value == "none",
            _ => {}
        }
    }
    mappings.into_values().collect()
}

/// The address that a submodule has: `./` and `../` start at that of the repository that names it.
fn address(parent: &str, url: &str) -> Result<String, String> {
    if !url.starts_with("./") && !url.starts_with("../") {
        return match () {
            () if url.is_empty() => Err("`.gitmodules` has an empty address for it".to_owned()),
            () if url.contains("::") => Err(format!("`{}` would run a program", escaped(url))),
            () => Ok(url.to_owned()),
        };
    }
    let mut base = parent.trim_end_matches('/').to_owned();
    let mut rest = url;
    loop {
        if let Some(after) = rest.strip_prefix("./") {
            rest = after;
        } else if let Some(after) = rest.strip_prefix("../") {
            rest = after;
            let up = base.rfind(['/', ':']).filter(|at| *at > 0 && !base[..*at].ends_with(['/', ':']));
            let Some(up) = up else {
                return Err(format!("`{}` leads out of {}", escaped(url), escaped(parent)));
            };
            let of_host = base.as_bytes()[up] == b':';
            base.truncate(if of_host { up + 1 } else { up });
            if of_host && rest.starts_with("../") {
                return Err(format!("`{}` leads out of {}", escaped(url), escaped(parent)));
            }
        } else {
            let between = if base.ends_with(':') { "" } else { "/" };
            return Ok(format!("{base}{between}{rest}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_address_starts_at_that_of_the_repository() {
        for (parent, url, expected) in [
            ("https://host/a/b.git", "../c.git", "https://host/a/c.git"),
            ("https://host/a/b.git/", "../../c.git", "https://host/c.git"),
            ("https://host/a", "./c", "https://host/a/c"),
            ("git@host:a/b.git", "../c.git", "git@host:a/c.git"),
            ("git@host:b.git", "../c.git", "git@host:c.git"),
            ("/srv/git/a", "../b", "/srv/git/b"),
            ("https://host/a", "https://other/b", "https://other/b"),
            ("https://host/a", "git@other:b", "git@other:b"),
        ] {
            assert_eq!(address(parent, url).as_deref(), Ok(expected), "{parent} {url}");
        }
        for (parent, url) in [
            ("https://host/a", "../../b"),
            ("git@host:a", "../../b"),
            ("/a", "../../b"),
            ("https://host/a", "ext::sh -c id"),
            ("https://host/a", ""),
        ] {
            assert!(address(parent, url).is_err(), "{parent} {url}: {:?}", address(parent, url));
        }
    }

    #[test]
    fn what_gitmodules_says_is_read_as_git_lists_it() {
        let listed = "submodule.a.b.path\nmodules/a/\0submodule.a.b.url\n../a\0submodule.c.path\nc\0\
                      submodule.c.url\nhttps://h/c\0submodule.c.update\nnone\0core.x\n1\0";
        let mapping =
            |path: &str, url: &str, unwanted| Mapping { path: path.into(), url: url.into(), unwanted };
        assert_eq!(
            read_mappings(listed),
            [mapping("modules/a", "../a", false), mapping("c", "https://h/c", true)]
        );
    }
}
