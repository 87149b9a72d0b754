//! Places in a text.

use std::fmt;
use std::ops::Range;

/// Bytes from the start of the text.
pub type Span = Range<usize>;

/// A place as people count: from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The place of a byte. Reads the text up to there: for the place of one error, not for each token.
pub fn position(text: &str, offset: usize) -> Position {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_start = memchr::memrchr(b'\n', before.as_bytes()).map_or(0, |newline| newline + 1);
    Position {
        line: memchr::memchr_iter(b'\n', before.as_bytes()).count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_columns_count_characters() {
        let text = "a\nüü = 1\n";
        let at = |offset| {
            let Position { line, column } = position(text, offset);
            (line, column)
        };
        assert_eq!([at(0), at(1), at(2), at(6)], [(1, 1), (1, 2), (2, 1), (2, 3)]);
        assert_eq!(at(3), (2, 1), "inside of a character");
        assert_eq!([at(11), at(99)], [(3, 1), (3, 1)], "the end and beyond");
    }
}
