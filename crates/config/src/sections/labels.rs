use hcl_reader::Block;

use crate::context::{Context, Issue, Names, Span};
use crate::diagnostic::Code;
use crate::suggest::quoted;
use crate::text::{FromText, Name};

/// The only label of a block that needs exactly one.
pub(crate) fn only_label<'a>(
    block: &'a Block<'_>,
    example: &str,
    context: &mut Context<'_>,
) -> Option<(&'a str, Span)> {
    match block.labels.as_slice() {
        [label] => Some((label.as_str(), label.span.clone())),
        labels => {
            let message = match labels.len() {
                0 => format!("this {} has no name", quoted(block.kind.as_str())),
                count => format!("this {} has {count} names", quoted(block.kind.as_str())),
            };
            let issue = Issue::error(Code::WrongLabels, &block.header(), message);
            context.report(issue.help(format!("write `{example}`")));
            None
        }
    }
}

/// The block's name, now known. A name that is no good, or was given before, is reported.
pub(crate) fn register<'a>(
    block: &'a Block<'_>,
    example: &str,
    names: &mut Names,
    context: &mut Context<'_>,
) -> Option<&'a str> {
    let (name, span) = only_label(block, example, context)?;
    let kind = block.kind.as_str();
    if let Err(fault) = Name::from_text(name, context.base) {
        let message = format!("invalid {} {}: {}", quoted(kind), quoted(name), fault.what);
        context.report(Issue::error(Code::InvalidValue, &span, message).help(fault.help));
    }
    if let Some(first) = names.get(name) {
        let issue = Issue::error(
            Code::Duplicate,
            &span,
            format!("{} {} is defined twice", quoted(kind), quoted(name)),
        )
        .label("again here")
        .related(first, "first here")
        .help("give one of them another name, or remove it");
        context.report(issue);
        return Some(name);
    }
    names.insert(name.to_owned(), span);
    Some(name)
}
