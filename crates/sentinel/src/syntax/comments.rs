//! Comments that say something about what follows them.

use super::parser::Parser;
use crate::source::Span;

impl Parser<'_> {
    /// The comment lines that end on the line above a statement.
    pub(super) fn doc_above(&self, start: Span) -> Option<String> {
        let mut line = self.source.position(start.start).line;
        let mut taken = Vec::new();
        for comment in self.comments.iter().rev().filter(|c| c.span.end <= start.start) {
            let last = self.source.position(comment.span.end.saturating_sub(1)).line;
            let first = self.source.position(comment.span.start);
            let before = &self.source.line(first.line)[..first.column - 1];
            if last + 1 != line || !before.trim().is_empty() {
                break;
            }
            taken.push(comment.span);
            line = first.line;
        }
        taken.reverse();
        comment_text(taken.into_iter().map(|span| self.text(span)))
    }

    /// The comment at the top of the file, when a blank line separates it from the code.
    pub(super) fn description(&self, code: Span) -> Option<String> {
        let mut end = None;
        let mut taken = Vec::new();
        for comment in self.comments.iter().filter(|c| c.span.end <= code.start) {
            let first = self.source.position(comment.span.start).line;
            if end.is_some_and(|end| first > end + 1) {
                break;
            }
            end = Some(self.source.position(comment.span.end.saturating_sub(1)).line);
            taken.push(comment.span);
        }
        let code_line = self.source.position(code.start).line;
        let at_end = code.start as usize >= self.source.text().len();
        if !at_end && code_line <= end? + 1 {
            return None;
        }
        comment_text(taken.into_iter().map(|span| self.text(span)))
    }
}

/// The text of comments without their marks.
fn comment_text<'t>(comments: impl Iterator<Item = &'t str>) -> Option<String> {
    let mut lines = Vec::new();
    for comment in comments {
        if let Some(block) = comment.strip_prefix("/*") {
            let block = block.strip_suffix("*/").unwrap_or(block);
            lines.extend(block.lines().map(|line| line.trim().trim_start_matches('*').trim().to_owned()));
        } else {
            let line = comment.trim_start_matches('/').trim_start_matches('#');
            lines.push(line.trim().to_owned());
        }
    }
    let text = lines.join("\n").trim_matches('\n').trim_end().to_owned();
    (!text.is_empty()).then_some(text)
}
