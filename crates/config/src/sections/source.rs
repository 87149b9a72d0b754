use hcl_reader::Block;

use super::labels::only_label;
use ::text::nearest;

use crate::context::{Context, Issue, Span};
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::git::{InnerFolder, Reference, RepositoryUrl};
use crate::model::{GitSource, Source};
use crate::schema::{DIRECTORY_SOURCE, GIT_SOURCE};
use crate::suggest::quoted;
use crate::text::LocalPath;

const EXAMPLES: &str = "`source \"directory\" { path = \"./infra\" }` or \
                        `source \"git\" { url = \"https://git.example.com/infra.git\" }`, its attributes on lines of \
                        their own";

/// The one `source` block of a workspace, and the folder in it in which terraform runs.
pub(crate) fn source(
    workspace: &str,
    workspace_header: &Span,
    fields: &Fields<'_>,
    context: &mut Context<'_>,
) -> Option<(Source, String)> {
    let own = fields.optional("working_directory", context).map(|InnerFolder(path)| path);
    let own_span = fields.node("working_directory").map(|node| node.span.clone());
    let mut first: Option<Span> = None;
    let mut result = None;
    for block in fields.blocks("source") {
        let span = block.header();
        let source = read(block, &span, own_span.as_ref(), context);
        match &first {
            None => {
                first = Some(span);
                result = source;
            }
            Some(first) => {
                let message = format!("the workspace {} has two sources", quoted(workspace));
                let issue = Issue::error(Code::Duplicate, &span, message);
                context.report(
                    issue.label("again here").related(first, "first here").help("remove one of them"),
                );
            }
        }
    }
    if first.is_none() && !fields.is_attempted("source") {
        let message = format!("the workspace {} has no source", quoted(workspace));
        let issue = Issue::error(Code::Missing, workspace_header, message).label("no `source` block");
        context.report(issue.help(format!("add {EXAMPLES}")));
    }
    let (source, path) = result?;
    Some((source, own.or(path).unwrap_or_default()))
}

fn read(
    block: &Block<'_>,
    span: &Span,
    working_directory: Option<&Span>,
    context: &mut Context<'_>,
) -> Option<(Source, Option<String>)> {
    let (kind, label) = only_label(block, "source \"git\" { … }` or `source \"directory\" { … }", context)?;
    match kind {
        "git" => git(block, span, working_directory, context),
        "directory" => {
            let fields = Fields::read(&block.body, "this source".into(), span, &DIRECTORY_SOURCE, context);
            let LocalPath(path) = fields.required("path", context)?;
            Some((Source::Directory { path }, None))
        }
        other => {
            let help = match nearest(other, ["git", "directory"]) {
                Some(near) => format!("did you mean \"{near}\"? write {EXAMPLES}"),
                None => format!("write {EXAMPLES}"),
            };
            let message = format!("there is no kind of source {}", quoted(other));
            context.report(Issue::error(Code::InvalidValue, &label, message).help(help));
            None
        }
    }
}

/// `path` is the short form of the workspace's `working_directory`.
fn git(
    block: &Block<'_>,
    span: &Span,
    working_directory: Option<&Span>,
    context: &mut Context<'_>,
) -> Option<(Source, Option<String>)> {
    let fields = Fields::read(&block.body, "this source".into(), span, &GIT_SOURCE, context);
    let url = fields.required::<RepositoryUrl>("url", context);
    if let (Some(url), Some(node)) = (&url, fields.node("url"))
        && url.holds_password()
        && node.literal
    {
        // git gets it in a way that nobody else sees, and no log has it: the file is where it can be read
        let message = "the URL holds a password: whoever can read this file can read it";
        let span = node.span.clone();
        context.hide(&span);
        let issue = Issue::warning(Code::ExposedSecret, &span, message);
        context.report(
            issue.help("use an SSH key, a credential helper of git, or `${env(\"NAME\")}` in its place"),
        );
    }
    let reference = match fields.node("ref") {
        None => Some("HEAD".to_owned()),
        Some(_) => fields.optional("ref", context).map(|Reference(reference)| reference),
    };
    let path = fields.optional("path", context).map(|InnerFolder(path)| path);
    if let (Some(node), Some(first)) = (fields.node("path"), working_directory) {
        let issue =
            Issue::error(Code::Duplicate, &node.span, "the folder in which terraform runs is set twice");
        let issue = issue.label("again here").related(first, "first here");
        context.report(issue.help("keep `working_directory` of the workspace, or `path` of its source"));
    }
    Some((Source::Git(GitSource { url: url?.0, reference: reference? }), path))
}
