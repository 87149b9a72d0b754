//! The sensitive values of a plan.

use crate::redact::Secrets;
use crate::value::Data;

/// The texts of all values that the plan marks as sensitive, for masking what policies say.
pub fn secrets(plan: &Data) -> Vec<String> {
    let mut texts = Vec::new();
    for member in ["resource_changes", "resource_drift"] {
        for resource in plan.get(member).map(Data::items).unwrap_or_default() {
            if let Some(change) = resource.get("change") {
                changed(change, &mut texts);
            }
        }
    }
    for (_, change) in plan.get("output_changes").map(Data::entries).unwrap_or_default() {
        changed(change, &mut texts);
    }
    for document in
        [plan.get("planned_values"), plan.get("prior_state").and_then(|state| state.get("values"))]
    {
        let Some(values) = document else { continue };
        for (_, output) in values.get("outputs").map(Data::entries).unwrap_or_default() {
            if matches!(output.get("sensitive"), Some(Data::Bool(true)))
                && let Some(value) = output.get("value")
            {
                Secrets::collect(value, &mut texts);
            }
        }
        if let Some(root) = values.get("root_module") {
            module(root, &mut texts);
        }
    }
    declared(plan, &mut texts);
    texts
}

fn changed(change: &Data, texts: &mut Vec<String>) {
    for (value, mark) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        if let (Some(value), Some(mark)) = (change.get(value), change.get(mark)) {
            marked(value, mark, texts);
        }
    }
}

fn module(module: &Data, texts: &mut Vec<String>) {
    for resource in module.get("resources").map(Data::items).unwrap_or_default() {
        if let (Some(values), Some(mark)) = (resource.get("values"), resource.get("sensitive_values")) {
            marked(values, mark, texts);
        }
    }
    for child in module.get("child_modules").map(Data::items).unwrap_or_default() {
        self::module(child, texts);
    }
}

/// Variables that the root module declares as sensitive.
fn declared(plan: &Data, texts: &mut Vec<String>) {
    let root = plan.get("configuration").and_then(|configuration| configuration.get("root_module"));
    let variables = root.and_then(|root| root.get("variables")).map(Data::entries).unwrap_or_default();
    for (name, variable) in variables {
        let sensitive = matches!(variable.get("sensitive"), Some(Data::Bool(true)));
        let value = name.as_str().and_then(|name| plan.get("variables")?.get(name)?.get("value"));
        if let (true, Some(value)) = (sensitive, value) {
            Secrets::collect(value, texts);
        }
    }
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
