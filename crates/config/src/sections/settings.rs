//! Maps of values, with and without secrets: what a workspace hands to terraform (its variables and its environment),
//! and what a policy set hands to its policies (its parameters).

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::context::{Context, Issue, Span};
use crate::decode::{Decode, mismatch};
use crate::diagnostic::Code;
use crate::fields::Fields;
use crate::node::{Entry, Node, Value};
use crate::sensitive::Sensitive;
use crate::suggest::quoted;

/// Names that belong to the daemon, with the reason. A `*` at the end stands for any rest.
const FORBIDDEN: [(&str, &str); 5] = [
    ("TF_CLI_ARGS*", "it adds options to every command, so a plan would no longer mean what the run says"),
    ("TF_WORKSPACE", "it selects another state behind the run's back"),
    ("TF_DATA_DIR", "it moves terraform's working files out of the run's own directory"),
    ("TF_IN_AUTOMATION", "the daemon sets it"),
    ("TF_INPUT", "the daemon sets it: nobody is there to answer a question of terraform's"),
];

/// Values by name, those that may be seen and those that may not. No name is in both.
pub(crate) type Values =
    (IndexMap<String, serde_json::Value>, IndexMap<String, Sensitive<serde_json::Value>>);

/// `variables` and `sensitive_variables`; what can't be used has been reported.
pub(crate) fn variables(fields: &Fields<'_>, context: &mut Context<'_>) -> Values {
    values(fields, ["variables", "sensitive_variables"], "terraform variable", "variable", "_-", context)
}

/// `parameters` and `sensitive_parameters`; what can't be used has been reported.
pub(crate) fn parameters(fields: &Fields<'_>, context: &mut Context<'_>) -> Values {
    values(fields, ["parameters", "sensitive_parameters"], "parameter", "parameter", "_", context)
}

fn values(
    fields: &Fields<'_>,
    [plain, sensitive]: [&'static str; 2],
    of: &str,
    kind: &str,
    marks: &str,
    context: &mut Context<'_>,
) -> Values {
    let mut read = |name| -> Vec<(String, Span, serde_json::Value)> {
        let entries = entries(fields, name, context);
        let usable = entries.iter().filter(|entry| is_name(entry, name, of, marks, context));
        usable
            .filter_map(|entry| Some((entry.key.clone(), entry.key_span.clone(), entry.value.to_json()?)))
            .collect()
    };
    let (seen, unseen) = (read(plain), read(sensitive));
    report_shared(kind, plain, &seen, &unseen, context);
    let unseen = collect(unseen).into_iter().map(|(name, value)| (name, Sensitive::new(value)));
    (collect(seen), unseen.collect())
}

/// `environment` and `sensitive_environment`; what can't be used has been reported.
pub(crate) fn environment(
    fields: &Fields<'_>,
    context: &mut Context<'_>,
) -> (IndexMap<String, String>, IndexMap<String, Sensitive<String>>) {
    let mut read = |name: &'static str| -> Vec<(String, Span, String)> {
        let mut usable = Vec::new();
        for entry in entries(fields, name, context) {
            let allowed = is_environment_name(entry, context);
            if let (Some(value), true) = (environment_value(entry, name, context), allowed) {
                usable.push((entry.key.clone(), entry.key_span.clone(), value));
            }
        }
        usable
    };
    let (plain, sensitive) = (read("environment"), read("sensitive_environment"));
    report_shared("environment variable", "environment", &plain, &sensitive, context);
    (
        collect(plain),
        collect(sensitive).into_iter().map(|(name, value)| (name, Sensitive::new(value))).collect(),
    )
}

fn entries<'f>(fields: &'f Fields<'_>, name: &str, context: &mut Context<'_>) -> &'f [Entry] {
    match fields.node(name) {
        None => &[],
        Some(Node { value: Value::Map(entries), .. }) => entries,
        Some(node) => mismatch(node, name, "a map", context).unwrap_or_default(),
    }
}

fn collect<T>(entries: Vec<(String, Span, T)>) -> IndexMap<String, T> {
    entries.into_iter().map(|(name, _, value)| (name, value)).collect()
}

