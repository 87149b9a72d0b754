//! Random configurations: what is taken is what was there, by the rules.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use source::{Error, Source};

use crate::common::{Found, Place, refused, taken};

/// A configuration of a few names, so that they meet.
#[derive(Clone, Debug)]
enum Thing {
    File { mode: u32, content: Vec<u8> },
    Directory,
    Link(String),
}

fn things() -> impl Strategy<Value = Vec<(PathBuf, Thing)>> {
    let name = prop_oneof![
        6 => "[a-c]{1,2}".prop_map(|name| name),
        1 => Just("main.tf".to_owned()),
        1 => Just(".git".to_owned()),
        1 => Just(".terraform".to_owned()),
        1 => Just("terraform.tfstate".to_owned()),
        1 => Just("ü \n".to_owned()),
        1 => Just("n".repeat(130)),
    ];
    let path = prop::collection::vec(name, 1..5).prop_map(|names| names.into_iter().collect::<PathBuf>());
    let thing = prop_oneof![
        3 => (0_u32..0o1000, prop::collection::vec(any::<u8>(), 0..200))
            .prop_map(|(mode, content)| Thing::File { mode: mode | 0o600, content }),
        1 => Just(Thing::Directory),
        1 => prop::collection::vec(prop_oneof!["[a-c]{1,2}", Just("..".to_owned())], 1..4)
            .prop_map(|parts| Thing::Link(parts.join("/"))),
    ];
    prop::collection::vec((path, thing), 0..20)
}

fn make(root: &Path, things: &[(PathBuf, Thing)]) {
    for (path, thing) in things {
        let path = root.join(path);
        // what meets something of another kind is not made
        if fs::create_dir_all(path.parent().unwrap()).is_err() || path.symlink_metadata().is_ok() {
            continue;
        }
        match thing {
            Thing::File { mode, content } => {
                use std::os::unix::fs::PermissionsExt;
                fs::write(&path, content).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            Thing::Directory => fs::create_dir(&path).unwrap(),
            Thing::Link(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
        }
    }
}

/// By asking the kernel: whether anything that the link at `path` leads to, or would lead to, lies outside.
///
/// The kernel follows no `..` behind what is missing, so that is made here on the way.
fn leaves(root: &Path, path: &Path, target: &Path, links: u32) -> bool {
    // a circle, as long as it stays inside, leads nowhere
    if links == 0 {
        return false;
    }
    let mut at = fs::canonicalize(root.join(path.parent().unwrap())).unwrap();
    for component in target.components() {
        at.push(component);
        if let Ok(next) = fs::read_link(&at) {
            if leaves(root, at.strip_prefix(root).unwrap(), &next, links - 1) {
                return true;
            }
        } else if at.symlink_metadata().is_err() && component != std::path::Component::ParentDir {
            // below a file nothing can be made; a name is as good there
            let _ = fs::create_dir(&at);
        }
        match fs::canonicalize(&at) {
            Ok(real) => at = real,
            Err(_) if component == std::path::Component::ParentDir => {
                at.pop();
                at.pop();
            }
            Err(_) if fs::read_link(&at).is_ok() => return false,
            Err(_) => {}
        }
        if !at.starts_with(root) {
            return true;
        }
    }
    false
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_comes_out_is_what_went_in_by_the_rules(things in things()) {
        let place = Place::with_main();
        let source = fs::canonicalize(place.source()).unwrap();
        make(&source, &things);
        let mut expected = crate::common::found(&source);
        expected.retain(|path, _| {
            !path.components().any(|part| part.as_os_str() == ".git" || part.as_os_str() == ".terraform")
                && !path.starts_with("terraform.tfstate")
        });
        // what a link leads to counts as it is after the taking
        let model = tempfile::tempdir().unwrap();
        let model = fs::canonicalize(model.path()).unwrap().join("m");
        let inside: Vec<(PathBuf, Thing)> = expected.iter().map(|(path, found)| (path.clone(), match found {
            Found::Directory => Thing::Directory,
            Found::File { mode, content } => Thing::File { mode: *mode, content: content.clone() },
            Found::Link(target) => Thing::Link(target.to_str().unwrap().to_owned()),
        })).collect();
        fs::create_dir_all(&model).unwrap();
        make(&model, &inside);
        let leaving = expected.iter().any(|(path, found)| match found {
            Found::Link(target) => leaves(&model, path, target, 100),
            _ => false,
        });
        fs::remove_dir_all(model.parent().unwrap()).unwrap();

        let request = place.directory();
        if leaving {
            let error = refused(&request);
            prop_assert!(matches!(&error, Error::LinkLeaves { .. }), "{}", error);
            return Ok(());
        }
        let (report, _) = taken(&request);
        prop_assert_eq!(&place.taken(), &expected);

        // and the record is the same configuration once more
        let again = Place::new();
        let (copy, _) = taken(&again.request(Source::Archive { path: request.archive.unwrap() }));
        prop_assert_eq!(&again.taken(), &expected);
        prop_assert_eq!(copy.digest, report.digest);
    }
}
