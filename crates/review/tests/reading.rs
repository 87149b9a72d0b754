//! What is kept of a plan.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use proptest::prelude::*;
use review::{Action, OutputAction, Review, Summary};
use serde_json::{Value, json};

fn read(plan: &Value) -> Review {
    Review::read(plan.to_string().as_bytes()).unwrap()
}

fn plan(resources: Vec<Value>) -> Value {
    json!({ "format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": resources })
}

fn resource(address: &str, actions: &[&str]) -> Value {
    json!({ "address": address, "change": { "actions": actions } })
}

#[test]
fn every_way_in_which_a_resource_can_change_is_told_the_gravest_first() {
    let mut moved = resource("a.moved", &["no-op"]);
    moved["previous_address"] = json!("a.before");
    let mut imported = resource("a.imported", &["no-op"]);
    imported["change"]["importing"] = json!({ "id": "x-1" });
    let review = read(&plan(vec![
        resource("a.created", &["create"]),
        resource("data.a.read", &["read"]),
        moved,
        imported,
        resource("a.same", &["no-op"]),
        resource("a.updated", &["update"]),
        resource("a.forgotten", &["forget"]),
        resource("a.after", &["create", "delete"]),
        resource("a.replaced", &["delete", "create"]),
        resource("a.destroyed", &["delete"]),
        resource("a.new", &["transmute"]),
    ]));
    let told: Vec<_> =
        review.changes.iter().map(|change| (change.action.as_str(), change.address.as_str())).collect();
    assert_eq!(
        told,
        [
            ("destroy", "a.destroyed"),
            ("replace", "a.replaced"),
            ("create-then-destroy", "a.after"),
            // nobody knows how grave it is
            ("transmute", "a.new"),
            ("forget", "a.forgotten"),
            ("update", "a.updated"),
            ("create", "a.created"),
            ("import", "a.imported"),
            ("move", "a.moved"),
            ("read", "data.a.read"),
        ]
    );
    assert_eq!(review.counts.to_string(), "1 to import, 3 to add, 1 to change, 3 to destroy, 1 to forget");
    assert_eq!(review.count(&Action::Import), 1);
    let by = |address: &str| review.changes.iter().find(|change| change.address == address).unwrap();
    assert_eq!(by("a.moved").previous_address.as_deref(), Some("a.before"));
    assert_eq!(by("a.imported").import_id.as_deref(), Some("x-1"));
}

#[test]
fn what_differs_in_a_resource_is_named_and_its_values_are_not_kept() {
    let mut changed = resource("a.b", &["delete", "create"]);
    changed["action_reason"] = json!("replace_because_cannot_update");
    changed["change"] = json!({
        "actions": ["delete", "create"],
        "before": { "id": "i-1", "name": "hush", "same": [1], "tags": { "x": 1 } },
        "after": { "name": "other", "same": [1], "tags": { "x": 1 }, "more": null },
        "after_unknown": { "id": true, "tags": { "x": false }, "same": [false], "arn": [{ "x": true }] },
        "replace_paths": [["network", 0, "id"], ["name"]],
    });
    let review = read(&plan(vec![changed]));
    let change = &review.changes[0];
    assert_eq!(change.attributes, ["id", "name", "arn"]);
    assert_eq!(change.replaced_by, ["network[0].id", "name"]);
    assert_eq!(change.reason.as_deref(), Some("it can't be changed in place"));
    assert!(!format!("{review:?}").contains("hush"));
    // what comes or goes as a whole has no attribute that changes
    let mut created = resource("a.c", &["create"]);
    created["change"]["before"] = Value::Null;
    created["change"]["after"] = json!({ "name": "x" });
    assert!(read(&plan(vec![created])).changes[0].attributes.is_empty());
}

#[test]
fn outputs_drift_and_failing_checks_are_told() {
    let mut plan = plan(vec![]);
    plan["output_changes"] = json!({
        "new": { "actions": ["create"] }, "same": { "actions": ["no-op"] },
        "changed": { "actions": ["update"] }, "gone": { "actions": ["delete"] },
    });
    plan["resource_drift"] = json!([resource("a.b", &["update"])]);
    plan["checks"] = json!([
        { "address": { "kind": "check", "to_display": "check.one" }, "status": "fail", "instances": [
            { "address": {}, "status": "fail", "problems": [{ "message": "no" }, {}] }, { "status": "pass" }] },
        { "address": { "to_display": "check.two" }, "status": "unknown" },
        { "address": { "to_display": "output.x" }, "status": "error" },
    ]);
    let review = read(&plan);
    let mut outputs: Vec<_> =
        review.outputs.iter().map(|output| (output.name.as_str(), output.action)).collect();
    outputs.sort_by_key(|(name, _)| *name);
    let expected =
        [("changed", OutputAction::Update), ("gone", OutputAction::Destroy), ("new", OutputAction::Create)];
    assert_eq!(outputs, expected);
    assert_eq!(review.drift[0].address, "a.b");
    let checks: Vec<_> =
        review.failed_checks.iter().map(|check| (check.address.as_str(), check.messages.len())).collect();
    assert_eq!(checks, [("check.one", 1), ("output.x", 0)]);
    assert!(!review.is_empty() && review.changes.is_empty());
}

#[test]
fn what_terraform_leaves_out_or_sets_to_null_is_nothing() {
    let least = json!({ "terraform_version": "1.0.0" });
    let nulls = json!({ "terraform_version": "1.0.0", "resource_changes": null, "output_changes": null,
        "resource_drift": null });
    for plan in [least, nulls] {
        let review = read(&plan);
        assert!(review.is_empty() && !review.errored, "{plan}");
    }
    for broken in
        ["", "[]", "{}", r#"{"terraform_version":1}"#, r#"{"terraform_version":"1","resource_changes":{}}"#]
    {
        assert!(Review::read(broken.as_bytes()).is_err(), "{broken}");
    }
}

#[test]
fn a_review_is_the_same_after_it_was_sent() {
    let mut moved = resource("a.moved", &["no-op"]);
    moved["previous_address"] = json!("a.before");
    let review = read(&plan(vec![moved, resource("a.new", &["transmute"]), resource("a.b", &["delete"])]));
    let sent = serde_json::to_string(&review).unwrap();
    assert_eq!(serde_json::from_str::<Review>(&sent).unwrap(), review);
}

proptest! {
    #[test]
    fn the_two_ways_to_count_agree_and_nothing_that_happens_is_left_out(
        actions in proptest::collection::vec(proptest::sample::select(vec![
            vec!["no-op"], vec!["create"], vec!["update"], vec!["delete"], vec!["delete", "create"],
            vec!["create", "delete"], vec!["forget"], vec!["read"], vec!["open"],
        ]), 0..20)
    ) {
        let resources =
            actions.iter().enumerate().map(|(n, actions)| resource(&format!("a.n{n}"), actions)).collect();
        let text = plan(resources).to_string();
        let review = Review::read(text.as_bytes()).unwrap();
        prop_assert_eq!(review.counts, Summary::of(text.as_bytes()).unwrap().counts);
        let happening = actions.iter().filter(|actions| **actions != ["no-op"]).count();
        prop_assert_eq!(review.changes.len(), happening);
        prop_assert!(review.changes.is_sorted_by(|a, b| a.action <= b.action));
    }
}
