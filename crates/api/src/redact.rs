//! The plan as JSON for readers who may not see secrets (tfe-api.md 4.11).
//!
//! What is let through is named; everything else is left out, since the configuration, the variables and
//! the planned values hold secrets in the clear with nothing beside them that says so.

use serde_json::{Map, Value, json};

/// Lists of resource changes, whose values are masked.
const CHANGES: [&str; 2] = ["resource_changes", "resource_drift"];

/// The parts of `terraform show -json` of a plan that everybody who may read the run may read. Values that
/// terraform marked as sensitive are `null`; their places stay in `before_sensitive` and `after_sensitive`.
pub(crate) fn redacted(plan: &Value) -> Value {
    let mut document = Map::new();
    document.insert("plan_format_version".into(), plan.get("format_version").cloned().unwrap_or_default());
    document.insert("provider_format_version".into(), json!("1.0"));
    document.insert("provider_schemas".into(), json!({}));
    for key in ["terraform_version", "relevant_attributes", "applyable", "complete", "errored"] {
        if let Some(value) = plan.get(key) {
            document.insert(key.into(), value.clone());
        }
    }
    for key in CHANGES {
        let changes = plan.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        document.insert(key.into(), changes.iter().map(resource_change).collect());
    }
    if let Some(Value::Array(deferred)) = plan.get("deferred_changes") {
        let masked = |change: &Value| {
            let resource = change.get("resource_change").map(resource_change);
            json!({ "reason": change.get("reason"), "resource_change": resource })
        };
        document.insert("deferred_changes".into(), deferred.iter().map(masked).collect());
    }
    let outputs = plan.get("output_changes").and_then(Value::as_object);
    let outputs = outputs.into_iter().flatten().map(|(name, output)| (name.clone(), change(output)));
    document.insert("output_changes".into(), Value::Object(outputs.collect()));
    let variables = plan.get("variables").and_then(Value::as_object);
    let variables = variables.into_iter().flatten().map(|(name, _)| (name.clone(), json!({})));
    document.insert("variables".into(), Value::Object(variables.collect()));
    Value::Object(document)
}

fn resource_change(resource: &Value) -> Value {
    let Some(fields) = resource.as_object() else { return Value::Null };
    let kept = fields.iter().map(|(key, value)| {
        let value = if key == "change" { change(value) } else { value.clone() };
        (key.clone(), value)
    });
    Value::Object(kept.collect())
}

/// `before` and `after` without what is sensitive in them.
fn change(change: &Value) -> Value {
    let Some(fields) = change.as_object() else { return Value::Null };
    let mut kept = fields.clone();
    for (side, marks) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        if let Some(value) = kept.get_mut(side) {
            // terraform always writes the marks: without them nothing is known, and nothing is shown
            mask(value, fields.get(marks).unwrap_or(&Value::Bool(true)));
        }
    }
    // an unknown part of a change of identity or configuration text has no marks at all
    for key in ["generated_config", "before_identity", "after_identity"] {
        kept.remove(key);
    }
    Value::Object(kept)
}

/// `marks` has the shape of the value, with `true` where it is sensitive.
fn mask(value: &mut Value, marks: &Value) {
    match (marks, value) {
        (Value::Bool(true), value) => *value = Value::Null,
        (Value::Object(marks), Value::Object(fields)) => {
            for (key, mark) in marks {
                if let Some(field) = fields.get_mut(key) {
                    mask(field, mark);
                }
            }
        }
        (Value::Array(marks), Value::Array(items)) => {
            items.iter_mut().zip(marks).for_each(|(item, mark)| mask(item, mark));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every text in it.
    fn texts(value: &Value) -> String {
        value.to_string()
    }

    #[test]
    fn nothing_that_is_sensitive_is_left_and_the_rest_is() {
        let change = |before: Value, before_sensitive: Value, after: Value, after_sensitive: Value| {
            json!({
                "actions": ["update"], "before": before, "after": after, "after_unknown": {},
                "before_sensitive": before_sensitive, "after_sensitive": after_sensitive,
            })
        };
        let plan = json!({
            "format_version": "1.2",
            "terraform_version": "1.11.4",
            "variables": { "password": { "value": "SECRET-variable" } },
            "configuration": { "root_module": { "variables": { "password": { "default": "SECRET-default" } } } },
            "planned_values": { "outputs": { "password": { "sensitive": true, "value": "SECRET-planned" } } },
            "prior_state": { "values": "SECRET-state" },
            "resource_changes": [{
                "address": "terraform_data.a",
                "change": change(
                    json!({ "input": "SECRET-before", "id": "public-id", "list": [{ "a": "SECRET-in-list", "b": "public-b" }] }),
                    json!({ "input": true, "list": [{ "a": true }] }),
                    json!({ "input": { "deep": "SECRET-deep" }, "id": "public-id" }),
                    json!({ "input": { "deep": true } }),
                ),
            }],
            "resource_drift": [{ "change": change(json!({ "input": "SECRET-drift" }), json!(true), json!(null), json!(false)) }],
            "deferred_changes": [{
                "reason": "unknown",
                "resource_change": { "change": change(json!("SECRET-deferred"), json!(true), json!("public"), json!(false)) },
            }],
            "output_changes": {
                "secret": change(json!("SECRET-output"), json!(true), json!("SECRET-output-2"), json!(true)),
                "open": change(json!("public-output"), json!(false), json!("public-output"), json!(false)),
                "unmarked": { "actions": ["create"], "before": null, "after": "SECRET-unmarked" },
            },
        });
        let shown = redacted(&plan);
        assert!(!texts(&shown).contains("SECRET"), "{shown:#}");
        let after = &shown["resource_changes"][0]["change"];
        assert_eq!(
            after["before"],
            json!({ "input": null, "id": "public-id", "list": [{ "a": null, "b": "public-b" }] })
        );
        assert_eq!(after["before_sensitive"]["input"], true);
        assert_eq!(shown["output_changes"]["open"]["after"], "public-output");
        assert_eq!(shown["variables"], json!({ "password": {} }));
        assert_eq!(shown["plan_format_version"], "1.2");
        assert!(shown["provider_schemas"].is_object());
    }
}
