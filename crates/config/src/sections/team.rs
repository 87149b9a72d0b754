use ::text::nearest;
use hcl_reader::{Block, Kind};
use indexmap::IndexMap;

use crate::context::{Context, Issue, Names, Span};
use crate::decode::List;
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::model::{OWNERS, TeamConfig};
use crate::schema::TEAM;
use crate::suggest::{listed, quoted};

/// A `team` block.
pub(crate) fn team(name: &str, block: &Block<'_>, context: &mut Context<'_>) -> Option<TeamConfig> {
    let span = block.header();
    let fields = Fields::read(&block.body, format!("the team {}", quoted(name)), &span, &TEAM, context);
    let List(listed) = fields.required::<List<String>>("members", context)?;
    let mut members: IndexMap<String, Span> = IndexMap::with_capacity(listed.len());
    for (member, span) in listed {
        if !context.names.users.contains_key(&member) {
            context.report_error(|context| unknown("user", &member, &span, &context.names.users));
        } else if let Some(first) = members.get(&member) {
            let issue =
                Issue::warning(Code::Duplicate, &span, format!("{} is listed twice", quoted(&member)))
                    .label("again here")
                    .related(first, "first here")
                    .help("remove one of them");
            context.report(issue);
        } else {
            members.insert(member, span);
        }
    }
    let members = members.into_keys().collect();
    Some(TeamConfig { name: name.to_owned(), members, defined_at: context.defined_at(&span) })
}

/// A reference to something that is not defined.
pub(crate) fn unknown(kind: &str, name: &str, span: &Span, known: &Names) -> Issue {
    let names = || known.keys().map(String::as_str);
    let help = match nearest(name, names()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None if known.is_empty() => format!("no {kind} is defined: add `{kind} \"name\" {{ … }}`"),
        None => format!("the {kind}s are {}", listed(names(), "and")),
    };
    Issue::error(Code::UnknownReference, span, format!("there is no {kind} {}", quoted(name)))
        .label("not defined")
        .help(help)
}

/// Warns if nobody can be an owner. One who is listed and not defined has been reported as that.
pub(crate) fn warn_without_owners(blocks: &[(&str, &Block<'_>)], context: &mut Context<'_>) {
    let lists_nobody = |block: &Block<'_>| {
        let members = block.body.attribute("members");
        members.is_some_and(|members| members.value.kind == Kind::List(Vec::new()))
    };
    let span = match blocks.iter().find(|(name, _)| *name == OWNERS) {
        None => 0..0,
        Some((_, block)) if lists_nobody(block) => block.header(),
        Some(_) => return,
    };
    let message = "nobody is an owner: failed policies can't be overridden";
    let issue = Issue::warning(Code::NoOwner, &span, message);
    context.report(issue.help("add `team \"owners\" { members = [\"name\"] }`"));
}
