//! An archive as a source, and the one that is kept as a record.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::common::{MAIN, Place, refused, taken};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use source::{Error, Kind, Limits, Source, TakeRequest};
use tar::{EntryType, Header};

type Builder = tar::Builder<GzEncoder<File>>;

fn upload(place: &Place, fill: impl FnOnce(&mut Builder)) -> TakeRequest {
    let path = place.path("upload.tar.gz");
    let mut builder = tar::Builder::new(GzEncoder::new(File::create(&path).unwrap(), Compression::default()));
    fill(&mut builder);
    builder.into_inner().unwrap().finish().unwrap();
    place.request(Source::Archive { path })
}

/// With the name as it is given, also where a decent program would not write it.
fn add(builder: &mut Builder, kind: EntryType, name: &str, target: &str, content: &[u8]) {
    let mut header = Header::new_gnu();
    let old = header.as_gnu_mut().unwrap();
    old.name[..name.len()].copy_from_slice(name.as_bytes());
    old.linkname[..target.len()].copy_from_slice(target.as_bytes());
    old.realsize = *b"00000000000\0";
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(content.len() as u64);
    header.set_cksum();
    builder.append(&header, content).unwrap();
}

fn file(builder: &mut Builder, name: &str, content: &str) {
    add(builder, EntryType::Regular, name, "", content.as_bytes());
}

fn names(place: &Place) -> Vec<PathBuf> {
    place.taken().into_keys().collect()
}

#[test]
fn an_upload_is_unpacked_with_the_modules_that_the_cli_packs() {
    let place = Place::new();
    let request = upload(&place, |builder| {
        add(builder, EntryType::Directory, "./", "", b"");
        file(builder, "./main.tf", MAIN);
        file(builder, ".terraformignore", "main.tf\n");
        add(builder, EntryType::Directory, ".terraform/", "", b"");
        file(builder, ".terraform/modules/modules.json", "{}");
        file(builder, ".terraform/modules/m/.git/config", "");
        file(builder, ".terraform/providers/p", "");
        file(builder, ".terraform/terraform.tfstate", "{}");
        file(builder, "terraform.tfstate", "{}");
        add(builder, EntryType::Symlink, "a.tf", "./main.tf", b"");
        // a parent may come after what is in it
        file(builder, "d/e/x", "");
        add(builder, EntryType::Directory, "d/", "", b"");
    });
    let (report, log) = taken(&request);
    let expected = [
        ".terraform",
        ".terraform/modules",
        ".terraform/modules/modules.json",
        ".terraformignore",
        "a.tf",
        "d",
        "d/e",
        "d/e/x",
        "main.tf",
    ];
    assert_eq!(names(&place), expected.map(PathBuf::from));
    assert_eq!(report.root, place.work());
    assert!(log.contains("Left out terraform.tfstate"), "{log}");
}

#[test]
fn what_an_upload_may_not_hold_is_refused_by_name() {
    let kinds = [
        (EntryType::Fifo, Kind::Fifo),
        (EntryType::Char, Kind::Device),
        (EntryType::Block, Kind::Device),
        (EntryType::Link, Kind::HardLink),
        (EntryType::GNUSparse, Kind::Special),
        (EntryType::new(b'Z'), Kind::Special),
    ];
    for (entry, kind) in kinds {
        let place = Place::new();
        let request = upload(&place, |builder| {
            file(builder, "main.tf", MAIN);
            add(builder, entry, "d/x.tf", "main.tf", b"");
        });
        let error = refused(&request);
        assert!(
            matches!(&error, Error::Kind { path, kind: found } if *found == kind && path == Path::new("d/x.tf")),
            "{error}"
        );
    }
    for name in ["../evil.tf", "/etc/evil", "a/../../evil", "a/.."] {
        let place = Place::new();
        let error = refused(&upload(&place, |builder| file(builder, name, "")));
        assert!(matches!(&error, Error::EntryLeaves { path } if path == Path::new(name)), "{error}");
        assert!(!place.path("run/evil.tf").exists());
    }
    for (name, target) in [("l", "/etc"), ("l", ".."), ("d/l", "../../x")] {
        let place = Place::new();
        let error = refused(&upload(&place, |builder| add(builder, EntryType::Symlink, name, target, b"")));
        assert!(matches!(&error, Error::LinkLeaves { path, .. } if path == Path::new(name)), "{error}");
    }
    for (first, second) in [("a", "a"), ("a", "a/b"), ("a/b", "a")] {
        let place = Place::new();
        let error = refused(&upload(&place, |builder| {
            file(builder, first, "");
            file(builder, second, "");
        }));
        assert!(matches!(&error, Error::Twice { .. }), "{first} {second}: {error}");
    }
}

