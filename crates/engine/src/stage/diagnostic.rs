//! Why terraform failed, in terraform's own words: the first error in a log, with its place.
//!
//! It explains and decides nothing, so a log that a program wrote to look like terraform's does no harm but to itself.

use std::fmt::Write as _;

use lifecycle::Stage;
use store::Run;

use crate::context::Context;
use crate::log;

/// What is read of the end of a log. Terraform prints its errors last.
const TAIL: u64 = 256 * 1024;
const ERROR: &str = "Error: ";
/// How the first of several errors of an init begins.
const PREAMBLE: &str = "Terraform encountered problems during initialisation";
/// The most characters that are taken of an error's explanation.
const DETAIL_LIMIT: usize = 400;

/// An error as terraform prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Diagnostic {
    /// `No value for required variable`.
    pub(super) summary: String,
    /// `on main.tf line 1, in variable "x"`; what terraform says of where it is, if it does.
    place: Option<String>,
    /// The first paragraph of its explanation.
    detail: Option<String>,
    /// How many errors there are besides.
    others: usize,
}

/// The failure of a stage, with what terraform says of it where it says something.
pub(super) async fn explained(context: &Context, run: &Run, stage: Stage, why: String) -> String {
    match of_log(context, run, stage).await {
        Some(diagnostic) => diagnostic.after(&why),
        None => why,
    }
}

/// Words are all that depends on it: a log that can't be read says nothing.
async fn of_log(context: &Context, run: &Run, stage: Stage) -> Option<Diagnostic> {
    let log = log::open(context, run, stage).await.ok()??;
    let read = move || {
        let length = log.len(true)?;
        log.read(length.saturating_sub(TAIL), TAIL)
    };
    let tail = tokio::task::spawn_blocking(read).await.ok()?.ok()?;
    first(&String::from_utf8_lossy(&tail))
}

impl Diagnostic {
    /// `terraform plan exited with 1: No value for required variable, on main.tf line 1`, and what explains it below.
    fn after(&self, why: &str) -> String {
        let Self { summary, place, detail, others } = self;
        let mut text = format!("{why}: {summary}");
        // writing into a string can't fail
        if let Some(place) = place {
            let _ = write!(text, ", {place}");
        }
        if *others > 0 {
            let _ = write!(text, " (and {} in the log)", text::count(*others, "more error"));
        }
        if let Some(detail) = detail {
            let _ = write!(text, "\n{detail}");
        }
        text
    }
}

/// The first error that terraform printed there.
fn first(log: &str) -> Option<Diagnostic> {
    let lines: Vec<String> = log.lines().map(plain).collect();
    let is_error = |line: &String| {
        // what an init prints before the errors of a configuration says nothing
        line.strip_prefix(ERROR).is_some_and(|summary| !summary.starts_with(PREAMBLE))
    };
    let others = lines.iter().filter(|line| is_error(line)).count().checked_sub(1)?;
    let mut lines = lines.iter().skip_while(|line| !is_error(line)).peekable();
    let mut summary = lines.next()?.strip_prefix(ERROR)?.to_owned();
    // a long one is broken
    while let Some(more) = lines.next_if(|line| !line.trim().is_empty() && !line.starts_with('╵')) {
        let _ = write!(summary, " {}", more.trim());
    }
    let mut place = Vec::new();
    let mut detail = String::new();
    for line in lines.take_while(|line| !line.starts_with('╵') && !line.starts_with(ERROR)) {
        let words = line.trim();
        if words.is_empty() {
            if detail.is_empty() {
                continue;
            }
            break;
        }
        if line.starts_with("  ") && detail.is_empty() {
            // the lines of the file that are shown below it begin with their numbers
            if ["with ", "on "].iter().any(|begin| words.starts_with(begin)) {
                place.push(words.trim_end_matches([':', ',']).to_owned());
            }
            continue;
        }
        let space = if detail.is_empty() { "" } else { " " };
        let _ = write!(detail, "{space}{words}");
    }
    let place = (!place.is_empty()).then(|| place.join(", "));
    Some(Diagnostic { summary, place, detail: shortened(&detail), others })
}