fn report_shared<T>(
    kind: &str,
    attribute: &str,
    plain: &[(String, Span, T)],
    sensitive: &[(String, Span, T)],
    context: &mut Context<'_>,
) {
    let plain: HashMap<&str, &Span> = plain.iter().map(|(name, span, _)| (name.as_str(), span)).collect();
    for (name, second, _) in sensitive {
        let Some(first) = plain.get(name.as_str()) else { continue };
        let message = format!("the {kind} {} is set twice", quoted(name));
        let issue = Issue::error(Code::Duplicate, second, message)
            .label("again here")
            .related(first, "first here")
            .help(format!(
                "keep it in `sensitive_{attribute}` if nobody may see it, or else in `{attribute}`"
            ));
        context.report(issue);
    }
}

/// As terraform and Sentinel have it: a letter or `_`, then letters, digits and some `marks`.
fn is_name(entry: &Entry, attribute: &str, of: &str, marks: &str, context: &mut Context<'_>) -> bool {
    let mut chars = entry.key.chars();
    let legal = chars.next().is_some_and(|first| first == '_' || first.is_alphabetic())
        && chars.all(|char| char.is_alphanumeric() || marks.contains(char));
    if !legal {
        let message = format!("{} can't be the name of a {of}", quoted(&entry.key));
        let issue = Issue::error(Code::InvalidValue, &entry.key_span, message);
        let marks = if marks.contains('-') { ", digits, `_` and `-`" } else { ", digits and `_`" };
        context.report(issue.help(format!(
            "a key in `{attribute}` begins with a letter or `_`, and goes on with letters{marks}"
        )));
    }
    legal
}

fn is_environment_name(entry: &Entry, context: &mut Context<'_>) -> bool {
    let name = entry.key.as_str();
    if name.is_empty() || name.contains(['=', '\0']) {
        let message = format!("{} can't be the name of an environment variable", quoted(name));
        let issue = Issue::error(Code::InvalidValue, &entry.key_span, message);
        context.report(issue.help("a name is not empty, and holds neither `=` nor a NUL"));
        return false;
    }
    let matches = |pattern: &str| match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    };
    let Some((_, reason)) = FORBIDDEN.iter().find(|(pattern, _)| matches(pattern)) else { return true };
    let message = format!("{} can't be set for a run: {reason}", quoted(name));
    let issue = Issue::error(Code::ForbiddenEnvironment, &entry.key_span, message).label("not allowed");
    let help = match name.starts_with("TF_CLI_ARGS") {
        true => "remove it; what a run may change is set on the run: targets, replacements, refresh-only",
        false => "remove it",
    };
    context.report(issue.help(help));
    false
}

fn environment_value(entry: &Entry, attribute: &str, context: &mut Context<'_>) -> Option<String> {
    let node = &entry.value;
    let value = String::decode(node, &format!("{attribute}.{}", entry.key), context)?;
    if value.contains('\0') {
        let issue = Issue::error(Code::InvalidValue, &node.span, "an environment variable can't hold a NUL");
        context.report(issue.help("encode the value, in base64 for instance"));
        return None;
    }
    Some(value)
}

/// Warns where a variable is set by a map and by `TF_VAR_…` as well: only one of them can have its way.
pub(crate) fn warn_about_variables_set_twice(fields: &Fields<'_>, context: &mut Context<'_>) {
    let map = |name| match fields.node(name) {
        Some(Node { value: Value::Map(entries), .. }) => entries.as_slice(),
        _ => &[],
    };
    let set = map("variables").iter().chain(map("sensitive_variables"));
    let set: HashMap<&str, &Span> = set.map(|entry| (entry.key.as_str(), &entry.key_span)).collect();
    for entry in map("environment").iter().chain(map("sensitive_environment")) {
        let Some(variable) = entry.key.strip_prefix("TF_VAR_") else { continue };
        let Some(first) = set.get(variable) else { continue };
        let message = format!("the variable {} is set twice", quoted(variable));
        let issue = Issue::warning(Code::Duplicate, &entry.key_span, message)
            .label("again here")
            .related(first, "first here")
            .help("remove one of them: only one can have its way");
        context.report(issue);
    }
}
