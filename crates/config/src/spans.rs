//! A set of places.

use std::collections::BTreeMap;

use crate::context::Span;

/// Bytes of the file, as spans that don't touch each other.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// The end of each by its start.
    ends: BTreeMap<usize, usize>,
}

impl Spans {
    /// Adds the bytes of a span.
    pub(crate) fn add(&mut self, span: &Span) {
        let (mut start, mut end) = (span.start, span.end);
        while let Some((&other, &other_end)) =
            self.ends.range(..=end).next_back().filter(|(_, other_end)| **other_end >= start)
        {
            self.ends.remove(&other);
            start = start.min(other);
            end = end.max(other_end);
        }
        self.ends.insert(start, end);
    }

    /// Whether the span has one of the bytes.
    pub(crate) fn touch(&self, span: &Span) -> bool {
        self.ends.range(..span.end).next_back().is_some_and(|(_, end)| *end > span.start)
    }

    /// The spans, in the order of the file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Span> {
        self.ends.iter().map(|(start, end)| *start..*end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_span_touches_what_was_added_and_nothing_else(
            added in prop::collection::vec((0..40_usize, 1..6_usize), 0..8),
            (start, length) in (0..40_usize, 1..6_usize),
        ) {
            let mut spans = Spans::default();
            let added: Vec<Span> = added.into_iter().map(|(start, length)| start..start + length).collect();
            added.iter().for_each(|span| spans.add(span));
            let span = start..start + length;
            let by_definition = span.clone().any(|byte| added.iter().any(|span| span.contains(&byte)));
            prop_assert_eq!(spans.touch(&span), by_definition);
            let kept: Vec<Span> = spans.iter().collect();
            prop_assert!(kept.windows(2).all(|pair| pair[0].end < pair[1].start), "{:?}", kept);
            let bytes = |spans: &[Span]| -> std::collections::BTreeSet<usize> { spans.iter().cloned().flatten().collect() };
            prop_assert_eq!(bytes(&kept), bytes(&added));
        }
    }
}
