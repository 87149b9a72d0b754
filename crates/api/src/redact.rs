//! The plan as JSON for readers who may not see secrets (docs/api.md, "Plan JSON").
//!
//! What is let through is named; everything else is left out, since the configuration, the variables and
//! the planned values hold secrets in the clear with nothing beside them that says so.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::jsonapi::RawJson;

/// Lists of resource changes, whose values are masked.
const CHANGES: [&str; 2] = ["resource_changes", "resource_drift"];

/// What of a plan is passed on as it is.
const KEPT: [&str; 5] = ["terraform_version", "relevant_attributes", "applyable", "complete", "errored"];

/// What everybody who may read the run may read of its plan.
#[derive(Debug, Serialize)]
pub(crate) struct Redacted {
    plan_format_version: RawJson,
    provider_format_version: &'static str,
    provider_schemas: Empty,
    variables: BTreeMap<String, Empty>,
    #[serde(flatten)]
    rest: BTreeMap<&'static str, RawJson>,
}

/// `{}`
#[derive(Debug, Default, Serialize)]
struct Empty {}

/// The parts of `terraform show -json` of a plan that everybody who may read the run may read. Values that
/// terraform marked as sensitive are `null`; their places stay in `before_sensitive` and `after_sensitive`.
pub(crate) fn redacted(plan: &RawJson) -> Redacted {
    let list = |key: &str| plan.get(key).and_then(RawJson::as_array);
    let mut rest: BTreeMap<&'static str, RawJson> =
        KEPT.iter().filter_map(|key| Some((*key, plan.get(key)?.clone()))).collect();
    for key in CHANGES {
        let changes = list(key).unwrap_or_default();
        rest.insert(key, RawJson::Array(changes.iter().map(resource_change).collect()));
    }
    if let Some(deferred) = list("deferred_changes") {
        let masked = |change: &RawJson| {
            let reason = change.get("reason").cloned().unwrap_or_else(RawJson::null);
            let resource = change.get("resource_change").map_or_else(RawJson::null, resource_change);
            let fields = [("reason".to_owned(), reason), ("resource_change".to_owned(), resource)];
            RawJson::Object(fields.into())
        };
        rest.insert("deferred_changes", RawJson::Array(deferred.iter().map(masked).collect()));
    }
    let entries = |key: &str| plan.get(key).and_then(RawJson::as_object).into_iter().flatten();
    let outputs = entries("output_changes").map(|(name, output)| (name.clone(), change(output)));
    rest.insert("output_changes", RawJson::Object(outputs.collect()));
    Redacted {
        plan_format_version: plan.get("format_version").cloned().unwrap_or_else(RawJson::null),
        provider_format_version: "1.0",
        provider_schemas: Empty {},
        variables: entries("variables").map(|(name, _)| (name.clone(), Empty {})).collect(),
        rest,
    }
}

fn resource_change(resource: &RawJson) -> RawJson {
    let Some(fields) = resource.as_object() else { return RawJson::null() };
    let kept = fields.iter().map(|(key, value)| {
        let value = if key == "change" { change(value) } else { value.clone() };
        (key.clone(), value)
    });
    RawJson::Object(kept.collect())
}

/// `before` and `after` without what is sensitive in them.
fn change(change: &RawJson) -> RawJson {
    let Some(fields) = change.as_object() else { return RawJson::null() };
    let mut kept = fields.clone();
    for (side, marks) in [("before", "before_sensitive"), ("after", "after_sensitive")] {
        if let Some(value) = kept.get_mut(side) {
            match fields.get(marks) {
                Some(marks) => mask(value, marks),
                // terraform always writes the marks: without them nothing is known, and nothing is shown
                None => *value = RawJson::null(),
            }
        }
    }
    // an unknown part of a change of identity or configuration text has no marks at all
    for key in ["generated_config", "before_identity", "after_identity"] {
        kept.remove(key);
    }
    RawJson::Object(kept)
}

/// `marks` has the shape of the value, with `true` where it is sensitive.
fn mask(value: &mut RawJson, marks: &RawJson) {
    match (marks, value) {
        (marks, value) if marks.is_true() => *value = RawJson::null(),
        (RawJson::Object(marks), RawJson::Object(fields)) => {
            for (key, mark) in marks {
                if let Some(field) = fields.get_mut(key) {
                    mask(field, mark);
                }
            }
        }
        (RawJson::Array(marks), RawJson::Array(items)) => {
            items.iter_mut().zip(marks).for_each(|(item, mark)| mask(item, mark));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
        let plan = RawJson::read(plan.to_string().as_bytes()).unwrap();
        let shown = serde_json::to_value(redacted(&plan)).unwrap();
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

    #[test]
    fn numbers_of_a_plan_are_passed_on_digit_by_digit() {
        let plan = r#"{"output_changes":{"n":{"after":12345678901234567890123,"after_sensitive":false}}}"#;
        let shown = serde_json::to_string(&redacted(&RawJson::read(plan.as_bytes()).unwrap())).unwrap();
        assert!(shown.contains(r#""after":12345678901234567890123"#), "{shown}");
    }
}
