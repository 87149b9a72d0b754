//! A directory as a source.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use crate::common::{Found, MAIN, Place, refused, step, taken};
use rustix::fs::{CWD, FileType, Mode, makedev, mknodat};
use source::{Error, Kind, Limits, Source, StateKept, TakeRequest};

fn names(place: &Place) -> Vec<String> {
    place.taken().keys().map(|path| path.to_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_taken_is_what_was_there() {
    let place = Place::with_main();
    let script = place.write("scripts/run.sh", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o750)).unwrap();
    place.write(".terraform.lock.hcl", "# lock\n");
    fs::create_dir(place.source().join("empty")).unwrap();
    place.link("scripts/again", "run.sh");
    place.link("modules", "./scripts/../empty");

    let key = place.write("key", "private");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    let (report, log) = taken(&place.directory());
    let file = |content: &str, mode| Found::File { mode, content: content.into() };
    let expected = [
        (".terraform.lock.hcl", file("# lock\n", 0o644)),
        ("empty", Found::Directory),
        ("key", file("private", 0o600)),
        ("main.tf", file(MAIN, 0o644)),
        ("modules", Found::Link("./scripts/../empty".into())),
        ("scripts", Found::Directory),
        ("scripts/again", Found::Link("run.sh".into())),
        ("scripts/run.sh", file("#!/bin/sh\n", 0o750)),
    ];
    assert_eq!(place.taken(), expected.map(|(path, found)| (PathBuf::from(path), found)).into());
    assert_eq!(report.root, place.work());
    assert_eq!(report.commit, None);
    assert_eq!(report.state, StateKept::ByDaemon);
    assert!(log.contains("in 4 files"), "{log}");
}

#[test]
fn repositories_and_what_terraform_leaves_behind_are_left_out() {
    let place = Place::with_main();
    for name in [
        ".git/config",
        "modules/x/.git",
        ".terraform/providers/p",
        "modules/x/.terraform/modules/modules.json",
        "terraform.tfstate",
        "terraform.tfstate.backup",
        ".terraform.tfstate.lock.info",
        "errored.tfstate",
        "crash.log",
    ] {
        place.write(name, "{}");
    }
    place.write("modules/x/main.tf", MAIN);
    place.write("modules/x/terraform.tfstate", "{}");
    let (_, log) = taken(&place.directory());
    assert_eq!(
        names(&place),
        ["main.tf", "modules", "modules/x", "modules/x/main.tf", "modules/x/terraform.tfstate"]
    );
    assert!(
        log.contains("Left out terraform.tfstate: the state of this workspace is kept by signalbox."),
        "{log}"
    );
    assert!(!log.contains("modules/x"), "{log}");
}

#[test]
fn the_words_about_a_state_in_the_source_name_the_backend_that_keeps_it() {
    let place = Place::with_main();
    place.write("backend.tf", "terraform {\n  backend \"s3\" {}\n}\n");
    place.write("terraform.tfstate", "{}");
    let current = place.path("current.tfstate");
    fs::write(&current, "{\"serial\": 1}").unwrap();
    let request = source::TakeRequest { state: Some(current), ..place.directory() };
    let (report, log) = taken(&request);
    assert_eq!(report.state, StateKept::ByBackend { kind: "s3".into() });
    assert!(
        log.contains(
            "Left out terraform.tfstate: the state of this workspace is kept by the backend \"s3\"."
        )
    );
    assert_eq!(names(&place), ["backend.tf", "main.tf"]);
}

#[test]
fn terraformignore_decides_what_else_is_left_out() {
    let place = Place::with_main();
    place.write(".terraformignore", "*.log\nbuild/\n!build/keep.txt\n/docs/\n");
    for name in ["a.log", "x/b.log", "build/out", "build/keep.txt", "docs/a.md", "x/docs/a.md"] {
        place.write(name, "x");
    }
    mknodat(CWD, place.source().join("docs/pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    taken(&place.directory());
    assert_eq!(
        names(&place),
        [".terraformignore", "build", "build/keep.txt", "main.tf", "x", "x/docs", "x/docs/a.md"]
    );

    place.write(".terraformignore", "ok\n[\n");
    fs::remove_file(place.path("report.json")).unwrap();
    assert!(matches!(refused(&place.directory()), Error::Ignore { line: 2, .. }));
    fs::remove_file(place.source().join(".terraformignore")).unwrap();
    place.link(".terraformignore", "main.tf");
    assert!(matches!(refused(&place.directory()), Error::LinkNotFollowed { .. }));
}

/// Whoever opens a named pipe waits for ever: that this test ends is part of it.
#[test]
fn what_is_neither_file_directory_nor_link_is_refused_by_name() {
    let place = Place::with_main();
    let pipe = place.source().join("x.tf");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let error = refused(&place.directory());
    assert!(matches!(&error, Error::Kind { path, kind: Kind::Fifo } if path == Path::new("x.tf")), "{error}");
    assert!(error.to_string().starts_with("x.tf is a named pipe"), "{error}");
    fs::remove_file(&pipe).unwrap();

    fs::create_dir(place.source().join("d")).unwrap();
    let socket = UnixListener::bind(place.source().join("d/s")).unwrap();
    let error = refused(&place.directory());
    assert!(
        matches!(&error, Error::Kind { path, kind: Kind::Socket } if path == Path::new("d/s")),
        "{error}"
    );
    drop(socket);
    fs::remove_dir_all(place.source().join("d")).unwrap();

    mknodat(CWD, place.source().join(".terraformignore"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let error = refused(&place.directory());
    assert!(matches!(&error, Error::Kind { kind: Kind::Fifo, .. }), "{error}");
    fs::remove_file(place.source().join(".terraformignore")).unwrap();

    // only root may make one, and not in every container
    if mknodat(CWD, place.source().join("null"), FileType::CharacterDevice, Mode::RWXU, makedev(1, 3)).is_ok()
    {
        let error = refused(&place.directory());
        assert!(matches!(&error, Error::Kind { kind: Kind::Device, .. }), "{error}");
    }
}

#[test]
fn a_link_that_leaves_the_configuration_is_refused_with_its_target() {
    for (name, target) in [
        ("passwd", "/etc/passwd"),
        ("up", ".."),
        ("x/module", "../../modules/x"),
        ("x/main.tf", "/proc/self/environ"),
    ] {
        let place = Place::with_main();
        place.link(name, target);
        let error = refused(&place.directory());
        assert!(
            matches!(&error, Error::LinkLeaves { path, target: to } if path == Path::new(name) && to == Path::new(target)),
            "{error}"
        );
    }
    // inside by its text, outside by where the kernel goes
    let place = Place::with_main();
    place.link("here", ".");
    place.link("secret", "here/../secret");
    assert!(
        matches!(refused(&place.directory()), Error::LinkLeaves { path, .. } if path == Path::new("secret"))
    );
    // absolute, although it leads inside
    let place = Place::with_main();
    place.link("m", place.source().join("main.tf").to_str().unwrap());
    assert!(matches!(refused(&place.directory()), Error::LinkLeaves { .. }));
    // out of it is not where it is left out
    let place = Place::with_main();
    place.link(".terraform/x", "/etc");
    place.link("y", "/etc");
    place.write(".terraformignore", "/y\n");
    taken(&place.directory());
}

#[test]
fn a_source_that_is_no_configuration_is_told_what_would_be_right() {
    let place = Place::new();
    let table = [(place.path("missing"), "No such file"), (place.write("file", ""), "Not a directory")];
    for (path, words) in table {
        let error = refused(&place.request(Source::Directory { path: path.clone() }));
        assert!(matches!(error, Error::Unreadable { .. }));
        let text = error.to_string();
        assert!(text.contains(words) && text.contains(path.to_str().unwrap()), "{text}");
    }
    let error = refused(&place.directory());
    assert!(matches!(&error, Error::NoFiles { .. }), "{error}");

    place.write("live/network/main.tf", MAIN);
    place.write("live/dns/main.tf.json", "{}");
    place.write("x.tf/readme", "a directory is not a file");
    let text = refused(&place.directory()).to_string();
    assert!(text.ends_with("they are in live/dns, live/network"), "{text}");

    for name in ["only.tf.json", "override.tf"] {
        let file = place.write(name, "{}");
        taken(&place.directory());
        fs::remove_file(file).unwrap();
    }
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let place = Place::with_main();
    let secret = place.write("d/secret", "x");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    let (taken, log) = step(&place, &place.directory(), |command| {
        // to root, everything can be read
        if rustix::process::geteuid().is_root() { command.uid(65534).gid(65534) } else { command }
    });
    assert!(!taken);
    assert!(log.contains("d/secret cannot be read: Permission denied"), "{log}");
    assert!(log.contains("or leave it out with .terraformignore"), "{log}");
    assert!(!place.path("report.json").exists());
}

#[test]
fn the_limits_name_where_they_were_reached() {
    let place = Place::with_main();
    place.write("a/data", &"x".repeat(1000));
    let mut request = place.directory();
    request.limits = Limits { max_bytes: 1000 + MAIN.len() as u64, max_files: 3 };
    taken(&request);
    fs::remove_file(&request.report).unwrap();

    request.limits.max_bytes -= 1;
    let error = refused(&request);
    assert!(matches!(&error, Error::TooLarge { path, .. } if path == Path::new("main.tf")), "{error}");
    assert!(error.to_string().contains("larger than 1 KiB"), "{error}");

    request.limits = Limits { max_files: 2, ..Limits::default() };
    let error = refused(&request);
    assert!(matches!(&error, Error::TooMany { limit: 2, path } if path == Path::new("main.tf")), "{error}");

    // without reading or writing any of it
    let huge = fs::File::create(place.source().join("huge")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let error = refused(&place.directory());
    assert!(matches!(&error, Error::TooLarge { path, .. } if path == Path::new("huge")), "{error}");
    fs::remove_file(place.source().join("huge")).unwrap();

    place.write(&format!("{}x", "d/".repeat(101)), "");
    assert!(matches!(refused(&place.directory()), Error::TooDeep { .. }));
}

#[test]
fn source_and_work_directory_may_not_lie_in_each_other() {
    let place = Place::with_main();
    let mut request = place.directory();
    for work in ["source", "source/data/work", "source/main.tf"] {
        request.work = place.path(work);
        assert!(matches!(refused(&request), Error::Overlap { .. }), "{work}");
    }
    // emptying it would have destroyed the source
    request.work = place.path("");
    assert!(matches!(refused(&request), Error::Overlap { .. }));
    std::os::unix::fs::symlink(place.source(), place.path("link")).unwrap();
    request.work = place.path("link/work");
    assert!(matches!(refused(&request), Error::Overlap { .. }));
    request = place.directory();
    request.source = Source::Directory { path: place.path("link") };
    taken(&request);
    fs::remove_file(&request.report).unwrap();
    assert_eq!(fs::read_to_string(place.source().join("main.tf")).unwrap(), MAIN);

    let inside = place.work().join("x");
    for change in [
        |request: &mut source::TakeRequest, inside: PathBuf| request.report = inside,
        |request: &mut source::TakeRequest, inside: PathBuf| request.archive = Some(inside),
        |request: &mut source::TakeRequest, inside: PathBuf| request.state = Some(inside),
        |request: &mut source::TakeRequest, inside: PathBuf| {
            request.source = Source::Archive { path: inside }
        },
    ] {
        let mut request = place.directory();
        change(&mut request, inside.clone());
        assert!(matches!(refused(&request), Error::Overlap { .. }));
    }
}

#[test]
fn taking_again_leaves_nothing_of_the_time_before() {
    let place = Place::with_main();
    fs::create_dir_all(place.work().join("old/deep")).unwrap();
    fs::write(place.work().join("old.tf"), "old").unwrap();
    // a link to elsewhere is removed, not followed
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("precious"), "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.work().join("away")).unwrap();
    let (first, _) = taken(&place.directory());
    let (second, _) = taken(&place.directory());
    assert_eq!(names(&place), ["main.tf"]);
    assert_eq!(first, second);
    assert!(elsewhere.join("precious").exists());

    fs::remove_dir_all(place.work()).unwrap();
    fs::remove_file(place.path("report.json")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, place.work()).unwrap();
    assert!(matches!(refused(&place.directory()), Error::Unwritable { .. }));
    assert!(elsewhere.join("precious").exists());
}

#[test]
fn the_current_state_is_put_where_terraform_looks_for_it() {
    let place = Place::with_main();
    place.write("terraform.tfstate", "{\"old\": true}");
    let current = place.path("current.tfstate");
    fs::write(&current, "{\"serial\": 7}").unwrap();
    let mut request = place.directory();
    let (without, _) = taken(&request);
    request.state = Some(current.clone());
    let (with, _) = taken(&request);
    let state = place.work().join("terraform.tfstate");
    assert_eq!(fs::read_to_string(&state).unwrap(), "{\"serial\": 7}");
    assert_eq!(fs::metadata(&state).unwrap().mode() & 0o777, 0o600);
    // it is not part of the record
    assert_eq!(without.digest, with.digest);

    fs::remove_file(&request.report).unwrap();
    fs::remove_file(&current).unwrap();
    assert!(matches!(refused(&request), Error::Unreadable { path, .. } if path == current));
}

#[test]
fn no_archive_is_written_that_was_not_asked_for() {
    let place = Place::with_main();
    let request = source::TakeRequest { archive: None, ..place.directory() };
    let (report, _) = taken(&request);
    assert_eq!(report.digest, None);
    let mut beside: Vec<_> =
        fs::read_dir(place.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    beside.sort();
    assert_eq!(beside, ["report.json", "run", "source"]);
}

#[test]
fn terraform_runs_in_a_folder_of_a_directory_and_modules_lie_beside_it() {
    let place = Place::new();
    place.write("live/main.tf", MAIN);
    place.write("live/terraform.tfstate", "{}");
    place.write("modules/x/main.tf", "# x\n");
    place.write("modules/x/terraform.tfstate", "{}");
    let in_folder = |folder: &str| TakeRequest { working_directory: folder.into(), ..place.directory() };
    for folder in ["nope", "live/main.tf"] {
        let error = refused(&in_folder(folder));
        assert!(matches!(&error, Error::NoSuchPath { path, .. } if path == folder), "{folder}: {error}");
    }
    for folder in ["..", "a/../..", "/a"] {
        let error = refused(&in_folder(folder));
        assert!(matches!(&error, Error::WorkingDirectory(path) if path == folder), "{folder}: {error}");
    }
    let (report, log) = taken(&in_folder("./live/"));
    assert_eq!(report.root, place.work().join("live"));
    assert!(log.contains(&format!("Configuration: {}, in live", place.source().display())), "{log}");
    let paths: Vec<_> = place.taken().into_keys().collect();
    let expected =
        ["live", "live/main.tf", "modules", "modules/x", "modules/x/main.tf", "modules/x/terraform.tfstate"];
    assert_eq!(
        paths,
        expected.map(PathBuf::from),
        "a state is left out where terraform runs, and there alone"
    );
}

#[test]
fn files_of_the_daemon_that_lie_in_a_source_are_no_part_of_it() {
    let place = Place::with_main();
    let own = place.write("signalbox.hcl", "server {}\n");
    place.write("keys/signalbox.hcl", "another file of that name\n");
    let request = TakeRequest { leave_out: vec![fs::canonicalize(own).unwrap()], ..place.directory() };
    taken(&request);
    assert_eq!(names(&place), ["keys", "keys/signalbox.hcl", "main.tf"]);
}
