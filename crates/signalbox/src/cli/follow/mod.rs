//! Following a run: its states, its logs one after the other, and the questions that it waits with.
//!
//! [`Plot`](log_order::Plot) decides which log comes next, a [`View`] shows things, and the loop here brings both together.

mod driver;
mod human;
mod json;
mod log_order;
pub(crate) mod prompt;
#[cfg(test)]
mod tests;
mod view;

use client::{ClientError, Stage};

use super::context::Context;
use super::failure::{Exit, Failure};
use super::terminal;

pub(crate) use view::View;

/// Who answers when the run waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Answer {
    /// Whoever sits at the terminal; without one, nobody.
    #[default]
    Person,
    /// It is confirmed and overridden without asking.
    Yes,
    /// Nobody here: it is said that it waits, and followed until somebody elsewhere has decided.
    Nobody,
}

/// How to follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    pub(crate) answer: Answer,
    /// Logs of earlier stages are left out.
    pub(crate) first: Stage,
}

impl Default for Options {
    fn default() -> Self {
        Self { answer: Answer::default(), first: Stage::Plan }
    }
}

/// Follows a run until it is final. The exit status says how it ended.
pub(crate) async fn follow(run_id: &str, options: Options, context: &Context) -> Result<Exit, Failure> {
    let mut view = view(run_id, context);
    match driver::Driver::new(run_id, options, context).run(view.as_mut()).await {
        Err(failure) if failure.is_closed_output() => Ok(Exit::OutputClosed),
        other => other,
    }
}

/// How things are shown.
pub(crate) fn view(run_id: &str, context: &Context) -> Box<dyn View> {
    if context.output.json {
        Box::new(json::Json::new(context.output))
    } else {
        Box::new(human::Human::new(run_id, context.output))
    }
}

pub(crate) fn lost(why: &ClientError) -> String {
    format!("connection lost, trying again: {}", terminal::line(&why.to_string()))
}
