//! The ways in which a value is written.

use std::ops::Range;

/// A text as it stands inside of a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::new();
    crate::value::show::quote(&mut quoted, text);
    quoted[1..quoted.len() - 1].to_owned()
}

/// A text as it stands inside of a string in JSON, where control characters are written otherwise.
pub(super) fn quoted_as_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A text without its backslashes, and where they were.
pub(super) struct Bare {
    pub(super) text: String,
    /// Places in the bare text before which there were backslashes, and how many there were up to there.
    gaps: Vec<(usize, usize)>,
}

pub(super) fn without_backslashes(text: &str) -> Bare {
    let mut bare = Bare { text: String::with_capacity(text.len()), gaps: Vec::new() };
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bare.text.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches('\\');
        bare.gaps.push((bare.text.len(), text.len() - rest.len() - bare.text.len()));
    }
    bare.text.push_str(rest);
    bare
}

impl Bare {
    /// The range of the text that a range of the bare text was, without backslashes around it.
    pub(super) fn origin(&self, range: Range<usize>) -> Range<usize> {
        let skipped = |gaps: &[(usize, usize)]| gaps.last().map_or(0, |(_, count)| *count);
        let to_start = self.gaps.partition_point(|(at, _)| *at <= range.start);
        let to_end = self.gaps.partition_point(|(at, _)| *at < range.end);
        range.start + skipped(&self.gaps[..to_start])..range.end + skipped(&self.gaps[..to_end])
    }
}
