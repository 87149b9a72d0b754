use serde::Serialize;
use serde_json::{Value, json};

/// A run to be queued. What is left at its default is left to the daemon and the workspace.
#[derive(Debug, Clone, Default)]
pub struct NewRun {
    /// Why; a line for people.
    pub message: Option<String>,
    /// Make a plan and nothing else.
    pub plan_only: bool,
    /// Plan to destroy everything.
    pub destroy: bool,
    /// Only bring the state up to date.
    pub refresh_only: bool,
    /// Don't read the real objects first.
    pub skip_refresh: bool,
    /// Apply without a person where that is possible; `None`: as the workspace says.
    pub auto_apply: Option<bool>,
    /// Let a plan without changes be applied.
    pub allow_empty_apply: bool,
    /// Addresses for `-target`.
    pub target_addrs: Vec<String>,
    /// Addresses for `-replace`.
    pub replace_addrs: Vec<String>,
    /// Name and value for this run alone. A value is an HCL literal: text has its quotes.
    pub variables: Vec<(String, String)>,
}

impl NewRun {
    /// The document that asks for it (tfe-api.md 2.1).
    pub(crate) fn document(&self, workspace_id: &str) -> Value {
        #[derive(Serialize)]
        #[serde(rename_all = "kebab-case")]
        struct Attributes<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            message: Option<&'a str>,
            plan_only: bool,
            is_destroy: bool,
            refresh_only: bool,
            refresh: bool,
            #[serde(skip_serializing_if = "Option::is_none")]
            auto_apply: Option<bool>,
            allow_empty_apply: bool,
            target_addrs: &'a [String],
            replace_addrs: &'a [String],
            variables: Vec<Value>,
        }
        let attributes = Attributes {
            message: self.message.as_deref(),
            plan_only: self.plan_only,
            is_destroy: self.destroy,
            refresh_only: self.refresh_only,
            refresh: !self.skip_refresh,
            auto_apply: self.auto_apply,
            allow_empty_apply: self.allow_empty_apply,
            target_addrs: &self.target_addrs,
            replace_addrs: &self.replace_addrs,
            variables: self
                .variables
                .iter()
                .map(|(key, value)| json!({ "key": key, "value": value }))
                .collect(),
        };
        json!({ "data": {
            "type": "runs",
            "attributes": attributes,
            "relationships": { "workspace": { "data": { "type": "workspaces", "id": workspace_id } } },
        } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_to_the_workspace_is_not_sent() {
        let document = NewRun::default().document("ws-1");
        let attributes = document["data"]["attributes"].as_object().unwrap();
        assert!(!attributes.contains_key("auto-apply") && !attributes.contains_key("message"));
        assert_eq!(attributes["refresh"], true);
        assert_eq!(document["data"]["relationships"]["workspace"]["data"]["id"], "ws-1");
    }
}
