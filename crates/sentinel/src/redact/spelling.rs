//! The ways in which a value is written.

use std::ops::Range;

/// Spellings of a number with fewer characters than this would be found in other numbers.
const SHORTEST_NUMBER: usize = 6;

/// The other ways in which policies write a number of which the shortest is known: without an exponent, with
/// one, with the six decimals of Sentinel's `string`.
pub(super) fn other_spellings(float: f64) -> Vec<String> {
    if !float.is_finite() {
        return Vec::new();
    }
    let mut all = vec![format!("{float}"), format!("{float:e}"), format!("{float:.6}")];
    // an integer that Rego holds exactly: the digits that all have which are this number here
    if (I64_END..=U64_END).contains(&float.abs()) {
        let near = float.abs() as u64;
        let (low, high) = (near.saturating_sub(1024).to_string(), near.saturating_add(1024).to_string());
        all.push(low.chars().zip(high.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect());
    }
    all.retain(|text| match text.split_once('.') {
        Some((_, decimals)) if !text.contains('e') => {
            let zeros = decimals.len() - decimals.trim_end_matches('0').len();
            text.len() - zeros > SHORTEST_NUMBER
        }
        _ => text.len() >= SHORTEST_NUMBER,
    });
    all
}

/// From where on integers are no 64-bit integers with a sign any more.
const I64_END: f64 = (1u64 << 63) as f64;
const U64_END: f64 = u64::MAX as f64;

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
