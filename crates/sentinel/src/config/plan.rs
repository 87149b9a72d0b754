//! Settings of the Terraform imports: `import "plugin" "tfplan/v2" { config = { plan_path = "plan.json" } }`.

use crate::error::{Error, nearest};
use crate::terraform::TERRAFORM_IMPORTS;
use crate::value::{Data, show};

/// Where what `terraform show -json` printed of the plan is.
pub(crate) const PLAN_PATH: &str = "plan_path";
/// Where what `terraform providers schema -json` printed is; only the old `tfplan` looks at it.
pub(crate) const SCHEMAS_PATH: &str = "schemas_path";

/// Refuses settings that a Terraform import does not have: one that was not looked at could be the plan that
/// somebody relies on. Other imports are none of its business.
pub(super) fn check_settings(import: &str, settings: &Data) -> Result<(), Error> {
    if !TERRAFORM_IMPORTS.contains(&import) {
        return Ok(());
    }
    // a plan does not know its run
    let known: &[&str] = if import == "tfrun" { &[] } else { &[PLAN_PATH, SCHEMAS_PATH] };
    for (key, value) in settings.entries() {
        let name = show::show_key(key);
        if !known.contains(&name.as_str()) {
            let error = Error::config(format!("the import `{import}` has no setting `{name}`"));
            return Err(match nearest(&name, known.iter().copied()) {
                Some(near) => error.note(format!("did you mean `{near}`?")),
                None if known.is_empty() => error.note("it has none"),
                None => error.note(format!("known are {}", known.join(", "))),
            });
        }
        if value.as_str().is_none() {
            return Err(Error::config(format!("the setting `{name}` must be a string, the path of a file")));
        }
    }
    match settings.get(PLAN_PATH) {
        None if !settings.entries().is_empty() => {
            Err(Error::config(format!("the import `{import}` needs `{PLAN_PATH}`, the path of a plan")))
        }
        _ => Ok(()),
    }
}
