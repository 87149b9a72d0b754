use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::source::SourceFile;

impl Diagnostics {
    /// Every finding as rustc would show it: `file:line:column`, the line, a caret, what would be right. Ends with a
    /// line break, unless there is nothing to show. Literals of sensitive attributes are starred out, except after a
    /// syntax error, where nobody can tell what is sensitive.
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        self.iter().map(|finding| renderer.render(&[group(finding, &self.source)]) + "\n\n").collect()
    }
}

fn group<'a>(finding: &'a Diagnostic, source: &'a SourceFile) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(&finding.message).id(finding.code.as_str());
    let mut group = match &finding.location {
        None => title.element(Origin::path(&finding.file)),
        Some(place) => {
            let label = (!finding.label.is_empty()).then_some(finding.label.as_str());
            let primary = AnnotationKind::Primary.span(place.span.clone()).label(label);
            let related = finding.related.iter().map(|related| {
                AnnotationKind::Context.span(related.location.span.clone()).label(related.label.as_str())
            });
            let snippet =
                Snippet::source(source.shown()).path(&finding.file).annotation(primary).annotations(related);
            title.element(snippet)
        }
    };
    if let Some(help) = &finding.help {
        group = group.element(Level::HELP.message(annotate_snippets::normalize_untrusted_str(help)));
    }
    group
}
