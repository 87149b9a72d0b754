//! A plan of 20,000 resources, some 11 MB of JSON.
#![cfg(feature = "rego")]

mod common;

use std::{sync::Arc, time::Instant};

use policy::{Input, Limits, PolicySet, SetSettings, Verdict};
use serde_json::json;

const RESOURCES: usize = 20_000;

const MANIFEST: &str = r#"
policy "tags" { query = "data.big.tags" }
policy "count" { query = "data.big.count_of_kind" }
policy "unique" { query = "data.big.unique" }
"#;

const REGO: &str = r#"package big

changes := input.plan.resource_changes

tags contains msg if {
  some change in changes
  not change.change.after.tags.owner
  msg := sprintf("%s has no owner", [change.address])
}

count_of_kind contains msg if {
  some kind in {change.type | some change in changes}
  n := count([change | some change in changes; change.type == kind])
  n > 15000
  msg := sprintf("%d of %s", [n, kind])
}

unique contains msg if {
  addresses := {change.address | some change in changes}
  count(addresses) != count(changes)
  msg := "an address is there twice"
}
"#;

fn plan() -> String {
    let changes: Vec<_> = (0..RESOURCES)
        .map(|n| {
            let tags = if n % 1_000 == 7 { json!({}) } else { json!({"owner": "platform", "env": "prod"}) };
            json!({
                "address": format!("module.network[{}].terraform_data.node[{n}]", n % 50),
                "mode": "managed", "type": "terraform_data", "name": "node", "index": n,
                "provider_name": "terraform.io/builtin/terraform",
                "change": {
                    "actions": ["create"], "before": null, "after_unknown": {"id": true, "output": true},
                    "before_sensitive": false, "after_sensitive": {"input": {}, "tags": {}},
                    "after": {
                        "input": {"cidr": format!("10.{}.{}.0/24", n / 256 % 256, n % 256), "zone": "eu-west-1a",
                                  "note": "a subnet of the network, as wide as it needs to be and no wider"},
                        "triggers_replace": null, "tags": tags,
                    },
                },
            })
        })
        .collect();
    json!({"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": changes}).to_string()
}

#[test]
fn a_plan_of_20000_resources_is_evaluated_within_the_default_limit() {
    let dir = common::folder(&[("policies.hcl", MANIFEST), ("big.rego", REGO)]);
    let set = PolicySet::load("big", dir.path(), &SetSettings::default()).unwrap();
    let plan = plan();
    let megabytes = plan.len() as f64 / 1e6;
    let started = Instant::now();
    let input = Arc::new(Input::new(plan, json!({})).unwrap());
    let results = set.evaluate(&input, Limits::default());
    println!("{megabytes:.1} MB of plan, {} policies: {:?} in all", results.len(), started.elapsed());
    for result in &results {
        println!("  {:8} {:5} ms", result.name, result.duration_ms);
    }
    let Verdict::Failed { messages } = &results[0].verdict else { panic!("{:?}", results[0]) };
    assert_eq!(messages.len(), RESOURCES / 1_000);
    assert_eq!(messages[0], "module.network[7].terraform_data.node[10007] has no owner");
    assert_eq!(results[1].verdict, common::failed(&["20000 of terraform_data"]));
    assert_eq!(results[2].verdict, Verdict::Passed);
}
