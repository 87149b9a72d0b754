//! `signalbox sentinel test`.

use sentinel::{Files as _, Limits, Status, TestOptions, TestReport, run_tests};

use super::args::TestArgs;
use super::local::{DeskFiles, DeskHost};
use crate::cli::failure::{Exit, Failure};
use crate::cli::output::Output;
use crate::cli::paint::{self, Paint};
use crate::cli::terminal;

pub(super) fn run(args: &TestArgs, output: Output) -> Result<Exit, Failure> {
    let mut paths: Vec<String> = args.paths.iter().filter_map(|path| DeskFiles.resolve("", path)).collect();
    if paths.is_empty() {
        paths.push(String::new());
    }
    let limits = Limits { time: args.timeout, ..Limits::default() };
    let options = TestOptions { run: args.run.clone(), limits };
    let report = run_tests(&DeskFiles, &paths, &options, &DeskHost::new(&args.http_host, limits))?;
    // a pipeline that tests nothing must not look like one that passed
    if report.policies.is_empty() {
        return Err(nothing(args));
    }
    if output.json {
        output.document(&report.json(), false)?;
    } else {
        output.print(&painted(&terminal::text(&report.text(args.verbose)), output.paint))?;
        output.note(&summary(&report));
    }
    Ok(if report.passed() { Exit::Success } else { Exit::Errored })
}

fn nothing(args: &TestArgs) -> Failure {
    match &args.run {
        Some(pattern) => Failure::usage(
            format!("no policy and no case matches `{pattern}`"),
            "a pattern is for names of policies, and after a / for names of cases, both without their endings",
        ),
        None => Failure::usage(
            format!("there is no policy in {}", args.paths.first().map_or("this directory", String::as_str)),
            "policies are files that end with .sentinel; name a folder of them, or one of them",
        ),
    }
}

/// The words of status in their colours: they begin lines that are indented less than everything else.
fn painted(text: &str, paint: Paint) -> String {
    let styles = [
        (Status::Pass, paint::GOOD),
        (Status::Fail, paint::BAD),
        (Status::Error, paint::BAD),
        (Status::None, paint::FAINT),
    ];
    let line = |line: &str| {
        let (indent, rest) = line.split_at(if line.starts_with("  ") { 2 } else { 0 });
        for (status, style) in styles {
            if let Some(rest) = rest.strip_prefix(status.word()).filter(|rest| rest.starts_with(" - ")) {
                return format!("{indent}{}{rest}\n", paint.with(style, status.word()));
            }
        }
        format!("{line}\n")
    };
    text.lines().map(line).collect()
}

fn summary(report: &TestReport) -> String {
    let cases = || report.policies.iter().flat_map(|policy| &policy.cases);
    let count = |status| cases().filter(|case| case.status == status).count();
    let (passed, failed, errored) = (count(Status::Pass), count(Status::Fail), count(Status::Error));
    let mut words = match cases().count() {
        0 => "no test cases: they are looked for in test/POLICY/*.hcl beside POLICY.sentinel".to_owned(),
        _ => format!("{passed} passed, {failed} failed"),
    };
    if errored > 0 {
        words.push_str(&format!(", {errored} could not be run"));
    }
    format!("{words} ({:.1} ms)", report.duration.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_of_status_are_coloured() {
        let text = "FAIL - p.sentinel\n  PASS - test/p/a.hcl\n      PASS - printed\nPASSED\n";
        let coloured = painted(text, Paint::new(true));
        assert_eq!(coloured.matches("\u{1b}[0m").count(), 2, "{coloured:?}");
        assert_eq!(painted(text, Paint::new(false)), text);
    }
}
