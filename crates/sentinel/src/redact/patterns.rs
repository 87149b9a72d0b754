//! Finding texts, whole and cut off.

use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::{MASK, SHORTEST, SHORTEST_CUT, SHORTEST_LINE};
use crate::value::show::CUT;

/// What of a secret is searched for: the whole, and its lines.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim).filter(move |line| line.len() >= SHORTEST_LINE && *line != text);
    std::iter::once(text).filter(|text| text.len() >= SHORTEST).chain(lines)
}

/// Texts to be found, of two that start at one place the longer one.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns {
    pub(super) texts: Arc<[String]>,
    /// None when there are too many for one: finding them is slower, but nothing is shown.
    pub(super) automaton: Option<AhoCorasick>,
}

impl Patterns {
    /// Patterns of texts; they are those of `other` when that has the same, as it is with most secrets.
    pub(super) fn new(mut texts: Vec<String>, other: Option<&Patterns>) -> Patterns {
        texts.sort();
        texts.dedup();
        if let Some(same) = other.filter(|other| *other.texts == texts) {
            return same.clone();
        }
        // another kind takes time that grows with the square of a text that repeats itself
        let mut builder = AhoCorasick::builder();
        builder.match_kind(MatchKind::LeftmostLongest).kind(Some(AhoCorasickKind::ContiguousNFA));
        let automaton = builder.build(&texts).ok();
        Patterns { texts: texts.into(), automaton }
    }

    /// Where the texts are, in order.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        if let Some(automaton) = &self.automaton {
            return automaton.find_iter(text).map(|found| found.range()).collect();
        }
        let all = self.texts.iter().flat_map(|secret| text.match_indices(secret.as_str()));
        let mut all: Vec<Range<usize>> = all.map(|(at, found)| at..at + found.len()).collect();
        all.sort_by_key(|range| range.start);
        all
    }

    /// Where beginnings of the texts are that a cut ends, in order: the rest of such a text was cut off.
    pub(super) fn find_cut(&self, text: &str) -> Vec<Range<usize>> {
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let mut found: Vec<Range<usize>> = Vec::new();
        for (cut, _) in text.match_indices(CUT) {
            let Some(last) = cut.checked_sub(SHORTEST_CUT) else { continue };
            let mut starts = cut.saturating_sub(longest)..=last;
            // the first start has the longest beginning
            let start = starts.find(|at| text.is_char_boundary(*at) && self.begin_with(&text[*at..cut]));
            found.extend(start.map(|start| start..cut));
        }
        found
    }

    /// Whether one of the texts begins with this.
    fn begin_with(&self, beginning: &str) -> bool {
        // in their order, those that do stand next to where it would be
        let at = self.texts.partition_point(|known| known.as_str() < beginning);
        self.texts.get(at).is_some_and(|known| known.starts_with(beginning))
    }
}

/// The text with the mask in some ranges of it. They are in the order of their starts; those that overlap
/// get one mask.
pub(super) fn replace(text: &str, ranges: &[Range<usize>]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for range in ranges {
        if range.start >= done {
            masked.push_str(&text[done..range.start]);
            masked.push_str(MASK);
        }
        done = done.max(range.end);
    }
    masked.push_str(&text[done..]);
    masked
}
