use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `terraform plan` is told for one run. The struct travels as it is: in the body that asks for a run, in the
/// run's record and in its document. So a further mode is a field here, its argument and its word below, and a flag of
/// the command line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default)]
pub struct PlanOptions {
    /// Whether the plan reads the real objects first.
    pub refresh: bool,
    /// Only the state is brought up to date.
    pub refresh_only: bool,
    /// The resources and modules that the plan is limited to, each an address.
    pub target_addrs: Vec<String>,
    /// The resources that the plan replaces, each an address.
    pub replace_addrs: Vec<String>,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { refresh: true, refresh_only: false, target_addrs: Vec::new(), replace_addrs: Vec::new() }
    }
}

/// An option that can't be given together with the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contradiction {
    /// Which one, as a JSON pointer into the body that asks for a run.
    pub pointer: &'static str,
    /// Why, and what would be right.
    pub why: &'static str,
}

impl PlanOptions {
    /// The arguments of `terraform plan`.
    pub fn arguments(&self) -> Vec<String> {
        let flags = [(self.refresh_only, "-refresh-only"), (!self.refresh, "-refresh=false")];
        let flags = flags.into_iter().filter(|(on, _)| *on).map(|(_, flag)| flag.to_owned());
        let targets = self.target_addrs.iter().map(|address| format!("-target={address}"));
        let replaces = self.replace_addrs.iter().map(|address| format!("-replace={address}"));
        flags.chain(targets).chain(replaces).collect()
    }

    /// The modes that differ from a plain plan, as people call them.
    pub fn modes(&self) -> Vec<&'static str> {
        let modes = [(self.refresh_only, "refresh-only"), (!self.refresh, "without refresh")];
        modes.into_iter().filter(|(on, _)| *on).map(|(_, mode)| mode).collect()
    }

    /// Refuses options that contradict each other, or a plan that destroys everything.
    ///
    /// # Errors
    /// The first [`Contradiction`].
    pub fn check(&self, destroy: bool) -> Result<(), Contradiction> {
        let replaces = !self.replace_addrs.is_empty();
        let no_address = |addresses: &[String]| {
            addresses.iter().any(|address| address.trim().is_empty() || address.contains(['\0', '\n']))
        };
        let address = "each has to be the address of a resource, as module.a.terraform_data.b";
        let table = [
            (
                self.refresh_only && destroy,
                "/data/attributes/refresh-only",
                "a run is either refresh-only or is-destroy, not both",
            ),
            (
                self.refresh_only && !self.refresh,
                "/data/attributes/refresh",
                "a refresh-only run can't have refresh switched off",
            ),
            (
                self.refresh_only && replaces,
                "/data/attributes/replace-addrs",
                "a refresh-only run replaces nothing",
            ),
            (destroy && replaces, "/data/attributes/replace-addrs", "a destroy run replaces nothing"),
            (no_address(&self.target_addrs), "/data/attributes/target-addrs", address),
            (no_address(&self.replace_addrs), "/data/attributes/replace-addrs", address),
        ];
        match table.into_iter().find(|(wrong, ..)| *wrong) {
            Some((_, pointer, why)) => Err(Contradiction { pointer, why }),
            None => Ok(()),
        }
    }
}

/// A variable of one run. Its value is left out of `Debug`, since it may be a secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunVariable {
    /// The variable's name.
    pub key: String,
    /// An HCL literal: a string has its quotes.
    pub value: String,
}

impl fmt::Debug for RunVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunVariable").field("key", &self.key).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_told_to_terraform() {
        assert_eq!(PlanOptions::default().arguments(), [""; 0]);
        let options = PlanOptions {
            refresh: false,
            refresh_only: true,
            target_addrs: vec!["a.b".into(), "module.c".into()],
            replace_addrs: vec!["d.e[\"x\"]".into()],
        };
        let arguments =
            ["-refresh-only", "-refresh=false", "-target=a.b", "-target=module.c", "-replace=d.e[\"x\"]"];
        assert_eq!(options.arguments(), arguments);
        assert_eq!(options.modes(), ["refresh-only", "without refresh"]);
    }

    #[test]
    fn options_that_contradict_each_other_are_refused_by_name() {
        let plain = PlanOptions::default;
        let refresh_only = || PlanOptions { refresh_only: true, ..plain() };
        let replacing = |options| PlanOptions { replace_addrs: vec!["a.b".into()], ..options };
        let targeting = |address: &str| PlanOptions { target_addrs: vec![address.into()], ..plain() };
        let table = [
            (plain(), true, None),
            (refresh_only(), false, None),
            (refresh_only(), true, Some("refresh-only")),
            (PlanOptions { refresh: false, ..refresh_only() }, false, Some("refresh")),
            (replacing(refresh_only()), false, Some("replace-addrs")),
            (replacing(plain()), true, Some("replace-addrs")),
            (replacing(plain()), false, None),
            (targeting("a.b"), true, None),
            (targeting(" "), false, Some("target-addrs")),
            (targeting("a.b\n-destroy"), false, Some("target-addrs")),
            (PlanOptions { replace_addrs: vec![String::new()], ..plain() }, false, Some("replace-addrs")),
        ];
        for (options, destroy, refused) in table {
            let pointer = options.check(destroy).err().map(|contradiction| contradiction.pointer);
            let attribute = pointer.and_then(|pointer| pointer.strip_prefix("/data/attributes/"));
            assert_eq!(attribute, refused, "{options:?} destroy: {destroy}");
        }
    }
}
