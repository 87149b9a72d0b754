//! What a plan would do, in the words in which one decides about it.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use review::{Action, Change, OutputAction, Review};

use super::paint::{self, Paint};
use super::terminal;

/// So many changes are named beside a question. What destroys is named always, up to ten times as many.
pub(crate) const BESIDE_A_QUESTION: usize = 20;
/// So many attributes are named of one resource.
const ATTRIBUTES: usize = 6;

/// The sections of a review: what happens to resources and outputs, what changed elsewhere, what fails. Each has a
/// heading. At most `most` changes are named, and `all` is the command that names the rest.
pub(crate) fn sections(review: &Review, most: usize, all: &str, paint: Paint) -> String {
    let mut text = String::new();
    changes("Changes", &review.changes, most, all, paint, &mut text);
    if !review.outputs.is_empty() {
        heading("Outputs", paint, &mut text);
        for output in &review.outputs {
            let mark = paint.with(output_style(output.action), &format!("{:>3}", output.action.mark()));
            let _ = writeln!(text, "  {mark} {}", terminal::line(&output.name));
        }
    }
    changes("Changed outside of terraform", &review.drift, most, all, paint, &mut text);
    if !review.failed_checks.is_empty() {
        heading("Failing checks", paint, &mut text);
        for check in &review.failed_checks {
            let messages: Vec<_> = check.messages.iter().map(|message| terminal::line(message)).collect();
            let line = format!("  {}  {}", terminal::line(&check.address), messages.join("; "));
            let _ = writeln!(text, "{}", paint.with(paint::WAITS, line.trim_end()));
        }
    }
    text
}

fn heading(name: &str, paint: Paint, text: &mut String) {
    let _ = writeln!(text, "\n{}", paint.with(paint::HEADING, name));
}

fn changes(name: &str, changes: &[Change], most: usize, all: &str, paint: Paint, text: &mut String) {
    if changes.is_empty() {
        return;
    }
    heading(name, paint, text);
    let destroying = changes.iter().take_while(|change| change.action.destroys()).count();
    let named = most.max(destroying.min(most.saturating_mul(10)));
    for change in changes.iter().take(named) {
        let mark = paint.with(style(&change.action), &format!("{:>3}", change.action.mark()));
        let note = note(change);
        let note = if note.is_empty() { note } else { format!("  {}", paint.with(paint::FAINT, &note)) };
        let _ = writeln!(text, "  {mark} {}{note}", terminal::line(&change.address));
    }
    if let Some(rest) = changes.len().checked_sub(named).filter(|rest| *rest > 0) {
        let more = format!("      … and {rest} more: {all}");
        let _ = writeln!(text, "{}", paint.with(paint::FAINT, &more));
    }
}

/// What is to be known of a change beside its address.
fn note(change: &Change) -> String {
    let mut parts = Vec::new();
    if let Some(previous) = &change.previous_address {
        parts.push(format!("was {previous}"));
    }
    if let Some(id) = &change.import_id {
        parts.push(format!("imported by id {id}"));
    }
    if let Some(deposed) = &change.deposed {
        parts.push(format!("what a failed replacement left, {deposed}"));
    }
    match (&change.reason, change.replaced_by.as_slice()) {
        (Some(reason), []) => parts.push(reason.clone()),
        (Some(reason), paths) => parts.push(format!("{reason}: {}", few(paths))),
        (None, []) if change.attributes.is_empty() => {}
        (None, []) => parts.push(few(&change.attributes)),
        (None, paths) => parts.push(format!("replaced for {}", few(paths))),
    }
    terminal::line(&parts.join("; "))
}

