//! What a build without the feature `rego` has in place of the engine: it refuses every Rego set, so that each run to
//! which one applies fails.

use std::sync::Arc;

use crate::{CompiledSet, EngineKind, LoadError, Mistake, PolicyEngine, SetFolder, SetSettings};

const MANIFEST: &str = "policies.hcl";

/// Refuses sets of Rego policies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegoEngine;

impl PolicyEngine for RegoEngine {
    fn kind(&self) -> EngineKind {
        EngineKind::Rego
    }

    fn manifest(&self) -> &'static str {
        MANIFEST
    }

    fn load(&self, folder: &SetFolder, _: &SetSettings) -> Result<Arc<dyn CompiledSet>, LoadError> {
        let message = "this build of signalbox can't evaluate Rego policies";
        let help =
            "build it with the feature `rego`, which is on by default, or write the policies in Sentinel";
        Err(Mistake::of_file(folder.name_in_set(MANIFEST), message).help(help).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PolicySet;

    #[test]
    fn a_rego_set_is_refused_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(MANIFEST), "policy \"p\" { query = \"data.p.deny\" }").unwrap();
        std::fs::write(dir.path().join("p.rego"), "package p\n\ndeny := []\n").unwrap();
        let error = PolicySet::load("test", dir.path(), &SetSettings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "policies.hcl: this build of signalbox can't evaluate Rego policies; build it with the feature `rego`, \
             which is on by default, or write the policies in Sentinel"
        );
    }
}
