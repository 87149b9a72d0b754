//! Questions and their answers.

use std::io::BufRead as _;

use client::Run;
use tokio::sync::mpsc;

/// What is asked when a run waits for something that the user may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Confirm { may_discard: bool },
    Override { may_discard: bool },
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Confirm,
    Override,
    Discard,
    /// Neither; the question stays.
    Unclear,
}

impl Question {
    /// None if the run waits for nothing that the user may decide.
    pub(super) fn of(run: &Run) -> Option<Self> {
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

    pub(super) fn text(self, run: &Run) -> String {
        let workspace = super::terminal::line(run.workspace_name.as_deref().unwrap_or("its workspace"));
        let (question, yes, may_discard) = match self {
            Self::Confirm { may_discard } if run.is_destroy => {
                (format!("Destroy everything in {workspace}?"), "yes", may_discard)
            }
            Self::Confirm { may_discard } => (format!("Apply this plan to {workspace}?"), "yes", may_discard),
            Self::Override { may_discard } => {
                ("Override the failed policies?".to_owned(), "override", may_discard)
            }
        };
        let no = if may_discard { ", \"no\" discards the run" } else { "" };
        format!("{question} Only \"{yes}\" does it{no}: ")
    }

    pub(super) fn decision(self, answer: &str) -> Decision {
        match (self, answer.trim()) {
            (Self::Confirm { .. }, "yes") => Decision::Confirm,
            (Self::Override { .. }, "override") => Decision::Override,
            (Self::Confirm { may_discard: true } | Self::Override { may_discard: true }, "no") => {
                Decision::Discard
            }
            _ => Decision::Unclear,
        }
    }

    /// The decision that lets the run go on.
    pub(super) const fn yes(self) -> Decision {
        match self {
            Self::Confirm { .. } => Decision::Confirm,
            Self::Override { .. } => Decision::Override,
        }
    }
}

/// The lines that a person types. They are read in a thread of their own, since a read from a terminal can't be
/// given up; the thread ends with the process.
#[derive(Default)]
pub(super) struct Answers(Option<mpsc::UnboundedReceiver<String>>);

impl Answers {
    /// Forgets what was typed before the question was there.
    pub(super) fn expect(&mut self) {
        match &mut self.0 {
            Some(lines) => while lines.try_recv().is_ok() {},
            None => self.0 = Some(read_lines()),
        }
    }

    /// The next line; none if there will be none.
    pub(super) async fn next(&mut self) -> Option<String> {
        self.0.as_mut()?.recv().await
    }
}

fn read_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
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
    }

    #[test]
    fn nobody_is_asked_for_what_they_may_not_do() {
        let run =
            |may| sample::run(State::NeedsConfirmation, |run| run.permissions = samples::permissions(may));
        assert_eq!(Question::of(&run(true)), Some(Question::Confirm { may_discard: true }));
        assert_eq!(Question::of(&run(false)), None);
        assert!(Question::Confirm { may_discard: true }.text(&run(true)).contains("network-prod"));
    }
}
