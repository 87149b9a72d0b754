//! What policies look at: the plan and the run.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use ::sentinel::{Data, Documents, Import, Secrets, read_document};
use serde::de::IgnoredAny;

/// An import of Sentinel policies with its name.
pub(crate) type NamedImport = (String, Arc<dyn Import>);

/// The input of a check, `{"plan": …, "run": …}`, read once and shared by every policy of every set.
pub struct Input {
    plan_json: String,
    run: serde_json::Value,
    #[cfg(feature = "rego")]
    rego: OnceLock<Result<regorus::Value, String>>,
    plan: OnceLock<Result<Data, String>>,
    secrets: OnceLock<Secrets>,
    sentinel: OnceLock<Result<Vec<NamedImport>, String>>,
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
        Ok(Self {
            plan_json,
            run,
            #[cfg(feature = "rego")]
            rego: OnceLock::new(),
            plan: OnceLock::new(),
            secrets: OnceLock::new(),
            sentinel: OnceLock::new(),
        })
    }

    /// The plan as terraform wrote it.
    pub fn plan_json(&self) -> &str {
        &self.plan_json
    }

    /// The description of the run.
    pub const fn run(&self) -> &serde_json::Value {
        &self.run
    }

    /// The whole input as a Rego value, which is read once.
    #[cfg(feature = "rego")]
    pub(crate) fn rego(
        &self,
        read: fn(&str, &serde_json::Value) -> Result<regorus::Value, String>,
    ) -> Result<&regorus::Value, &str> {
        let read = || read(&self.plan_json, &self.run);
        self.rego.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// The plan as data of Sentinel's.
    fn plan(&self) -> Result<&Data, &str> {
        let read = || {
            read_document(self.plan_json.as_bytes())
                .map_err(|e| format!("the plan cannot be read as Sentinel's input: {e}"))
        };
        self.plan.get_or_init(read).as_ref().map_err(String::as_str)
    }

    /// What no policy may show: the values that the plan marks as sensitive, and those of the run's sensitive
    /// variables, which a configuration may have forgotten to mark.
    pub(crate) fn secrets(&self) -> &Secrets {
        self.secrets.get_or_init(|| {
            // a plan that cannot be read was shown to nobody
            let Ok(plan) = self.plan() else { return Secrets::default() };
            let mut texts = ::sentinel::secrets(plan);
            let variables = self.run.get("variables").and_then(serde_json::Value::as_object);
            for (name, variable) in variables.into_iter().flatten() {
                let value = || plan.get("variables")?.get(name)?.get("value");
                if let (Some(true), Some(value)) = (variable["sensitive"].as_bool(), value()) {
                    Secrets::collect(value, &mut texts);
                }
            }
            Secrets::new(texts)
        })
    }

    /// The Terraform imports of Sentinel policies, each of which is derived when it is first looked at.
    pub(crate) fn sentinel(&self) -> Result<&[NamedImport], &str> {
        let make = || {
            let run = Some(Data::from(&self.run));
            let plan = self.plan().map_err(str::to_owned)?.clone();
            Ok(::sentinel::imports(&Documents { plan, schemas: None, run }))
        };
        self.sentinel.get_or_init(make).as_deref().map_err(String::as_str)
    }
}

impl fmt::Debug for Input {
    /// Without the plan, which may hold secrets and be large.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("run", &self.run).finish_non_exhaustive()
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

    #[test]
    fn a_number_that_policies_cannot_hold_is_an_error_of_theirs_with_its_place() {
        let input = Input::new("{\n  \"a\": 1e400}".into(), json!({})).unwrap();
        let errors = [
            input.sentinel().err().unwrap(),
            #[cfg(feature = "rego")]
            input.rego(crate::rego::input).unwrap_err(),
        ];
        for error in errors {
            assert!(error.contains("the number at line 2 column 8 is too large"), "{error}");
        }
    }
}
