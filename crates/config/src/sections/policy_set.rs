use std::ops::RangeInclusive;
use std::time::Duration;

use hcl_reader::Block;

use super::settings::parameters;
use super::workspace::hide_sensitive_literals;
use crate::context::{Context, Issue};
use crate::decode::List;
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::git::InnerFolder;
use crate::model::PolicySetConfig;
use crate::node::Value;
use crate::schema::POLICY_SET;
use crate::suggest::quoted;
use crate::text::LocalPath;
use crate::values::{HttpHost, Pattern};

/// Wall time for each policy of a set that does not say it.
const TIME_LIMIT: Duration = Duration::from_secs(10);
const TIME_LIMITS: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(300);

/// A `policy_set` block.
pub(crate) fn policy_set(
    name: &str,
    block: &Block<'_>,
    context: &mut Context<'_>,
) -> Option<PolicySetConfig> {
    hide_sensitive_literals(block, context);
    let span = block.header();
    let fields =
        Fields::read(&block.body, format!("the policy set {}", quoted(name)), &span, &POLICY_SET, context);
    let path = fields.required("path", context).map(|LocalPath(path)| path);
    let policies_path = match fields.node("policies_path") {
        None => Some(String::new()),
        Some(_) => fields.optional("policies_path", context).map(|InnerFolder(path)| path),
    };
    let workspaces = match fields.node("workspaces") {
        None => vec![Pattern::any()],
        Some(node) => {
            let node = node.clone();
            let List(patterns) = fields.optional::<List<Pattern>>("workspaces", context)?;
            for (pattern, span) in &patterns {
                if !context.names.workspaces.keys().any(|workspace| pattern.matches(workspace)) {
                    let message = format!("no workspace matches {}", quoted(pattern.as_str()));
                    let issue = Issue::warning(Code::NoEffect, span, message);
                    context.report(
                        issue.help("its policies are not checked for any run on account of this pattern"),
                    );
                }
            }
            if matches!(&node.value, Value::List(nodes) if nodes.is_empty()) {
                let message = format!("the policy set {} applies to no workspace", quoted(name));
                let help = "leave `workspaces` out to apply it to all";
                context.report(Issue::warning(Code::NoEffect, &node.span, message).help(help));
            }
            patterns.into_iter().map(|(pattern, _)| pattern).collect()
        }
    };
    let time_limit = fields.optional::<Duration>("time_limit", context).unwrap_or(TIME_LIMIT);
    if let (false, Some(node)) = (TIME_LIMITS.contains(&time_limit), fields.node("time_limit")) {
        let message = "invalid `time_limit`: one policy gets 100 ms at least, and 5 minutes at most";
        let issue = Issue::error(Code::InvalidValue, &node.span, message);
        context.report(issue.help("some seconds are enough for policies that end at all"));
    }
    let (parameters, sensitive_parameters) = parameters(&fields, context);
    let List(hosts) = fields.optional::<List<HttpHost>>("http_hosts", context).unwrap_or(List(Vec::new()));
    let set = PolicySetConfig {
        name: name.to_owned(),
        path: path?,
        policies_path: policies_path?,
        workspaces,
        time_limit,
        parameters,
        sensitive_parameters,
        http_hosts: hosts.into_iter().map(|(host, _)| host).collect(),
        defined_at: context.defined_at(&span),
    };
    report_missing(&set, &fields, context);
    Some(set)
}

/// A folder that is not there is no reason not to run what is under way: runs that need the set fail closed, in their
/// policy check.
fn report_missing(set: &PolicySetConfig, fields: &Fields<'_>, context: &mut Context<'_>) {
    let folder = set.folder();
    if context.host.is_dir(&folder) {
        return;
    }
    let attribute = if context.host.is_dir(&set.path) { "policies_path" } else { "path" };
    let Some(node) = fields.node(attribute) else { return };
    let message = match context.quotable(node) {
        Some(_) => format!("`{attribute}`: {} is not a directory", quoted(&folder.to_string_lossy())),
        None => format!("`{attribute}` leads to no directory"),
    };
    let help = "every run that the set applies to fails its policy check until it is there; a relative path starts at \
                the config file's directory";
    context.report(
        Issue::warning(Code::NotADirectory, &node.span, message).label("no such directory").help(help),
    );
}
