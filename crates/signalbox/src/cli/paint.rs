//! The few colours that there are, and what they mean.

use anstyle::{AnsiColor, Style};
use client::Run;
use lifecycle::State;

/// Headings and what matters most.
pub(crate) const HEADING: Style = Style::new().bold();
/// What is beside the point.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// A failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// A success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Somebody has to do something.
pub(crate) const WAITS: Style = AnsiColor::Yellow.on_default();
/// Something is under way.
pub(crate) const WORKS: Style = AnsiColor::Cyan.on_default();

/// Whether there are colours at all.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) const fn new(colour: bool) -> Self {
        Self(colour)
    }

    /// Whether there are.
    pub(crate) const fn colour(self) -> bool {
        self.0
    }

    pub(crate) fn with(self, style: Style, text: &str) -> String {
        if self.0 { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// The name of a run's state in its colour.
    pub(crate) fn state(self, run: &Run) -> String {
        self.with(state(run), &super::terminal::line(run.state_name()))
    }
}

/// The colour of a run's state.
pub(crate) fn state(run: &Run) -> Style {
    match run.state() {
        Some(State::PlanErrored(_) | State::ApplyErrored | State::PolicySoftFailed) => BAD,
        Some(State::Discarded(_) | State::Canceled(_)) => FAINT,
        _ if run.is_final() => GOOD,
        _ if run.waits_for_person() => WAITS,
        Some(State::Pending) => Style::new(),
        _ => WORKS,
    }
}
