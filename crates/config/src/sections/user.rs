use std::collections::HashMap;

use hcl_edit::structure::Block;

use super::header;
use crate::context::{Context, Issue, Span};
use crate::decode::{Fields, OneOrMore};
use crate::diagnostic::Code;
use crate::model::UserConfig;
use crate::schema::USER;
use crate::suggest::quoted;
use crate::values::TokenDigest;

/// Which user has which token, and where that is said.
pub(crate) type Tokens = HashMap<TokenDigest, (String, Span)>;

/// A `user` block.
pub(crate) fn user(
    name: &str,
    block: &Block,
    tokens: &mut Tokens,
    context: &mut Context<'_>,
) -> Option<UserConfig> {
    let span = header(block);
    let fields = Fields::read(&block.body, &span, &USER, context);
    let OneOrMore(listed) = fields.required::<OneOrMore<TokenDigest>>("token_sha256", context)?;
    if let (true, Some(node)) = (listed.is_empty(), fields.node("token_sha256"))
        && !has_elements(node)
    {
        let message = format!("the user {} has no token", quoted(name));
        let help = "`signalbox token new USER` makes one and prints the line that belongs here";
        context.report(Issue::error(Code::InvalidValue, &node.span, message).help(help));
    }
    for (digest, span) in &listed {
        let Some((owner, first)) = tokens.get(digest) else {
            tokens.insert(*digest, (name.to_owned(), span.clone()));
            continue;
        };
        let message = if owner == name {
            format!("the user {} has this token already", quoted(name))
        } else {
            format!("the users {} and {} have the same token", quoted(owner), quoted(name))
        };
        let issue = Issue::error(Code::Duplicate, span, message)
            .label("again here")
            .related(first, "first here")
            .help("nobody could tell who a request comes from: give each user a token of their own");
        context.report(issue);
    }
    let tokens = listed.into_iter().map(|(digest, _)| digest).collect();
    Some(UserConfig { name: name.to_owned(), tokens, defined_at: context.defined_at(&span) })
}

fn has_elements(node: &crate::node::Node) -> bool {
    matches!(&node.value, crate::node::Value::List(nodes) if !nodes.is_empty())
}