fn few(names: &[String]) -> String {
    let shown = names.iter().take(ATTRIBUTES).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(ATTRIBUTES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

const fn style(action: &Action) -> Style {
    match action {
        Action::Destroy | Action::Replace | Action::CreateThenDestroy | Action::Other(_) => paint::BAD,
        Action::Forget | Action::Update => paint::WAITS,
        Action::Create => paint::GOOD,
        Action::Import | Action::Move | Action::Read => AnsiColor::Cyan.on_default(),
    }
}

const fn output_style(action: OutputAction) -> Style {
    match action {
        OutputAction::Create => paint::GOOD,
        OutputAction::Update => paint::WAITS,
        OutputAction::Destroy => paint::BAD,
    }
}

/// What a plan would do in one line: `1 to add, 0 to change, 2 to destroy, and 1 output changes`.
pub(crate) fn in_one_line(review: &Review) -> String {
    let outputs = match review.outputs.len() {
        0 => return review.counts.to_string(),
        1 => "1 output changes".to_owned(),
        many => format!("{many} outputs change"),
    };
    if review.changes.is_empty() {
        format!("no resource changes, {outputs}")
    } else {
        format!("{}, and {outputs}", review.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review() -> Review {
        let change = |action, actions: &str, more: &str| {
            format!(r#"{{"address":"{action}","change":{{"actions":[{actions}]{more}}}}}"#)
        };
        let resources = [
            change("aws_instance.new", r#""create""#, ""),
            change(
                "aws_security_group.web",
                r#""update""#,
                r#","before":{"ingress":1,"tags":{},"a":1},"after":{"ingress":2,"tags":{"x":"y"},"a":1}"#,
            ),
            r#"{"address":"aws_db.main","action_reason":"replace_because_cannot_update","change":{"actions":["delete","create"],
                "replace_paths":[["engine"],["network",0,"id"]]}}"#
                .to_owned(),
            r#"{"address":"aws_instance.old\u001b[2J","action_reason":"delete_because_no_resource_config","change":{"actions":["delete"]}}"#
                .to_owned(),
            r#"{"address":"module.a.x","previous_address":"module.b.x","change":{"actions":["no-op"]}}"#.to_owned(),
            r#"{"address":"aws_vpc.main","change":{"actions":["no-op"],"importing":{"id":"vpc-1"}}}"#.to_owned(),
            change("data.aws_ami.quiet", r#""no-op""#, ""),
        ];
        let json = format!(
            r#"{{"terraform_version":"1.11.4","resource_changes":[{}],
                "resource_drift":[{}],
                "output_changes":{{"url":{{"actions":["update"]}},"same":{{"actions":["no-op"]}},"gone":{{"actions":["delete"]}}}},
                "checks":[{{"address":{{"kind":"check","to_display":"check.health","name":"health"}},"status":"fail",
                  "instances":[{{"address":{{"to_display":"check.health"}},"status":"fail","problems":[{{"message":"it does not answer"}}]}}]}},
                  {{"address":{{"to_display":"check.fine"}},"status":"pass"}}]}}"#,
            resources.join(","),
            change("aws_security_group.web", r#""update""#, r#","before":{"tags":1},"after":{"tags":2}"#)
        );
        Review::read(json.as_bytes()).unwrap()
    }

    #[test]
    fn the_gravest_is_named_first_and_nothing_of_a_plan_can_drive_the_terminal() {
        let shown = sections(&review(), 100, "", Paint::new(false));
        assert!(!shown.contains('\u{1b}'));
        insta::assert_snapshot!("review", shown);
        assert_eq!(
            in_one_line(&review()),
            "1 to import, 2 to add, 1 to change, 2 to destroy, and 2 outputs change"
        );
    }

    #[test]
    fn beside_a_question_the_rest_is_counted_and_what_destroys_is_always_named() {
        let shown = sections(&review(), 1, "signalbox run show run-1", Paint::new(false));
        assert!(shown.contains("aws_instance.old") && shown.contains("aws_db.main"), "{shown}");
        assert!(!shown.contains("aws_instance.new"), "{shown}");
        assert!(shown.contains("… and 4 more: signalbox run show run-1"), "{shown}");
    }

    #[test]
    fn a_plan_that_changes_outputs_alone_says_so() {
        let json = r#"{"terraform_version":"1.11.4","output_changes":{"url":{"actions":["create"]}}}"#;
        assert_eq!(
            in_one_line(&Review::read(json.as_bytes()).unwrap()),
            "no resource changes, 1 output changes"
        );
    }
}
