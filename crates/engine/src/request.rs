//! What a person asks for when they queue a run, and what of it can't be done.

use lifecycle::id::ConfigurationVersionId;
use store::RunOptions;

use crate::Refusal;
use crate::variables;

/// A run to be queued, as a person asks for it (docs/api.md, "Creating a run").
#[derive(Debug, Clone, Default)]
pub struct RunRequest {
    /// Why, what `terraform plan` is told, and values for this run alone.
    pub options: RunOptions,
    /// Where the request came from: `tfe-api`, `terraform+cloud`, `signalbox-cli`, …
    pub source: String,
    /// Make a plan and nothing else.
    pub plan_only: bool,
    /// Plan to destroy everything.
    pub destroy: bool,
    /// `None`: as the workspace says.
    pub auto_apply: Option<bool>,
    /// Allow a plan without changes to be applied.
    pub allow_empty_apply: bool,
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
        check_text("/data/attributes/message", &self.options.message)?;
        self.options.plan.check(self.destroy)?;
        if self.plan_only && self.auto_apply == Some(true) {
            return invalid("/data/attributes/auto-apply", "a plan-only run is never applied");
        }
        if self.plan_only && self.allow_empty_apply {
            return invalid("/data/attributes/allow-empty-apply", "a plan-only run is never applied");
        }
        for variable in &self.options.variables {
            let pointer = "/data/attributes/variables";
            if !variables::is_name(&variable.key) {
                let detail = format!("{:?} is not a name of a variable", variable.key);
                return Err(Refusal::Invalid { pointer, detail });
            }
            if let Err(why) = variables::literal(&variable.value) {
                let detail = format!("the value of {} {why}", variable.key);
                return Err(Refusal::Invalid { pointer, detail });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::{PlanOptions, RunVariable};

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
        let with = |options| RunRequest { options, ..plain() };
        let message = |text: &str| RunOptions { message: text.into(), ..RunOptions::default() };
        let variable = |key: &str, value: &str| {
            let variables = vec![RunVariable { key: key.into(), value: value.into() }];
            with(RunOptions { variables, ..RunOptions::default() })
        };
        let plan = PlanOptions { refresh_only: true, ..PlanOptions::default() };
        let refresh_only = with(RunOptions { plan, ..RunOptions::default() });
        let table = [
            (plain(), None),
            (with(message(&"é".repeat(2048))), None),
            (with(message(&"é".repeat(2049))), Some("message")),
            (RunRequest { destroy: true, ..refresh_only.clone() }, Some("refresh-only")),
            (refresh_only, None),
            (RunRequest { plan_only: true, auto_apply: Some(true), ..plain() }, Some("auto-apply")),
            (RunRequest { plan_only: true, auto_apply: Some(false), ..plain() }, None),
            (RunRequest { plan_only: true, allow_empty_apply: true, ..plain() }, Some("allow-empty-apply")),
            (variable("a", "\"b\""), None),
            (variable("a", "b"), Some("variables")),
            (variable("a=", "1"), Some("variables")),
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
