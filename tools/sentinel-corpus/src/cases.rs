//! Every test case, by repository.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use sentinel::{
    CaseReport, DirFiles, ErrorKind, Host, HttpRequest, HttpResponse, Limits, Sources, Status, SystemHost,
    run_case,
};

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// All that it asserts is so.
    Passed,
    /// Something is not, in words.
    Failed(String),
    /// It can't be run here.
    Skipped(Skipped),
}

/// Why a case can't be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// There is no such policy.
    NoPolicy,
    /// It asks somebody on the network.
    Network,
    /// It names a file that the repository does not have.
    NoFile,
}

/// A repository with its cases.
#[derive(Debug, Clone)]
pub struct Repository {
    /// The name of its folder.
    pub name: String,
    /// Each case: its path in the repository, and how it ended.
    pub cases: Vec<(String, Outcome)>,
    /// How long all of them took.
    pub time: Duration,
}

impl Repository {
    /// How many passed, failed and were skipped.
    pub fn counts(&self) -> [usize; 3] {
        let count = |is: fn(&Outcome) -> bool| self.cases.iter().filter(|(_, outcome)| is(outcome)).count();
        [
            count(|outcome| *outcome == Outcome::Passed),
            count(|outcome| matches!(outcome, Outcome::Failed(_))),
            count(|outcome| matches!(outcome, Outcome::Skipped(_))),
        ]
    }

    /// How many were skipped for this reason.
    pub fn skipped(&self, why: Skipped) -> usize {
        self.cases.iter().filter(|(_, outcome)| *outcome == Outcome::Skipped(why)).count()
    }
}

/// Runs every case below a folder of repositories, one after the other.
///
/// # Errors
/// When a folder can't be read.
pub fn run(root: &Path) -> io::Result<Vec<Repository>> {
    let mut repositories = Vec::new();
    for path in entries(root)?.into_iter().filter(|path| path.is_dir()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let start = Instant::now();
        let files = DirFiles::new(&path)?;
        // compiled and read once for the whole repository
        let sources = Sources::new(&files);
        let mut found = Vec::new();
        find(&path, &path, &mut found)?;
        let cases = found.into_iter().map(|(policy, case)| {
            let outcome = if path.join(&policy).exists() {
                one(&sources, &policy, &case)
            } else {
                Outcome::Skipped(Skipped::NoPolicy)
            };
            (case, outcome)
        });
        let cases = cases.collect();
        repositories.push(Repository { name, cases, time: start.elapsed() });
    }
    Ok(repositories)
}

fn one(sources: &Sources<'_>, policy: &str, case: &str) -> Outcome {
    let host = Offline::default();
    let report = run_case(sources, policy, case, Limits::default(), &host);
    let has_no_file =
        || report.errors.iter().any(|error| matches!(error.kind(), ErrorKind::File | ErrorKind::Outside));
    match report.status {
        Status::Pass => Outcome::Passed,
        _ if host.was_asked.load(Ordering::Relaxed) => Outcome::Skipped(Skipped::Network),
        _ if has_no_file() => Outcome::Skipped(Skipped::NoFile),
        _ => Outcome::Failed(words(&report)),
    }
}

fn words(report: &CaseReport) -> String {
    let mut lines: Vec<String> = report.errors.iter().map(sentinel::Error::render).collect();
    for mismatch in &report.mismatches {
        lines.push(format!("{}: expected {:?}, got {:?}", mismatch.rule, mismatch.expected, mismatch.actual));
    }
    lines.join("\n")
}

/// No network, and a note that somebody wanted it.
#[derive(Default)]
struct Offline {
    was_asked: AtomicBool,
}

impl Host for Offline {
    fn now(&self) -> i128 {
        SystemHost.now()
    }

    fn http(&self, request: &HttpRequest) -> Result<HttpResponse, String> {
        self.was_asked.store(true, Ordering::Relaxed);
        SystemHost.http(request)
    }
}

/// What is in a folder, in order.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

/// Finds `…/test/<policy>/<case>.{hcl,json}` and the policy it is for, relative to the repository.
fn find(repository: &Path, folder: &Path, found: &mut Vec<(String, String)>) -> io::Result<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            if !path.is_symlink() {
                find(repository, &path, found)?;
            }
            continue;
        }
        let is_case = path.extension().is_some_and(|end| end == "hcl" || end == "json");
        let Some(policy) = path.parent().filter(|_| is_case) else { continue };
        let Some(test) = policy.parent().filter(|test| test.ends_with("test")) else { continue };
        let (Some(name), Some(base)) = (policy.file_name(), test.parent()) else { continue };
        let policy = base.join(format!("{}.sentinel", name.to_string_lossy()));
        let relative = |path: &Path| {
            path.strip_prefix(repository).map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
        };
        found.push((relative(&policy), relative(&path)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_case_counts_once_and_what_can_not_be_run_says_why() {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("a/p.sentinel", "import \"m\"\nmain = rule { m.x is 1 }"),
            ("a/test/p/good.hcl", "mock \"m\" {\n  data = { x = 1 }\n}"),
            ("a/test/p/bad.json", "{\"mock\": {\"m\": {\"x\": 2}}}"),
            ("a/test/p/no-file.hcl", "module \"m\" {\n  source = \"gone.sentinel\"\n}"),
            ("a/test/gone/case.hcl", ""),
            (
                "b/deep/net.sentinel",
                "import \"http\"\nmain = rule { http.get(\"https://x\").status_code is 200 }",
            ),
            ("b/deep/test/net/case.hcl", ""),
            ("b/README.md", "no case"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let [a, b] = &run(root.path()).unwrap()[..] else { panic!("two repositories") };
        assert_eq!((a.name.as_str(), a.counts()), ("a", [1, 1, 2]));
        assert_eq!((a.skipped(Skipped::NoPolicy), a.skipped(Skipped::NoFile)), (1, 1));
        assert_eq!((b.counts(), b.skipped(Skipped::Network)), ([0, 0, 1], 1));
        assert_eq!(b.cases[0].0, "deep/test/net/case.hcl");
        assert!(run(&root.path().join("nowhere")).is_err());
    }
}
