//! A place with a source and what is needed to take it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use source::{Error, FORMAT, Limits, Source, TakeReport, TakeRequest, take};
use tempfile::TempDir;

pub(crate) const MAIN: &str = "resource \"terraform_data\" \"a\" {\n  input = 1\n}\n";

pub(crate) struct Place {
    directory: TempDir,
}

/// What lies in a directory, without the directory itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    Directory,
    /// With its nine bits of rights.
    File {
        mode: u32,
        content: Vec<u8>,
    },
    Link(PathBuf),
}

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self { directory: tempfile::tempdir().unwrap() };
        fs::create_dir(place.source()).unwrap();
        place
    }

    /// With one terraform file in the source.
    pub(crate) fn with_main() -> Self {
        let place = Self::new();
        place.write("main.tf", MAIN);
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn source(&self) -> PathBuf {
        self.path("source")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.path("run/work")
    }

    /// Writes a file of the source.
    pub(crate) fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.source().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.source().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn directory(&self) -> TakeRequest {
        self.request(Source::Directory { path: self.source() })
    }

    pub(crate) fn request(&self, source: Source) -> TakeRequest {
        TakeRequest {
            format: FORMAT,
            source,
            working_directory: String::new(),
            work: self.work(),
            scratch: self.path("run"),
            workspace: "net".to_owned(),
            kept: None,
            // of most of these tests it is no matter
            allow_new_state: true,
            archive: Some(self.path("configuration.tar.gz")),
            state: None,
            report: self.path("report.json"),
            leave_out: Vec::new(),
            limits: Limits::default(),
        }
    }

    pub(crate) fn taken(&self) -> BTreeMap<PathBuf, Found> {
        found(&self.work())
    }
}

/// The report and what the log says.
pub(crate) fn taken(request: &TakeRequest) -> (TakeReport, String) {
    let mut log = Vec::new();
    let report = take(request, &mut log).unwrap();
    let written: TakeReport = serde_json::from_slice(&fs::read(&request.report).unwrap()).unwrap();
    assert_eq!(written, report);
    assert_eq!(fs::metadata(&request.report).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&request.work).unwrap().mode() & 0o777, 0o700);
    (report, String::from_utf8(log).unwrap())
}

/// The refusal; there is no report.
pub(crate) fn refused(request: &TakeRequest) -> Error {
    let error = take(request, &mut Vec::new()).unwrap_err();
    assert!(!request.report.exists(), "{error}");
    // what is wrong, and what would be right
    assert!(error.to_string().contains([';', ',']), "{error}");
    error
}

/// What the step does in a process of its own: whether it took the configuration, and all that it says.
pub(crate) fn step(
    place: &Place,
    request: &TakeRequest,
    change: impl FnOnce(&mut Command) -> &mut Command,
) -> (bool, String) {
    let path = place.path("request.json");
    fs::write(&path, serde_json::to_vec(request).unwrap()).unwrap();
    // a copy, which another user can start
    let program = place.path("program");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let mut command = Command::new(program);
    command.args(["--exact", "step::in_a_process_of_its_own", "--include-ignored", "--nocapture"]);
    let command = change(command.env("TAKE_REQUEST", &path));
    // a process that another test is just starting may still hold the copy open for writing, until its own exec
    let output = loop {
        match command.output() {
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            other => break other.unwrap(),
        }
    };
    let words = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&words).into_owned())
}

pub(crate) fn found(root: &Path) -> BTreeMap<PathBuf, Found> {
    let mut all = BTreeMap::new();
    walk(root, Path::new(""), &mut all);
    all
}

fn walk(root: &Path, at: &Path, all: &mut BTreeMap<PathBuf, Found>) {
    for entry in fs::read_dir(root.join(at)).unwrap() {
        let entry = entry.unwrap();
        let path = at.join(entry.file_name());
        let kind = entry.file_type().unwrap();
        let found = if kind.is_dir() {
            walk(root, &path, all);
            Found::Directory
        } else if kind.is_symlink() {
            Found::Link(fs::read_link(entry.path()).unwrap())
        } else {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            Found::File { mode, content: fs::read(entry.path()).unwrap() }
        };
        all.insert(path, found);
    }
}
