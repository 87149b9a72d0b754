//! Whether a symbolic link stays inside the configuration.
//!
//! Taking `a/../b` for `b` is not enough: where `a` is itself a link, `a/..` is the parent of what it leads to. So
//! links are followed as the kernel follows them, but over what the configuration holds.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::tree::{Entries, Entry};

/// More links than the kernel (40) or terraform (255) follow in one name. A name that takes more leads nowhere.
const MAX_FOLLOWED: u32 = 256;

enum End {
    Outside,
    Nowhere,
}

/// Whether the link at `path`, holding `target`, leads nowhere else than into the configuration.
pub(crate) fn stays_inside(entries: &Entries, path: &Path, target: &Path) -> bool {
    let mut at: Vec<OsString> = path
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .map(|component| component.as_os_str().to_owned())
        .collect();
    let mut left = MAX_FOLLOWED;
    !matches!(follow(entries, &mut at, target, &mut left), Err(End::Outside))
}

fn follow(entries: &Entries, at: &mut Vec<OsString>, target: &Path, left: &mut u32) -> Result<(), End> {
    for component in target.components() {
        match component {
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => return Err(End::Outside),
            Component::ParentDir => drop(at.pop().ok_or(End::Outside)?),
            Component::Normal(name) => {
                at.push(name.to_owned());
                // what is missing is taken at its word: it cannot be a link, and `..` after it is still counted
                if let Some(Entry::Link { target }) = entries.get(&at.iter().collect::<PathBuf>()) {
                    *left = left.checked_sub(1).ok_or(End::Nowhere)?;
                    at.pop();
                    follow(entries, at, target, left)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(links: &[(&str, &str)]) -> Entries {
        links
            .iter()
            .map(|(path, target)| (PathBuf::from(path), Entry::Link { target: target.into() }))
            .collect()
    }

    #[test]
    fn a_link_is_judged_by_where_the_kernel_would_go() {
        // the link, what it holds, the other links, whether it stays inside
        type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], bool);
        let table: &[Case] = &[
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
            ("a", "a/..", &[("a", "a/..")], true),
            ("a", "b/../..", &[("b", "b")], true),
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
