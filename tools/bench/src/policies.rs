//! Sentinel policies: one over a large plan, and those of others.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use sentinel::{Data, Documents, Environment, Limits, SystemHost, Unit, compile, evaluate, imports};
use sentinel_corpus::Repository;

use crate::measure::{Rows, median, milliseconds};

/// Names the folder with a folder for each repository of policies.
const CORPUS: &str = "SENTINEL_CORPUS";
const RESOURCES: usize = 20_000;

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

/// What `terraform show -json` prints of so many resources that are created.
fn plan(resources: usize) -> String {
    let change = |at: usize| {
        format!(
            r#"{{"address":"cloud_server.s[{at}]","mode":"managed","type":"cloud_server","name":"s","index":{at},"provider_name":"acme/cloud","change":{{"actions":["create"],"before":null,"after":{{"name":"srv-{at}","size":"medium","tags":{{"owner":"team","env":"dev"}},"disks":[{{"gb":10}},{{"gb":20}}]}},"after_unknown":{{"id":true}},"before_sensitive":false,"after_sensitive":{{}}}}}}"#
        )
    };
    let changes: Vec<String> = (0..resources).map(change).collect();
    format!(r#"{{"terraform_version":"1.11.4","resource_changes":[{}]}}"#, changes.join(","))
}

/// One policy over a large plan: from the plan's JSON to the result, and again over what is derived already.
pub(crate) fn large_plan(rows: &mut Rows) -> anyhow::Result<()> {
    const ROUNDS: usize = 9;
    let text = plan(RESOURCES);
    let unit = Arc::new(compile("policy.sentinel", POLICY)?);
    let (mut first, mut further) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = Instant::now();
        let plan: Data = serde_json::from_str(&text)?;
        let mut environment = Environment::default();
        for (name, import) in imports(&Documents { plan, schemas: None, run: None }) {
            environment.set_import(name, import);
        }
        policy(&unit, &environment)?;
        first.push(started.elapsed());
        further.push(policy(&unit, &environment)?);
    }
    let resources = format!("{},{:03}", RESOURCES / 1000, RESOURCES % 1000);
    rows.push((
        format!("a Sentinel policy over {resources} resources, from the plan's JSON (median of {ROUNDS})"),
        milliseconds(median(first)),
    ));
    rows.push(("each further policy of the same run".into(), milliseconds(median(further))));
    Ok(())
}

fn policy(unit: &Arc<Unit>, environment: &Environment) -> anyhow::Result<Duration> {
    let result = evaluate(unit, environment, &HashMap::new(), Limits::default(), &SystemHost);
    ensure!(result.outcome.passed(), "the policy ended with {:?}", result.outcome);
    Ok(result.duration)
}

/// All test cases of the policies of others, if there are any.
pub(crate) fn corpus(rows: &mut Rows) -> anyhow::Result<()> {
    let Some(root) = std::env::var_os(CORPUS) else {
        rows.push(("the Sentinel corpus".into(), format!("not measured: {CORPUS} names no folder")));
        return Ok(());
    };
    let repositories =
        sentinel_corpus::run(Path::new(&root)).with_context(|| format!("{CORPUS} is {}", root.display()))?;
    let count = |at: usize| repositories.iter().map(|repository| repository.counts()[at]).sum::<usize>();
    let time: Duration = repositories.iter().map(|Repository { time, .. }| *time).sum();
    rows.push((
        format!("the Sentinel corpus: {} cases passed, {} failed, {} skipped", count(0), count(1), count(2)),
        milliseconds(time),
    ));
    Ok(())
}
