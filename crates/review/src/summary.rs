use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Error;
use crate::counts::Counts;

/// The little of a plan that decides how its run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// The terraform that made it.
    pub terraform_version: String,
    /// Planning failed half-way; the plan says so even where the exit status was lost.
    pub errored: bool,
    /// How many resources it touches.
    pub counts: Counts,
}

#[derive(Deserialize)]
struct Plan {
    terraform_version: String,
    #[serde(default)]
    errored: bool,
    #[serde(default)]
    resource_changes: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    change: Change,
}

#[derive(Deserialize)]
struct Change {
    #[serde(default)]
    actions: Vec<String>,
    importing: Option<IgnoredAny>,
}

impl Summary {
    /// Reads `terraform show -json` of a saved plan. What is in its resources is passed over.
    ///
    /// # Errors
    /// [`Error`] when that is no plan.
    pub fn of(json: &[u8]) -> Result<Self, Error> {
        let Plan { terraform_version, errored, resource_changes } = serde_json::from_slice(json)?;
        let mut counts = Counts::default();
        for Resource { change } in &resource_changes {
            counts.count(&change.actions, change.importing.is_some());
        }
        Ok(Self { terraform_version, errored, counts })
    }
}
