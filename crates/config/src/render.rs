use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};

impl Diagnostics {
    /// Every finding as rustc would show it: `file:line:column`, the line, a caret, what would be right. Ends with a
    /// line break, unless there is nothing to show. Literals of sensitive attributes are starred out, except after a
    /// syntax error, where nobody can tell what is sensitive.
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
            // only the lines that matter: it looks at all of what it is given
            let places =
                || std::iter::once(place).chain(finding.related.iter().map(|related| &related.location));
            let first = places().min_by_key(|place| place.span.start).unwrap_or(place);
            let last = places().map(|place| place.span.end).max().unwrap_or(place.span.end);
            let start = source[..first.span.start].rfind('\n').map_or(0, |newline| newline + 1);
            let end = source[last..].find('\n').map_or(source.len(), |newline| last + newline + 1);
            let within = |span: &Range<usize>| span.start - start..span.end - start;

            let label = (!finding.label.is_empty()).then_some(finding.label.as_str());
            let primary = AnnotationKind::Primary.span(within(&place.span)).label(label);
            let related = finding.related.iter().map(|related| {
                AnnotationKind::Context.span(within(&related.location.span)).label(related.label.as_str())
            });
            let snippet = Snippet::source(&source[start..end])
                .line_start(first.line)
                .path(&finding.file)
                .annotation(primary)
                .annotations(related);
            title.element(snippet)
        }
    };
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(annotate_snippets::normalize_untrusted_str(help)));
    }
    group
}
