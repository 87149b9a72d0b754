//! What a saved plan says about itself: the few fields of `terraform show -json` that decide something.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The output of `terraform show -json` of a saved plan, as far as it matters here.
#[derive(Debug, Deserialize)]
pub(super) struct PlanFile {
    pub(super) terraform_version: String,
    /// The plan failed half-way; its file says so even when the exit status was lost.
    #[serde(default)]
    pub(super) errored: bool,
    #[serde(default)]
    resource_changes: Vec<ResourceChange>,
}

#[derive(Debug, Deserialize)]
struct ResourceChange {
    change: Change,
}

#[derive(Debug, Deserialize)]
struct Change {
    #[serde(default)]
    actions: Vec<String>,
    importing: Option<IgnoredAny>,
}

/// How many resources the plan would touch, counted as terraform counts them in `Plan: …`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    pub(super) additions: u64,
    pub(super) changes: u64,
    pub(super) destructions: u64,
    pub(super) imports: u64,
}

impl PlanFile {
    /// A replacement counts as one addition and one destruction.
    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for ResourceChange { change } in &self.resource_changes {
            counts.imports += u64::from(change.importing.is_some());
            for action in &change.actions {
                match action.as_str() {
                    "create" => counts.additions += 1,
                    "update" => counts.changes += 1,
                    "delete" => counts.destructions += 1,
                    _ => {}
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_counted_as_terraform_counts_them() {
        let change = |actions: &str| format!(r#"{{"address":"a.b","change":{{"actions":[{actions}]}}}}"#);
        let import = r#"{"change":{"actions":["no-op"],"importing":{"id":"x"}}}"#;
        let plan = format!(
            r#"{{"terraform_version":"1.11.4","resource_changes":[{},{},{},{},{},{},{import}]}}"#,
            change(r#""create""#),
            change(r#""update""#),
            change(r#""delete""#),
            change(r#""delete","create""#),
            change(r#""read""#),
            change(r#""no-op""#),
        );
        let plan: PlanFile = serde_json::from_str(&plan).unwrap();
        assert_eq!(plan.counts(), Counts { additions: 2, changes: 1, destructions: 2, imports: 1 });
        assert!(!plan.errored);
    }
}
