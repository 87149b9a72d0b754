//! Source texts and places in them.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// A range of bytes in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from the start of this span to the end of another.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start, end: other.end.max(self.start) }
    }
}

/// A place as traces show it: line and column count from 1, the column in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The file as the policy set names it.
    pub filename: String,
    /// Byte offset from the start of the file.
    pub offset: usize,
    /// Line, from 1.
    pub line: usize,
    /// Column in bytes, from 1.
    pub column: usize,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.filename, self.line, self.column)
    }
}

/// One source file.
#[derive(Debug)]
pub struct Source {
    name: String,
    text: String,
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// A source with the name that errors and traces show.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        Source { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
            std::iter::once(0).chain(breaks.map(|(at, _)| at as u32 + 1)).collect()
        })
    }

    /// The place of a byte offset.
    pub fn position(&self, offset: u32) -> Position {
        let lines = self.lines();
        let line = lines.partition_point(|start| *start <= offset).max(1);
        Position {
            filename: self.name.clone(),
            offset: offset as usize,
            line,
            column: (offset - lines[line - 1]) as usize + 1,
        }
    }

    /// The text of a line, counted from 1, without its line break.
    pub fn line(&self, line: usize) -> &str {
        let lines = self.lines();
        let Some(start) = line.checked_sub(1).and_then(|at| lines.get(at)) else { return "" };
        let end = lines.get(line).map_or(self.text.len(), |next| *next as usize);
        self.text[*start as usize..end].trim_end_matches(['\n', '\r'])
    }
}
