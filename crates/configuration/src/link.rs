//! Whether a symbolic link stays inside the configuration.
//!
//! Taking `a/../b` for `b` is not enough: where `a` is itself a link, `a/..` is the parent of what it leads to. So
//! links are followed as the kernel follows them, but over what the configuration holds.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::tree::{Entries, Entry};

/// As many links as the kernel follows in one name; beyond that the name leads nowhere, which is inside.
const MAX_FOLLOWED: u32 = 40;

/// Whether the link at `path`, holding `target`, leads nowhere else than into the configuration.
pub(crate) fn stays_inside(entries: &Entries, path: &Path, target: &Path) -> bool {
    let mut at: Vec<OsString> = path
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .map(|component| component.as_os_str().to_owned())
        .collect();
    let mut left = MAX_FOLLOWED;
    follow(entries, &mut at, target, &mut left)
}

fn follow(entries: &Entries, at: &mut Vec<OsString>, target: &Path, left: &mut u32) -> bool {
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return false,
            Component::ParentDir => {
                if at.pop().is_none() {
                    return false;
                }
            }
            Component::Normal(name) => {
                at.push(name.to_owned());
                // what is missing is taken at its word: it cannot be a link, and `..` after it is still counted
                if let Some(Entry::Link { target }) = entries.get(&at.iter().collect::<PathBuf>()) {
                    let Some(fewer) = left.checked_sub(1) else { return true };
                    *left = fewer;
                    at.pop();
                    if !follow(entries, at, target, left) {
                        return false;
                    }
                }
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(links: &[(&str, &str)]) -> Entries {
        links.iter().map(|(path, target)| (PathBuf::from(path), Entry::Link { target: target.into() })).collect()
    }

    #[test]
    fn a_link_is_judged_by_where_the_kernel_would_go() {
        // the link, what it holds, the other links, whether it stays inside
        let table: &[(&str, &str, &[(&str, &str)], bool)] = &[
            ("a", "b", &[], true),
            ("a", "./b/../c", &[], true),
            ("a", ".", &[], true),
            ("a", "..", &[], false),
            ("a", "../work/b", &[], false),
            ("a", "/etc/passwd", &[], false),
            ("d/a", "../b", &[], true),
            ("d/a", "../../b", &[], false),
            ("d/a", "missing/../../b", &[], true),
            ("d/a", "missing/../../../b", &[], false),
            // textually inside, but `here/..` is the parent of the configuration
            ("a", "here/../secret", &[("here", ".")], false),
            ("a", "up/../../b", &[("up", "d/e/f")], true),
            ("a", "up/../../../../b", &[("up", "d/e/f")], false),
            ("a", "b", &[("b", "../x")], false),
            ("a", "b/x", &[("b", "/tmp")], false),
            // round in a circle: leads nowhere
            ("a", "b", &[("a", "b"), ("b", "a")], true),
            ("a", "a", &[("a", "a")], true),
        ];
        for (path, target, others, inside) in table {
            assert_eq!(
                stays_inside(&links(others), Path::new(path), Path::new(target)),
                *inside,
                "{path} -> {target} beside {others:?}"
            );
        }
    }
}
