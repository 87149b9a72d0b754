use client::{Run, Stage};
use review::Review;
use serde::Serialize;

use super::super::failure::{Exit, Failure};
use super::super::json_output::{ReviewShape, RunShape};
use super::super::output::Output;
use super::super::terminal;
use super::View;

/// The most of an unfinished line that is held back.
const LINE_LIMIT: usize = 64 * 1024;

/// For programs: one document a line.
pub(super) struct Json {
    output: Output,
    filter: terminal::Filter,
    held: String,
}

/// What a line says, by its `event`.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum Line<'a> {
    /// The run as it is now; the first line, and again whenever something about it changed.
    Run { run: RunShape<'a> },
    /// A line of a log, without its colours.
    Log { stage: &'a str, line: &'a str },
    /// A log is complete.
    LogEnd { stage: &'a str },
    /// What the plan would do, before the run waits for a person.
    Review { review: ReviewShape<'a> },
    /// The run waits for a person.
    Waiting { run: RunShape<'a> },
    /// Something else, in words.
    Note { text: &'a str },
    /// The run is final, and everything was shown. The last line.
    End { exit_status: u8, run: RunShape<'a> },
}

impl Json {
    pub(super) const fn new(output: Output) -> Self {
        Self { output, filter: terminal::Filter::new(false), held: String::new() }
    }

    fn line(&self, line: &Line<'_>) -> Result<(), Failure> {
        self.output.document(line, true)
    }

    fn lines(&mut self, stage: Stage, text: &str) -> Result<(), Failure> {
        self.held.push_str(text);
        let stage = stage.as_str();
        while let Some(end) = self.held.find('\n') {
            let rest = self.held.split_off(end + 1);
            let line = std::mem::replace(&mut self.held, rest);
            self.line(&Line::Log { stage, line: line.trim_end_matches('\n') })?;
        }
        if self.held.len() > LINE_LIMIT {
            let line = std::mem::take(&mut self.held);
            self.line(&Line::Log { stage, line: &line })?;
        }
        Ok(())
    }
}

impl View for Json {
    fn update(&mut self, run: &Run) -> Result<(), Failure> {
        self.line(&Line::Run { run: RunShape::new(run) })
    }

    fn state(&mut self, _: &Run) -> Result<(), Failure> {
        Ok(())
    }

    fn log(&mut self, stage: Stage, bytes: &[u8]) -> Result<(), Failure> {
        let text = self.filter.push(bytes);
        self.lines(stage, &text)
    }

    fn log_end(&mut self, stage: Stage) -> Result<(), Failure> {
        let rest = self.filter.finish();
        self.lines(stage, &rest)?;
        if !self.held.is_empty() {
            let line = std::mem::take(&mut self.held);
            self.line(&Line::Log { stage: stage.as_str(), line: &line })?;
        }
        self.line(&Line::LogEnd { stage: stage.as_str() })
    }

    fn note(&mut self, text: &str) {
        // it is beside the point whether somebody reads it
        let _ = self.line(&Line::Note { text: text.trim() });
    }

    fn review(&mut self, review: &Review) -> Result<(), Failure> {
        self.line(&Line::Review { review: ReviewShape(review) })
    }

    fn waits(&mut self, run: &Run) -> Result<(), Failure> {
        self.line(&Line::Waiting { run: RunShape::new(run) })
    }

    /// Never: programs are not asked.
    fn ask(&mut self, _: &str) {}

    fn end(&mut self, run: &Run, exit: Exit) -> Result<(), Failure> {
        self.line(&Line::End { exit_status: exit.status(), run: RunShape::new(run) })
    }

    fn close(&mut self) {}
}
