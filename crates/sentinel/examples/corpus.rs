//! Runs every Sentinel test case found below a folder, and prints for each repository in it how many
//! passed, failed and were skipped, and the time. Then it derives the Terraform imports of every mock
//! that carries the plan it was made of, and prints how many come out equal.
//!
//! ```text
//! cargo run --release -p sentinel --example corpus -- DIR [--failures]
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use sentinel::{CaseReport, DirFiles, Limits, Sources, Status, SystemHost, run_case};

#[path = "corpus/derivation.rs"]
mod derivation;

#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    time: Duration,
}

#[expect(clippy::print_stdout, reason = "the report is what this program is for")]
fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let Some(root) = args.next().map(PathBuf::from) else {
        println!("usage: corpus DIR [--failures]");
        return ExitCode::FAILURE;
    };
    let show_failures = args.next().as_deref() == Some("--failures");
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for repository in folders(&root) {
        let name = repository.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let tally = tallies.entry(name).or_default();
        let start = Instant::now();
        let Ok(files) = DirFiles::new(&repository) else { continue };
        let sources = Sources::new(&files);
        let mut found = Vec::new();
        cases(&repository, &repository, &mut found);
        found.sort();
        for (policy, case) in found {
            if !repository.join(&policy).exists() {
                tally.skipped += 1;
                continue;
            }
            let report = run_case(&sources, &policy, &case, Limits::default(), &SystemHost);
            match report.status {
                Status::Pass => tally.passed += 1,
                _ => {
                    tally.failed += 1;
                    if show_failures {
                        println!("{}/{case}\n{}", repository.display(), indent(&describe(&report)));
                    }
                }
            }
        }
        tally.time = start.elapsed();
    }
    println!("{:<80} {:>7} {:>7} {:>8} {:>9}", "repository", "passed", "failed", "skipped", "ms");
    let mut total = Tally::default();
    for (name, tally) in &tallies {
        row(name, tally);
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.skipped += tally.skipped;
        total.time += tally.time;
    }
    row("total", &total);
    let derivation = derivation::check(&root);
    println!("\n{derivation}");
    if show_failures {
        derivation.differences.iter().for_each(|difference| println!("{difference}"));
    }
    ExitCode::SUCCESS
}

#[expect(clippy::print_stdout, reason = "the report is what this program is for")]
fn row(name: &str, tally: &Tally) {
    let time = tally.time.as_secs_f64() * 1000.0;
    println!("{name:<80} {:>7} {:>7} {:>8} {time:>9.1}", tally.passed, tally.failed, tally.skipped);
}

fn describe(report: &CaseReport) -> String {
    let mut lines: Vec<String> = report.errors.iter().map(sentinel::Error::render).collect();
    for mismatch in &report.mismatches {
        lines.push(format!("{}: expected {:?}, got {:?}", mismatch.rule, mismatch.expected, mismatch.actual));
    }
    lines.join("\n")
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}\n")).collect()
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Finds `…/test/<policy>/<case>.{hcl,json}` and the policy it is for, relative to the repository.
fn cases(repository: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            cases(repository, &path, found);
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
}
