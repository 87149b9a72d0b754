//! The step of an executor: request file, exit code, words.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::common::{MAIN, Place, taken};
use source::{Error, FORMAT, Limits, Source, StateKept, TakeReport, TakeRequest, run_take, take};

#[test]
fn a_request_is_read_as_it_is_documented() {
    let place = Place::with_main();
    let request = place.path("request.json");
    let text = format!(
        r#"{{"format": 3, "source": {{"type": "directory", "path": {:?}}}, "work": {:?}, "scratch": {:?}, "report": {:?}}}"#,
        place.source(),
        place.work(),
        place.path("run"),
        place.path("report.json")
    );
    fs::write(&request, text).unwrap();
    assert_eq!(run_take(&request), ExitCode::SUCCESS);
    let report: TakeReport = serde_json::from_slice(&fs::read(place.path("report.json")).unwrap()).unwrap();
    let expected = TakeReport {
        format: FORMAT,
        root: place.work(),
        commit: None,
        digest: None,
        state: StateKept::ByDaemon,
    };
    assert_eq!(report, expected);
    // as it is shown to people and put into environments: no slash at its end
    assert_eq!(report.root.as_os_str(), place.work().as_os_str());

    let git: Source = serde_json::from_str(r#"{"type": "git", "url": "u", "reference": "r"}"#).unwrap();
    assert_eq!(git, Source::Git { url: "u".into(), reference: "r".into() });
    let limits: Limits = serde_json::from_str("{}").unwrap();
    assert_eq!((limits.max_bytes, limits.max_files), (512 * 1024 * 1024, 50_000));
    let kept = serde_json::to_string(&StateKept::ByBackend { kind: "s3".into() }).unwrap();
    assert_eq!(kept, r#"{"by":"backend","kind":"s3"}"#);
}

/// Not a test of its own: what other tests start.
#[test]
#[ignore = "started by other tests"]
fn in_a_process_of_its_own() {
    let request = std::env::var_os("TAKE_REQUEST").unwrap();
    assert_eq!(run_take(Path::new(&request)), ExitCode::SUCCESS);
}

#[test]
fn what_is_no_request_is_exit_code_1() {
    let place = Place::with_main();
    let request = place.path("request.json");
    assert_eq!(run_take(&request), ExitCode::FAILURE);
    for text in ["", "{}", "[", r#"{"format": 1, "unknown": 2}"#] {
        fs::write(&request, text).unwrap();
        assert_eq!(run_take(&request), ExitCode::FAILURE, "{text}");
    }
    let other = TakeRequest { format: FORMAT + 1, ..place.directory() };
    let refused = take(&other, &mut Vec::new());
    assert!(matches!(refused, Err(Error::Format { found }) if found == FORMAT + 1), "{refused:?}");
}

#[test]
fn the_report_is_last_and_replaces_the_one_before() {
    let place = Place::with_main();
    taken(&place.directory());
    place.write("x.tf", MAIN);
    let (second, _) = taken(&place.directory());
    assert_eq!(second.root, place.work());
    // where it cannot be written, nothing was taken
    let request = TakeRequest { report: place.path("missing/report.json"), ..place.directory() };
    assert!(
        matches!(take(&request, &mut Vec::new()), Err(Error::Unwritable { path, .. }) if path == request.report)
    );
}

/// An overhead of every run. The limit is wide, since tests share the machine; what it takes is printed.
#[test]
fn a_small_directory_is_taken_in_no_time() {
    let place = Place::with_main();
    place.write("variables.tf", "variable \"x\" {\n  default = 1\n}\n");
    place.write("versions.tf", "terraform {\n  required_version = \">= 1.0\"\n}\n");
    let mut times: Vec<Duration> = (0..40)
        .map(|_| {
            let begin = Instant::now();
            taken(&place.directory());
            begin.elapsed()
        })
        .collect();
    times.sort();
    eprintln!("three files: median {:?}, best {:?}", times[times.len() / 2], times[0]);
    assert!(times[0] < Duration::from_millis(50), "{times:?}");
}
