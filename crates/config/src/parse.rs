//! Syntax. A syntax error hides what comes after it; a name that stands there twice hides nothing.

use hcl_reader::{Body, Duplicate};

use crate::context::{Context, Issue};
use crate::diagnostic::Code;
use crate::exposed;
use crate::host::SystemHost;
use crate::suggest::quoted;

/// Reads the file. `None` if that failed; what was wrong has been reported, and names that stand there twice. The tree
/// has those, marked.
pub(crate) fn parse<'t>(text: &'t str, context: &mut Context<'_>) -> Option<Body<'t>> {
    let most = usize::try_from(SystemHost::FILE_LIMIT).unwrap_or(usize::MAX);
    let (body, duplicates) = match hcl_reader::parse(text, most) {
        Ok(document) => (Some(document.body), document.duplicates),
        Err(broken) => {
            // nobody can tell what of it is sensitive
            exposed::strings(text).for_each(|span| context.hide(&span));
            let kind = broken.error.kind;
            let issue = Issue::error(Code::Syntax, &broken.error.span, kind.to_string());
            context.report(issue.help(kind.help()));
            (None, broken.duplicates)
        }
    };
    for Duplicate { name, first, again, .. } in duplicates {
        let issue = Issue::error(Code::Duplicate, &again, format!("{} is set twice", quoted(&name)));
        context.report(issue.label("again here").related(&first, "first here").help("remove one of them"));
    }
    body
}
