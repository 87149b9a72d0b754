use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::Location;

/// How many bytes of the file are shown at once: the renderer looks at each of them, for each finding.
const WINDOW: usize = 16 << 10;

impl Diagnostics {
    /// Every finding as rustc would show it: `file:line:column`, the line, a caret, what would be right. Ends with a
    /// line break, unless there is nothing to show. What is sensitive is starred out: literals of sensitive attributes, what
    /// stands in place of a token's digest, tokens, attributes that may be misspelt sensitive ones, and every string after a syntax
    /// error, where nobody can tell.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let shown = if self.is_empty() { String::new() } else { self.source.shown() };
        self.iter().map(|finding| renderer.render(&[group(finding, &shown)]) + "\n\n").collect()
    }
}

fn group<'a>(finding: &'a Diagnostic, source: &'a str) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&finding.message).id(finding.code.as_str());
    let mut group = match &finding.location {
        None => title.element(Origin::path(&finding.file)),
        Some(place) => {
            let primary = (AnnotationKind::Primary, place, finding.label.as_str());
            let related = finding
                .related
                .iter()
                .map(|related| (AnnotationKind::Context, &related.location, related.label.as_str()));
            let marks: Vec<Mark<'_>> = std::iter::once(primary).chain(related).collect();
            match lines(&marks, source) {
                Some(_) => title.element(picture(finding, &marks, source)),
                None => title.elements(marks.chunks(1).map(|mark| picture(finding, mark, source))),
            }
        }
    };
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(annotate_snippets::normalize_untrusted_str(help)));
    }
    group
}

/// A place, and what is said at it.
type Mark<'a> = (AnnotationKind, &'a Location, &'a str);

/// The lines from the first to the last of the marks, unless that is too much to be shown.
fn lines(marks: &[Mark<'_>], source: &str) -> Option<Range<usize>> {
    let first = marks.iter().map(|(_, place, _)| place.span.start).min()?;
    let last = marks.iter().map(|(_, place, _)| place.span.end).max()?;
    let before = source.as_bytes().get(first.saturating_sub(WINDOW)..first)?;
    let start = match before.iter().rposition(|byte| *byte == b'\n') {
        Some(newline) => first - before.len() + newline + 1,
        None => first - before.len(),
    };
    let after = source.as_bytes().get(last..source.len().min(last + WINDOW))?;
    let end = last + after.iter().position(|byte| *byte == b'\n').map_or(after.len(), |newline| newline + 1);
    (end - start < WINDOW).then_some(start..end)
}

/// The lines with the marks; of lines without end, where the first mark is.
fn picture<'a>(finding: &'a Diagnostic, marks: &[Mark<'a>], source: &'a str) -> Element<'a> {
    let Some((_, first, _)) = marks.iter().min_by_key(|(_, place, _)| place.span.start) else {
        return Origin::path(&finding.file).into();
    };
    let Some(lines) = lines(marks, source) else {
        return Origin::path(&finding.file).line(first.line).char_column(first.column).into();
    };
    let annotation = |(kind, place, label): &Mark<'a>| -> Annotation<'a> {
        let label = (!label.is_empty()).then_some(*label);
        kind.span(place.span.start - lines.start..place.span.end - lines.start).label(label)
    };
    Snippet::source(&source[lines.clone()])
        .line_start(first.line)
        .path(&finding.file)
        .annotations(marks.iter().map(annotation))
        .into()
}
