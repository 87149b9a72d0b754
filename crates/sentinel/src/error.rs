//! What can go wrong, and where.

use std::fmt;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
pub(crate) use text::nearest;

use crate::source::{Position, Source, Span};
use crate::value::show;

/// The length of a message. It is kept in several places; what a policy raises with a longer one is among
/// its prints as a whole.
const MAX_MESSAGE: usize = 16 << 10;

/// How much of a line is kept: a file may be a single one, and a configuration has a place for each source.
const MAX_LINE: usize = 4 << 10;

/// Which limit a policy met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Too many evaluation steps.
    Steps,
    /// Calls or values nested too deep.
    Depth,
    /// Too many bytes made.
    Memory,
    /// Took too long.
    Time,
}

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text is not of the language's grammar.
    Syntax,
    /// The text is grammatical but cannot be a policy: `break` outside a loop, an unknown import.
    Semantic,
    /// A configuration file says something that is not possible.
    Config,
    /// The evaluation came to something that the language calls an error.
    Runtime,
    /// The policy called `error(…)`.
    Raised,
    /// A limit was met.
    Limit(Limit),
    /// A file that is needed cannot be had.
    File,
    /// A source leads to where the host has no files: out of a policy set's folder.
    Outside,
}

/// Where an error is: the position, and the line for showing it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The position.
    pub position: Position,
    /// The line it is in.
    pub line: String,
    /// How many bytes of the line are meant, at least one.
    pub length: usize,
    /// The column as people count, in characters.
    pub(crate) column: usize,
}

impl Place {
    pub(crate) fn of(source: &Source, span: Span) -> Place {
        let position = source.position(span.start);
        let whole = source.line(position.line);
        let before = floor_boundary(whole, position.column - 1);
        let column = whole[..before].chars().count() + 1;
        let line = show::cut(whole, MAX_LINE);
        let room = line.len().saturating_sub(position.column - 1).max(1);
        let length = ((span.end.saturating_sub(span.start)) as usize).clamp(1, room);
        Place { position, line, length, column }
    }
}

/// An error with its place.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    label: String,
    place: Option<Place>,
    notes: Vec<String>,
}

impl fmt::Display for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{}:{}:{}: ", place.position.filename, place.position.line, place.column)?;
        }
        f.write_str(&self.message)
    }
}

impl Error {
    /// An error without a place.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        let mut message = message.into();
        if message.len() > MAX_MESSAGE {
            message = show::cut(&message, MAX_MESSAGE);
        }
        Error(Box::new(Inner { kind, message, label: String::new(), place: None, notes: Vec::new() }))
    }

    pub(crate) fn runtime(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Runtime, message)
    }

    pub(crate) fn config(message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Config, message)
    }

    pub(crate) fn limit(limit: Limit, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Limit(limit), message)
    }

    /// The same error at a place, unless it has one already: the innermost place is the useful one.
    #[must_use]
    pub fn at(mut self, source: &Source, span: Span) -> Error {
        if self.0.place.is_none() {
            self.0.place = Some(Place::of(source, span));
        }
        self
    }

    /// The same error at a place that may be known, unless it has one already.
    #[must_use]
    pub(crate) fn at_place(mut self, place: Option<&Place>) -> Error {
        self.0.place = self.0.place.or_else(|| place.cloned());
        self
    }

    /// What was expected at the place, in a few words.
    #[must_use]
    pub(crate) fn label(mut self, label: impl Into<String>) -> Error {
        self.0.label = label.into();
        self
    }

    /// A line that helps.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Error {
        self.0.notes.push(note.into());
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The place.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }

    /// Lines that help.
    pub fn notes(&self) -> &[String] {
        &self.0.notes
    }

    /// The error with sensitive values masked.
    #[must_use]
    pub(crate) fn masked(mut self, secrets: &crate::redact::Secrets) -> Error {
        self.0.message = secrets.mask_message(&self.0.message);
        for note in &mut self.0.notes {
            *note = secrets.mask_message(note);
        }
        self
    }

    /// The error as a compiler shows it: file, line and column, the line with a caret, the notes.
    pub fn render(&self) -> String {
        let title = Level::ERROR.primary_title(&self.0.message);
        // of a long line only the start is kept, and there is nothing to point at behind it
        let shown = |place: &&Place| place.position.column <= MAX_LINE;
        let Some(place) = self.0.place.as_ref().filter(shown) else {
            let mut text = format!("error: {}", self.0.message);
            if let Some(Place { position, column, .. }) = &self.0.place {
                text.push_str(&format!("\n --> {}:{}:{column}", position.filename, position.line));
            }
            for note in &self.0.notes {
                text.push_str("\n  = note: ");
                text.push_str(note);
            }
            return text;
        };
        let start = floor_boundary(&place.line, place.position.column - 1);
        let end = ceil_boundary(&place.line, start + place.length);
        let snippet = Snippet::source(&place.line)
            .path(&place.position.filename)
            .line_start(place.position.line)
            .annotation(AnnotationKind::Primary.span(start..end).label(self.0.label.as_str()));
        let notes = self.0.notes.iter().map(|note| Level::NOTE.message(note.as_str()));
        let group = notes.fold(title.element(snippet), |group, note| group.element(note));
        Renderer::plain().render(&[group])
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceil_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
