use std::collections::HashMap;

use hcl_reader::{Block, Expression, Kind};
use lifecycle::access::DAEMON;

use crate::context::{Context, Issue, Span};
use crate::decode::OneOrMore;
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::model::UserConfig;
use crate::node::Value;
use crate::schema::USER;
use crate::suggest::quoted;
use crate::values::TokenDigest;

/// Which user has which token, and where that is said.
pub(crate) type Tokens = HashMap<TokenDigest, (String, Span)>;

/// What stands in place of a digest may be the token itself.
fn hide_what_is_no_digest(block: &Block<'_>, context: &mut Context<'_>) {
    let mut values: Vec<&Expression<'_>> =
        block.body.attributes.iter().map(|attribute| &attribute.value).collect();
    while let Some(value) = values.pop() {
        match &value.kind {
            Kind::List(items) => values.extend(items),
            Kind::String(text) if TokenDigest::parse(text).is_some() => {}
            _ => context.hide(&value.span),
        }
    }
}

/// A `user` block.
pub(crate) fn user(
    name: &str,
    block: &Block<'_>,
    tokens: &mut Tokens,
    context: &mut Context<'_>,
) -> Option<UserConfig> {
    let span = block.header();
    if name == DAEMON {
        let message = format!("no user can be called {}", quoted(name));
        let help = "it is the name under which signalbox itself locks a workspace: give the user another one";
        context.report(Issue::error(Code::InvalidValue, &span, message).help(help));
    }
    hide_what_is_no_digest(block, context);
    let fields = Fields::read(&block.body, format!("the user {}", quoted(name)), &span, &USER, context);
    let help = || format!("`signalbox token new {name}` makes a token and prints the line that belongs here");
    let OneOrMore(listed) = fields.required_or::<OneOrMore<TokenDigest>>("token_sha256", help, context)?;
    if let Some(node) = fields.node("token_sha256")
        && matches!(&node.value, Value::List(nodes) if nodes.is_empty())
    {
        let message = format!("the user {} has no token", quoted(name));
        context.report(Issue::error(Code::InvalidValue, &node.span, message).help(help()));
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
