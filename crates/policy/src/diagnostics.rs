//! Mistakes of a policy set, with their places.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A position in a file; both counts start at 1, columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl Place {
    /// The place of a byte offset in a text; an offset beyond the end gives the end.
    pub(crate) fn at(text: &str, offset: usize) -> Self {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            line: count(before.matches('\n').count() + 1),
            column: count(before[line_start..].chars().count() + 1),
        }
    }
}

/// One thing wrong with a policy set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    /// The file, relative to the set's folder; empty if the folder itself is at fault.
    pub file: String,
    /// Where in the file, if the mistake has a place in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The text of that line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_line: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

impl Mistake {
    /// A mistake of a whole file.
    pub fn of_file(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), place: None, source_line: None, message: message.into(), help: None }
    }

    /// A mistake at a place in a file whose text is known.
    pub fn at(file: impl Into<String>, text: &str, place: Place, message: impl Into<String>) -> Self {
        let line = usize::try_from(place.line).unwrap_or(usize::MAX);
        let source_line = text.lines().nth(line.saturating_sub(1)).map(str::to_owned);
        Self { file: file.into(), place: Some(place), source_line, message: message.into(), help: None }
    }

    /// A mistake at a byte range of a file whose text is known.
    #[cfg(feature = "rego")]
    pub(crate) fn at_span(
        file: impl Into<String>,
        text: &str,
        span: Option<std::ops::Range<usize>>,
        message: impl Into<String>,
    ) -> Self {
        Self::at(file, text, Place::at(text, span.map_or(0, |span| span.start)), message)
    }

    /// Adds what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Mistake {
    /// `file:line:column: message; help`, then the line with a caret under the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.file.is_empty() {
            write!(f, "{}:", self.file)?;
        }
        if let Some(Place { line, column }) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        if !self.file.is_empty() {
            f.write_str(" ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, "; {help}")?;
        }
        if let (Some(place), Some(source)) = (self.place, &self.source_line) {
            // a tab stays a tab, so that the caret stands under its character at any tab width
            let indent: String = source
                .chars()
                .take(usize::try_from(place.column).unwrap_or(1).saturating_sub(1))
                .map(|c| if c == '\t' { '\t' } else { ' ' })
                .collect();
            write!(f, "\n    {source}\n    {indent}^")?;
        }
        Ok(())
    }
}

/// Why a policy set cannot be used: every mistake that was found, in the order of files and places.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LoadError {
    mistakes: Vec<Mistake>,
}

impl LoadError {
    /// An error from at least one mistake; without one it says that the engine gave no reason.
    pub fn new(mut mistakes: Vec<Mistake>) -> Self {
        if mistakes.is_empty() {
            mistakes.push(Mistake::of_file("", "the set cannot be loaded, and its engine gave no reason"));
        }
        mistakes.sort_by(|a, b| (&a.file, a.place).cmp(&(&b.file, b.place)));
        Self { mistakes }
    }

    /// The mistakes; never empty.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl From<Mistake> for LoadError {
    fn from(mistake: Mistake) -> Self {
        Self::new(vec![mistake])
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, mistake) in self.mistakes.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{mistake}")?;
        }
        Ok(())
    }
}

/// The warning of a file that somebody may take for a part of a set's configuration.
pub(crate) fn not_read(file: &str, manifest: &str) -> String {
    format!("{file} is not read: of a set's configuration a run takes {manifest} alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "ä = 1\n  é x\n";
        assert_eq!(Place::at(text, 0), Place { line: 1, column: 1 });
        assert_eq!(Place::at(text, text.find('x').unwrap()), Place { line: 2, column: 5 });
        assert_eq!(Place::at(text, 1), Place { line: 1, column: 1 }, "inside a character");
        assert_eq!(Place::at(text, 999), Place { line: 3, column: 1 });
    }

    #[test]
    fn a_mistake_shows_its_line_with_a_caret_and_what_would_be_right() {
        let mistake =
            Mistake::at("a.rego", "x\n\tbad y", Place { line: 2, column: 6 }, "unexpected y").help("write z");
        assert_eq!(mistake.to_string(), "a.rego:2:6: unexpected y; write z\n    \tbad y\n    \t    ^");
    }
}
