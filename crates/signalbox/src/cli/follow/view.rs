use client::{Run, Stage};
use review::Review;

use super::super::failure::{Exit, Failure};

/// What shows a run that is followed.
pub(crate) trait View {
    /// The run changed. Logs of what came before may not have been shown yet.
    fn update(&mut self, run: &Run) -> Result<(), Failure>;

    /// It came into another state, or waits for something else in it, and everything before that was shown.
    fn state(&mut self, run: &Run) -> Result<(), Failure>;

    /// A piece of a log as terraform wrote it.
    fn log(&mut self, stage: Stage, bytes: &[u8]) -> Result<(), Failure>;

    /// A log is complete.
    fn log_end(&mut self, stage: Stage) -> Result<(), Failure>;

    /// Something that is said beside it, in one safe line.
    fn note(&mut self, text: &str);

    /// What its plan would do, before somebody decides about it.
    fn review(&mut self, review: &Review) -> Result<(), Failure>;

    /// It waits for a person, and nobody here is asked.
    fn waits(&mut self, run: &Run) -> Result<(), Failure>;

    /// A question on the terminal; the answer is typed behind it.
    fn ask(&mut self, question: &str);

    /// It is final, and everything was shown.
    fn end(&mut self, run: &Run, exit: Exit) -> Result<(), Failure>;

    /// Nothing more will be shown.
    fn close(&mut self);
}