/// The classic: a link to elsewhere, and then a file below it.
#[test]
fn nothing_is_written_through_a_link() {
    let place = Place::new();
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    for target in ["../../elsewhere", elsewhere.to_str().unwrap(), "d"] {
        let request = upload(&place, |builder| {
            add(builder, EntryType::Directory, "d/", "", b"");
            add(builder, EntryType::Symlink, "l", target, b"");
            file(builder, "l/x", "evil");
        });
        assert!(matches!(refused(&request), Error::Twice { .. }), "{target}");
    }
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn bombs_are_stopped_by_length_count_and_ratio() {
    let small = Limits { max_bytes: 1024 * 1024, max_files: 100 };
    let zeros = vec![0; 40 * 1024 * 1024];
    // large, by what its header says and by what it holds
    let place = Place::new();
    let mut request = upload(&place, |builder| {
        file(builder, "main.tf", MAIN);
        add(builder, EntryType::Regular, "big", "", &zeros);
    });
    request.limits = small;
    assert!(matches!(refused(&request), Error::TooLarge { path, .. } if path == Path::new("big")));
    // within the limit, and of nothing
    request.limits = Limits::default();
    assert!(matches!(refused(&request), Error::Ratio { .. }));
    // in things that are left out
    let mut request = upload(&place, |builder| add(builder, EntryType::Regular, ".git/big", "", &zeros));
    request.limits = small;
    assert!(matches!(refused(&request), Error::Stream { .. }));
    // in the name of an entry
    let mut request = upload(&place, |builder| add(builder, EntryType::GNULongName, "n", "", &zeros));
    request.limits = small;
    assert!(matches!(refused(&request), Error::Stream { .. }));
    // many
    let mut request = upload(&place, |builder| (0..101).for_each(|n| file(builder, &format!("f{n}"), "")));
    request.limits = small;
    assert!(matches!(refused(&request), Error::TooMany { limit: 100, .. }));
    // a file whose header promises more than there is
    let mut header = Header::new_gnu();
    header.set_path("x").unwrap();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_size(u64::MAX / 2);
    header.set_cksum();
    let request = upload(&place, |builder| builder.append(&header, std::io::empty()).unwrap());
    assert!(matches!(refused(&request), Error::TooLarge { .. }));
}

#[test]
fn what_is_no_sound_archive_is_refused() {
    let place = Place::new();
    let sound = upload(&place, |builder| {
        file(builder, "main.tf", MAIN);
        file(builder, "data", &"0123456789abcdef".repeat(10_000));
    });
    let Source::Archive { path } = &sound.source else { unreachable!() };
    let bytes = fs::read(path).unwrap();
    taken(&sound);
    fs::remove_file(&sound.report).unwrap();
    let refuse = |bytes: &[u8], what: &str| {
        fs::write(path, bytes).unwrap();
        let error = refused(&sound);
        assert!(matches!(&error, Error::Archive { .. }), "{what}: {error}");
        assert!(error.to_string().contains("upload.tar.gz"), "{error}");
    };
    for length in [5, bytes.len() / 2, bytes.len() - 1, bytes.len() - 8] {
        refuse(&bytes[..length], "cut off");
    }
    refuse(b"terraform {}\n", "text");
    refuse(&[&bytes[..], b"x"].concat(), "followed by something");
    let mut flipped = bytes.clone();
    let end = flipped.len() - 6;
    flipped[end] ^= 1;
    refuse(&flipped, "a wrong checksum");
    let mut text = GzEncoder::new(Vec::new(), Compression::fast());
    text.write_all(&b"no tar, but long enough for a header ".repeat(40)).unwrap();
    refuse(&text.finish().unwrap(), "not of tar");

    fs::remove_file(path).unwrap();
    assert!(matches!(refused(&sound), Error::Unreadable { .. }));
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    assert!(matches!(refused(&sound), Error::Unreadable { .. }));
}

#[test]
fn an_empty_archive_holds_no_terraform_files() {
    let place = Place::new();
    assert!(matches!(refused(&upload(&place, |_| ())), Error::NoFiles { .. }));
}

#[test]
fn the_record_can_be_read_by_tar_and_has_the_digest_of_the_report() {
    let place = Place::with_main();
    place.write("b/x", "1");
    place.link("b/l", "x");
    place.write(&format!("{}/{}.tf", "n".repeat(120), "m".repeat(120)), "long");
    place.link("long", &format!("{}/{}.tf", "n".repeat(120), "m".repeat(120)));
    let request = place.directory();
    let (report, _) = taken(&request);
    let digest = report.digest.unwrap();
    let bytes = fs::read(request.archive.as_ref().unwrap()).unwrap();
    assert_eq!(digest.size, bytes.len() as u64);
    let sha256: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(digest.sha256, sha256);

    let unpacked = place.path("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let status = std::process::Command::new("tar")
        .arg("-xzf")
        .arg(request.archive.as_ref().unwrap())
        .arg("-C")
        .arg(&unpacked)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(crate::common::found(&unpacked), place.taken());
}

#[test]
fn equal_configurations_have_equal_records() {
    let fill = |order: &[&str]| {
        let place = Place::with_main();
        order.iter().for_each(|name| drop(place.write(name, name)));
        let (report, _) = taken(&place.directory());
        (fs::read(place.path("configuration.tar.gz")).unwrap(), report.digest)
    };
    let first = fill(&["b", "a/c", "a/b", "d"]);
    assert_eq!(first, fill(&["d", "a/b", "b", "a/c"]));
    assert_ne!(first, fill(&["d", "a/b", "b", "a/d"]));
}
