//! What a person asks for when they queue a run, and what of it can't be done.

use lifecycle::id::ConfigurationVersionId;
use store::{RunOptions, RunVariable};

use crate::Refusal;
use crate::variables;

/// A run to be queued, as a person asks for it (tfe-api.md 2.1).
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Why; a line for people.
    pub message: String,
    /// Where the request came from: `tfe-api`, `terraform+cloud`, `signalbox-cli`, …
    pub source: String,
    /// Make a plan and nothing else.
    pub plan_only: bool,
    /// Plan to destroy everything.
    pub destroy: bool,
    /// Only bring the state up to date.
    pub refresh_only: bool,
    /// Don't look at the real objects first.
    pub skip_refresh: bool,
    /// `None`: as the workspace says.
    pub auto_apply: Option<bool>,
    /// Allow a plan without changes to be applied.
    pub allow_empty_apply: bool,
    /// Addresses for `-target`.
    pub target_addrs: Vec<String>,
    /// Addresses for `-replace`.
    pub replace_addrs: Vec<String>,
    /// Values for this run alone, as HCL literals.
    pub variables: Vec<RunVariable>,
    /// A configuration that was uploaded; `None`: taken from the workspace's source when the plan starts.
    pub configuration_version: Option<ConfigurationVersionId>,
}

/// The most that a text for people may measure: a message, a comment, the reason of a lock. Everybody who lists runs
/// gets it, so it is room for an explanation and not for a log.
const MAX_TEXT: usize = 4096;

/// Refuses a text that is too long for a line that people read in lists.
pub(crate) fn check_text(pointer: &'static str, text: &str) -> Result<(), Refusal> {
    match text.len() {
        0..=MAX_TEXT => Ok(()),
        length => {
            let detail = format!("it has {length} bytes: at most {MAX_TEXT} are kept");
            Err(Refusal::Invalid { pointer, detail })
        }
    }
}

impl RunRequest {
    /// Refuses what contradicts itself. Nothing is accepted and then ignored.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the place.
    pub(crate) fn validate(&self) -> Result<(), Refusal> {
        let invalid = |pointer, detail: &str| Err(Refusal::Invalid { pointer, detail: detail.to_owned() });
        check_text("/data/attributes/message", &self.message)?;
        if self.refresh_only && self.destroy {
            return invalid(
                "/data/attributes/refresh-only",
                "a run is either refresh-only or is-destroy, not both",
            );
        }
        if self.refresh_only && self.skip_refresh {
            return invalid("/data/attributes/refresh", "a refresh-only run can't have refresh switched off");
        }
        if self.refresh_only && !self.replace_addrs.is_empty() {
            return invalid("/data/attributes/replace-addrs", "a refresh-only run replaces nothing");
        }
        if self.destroy && !self.replace_addrs.is_empty() {
            return invalid("/data/attributes/replace-addrs", "a destroy run replaces nothing");
        }
        if self.plan_only && self.auto_apply == Some(true) {
            return invalid("/data/attributes/auto-apply", "a plan-only run is never applied");
        }
        if self.plan_only && self.allow_empty_apply {
            return invalid("/data/attributes/allow-empty-apply", "a plan-only run is never applied");
        }
        for (pointer, addresses) in [
            ("/data/attributes/target-addrs", &self.target_addrs),
            ("/data/attributes/replace-addrs", &self.replace_addrs),
        ] {
            if addresses.iter().any(|a| a.trim().is_empty() || a.contains(['\0', '\n'])) {
                return invalid(
                    pointer,
                    "each has to be the address of a resource, as module.a.terraform_data.b",
                );
            }
        }
        for variable in &self.variables {
            let pointer = "/data/attributes/variables";
            if !variables::is_name(&variable.key) {
                let detail = format!("{:?} is no name of a variable", variable.key);
                return Err(Refusal::Invalid { pointer, detail });
            }
            if let Err(why) = variables::literal(&variable.value) {
                let detail = format!("the value of {} {why}", variable.key);
                return Err(Refusal::Invalid { pointer, detail });
            }
        }
        Ok(())
    }

    pub(crate) fn options(&self) -> RunOptions {
        RunOptions {
            message: self.message.clone(),
            refresh: !self.skip_refresh,
            refresh_only: self.refresh_only,
            target_addrs: self.target_addrs.clone(),
            replace_addrs: self.replace_addrs.clone(),
            variables: self.variables.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused_at(request: RunRequest) -> Option<&'static str> {
        match request.validate() {
            Err(Refusal::Invalid { pointer, .. }) => Some(pointer),
            _ => None,
        }
    }

    #[test]
    fn contradictions_are_refused_with_their_place() {
        let plain = RunRequest::default;
        let variable = |key: &str, value: &str| RunVariable { key: key.into(), value: value.into() };
        let table = [
            (plain(), None),
            (RunRequest { message: "é".repeat(2048), ..plain() }, None),
            (RunRequest { message: "é".repeat(2049), ..plain() }, Some("message")),
            (RunRequest { refresh_only: true, destroy: true, ..plain() }, Some("refresh-only")),
            (RunRequest { refresh_only: true, skip_refresh: true, ..plain() }, Some("refresh")),
            (
                RunRequest { destroy: true, replace_addrs: vec!["a.b".into()], ..plain() },
                Some("replace-addrs"),
            ),
            (RunRequest { plan_only: true, auto_apply: Some(true), ..plain() }, Some("auto-apply")),
            (RunRequest { plan_only: true, auto_apply: Some(false), ..plain() }, None),
            (RunRequest { plan_only: true, allow_empty_apply: true, ..plain() }, Some("allow-empty-apply")),
            (RunRequest { target_addrs: vec![" ".into()], ..plain() }, Some("target-addrs")),
            (RunRequest { variables: vec![variable("a", "\"b\"")], ..plain() }, None),
            (RunRequest { variables: vec![variable("a", "b")], ..plain() }, Some("variables")),
            (RunRequest { variables: vec![variable("a=", "1")], ..plain() }, Some("variables")),
        ];
        for (request, place) in table {
            let shown = format!("{request:?}");
            assert_eq!(
                refused_at(request),
                place.map(|p| format!("/data/attributes/{p}")).as_deref(),
                "{shown}"
            );
        }
    }
}
