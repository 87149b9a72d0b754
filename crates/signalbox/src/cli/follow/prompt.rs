//! Questions and their answers.

use std::io::{BufRead as _, IsTerminal as _};

use client::Run;
use review::Review;
use tokio::sync::mpsc;

use super::super::{review as reviewing, terminal};

/// What is asked when a run waits for something that the user may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Confirm { may_discard: bool },
    Override { may_discard: bool },
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Confirm,
    Override,
    Discard,
    /// Neither; the question stays.
    Unclear,
}

impl Question {
    /// None if the run waits for nothing that the user may decide.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        let (can, may) = (run.actions, run.permissions);
        let may_discard = can.is_discardable && may.can_discard;
        if run.waits_for_override() && may.can_override_policy_check {
            Some(Self::Override { may_discard })
        } else if can.is_confirmable && may.can_apply {
            Some(Self::Confirm { may_discard })
        } else {
            None
        }
    }

    /// The question, with what a yes would do.
    pub(crate) fn text(self, run: &Run, review: Option<&Review>) -> String {
        let workspace = terminal::line(run.workspace_name.as_deref().unwrap_or("its workspace"));
        let counts = review.map(|review| format!(": {}", reviewing::in_one_line(review))).unwrap_or_default();
        let question = match self {
            Self::Confirm { .. } if run.is_destroy => format!("Destroy everything in {workspace}{counts}?"),
            Self::Confirm { .. } => format!("Apply this plan to {workspace}{counts}?"),
            Self::Override { .. } => format!("Override the failed policies of {workspace}{counts}?"),
        };
        let no = if self.may_discard() { ", \"no\" discards the run" } else { "" };
        format!("{question}\nOnly \"{}\" does it{no}: ", self.yes_word())
    }

    /// What is said when an answer decides nothing.
    pub(crate) fn hint(self) -> String {
        let does = match self {
            Self::Confirm { .. } => "applies",
            Self::Override { .. } => "overrides",
        };
        let no = if self.may_discard() { ", \"no\" discards" } else { "" };
        format!(
            "Nothing is decided. \"{}\" {does}{no}, each as a whole word; Ctrl-C leaves it undecided.",
            self.yes_word()
        )
    }

    const fn yes_word(self) -> &'static str {
        match self {
            Self::Confirm { .. } => "yes",
            Self::Override { .. } => "override",
        }
    }

    const fn may_discard(self) -> bool {
        match self {
            Self::Confirm { may_discard } | Self::Override { may_discard } => may_discard,
        }
    }

    pub(crate) fn decision(self, answer: &str) -> Decision {
        match answer.trim() {
            word if word == self.yes_word() => self.yes(),
            "no" if self.may_discard() => Decision::Discard,
            _ => Decision::Unclear,
        }
    }

    /// The decision that lets the run go on.
    pub(crate) const fn yes(self) -> Decision {
        match self {
            Self::Confirm { .. } => Decision::Confirm,
            Self::Override { .. } => Decision::Override,
        }
    }
}

/// What a person typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-D. Whoever pressed it may still answer.
    End,
}

/// So many ends of a terminal in a row mean that it is gone.
const LAST_END: usize = 5;

/// The lines that a person types. They are read in a thread of their own, since a read from a terminal can't be
/// given up; the thread ends with the process.
#[derive(Default)]
pub(crate) struct Answers(Option<mpsc::UnboundedReceiver<Typed>>);

impl Answers {
    /// Forgets what was typed before the question was there.
    pub(crate) fn expect(&mut self) {
        terminal::forget_typed();
        match &mut self.0 {
            Some(lines) => while lines.try_recv().is_ok() {},
            None => self.0 = Some(read_lines()),
        }
    }

    /// The next line; none if there will be none.
    pub(crate) async fn next(&mut self) -> Option<Typed> {
        self.0.as_mut()?.recv().await
    }
}

fn read_lines() -> mpsc::UnboundedReceiver<Typed> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let may_go_on = std::io::stdin().is_terminal();
        let mut ends = 0;
        while ends < LAST_END {
            let mut line = String::new();
            let typed = match std::io::stdin().lock().read_line(&mut line) {
                Ok(0) if may_go_on => {
                    ends += 1;
                    Typed::End
                }
                Ok(0) | Err(_) => break,
                Ok(_) => {
                    ends = 0;
                    Typed::Line(line)
                }
            };
            if sender.send(typed).is_err() {
                break;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use lifecycle::State;
    use wire::samples;

    use super::*;
    use crate::cli::sample;

    #[test]
    fn only_the_whole_word_decides() {
        let confirm = Question::Confirm { may_discard: true };
        let table = [
            ("yes", Decision::Confirm),
            (" yes \n", Decision::Confirm),
            ("no", Decision::Discard),
            ("", Decision::Unclear),
            ("y", Decision::Unclear),
            ("Yes", Decision::Unclear),
            ("override", Decision::Unclear),
        ];
        for (answer, decision) in table {
            assert_eq!(confirm.decision(answer), decision, "{answer:?}");
        }
        let overriding = Question::Override { may_discard: false };
        assert_eq!(overriding.decision("override"), Decision::Override);
        assert_eq!(overriding.decision("yes"), Decision::Unclear);
        assert_eq!(overriding.decision("no"), Decision::Unclear);
        assert!(overriding.hint().contains("\"override\"") && !overriding.hint().contains("\"no\""));
    }

    #[test]
    fn nobody_is_asked_for_what_they_may_not_do() {
        let run =
            |may| sample::run(State::NeedsConfirmation, |run| run.permissions = samples::permissions(may));
        assert_eq!(Question::of(&run(true)), Some(Question::Confirm { may_discard: true }));
        assert_eq!(Question::of(&run(false)), None);
    }

    #[test]
    fn a_question_says_where_and_how_much() {
        let run = sample::run(State::NeedsConfirmation, |run| run.permissions = samples::permissions(true));
        let json = r#"{"terraform_version":"1.11.4","resource_changes":[{"address":"a.b","change":{"actions":["delete"]}}]}"#;
        let review = Review::read(json.as_bytes()).unwrap();
        let question = Question::Confirm { may_discard: true };
        assert_eq!(
            question.text(&run, Some(&review)),
            "Apply this plan to network-prod: 0 to add, 0 to change, 1 to destroy?\n\
             Only \"yes\" does it, \"no\" discards the run: "
        );
        let destroy = sample::run(State::NeedsConfirmation, |run| run.is_destroy = true);
        assert!(question.text(&destroy, None).starts_with("Destroy everything in network-prod?"));
    }
}
