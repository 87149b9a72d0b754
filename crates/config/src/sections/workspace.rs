use hcl_reader::{Attribute, Block, Expression, Kind};
use indexmap::IndexMap;
use lifecycle::AccessLevel;
use lifecycle::retention::Retention;

use super::retention::retention;
use super::settings::{environment, variables, warn_about_variables_set_twice};
use super::source::source;
use super::team::unknown;
use crate::context::{Context, Issue};
use crate::decode::{Decode, mismatch};
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::model::{OWNERS, WorkspaceConfig};
use crate::node::Value;
use crate::schema::WORKSPACE;
use crate::suggest::quoted;
use crate::text::{Line, Program};

/// A `workspace` block. `default`: what is kept where it says nothing else.
pub(crate) fn workspace(
    name: &str,
    block: &Block<'_>,
    default: Retention,
    context: &mut Context<'_>,
) -> Option<WorkspaceConfig> {
    hide_sensitive_literals(block, context);
    let span = block.header();
    let fields =
        Fields::read(&block.body, format!("the workspace {}", quoted(name)), &span, &WORKSPACE, context);
    let source = source(name, &span, &fields, context);
    let (variables, sensitive_variables) = variables(&fields, context);
    let (environment, sensitive_environment) = environment(&fields, context);
    warn_about_variables_set_twice(&fields, context);
    let description = fields.optional("description", context).map(|Line(description)| description);
    let terraform = fields.optional("terraform", context).map(|Program(path)| path);
    let auto_apply = fields.optional("auto_apply", context).unwrap_or(false);
    let access = access(&fields, context);
    let retention = retention(&fields, default, context);
    // last: whatever else is wrong was reported
    let (source, working_directory) = source?;
    Some(WorkspaceConfig {
        name: name.to_owned(),
        description,
        terraform,
        auto_apply,
        access,
        source,
        working_directory,
        variables,
        sensitive_variables,
        environment,
        sensitive_environment,
        retention,
        defined_at: context.defined_at(&span),
    })
}

/// Keeps what stands in sensitive attributes out of what is shown. Keys and calls stay: they say where to look.
pub(super) fn hide_sensitive_literals(block: &Block<'_>, context: &mut Context<'_>) {
    let sensitive = |attribute: &&Attribute<'_>| attribute.name.as_str().starts_with("sensitive_");
    for attribute in block.body.attributes.iter().filter(sensitive) {
        context.secret(&attribute.value.span);
    }
    let mut hide = |value: &Expression<'_>| {
        if !matches!(value.kind, Kind::Call(_)) {
            context.hide(&value.span);
        }
    };
    for attribute in block.body.attributes.iter().filter(sensitive) {
        match &attribute.value.kind {
            Kind::Map(entries) => entries.iter().for_each(|entry| hide(&entry.value)),
            _ => hide(&attribute.value),
        }
    }
}

fn access(fields: &Fields<'_>, context: &mut Context<'_>) -> IndexMap<String, AccessLevel> {
    let mut access = IndexMap::new();
    let Some(node) = fields.node("access") else { return access };
    let Value::Map(entries) = &node.value else {
        return mismatch(node, "access", "a map", context).unwrap_or(access);
    };
    for entry in entries {
        let level = AccessLevel::decode(&entry.value, &format!("access.{}", entry.key), context);
        if entry.key == OWNERS {
            let message = format!("the team {} may do everything without being named here", quoted(OWNERS));
            let issue = Issue::warning(Code::NoEffect, &entry.key_span, message).label("without effect");
            context.report(issue.help("remove it"));
        } else if !context.names.teams.contains_key(&entry.key) {
            context
                .report_error(|context| unknown("team", &entry.key, &entry.key_span, &context.names.teams));
        } else if let Some(level) = level {
            access.insert(entry.key.clone(), level);
        }
    }
    access
}
