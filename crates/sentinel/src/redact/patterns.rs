//! Finding texts, whole and cut off.

use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::{MASK, SHORTEST, SHORTEST_LINE};
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
        let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&texts).ok();
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
        let cuts: Vec<usize> = text.match_indices(CUT).map(|(at, _)| at).collect();
        let Some(last) = cuts.last() else { return Vec::new() };
        let mut found: Vec<Range<usize>> = Vec::new();
        for (start, _) in text[..*last].char_indices() {
            let length = self.begins(&text[start..]);
            let end = cuts[..cuts.partition_point(|cut| *cut <= start + length)].last();
            if let Some(end) = end.filter(|end| **end >= start + SHORTEST) {
                found.push(start..*end);
            }
        }
        found
    }

    /// How many bytes at the start of a text are the beginning of one of these.
    fn begins(&self, text: &str) -> usize {
        // in their order, the one that shares the most with a text stands next to where that would be
        let at = self.texts.partition_point(|known| known.as_str() < text);
        let shared = |known: &String| known.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        self.texts[at.saturating_sub(1)..].iter().take(2).map(shared).max().unwrap_or(0)
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
