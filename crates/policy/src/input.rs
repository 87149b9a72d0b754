//! What policies look at: the plan and the run.

use std::{collections::BTreeMap, sync::OnceLock};

use serde::de::IgnoredAny;

/// The input of a check, `{"plan": …, "run": …}`, read once and shared by every policy of every set.
#[derive(Debug)]
pub struct Input {
    plan_json: String,
    run: serde_json::Value,
    rego: OnceLock<Result<regorus::Value, String>>,
}

/// The plan is not what `terraform show -json` writes.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// Not JSON at all.
    #[error("the plan is not JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// JSON, but no object.
    #[error("the plan is JSON but no object; give it the output of terraform show -json")]
    NotAnObject,
}

impl Input {
    /// Takes the output of `terraform show -json PLAN` and the description of the run.
    ///
    /// # Errors
    ///
    /// If the plan is not a JSON object.
    pub fn new(plan_json: String, run: serde_json::Value) -> Result<Self, InputError> {
        serde_json::from_str::<IgnoredAny>(&plan_json).map_err(InputError::NotJson)?;
        if !plan_json.trim_start().starts_with('{') {
            return Err(InputError::NotAnObject);
        }
        Ok(Self { plan_json, run, rego: OnceLock::new() })
    }

    /// The plan as terraform wrote it.
    pub fn plan_json(&self) -> &str {
        &self.plan_json
    }

    /// The description of the run.
    pub const fn run(&self) -> &serde_json::Value {
        &self.run
    }

    /// The whole input as a Rego value.
    pub(crate) fn rego(&self) -> Result<&regorus::Value, &str> {
        self.rego
            .get_or_init(|| {
                let plan = regorus::Value::from_json_str(&self.plan_json)
                    .map_err(|e| format!("the plan cannot be read as Rego input: {e}"))?;
                let run = serde_json::from_value(self.run.clone())
                    .map_err(|e| format!("the run cannot be read as Rego input: {e}"))?;
                Ok(BTreeMap::from([("plan".into(), plan), ("run".into(), run)]).into())
            })
            .as_ref()
            .map_err(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_plan_that_is_no_json_object_is_refused_with_its_place() {
        let error = Input::new("{\n  \"a\": nope}".into(), json!({})).unwrap_err();
        assert!(error.to_string().contains("line 2 column"), "{error}");
        assert!(matches!(Input::new("[1]".into(), json!({})), Err(InputError::NotAnObject)));
    }
}
