use hcl_edit::structure::Block;

use super::header;
use crate::context::{Context, Issue};
use crate::decode::List;
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::model::PolicySetConfig;
use crate::node::Value;
use crate::schema::POLICY_SET;
use crate::suggest::quoted;
use crate::text::LocalPath;
use crate::values::Pattern;

/// A `policy_set` block.
pub(crate) fn policy_set(name: &str, block: &Block, context: &mut Context<'_>) -> Option<PolicySetConfig> {
    let span = header(block);
    let fields =
        Fields::read(&block.body, format!("the policy set {}", quoted(name)), &span, &POLICY_SET, context);
    let path = fields.required("path", context).map(|LocalPath(path)| path);
    if let (Some(path), Some(node)) = (&path, fields.node("path"))
        && !context.host.is_dir(path)
    {
        let message = match context.quotable(node) {
            Some(_) => format!("invalid `path`: {} is not a directory", quoted(&path.to_string_lossy())),
            None => "invalid `path`: it leads to no directory".into(),
        };
        let help = "name a folder with policies; a relative path starts at the config file's directory";
        context.report(
            Issue::error(Code::NotADirectory, &node.span, message).label("no such directory").help(help),
        );
    }
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
    Some(PolicySetConfig {
        name: name.to_owned(),
        path: path?,
        workspaces,
        defined_at: context.defined_at(&span),
    })
}