fn shortened(text: &str) -> Option<String> {
    let text = match text.char_indices().nth(DETAIL_LIMIT) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    };
    (!text.is_empty()).then_some(text)
}

/// A line without colours, and without the bar that terraform draws beside an error.
fn plain(line: &str) -> String {
    let text = text::without_colours(line);
    let text = text.trim_end();
    text.strip_prefix("│ ").or_else(|| text.strip_prefix('│')).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MISSING: &str = "Initializing the backend...\n\u{1b}[31m╷\u{1b}[0m\u{1b}[0m\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[1m\u{1b}[31mError: \u{1b}[0m\u{1b}[0m\u{1b}[1mNo value for required variable\u{1b}[0m\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m\u{1b}[0m  on main.tf line 1:\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m   1: \u{1b}[4mvariable \"x\"\u{1b}[0m {}\u{1b}[0m\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0mThe root module input variable \"x\" is not set, and has no default value. Use a\n\
        \u{1b}[31m│\u{1b}[0m \u{1b}[0m-var or -var-file command line argument to provide a value for this variable.\n\
        \u{1b}[31m╵\u{1b}[0m\u{1b}[0m\n";

    #[test]
    fn the_first_error_is_told_with_its_place_and_its_explanation() {
        let found = first(MISSING).unwrap();
        assert_eq!(
            found.after("terraform plan exited with 1"),
            "terraform plan exited with 1: No value for required variable, on main.tf line 1\n\
             The root module input variable \"x\" is not set, and has no default value. Use a -var or -var-file command line \
             argument to provide a value for this variable."
        );
    }

    #[test]
    fn a_failed_provisioner_is_told_with_its_resource_and_how_many_others_there_are() {
        let log = "terraform_data.second: Creating...\n╷\n│ Error: local-exec provisioner error\n│ \n\
            │   with terraform_data.second,\n│   on main.tf line 8, in resource \"terraform_data\" \"second\":\n\
            │    8:   provisioner \"local-exec\" {\n│ \n\
            │ Error running command 'exit 3': exit status 3. Output: about to fail\n│ \n╵\n\
            ╷\n│ Error: local-exec provisioner error\n│ \n│   with terraform_data.third,\n╵\n";
        let found = first(log).unwrap();
        assert_eq!(
            found.after("terraform apply exited with 1"),
            "terraform apply exited with 1: local-exec provisioner error, with terraform_data.second, on main.tf line 8, in \
             resource \"terraform_data\" \"second\" (and 1 more error in the log)\n\
             Error running command 'exit 3': exit status 3. Output: about to fail"
        );
    }

    #[test]
    fn what_an_init_prints_before_its_errors_is_passed_over_and_a_broken_summary_is_joined() {
        let log = "╷\n│ Error: Terraform encountered problems during initialisation, including problems\n\
            │ with the configuration, described below.\n│ \n│ The Terraform configuration must be valid.\n╵\n\
            ╷\n│ Error: Unsupported argument\n│ with a long name\n│ \n│   on main.tf line 2:\n╵\n";
        let found = first(log).unwrap();
        assert_eq!(found.after("x"), "x: Unsupported argument with a long name, on main.tf line 2");
    }

    #[test]
    fn an_error_without_a_frame_or_a_place_is_found_and_a_log_without_one_says_nothing() {
        let found = first("Error: Failed to get existing workspaces\n\nconnection refused\n").unwrap();
        assert_eq!((found.place, found.detail.as_deref()), (None, Some("connection refused")));
        for log in ["", "No changes.\n", "│ Warning: Deprecated\n", "an Error: inside of a line\n"] {
            assert_eq!(first(log), None, "{log}");
        }
        let long = format!("Error: x\n\n{}\n", "y".repeat(1000));
        assert_eq!(first(&long).unwrap().detail.unwrap().chars().count(), DETAIL_LIMIT + 1);
        // one that ends in the middle of a colour
        assert_eq!(first("\u{1b}[31mError: x\u{1b}[").unwrap().summary, "x");
    }
}
