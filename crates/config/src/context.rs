//! What a decoder carries along: where findings go, and what a name may refer to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::diagnostic::{Code, Counts, Diagnostic, Diagnostics, Related, Severity};
use crate::exposed;
use crate::host::Host;
use crate::node::Node;
use crate::source::{DefinedAt, SourceFile};
use crate::spans::Spans;

pub(crate) use hcl_reader::Span;

/// How many errors and how many warnings are told; the others are counted. More than that has one cause, or a file
/// that is made to have them.
const MOST: usize = 1_000;

/// A finding on its way into [`Context::report`].
#[derive(Debug)]
pub(crate) struct Issue {
    severity: Severity,
    code: Code,
    span: Span,
    message: String,
    label: String,
    help: Option<String>,
    related: Vec<(Span, String)>,
}

impl Issue {
    pub(crate) fn error(code: Code, span: &Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            span: span.clone(),
            message: message.into(),
            label: String::new(),
            help: None,
            related: Vec::new(),
        }
    }

    pub(crate) fn warning(code: Code, span: &Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, span: &Span, label: impl Into<String>) -> Self {
        self.related.push((span.clone(), label.into()));
        self
    }

    /// A message may quote what stands where a token does not belong.
    fn without_tokens(&mut self) {
        let labels = self.related.iter_mut().map(|(_, label)| label);
        let texts = [&mut self.message, &mut self.label].into_iter().chain(&mut self.help).chain(labels);
        texts.for_each(exposed::star_out_tokens);
    }

    fn locate(self, source: &SourceFile) -> Diagnostic {
        let related = self.related.into_iter();
        Diagnostic {
            code: self.code,
            severity: self.severity,
            file: source.name().to_owned(),
            location: Some(source.locate(&self.span)),
            message: self.message,
            label: self.label,
            help: self.help,
            related: related.map(|(span, label)| Related { location: source.locate(&span), label }).collect(),
        }
    }
}

/// Names with the place of their first definition, in the order of the file.
pub(crate) type Names = IndexMap<String, Span>;

/// All names that others may refer to, gathered before any body is read, so that a block may stand anywhere and a
/// mistake within one does not make its name unknown.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    pub(crate) users: Names,
    pub(crate) teams: Names,
    pub(crate) policy_sets: Names,
    pub(crate) workspaces: Names,
}

/// State of reading one file.
pub(crate) struct Context<'a> {
    pub(crate) host: &'a dyn Host,
    /// The directory that relative paths start from.
    pub(crate) base: &'a Path,
    pub(crate) names: Registry,
    source: SourceFile,
    issues: Vec<Issue>,
    found: Counts,
    hidden: Spans,
    /// Values that are secret, wherever they come from.
    secret: Spans,
    /// What was read by `file(…)`, and where that stands.
    files: Vec<(Span, PathBuf)>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(host: &'a dyn Host, base: &'a Path, source: SourceFile) -> Self {
        let (names, mut hidden) = (Registry::default(), Spans::default());
        exposed::tokens(source.text()).for_each(|span| hidden.add(&span));
        Self {
            host,
            base,
            names,
            source,
            issues: Vec::new(),
            found: Counts::default(),
            hidden,
            secret: Spans::default(),
            files: Vec::new(),
        }
    }

    pub(crate) fn report(&mut self, mut issue: Issue) {
        issue.without_tokens();
        if self.found.add(issue.severity) <= MOST {
            self.issues.push(issue);
        }
    }

    /// As [`report`](Self::report), of an error that it takes time to describe.
    pub(crate) fn report_error(&mut self, describe: impl FnOnce(&Self) -> Issue) {
        if self.found.of(Severity::Error) >= MOST {
            self.found.add(Severity::Error);
        } else {
            self.report(describe(self));
        }
    }

    /// Nothing of the span may be shown.
    pub(crate) fn hide(&mut self, span: &Span) {
        self.hidden.add(span);
    }

    /// Says that a value is secret: the file that it comes from is one, if it comes from a file.
    pub(crate) fn secret(&mut self, span: &Span) {
        self.secret.add(span);
    }

    pub(crate) fn has_read(&mut self, span: &Span, path: PathBuf) {
        self.files.push((span.clone(), path));
    }

    /// The files that secret values come from.
    pub(crate) fn secret_files(&self) -> BTreeSet<PathBuf> {
        let secret = self.files.iter().filter(|(span, _)| self.secret.touch(span));
        secret.map(|(_, path)| path.clone()).collect()
    }

    pub(crate) fn is_hidden(&self, span: &Span) -> bool {
        self.hidden.touch(span)
    }

    /// The value as it is written, if a message may quote it.
    pub(crate) fn quotable(&self, node: &Node) -> Option<&str> {
        (node.literal && !self.is_hidden(&node.span)).then(|| self.text(&node.span))
    }

    /// What stands there.
    pub(crate) fn text(&self, span: &Span) -> &str {
        self.source.text().get(span.clone()).unwrap_or_default()
    }

    pub(crate) fn defined_at(&self, span: &Span) -> DefinedAt {
        DefinedAt(self.source.locate(span))
    }

    /// All that was found, in the order of the places; behind it, how much more there is.
    pub(crate) fn finish(mut self) -> Diagnostics {
        self.source.hide(self.hidden);
        self.issues.sort_by_key(|issue| (issue.span.start, issue.severity, issue.span.end));
        let mut findings: Vec<_> = self.issues.into_iter().map(|issue| issue.locate(&self.source)).collect();
        findings.extend([Severity::Error, Severity::Warning].into_iter().filter_map(|severity| {
            let more = self.found.of(severity).checked_sub(MOST).filter(|more| *more > 0)?;
            Some(untold(severity, more, self.source.name()))
        }));
        Diagnostics { findings, found: self.found, source: Arc::new(self.source) }
    }
}

/// That there is more than is told.
fn untold(severity: Severity, more: usize, file: &str) -> Diagnostic {
    Diagnostic {
        code: Code::TooMany,
        severity,
        file: file.to_owned(),
        location: None,
        message: format!("left out: {}", ::text::count(more, &format!("more {}", severity.as_str()))),
        label: String::new(),
        help: Some("mend the others first".to_owned()),
        related: Vec::new(),
    }
}
