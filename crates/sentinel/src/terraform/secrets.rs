//! The sensitive values of a plan.

use super::build::{named, str_of};
use super::config_v1::is_expression;
use crate::redact::Secrets;
use crate::value::Data;

/// The texts of all values that the plan marks as sensitive, for masking what policies say.
pub fn secrets(plan: &Data) -> Vec<String> {
    let mut texts = Vec::new();
    for marked in marked_values(plan) {
        if let Some(values) = marked.values {
            self::marked(values, marked.marks, &mut texts);
        }
    }
    for (_, change) in plan.get("output_changes").map(Data::entries).unwrap_or_default() {
        changed(change, &mut texts);
    }
    for values in states(plan) {
        for (_, output) in values.get("outputs").map(Data::entries).unwrap_or_default() {
            if is_sensitive(output)
                && let Some(value) = output.get("value")
            {
                Secrets::collect(value, &mut texts);
            }
        }
    }
    variables(plan, &mut texts);
    if let Some(root) = root_configuration(plan) {
        declared(root, None, &mut texts);
    }
    texts
}

fn changed(change: &Data, texts: &mut Vec<String>) {
    for (value, mark) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        if let (Some(value), Some(mark)) = (change.get(value), change.get(mark)) {
            marked(value, mark, texts);
        }
    }
}

/// Values of an instance of a resource or of an action, and what the plan marks of them.
pub(super) struct Marked<'d> {
    pub(super) address: &'d str,
    values: Option<&'d Data>,
    pub(super) marks: &'d Data,
}

impl<'d> Marked<'d> {
    fn of(address: &'d str, parent: &'d Data, values: &str, marks: &str) -> Option<Marked<'d>> {
        Some(Marked { address, values: parent.get(values), marks: parent.get(marks)? })
    }
}

/// All that a plan marks of resources and actions.
pub(super) fn marked_values(plan: &Data) -> Vec<Marked<'_>> {
    let items = |member| plan.get(member).map(Data::items).unwrap_or_default().iter();
    let mut found = Vec::new();
    let deferred = items("deferred_changes").filter_map(|deferred| deferred.get("resource_change"));
    for resource in items("resource_changes").chain(items("resource_drift")).chain(deferred) {
        let Some(change) = resource.get("change") else { continue };
        let address = str_of(resource, "address");
        found.extend(Marked::of(address, change, "before", "before_sensitive"));
        found.extend(Marked::of(address, change, "after", "after_sensitive"));
    }
    let deferred =
        items("deferred_action_invocations").filter_map(|deferred| deferred.get("action_invocation"));
    for action in items("action_invocations").chain(deferred) {
        found.extend(Marked::of(str_of(action, "address"), action, "config_values", "config_sensitive"));
    }
    for root in states(plan).filter_map(|values| values.get("root_module")) {
        module(root, &mut found);
    }
    found
}

fn module<'d>(module: &'d Data, found: &mut Vec<Marked<'d>>) {
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        found.extend(Marked::of(str_of(resource, "address"), resource, "values", "sensitive_values"));
    }
    for child in module.get("child_modules").map(Data::items).unwrap_or_default() {
        self::module(child, found);
    }
}

/// The values of the states before and after.
fn states(plan: &Data) -> impl Iterator<Item = &Data> {
    let prior = plan.get("prior_state").and_then(|state| state.get("values"));
    [plan.get("planned_values"), prior].into_iter().flatten()
}

/// Values of the variables that the root module declares as sensitive.
fn variables(plan: &Data, texts: &mut Vec<String>) {
    for name in sensitive_variables(plan) {
        let variable = plan.get("variables").and_then(|variables| variables.get(name));
        if let Some(value) = variable.and_then(|variable| variable.get("value")) {
            Secrets::collect(value, texts);
        }
    }
}

/// What the configuration itself says of variables and outputs that a module declares as sensitive: defaults,
/// constants that a call of the module gives, constants that are put out. Plans have no values of these.
fn declared(module: &Data, call: Option<&Data>, texts: &mut Vec<String>) {
    for name in sensitive_names(module, "variables") {
        let declared = module.get("variables").and_then(|variables| variables.get(name));
        if let Some(default) = declared.and_then(|variable| variable.get("default")) {
            Secrets::collect(default, texts);
        }
        if let Some(given) = call.and_then(|call| call.get("expressions")?.get(name)) {
            constants(given, texts);
        }
    }
    for name in sensitive_names(module, "outputs") {
        let output = module.get("outputs").and_then(|outputs| outputs.get(name));
        if let Some(expression) = output.and_then(|output| output.get("expression")) {
            constants(expression, texts);
        }
    }
    for (_, call) in named(module.get("module_calls")) {
        if let Some(inner) = call.get("module") {
            declared(inner, Some(call), texts);
        }
    }
}

fn constants(expression: &Data, texts: &mut Vec<String>) {
    if let Some(value) = expression.get("constant_value").filter(|_| is_expression(expression)) {
        return Secrets::collect(value, texts);
    }
    for block in expression.items().iter().chain([expression]) {
        named(Some(block)).for_each(|(_, inner)| constants(inner, texts));
    }
}

/// The names of the variables that the root module declares as sensitive.
pub(super) fn sensitive_variables(plan: &Data) -> impl Iterator<Item = &str> {
    root_configuration(plan).into_iter().flat_map(|root| sensitive_names(root, "variables"))
}

fn root_configuration(plan: &Data) -> Option<&Data> {
    plan.get("configuration")?.get("root_module")
}

/// The names of what a module of the configuration declares as sensitive.
pub(super) fn sensitive_names<'d>(module: &'d Data, member: &str) -> impl Iterator<Item = &'d str> {
    named(module.get(member)).filter(|(_, declared)| is_sensitive(declared)).map(|(name, _)| name)
}

pub(super) fn is_sensitive(data: &Data) -> bool {
    matches!(data.get("sensitive"), Some(Data::Bool(true)))
}

/// Walks a value beside its marks: `true` marks everything below.
fn marked(value: &Data, mark: &Data, texts: &mut Vec<String>) {
    match (value, mark) {
        (value, Data::Bool(true)) => Secrets::collect(value, texts),
        (Data::Map(_), Data::Map(marks)) => {
            for (name, mark) in marks.entries() {
                if let Some(value) = name.as_str().and_then(|name| value.get(name)) {
                    marked(value, mark, texts);
                }
            }
        }
        (Data::List(items), Data::List(marks)) => {
            items.iter().zip(marks.iter()).for_each(|(item, mark)| marked(item, mark, texts));
        }
        _ => {}
    }
}
