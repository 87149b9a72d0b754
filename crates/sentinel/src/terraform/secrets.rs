//! The sensitive values of a plan.

use super::build::named;
use crate::redact::{MASK, Secrets};
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
            if is_sensitive(output)
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
    for name in sensitive_variables(plan) {
        let variable = plan.get("variables").and_then(|variables| variables.get(name));
        if let Some(value) = variable.and_then(|variable| variable.get("value")) {
            Secrets::collect(value, texts);
        }
    }
}

/// The names of the variables that the root module declares as sensitive.
pub(super) fn sensitive_variables(plan: &Data) -> impl Iterator<Item = &str> {
    let root = plan.get("configuration").and_then(|configuration| configuration.get("root_module"));
    named(root.and_then(|root| root.get("variables")))
        .filter(|(_, variable)| is_sensitive(variable))
        .map(|(name, _)| name)
}

fn is_sensitive(data: &Data) -> bool {
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

/// The plan with a mask for every value that it marks as sensitive, whatever its kind: values of resources
/// and outputs, values and defaults of variables.
pub(super) fn without_marked(plan: &Data) -> Data {
    // values of variables are marked where they are declared
    let marks = sensitive_variables(plan).map(|name| (name, Data::map([("value", Data::Bool(true))])));
    unmarked(&masked(plan, &Data::map([("variables", Data::map(marks))])))
}

fn unmarked(data: &Data) -> Data {
    match data {
        Data::List(items) => Data::list(items.iter().map(unmarked)),
        Data::Map(map) => Data::map(map.entries().iter().map(|(key, value)| {
            let mark = match key.as_str() {
                Some("before") => map.get("before_sensitive"),
                Some("after") => map.get("after_sensitive"),
                Some("values") => map.get("sensitive_values"),
                Some("value" | "default") => map.get("sensitive").filter(|mark| **mark == Data::Bool(true)),
                _ => None,
            };
            (key.clone(), mark.map_or_else(|| unmarked(value), |mark| masked(value, mark)))
        })),
        other => other.clone(),
    }
}

/// The value with masks where its marks are.
fn masked(value: &Data, mark: &Data) -> Data {
    match (value, mark) {
        (value, Data::Bool(true)) => hidden(value),
        (Data::Map(map), Data::Map(marks)) => Data::map(map.entries().iter().map(|(key, value)| {
            let mark = key.as_str().and_then(|name| marks.get(name));
            (key.clone(), mark.map_or_else(|| value.clone(), |mark| masked(value, mark)))
        })),
        (Data::List(items), Data::List(marks)) => {
            let none = Data::Bool(false);
            let marks = marks.iter().chain(std::iter::repeat(&none));
            Data::list(items.iter().zip(marks).map(|(item, mark)| masked(item, mark)))
        }
        _ => value.clone(),
    }
}

/// Lists and maps keep their form, so that policies can walk them. That there is no value is no secret.
fn hidden(value: &Data) -> Data {
    match value {
        Data::Null | Data::Undefined => value.clone(),
        Data::List(items) => Data::list(items.iter().map(hidden)),
        Data::Map(map) => Data::map(map.entries().iter().map(|(key, value)| (key.clone(), hidden(value)))),
        Data::Bool(_) | Data::Int(_) | Data::Float(_) | Data::Str(_) => MASK.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> Data {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn values_of_every_kind_are_masked_where_the_plan_marks_them() {
        let plan = data(
            r#"{
                "variables": {"on": {"value": true}, "size": {"value": 3}},
                "planned_values": {
                    "outputs": {"o": {"sensitive": true, "value": {"k": [1]}}, "p": {"sensitive": false, "value": 1}},
                    "root_module": {"resources": [
                        {"values": {"a": true, "b": 1, "c": null}, "sensitive_values": {"a": true, "c": true}}
                    ]}
                },
                "resource_changes": [{"change": {
                    "before": null, "before_sensitive": false,
                    "after": {"list": [1, 2, 3], "map": {"x": 1, "value": 2, "sensitive": true}},
                    "after_sensitive": {"list": [false, true], "map": {"x": true}}
                }}],
                "configuration": {"root_module": {"variables": {"on": {"default": false, "sensitive": true}, "size": {}}}}
            }"#,
        );
        let expected = r#"{
                "variables": {"on": {"value": "(sensitive value)"}, "size": {"value": 3}},
                "planned_values": {
                    "outputs": {"o": {"sensitive": true, "value": {"k": ["(sensitive value)"]}}, "p": {"sensitive": false, "value": 1}},
                    "root_module": {"resources": [
                        {"values": {"a": "(sensitive value)", "b": 1, "c": null}, "sensitive_values": {"a": true, "c": true}}
                    ]}
                },
                "resource_changes": [{"change": {
                    "before": null, "before_sensitive": false,
                    "after": {"list": [1, "(sensitive value)", 3], "map": {"x": "(sensitive value)", "value": 2, "sensitive": true}},
                    "after_sensitive": {"list": [false, true], "map": {"x": true}}
                }}],
                "configuration": {"root_module": {"variables": {"on": {"default": "(sensitive value)", "sensitive": true}, "size": {}}}}
            }"#;
        assert_eq!(without_marked(&plan), data(expected));
    }
}
