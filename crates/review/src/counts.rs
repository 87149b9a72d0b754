use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many resources a plan touches, counted as terraform counts them: a replacement is one to add and one to destroy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Counts {
    /// To import.
    pub imports: u64,
    /// To add.
    pub additions: u64,
    /// To change in place.
    pub changes: u64,
    /// To destroy.
    pub destructions: u64,
    /// To forget: they stay, and terraform knows nothing of them any more.
    pub forgets: u64,
}

impl Counts {
    pub(crate) fn count(&mut self, actions: &[String], is_import: bool) {
        self.imports += u64::from(is_import);
        for action in actions {
            match action.as_str() {
                "create" => self.additions += 1,
                "update" => self.changes += 1,
                "delete" => self.destructions += 1,
                "forget" => self.forgets += 1,
                _ => {}
            }
        }
    }
}

/// As terraform says it: `1 to import, 2 to add, 0 to change, 1 to destroy`. What is rare is left out where there is none.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { imports, additions, changes, destructions, forgets } = self;
        if *imports > 0 {
            write!(f, "{imports} to import, ")?;
        }
        write!(f, "{additions} to add, {changes} to change, {destructions} to destroy")?;
        if *forgets > 0 {
            write!(f, ", {forgets} to forget")?;
        }
        Ok(())
    }
}
