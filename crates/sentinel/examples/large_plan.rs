//! Evaluates a set of policies over a large plan, and prints how long each part takes.
//!
//! ```text
//! cargo run --release -p sentinel --example large_plan -- [RESOURCES] [POLICIES]
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use sentinel::{Data, Documents, Environment, Limits, SystemHost, compile, evaluate, imports};

/// What policies do: they filter the changes, walk what is left, and look things up by address.
const POLICY: &str = r#"
import "tfplan/v2" as tfplan
import "strings"

changes = filter tfplan.resource_changes as _, rc {
	rc.mode is "managed" and
		rc.type is "cloud_server" and
		(rc.change.actions contains "create" or rc.change.actions contains "update")
}

violations = []
for changes as address, rc {
	if rc.change.after.size not in ["small", "medium", "large"] {
		append(violations, address)
	}
	again = tfplan.resource_changes[address]
	if again.change.after.tags.owner else "" is "" {
		append(violations, address + ": no owner")
	}
}

names_ok = rule { all changes as _, rc { strings.has_prefix(rc.change.after.name, "srv-") } }
main = rule { violations is empty and names_ok }
"#;

fn plan(resources: usize) -> String {
    let change = |at: usize| {
        format!(
            r#"{{"address":"cloud_server.s[{at}]","mode":"managed","type":"cloud_server","name":"s","index":{at},"provider_name":"acme/cloud","change":{{"actions":["create"],"before":null,"after":{{"name":"srv-{at}","size":"medium","tags":{{"owner":"team","env":"dev"}},"disks":[{{"gb":10}},{{"gb":20}}]}},"after_unknown":{{"id":true}},"before_sensitive":false,"after_sensitive":{{}}}}}}"#
        )
    };
    let changes: Vec<String> = (0..resources).map(change).collect();
    format!(r#"{{"terraform_version":"1.11.4","resource_changes":[{}]}}"#, changes.join(","))
}

#[expect(clippy::print_stdout, clippy::expect_used, reason = "a program to be run by hand")]
fn main() {
    let mut args = std::env::args().skip(1).filter_map(|arg| arg.parse().ok());
    let (resources, policies) = (args.next().unwrap_or(20_000), args.next().unwrap_or(50));
    let text = plan(resources);
    let start = Instant::now();
    let plan: Data = serde_json::from_str(&text).expect("the plan is JSON");
    println!("reading {} MiB of JSON: {:?}", text.len() >> 20, start.elapsed());
    let mut environment = Environment::default();
    for (name, import) in imports(&Documents { plan, schemas: None, run: None }) {
        environment.set_import(name, import);
    }
    let unit = Arc::new(compile("p.sentinel", POLICY).expect("the policy compiles"));
    let start = Instant::now();
    for at in 0..policies {
        let result = evaluate(&unit, &environment, &HashMap::new(), Limits::default(), &SystemHost);
        assert!(result.outcome.passed(), "{:?}", result.outcome);
        if at == 0 {
            println!("the first policy, with the derivation: {:?}", result.duration);
        }
    }
    println!("{policies} policies over {resources} resources: {:?}", start.elapsed());
}
