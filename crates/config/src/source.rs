use std::fmt;
use std::ops::Range;

use serde::Serialize;

use crate::spans::Spans;

/// A place in the config file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Bytes from the start of the file, on character boundaries. A byte order mark is not counted.
    pub span: Range<usize>,
}

/// Where something was defined.
///
/// Compares equal to every other one: where a definition stands is not part of what it says, so a workspace that
/// only moved down a line is unchanged.
#[derive(Debug, Clone)]
pub struct DefinedAt(pub Location);

impl PartialEq for DefinedAt {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for DefinedAt {}

/// The text that diagnostics point into. `Debug` leaves the text out: secrets may stand in it.
pub(crate) struct SourceFile {
    name: String,
    text: String,
    /// What must not be shown.
    hidden: Spans,
    line_starts: Vec<usize>,
    /// How many characters begin before each [`BLOCK`] of bytes: a file of one line is no reason to count all of it for
    /// each place.
    characters: Vec<usize>,
}

/// Bytes between two counts of characters.
const BLOCK: usize = 1 << 10;

fn characters(bytes: &[u8]) -> usize {
    // a character has one byte that continues none
    bytes.iter().filter(|byte| **byte & 0b1100_0000 != 0b1000_0000).count()
}

impl SourceFile {
    pub(crate) fn new(name: String, text: String) -> Self {
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let blocks = text.as_bytes().chunks(BLOCK);
        let before = blocks.scan(0, |before, block| {
            let here = *before;
            *before += characters(block);
            Some(here)
        });
        let characters = before.collect();
        Self { name, text, hidden: Spans::default(), line_starts, characters }
    }

    /// How many characters begin before a byte.
    fn characters_before(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.characters.len().saturating_sub(1));
        let rest = self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.characters.get(block).copied().unwrap_or(0) + characters(rest)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text as it may be shown: what is hidden is starred out. Bytes and characters keep their places, so that every
    /// span and column holds for both texts; white space stays, so that lines do.
    pub(crate) fn shown(&self) -> String {
        let mut shown = String::with_capacity(self.text.len());
        for span in self.hidden.iter() {
            let hidden = self.text.ceil_char_boundary(span.start)..self.text.ceil_char_boundary(span.end);
            shown.push_str(self.text.get(shown.len()..hidden.start).unwrap_or_default());
            shown.extend(self.text.get(hidden).unwrap_or_default().chars().map(
                |char| match char.len_utf8() {
                    _ if char.is_whitespace() => char,
                    1 => '*',
                    2 => '×',
                    3 => '•',
                    _ => '🞄',
                },
            ));
        }
        shown.push_str(self.text.get(shown.len()..).unwrap_or_default());
        shown
    }

    /// The span, moved into the file and onto character boundaries, with its line and column.
    pub(crate) fn locate(&self, span: &Range<usize>) -> Location {
        let start = self.text.floor_char_boundary(span.start);
        let end = self.text.ceil_char_boundary(span.end).max(start);
        let line = self.line_starts.partition_point(|&line_start| line_start <= start);
        let line_start = self.line_starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(start) - self.characters_before(line_start) + 1;
        Location { line, column, span: start..end }
    }

    /// Nothing of these spans may be shown.
    pub(crate) fn hide(&mut self, hidden: Spans) {
        self.hidden = hidden;
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceFile").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_lines_start_at_one() {
        let source = SourceFile::new("f".into(), "a\nüü = 1\n".into());
        let at = |start, end| {
            let location = source.locate(&(start..end));
            (location.line, location.column, location.span)
        };
        assert_eq!(at(0, 1), (1, 1, 0..1));
        assert_eq!(at(2, 6), (2, 1, 2..6));
        assert_eq!(at(6, 7), (2, 3, 6..7));
        assert_eq!(at(3, 5), (2, 1, 2..6), "a span inside a character grows to hold it");
        assert_eq!(at(11, 11), (3, 1, 11..11), "the end of the file");
        assert_eq!(at(90, 99), (3, 1, 11..11), "a span beyond the file ends with it");
    }

    #[test]
    fn columns_count_characters_however_long_the_line_is() {
        let text = "é€🙂a".repeat(1_000);
        let source = SourceFile::new("f".into(), format!("\n{text}"));
        for (column, (at, _)) in text.char_indices().enumerate() {
            let place = source.locate(&(at + 1..at + 1));
            assert_eq!((place.line, place.column), (2, column + 1));
        }
        let end = text.len() + 1;
        assert_eq!(source.locate(&(end..end)).column, 4_001);
    }

    #[test]
    fn what_is_hidden_keeps_its_bytes_characters_and_lines() {
        let text = "a = \"sé€🙂\n x\" # s";
        let mut source = SourceFile::new("f".into(), text.into());
        let end = text.find(" #").unwrap();
        let mut hidden = Spans::default();
        hidden.add(&(4..end));
        source.hide(hidden);
        assert_eq!(source.shown(), "a = **×•🞄\n ** # s");
        assert_eq!(source.shown().len(), text.len());
        assert_eq!(source.shown().chars().count(), text.chars().count());
    }
}
