use std::time::Duration;

use client::{Run, Stage};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use jiff::Timestamp;
use review::Review;

use super::super::failure::{Exit, Failure};
use super::super::next_steps::{next_steps, waits_for_others};
use super::super::output::Output;
use super::super::review as reviewing;
use super::super::{paint, terminal, time};
use super::View;

/// The most of an unfinished line that is held back.
const LINE_LIMIT: usize = 64 * 1024;

/// For people: terraform's output on stdout, everything else on stderr. On a terminal a spinner stands beneath.
pub(super) struct Human {
    id: String,
    output: Output,
    filter: terminal::Filter,
    /// On a terminal, a line that is not complete yet: the spinner would overwrite it.
    held: String,
    /// What was shown last ended its line.
    at_line_start: bool,
    spinner: Option<ProgressBar>,
}

impl Human {
    pub(super) fn new(run_id: &str, output: Output) -> Self {
        Self {
            id: terminal::line(run_id),
            output,
            filter: terminal::Filter::new(output.paint.colour()),
            held: String::new(),
            at_line_start: true,
            spinner: None,
        }
    }

    /// Does something while the spinner is not drawn.
    fn aside<T>(&self, show: impl FnOnce() -> T) -> T {
        match &self.spinner {
            Some(spinner) => spinner.suspend(show),
            None => show(),
        }
    }

    fn show(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.at_line_start = text.ends_with('\n');
        let output = self.output;
        self.aside(|| output.print(text))
    }

    fn spin(&mut self, run: &Run) {
        if !self.output.is_watched || run.is_final() {
            self.clear();
            return;
        }
        let spinner = self.spinner.get_or_insert_with(spinner);
        let canceling = if run.is_canceling() { ", canceling" } else { "" };
        spinner.set_message(format!("{}{canceling}{}", terminal::line(run.state_name()), waits_for(run)));
        spinner.set_elapsed(time::between(run.state_since(), Timestamp::now()));
    }

    fn clear(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }
}

fn waits_for(run: &Run) -> String {
    run.waits_for().map(|what| format!(", waits for {}", terminal::line(what))).unwrap_or_default()
}

/// The message is last, so that a narrow terminal cuts it and does not break the line.
const TEMPLATE: &str = "{spinner} {took} {wide_msg}";

fn spinner() -> ProgressBar {
    // the template is a constant, and a test reads it
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_spinner());
    let style = style.with_key("took", |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let _ = out.write_str(&time::took(state.elapsed()));
    });
    let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style);
    spinner.enable_steady_tick(Duration::from_millis(120));
    spinner
}

impl View for Human {
    fn update(&mut self, run: &Run) -> Result<(), Failure> {
        // a question is not overwritten
        if self.spinner.is_some() {
            self.spin(run);
        }
        Ok(())
    }

    fn state(&mut self, run: &Run) -> Result<(), Failure> {
        self.note(&format!("{}: {}{}", self.id, self.output.notes.state(run), waits_for(run)));
        self.spin(run);
        Ok(())
    }

    fn log(&mut self, _: Stage, bytes: &[u8]) -> Result<(), Failure> {
        let text = self.filter.push(bytes);
        if self.spinner.is_none() {
            let held = std::mem::take(&mut self.held);
            return self.show(&(held + &text));
        }
        self.held.push_str(&text);
        let complete = self.held.rfind('\n').map_or(0, |end| end + 1);
        let complete = if self.held.len() - complete > LINE_LIMIT { self.held.len() } else { complete };
        let rest = self.held.split_off(complete);
        let lines = std::mem::replace(&mut self.held, rest);
        self.show(&lines)
    }

    fn log_end(&mut self, _: Stage) -> Result<(), Failure> {
        let rest = std::mem::take(&mut self.held) + &self.filter.finish();
        self.show(&rest)?;
        if self.at_line_start { Ok(()) } else { self.show("\n") }
    }

    fn note(&mut self, text: &str) {
        let output = self.output;
        self.aside(|| output.note(text));
    }

    fn review(&mut self, review: &Review) -> Result<(), Failure> {
        let all = format!("signalbox run show {}", self.id);
        let most = reviewing::BESIDE_A_QUESTION;
        let text = reviewing::sections(review, most, &all, self.output.notes);
        self.note(text.trim_end());
        Ok(())
    }

    fn waits(&mut self, run: &Run) -> Result<(), Failure> {
        let mut lines = Vec::new();
        match waits_for_others(run) {
            Some(whom) => lines.push(format!("{}: {whom}", self.id)),
            None => lines.push(format!("{}: it waits for a decision:", self.id)),
        }
        let steps = next_steps(run).into_iter().filter(|step| !step.command.starts_with("signalbox logs"));
        lines.extend(steps.map(|step| format!("  {}  ({})", terminal::line(&step.command), step.does)));
        self.note(&lines.join("\n"));
        Ok(())
    }

    fn ask(&mut self, question: &str) {
        self.clear();
        self.output.ask(&format!("\n{question}"));
    }

    fn end(&mut self, run: &Run, _: Exit) -> Result<(), Failure> {
        self.clear();
        if let Some(why) = run.error() {
            let name = if run.is_errored() {
                self.output.notes.with(paint::BAD, "error:")
            } else {
                format!("{}:", self.id)
            };
            self.output.note(&format!("{name} {}", terminal::text(why).trim_end()));
        }
        Ok(())
    }

    fn close(&mut self) {
        self.clear();
    }
}

impl Drop for Human {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_of_the_spinner_is_right() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
