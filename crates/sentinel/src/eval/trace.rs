//! What an evaluation leaves behind for people: rules with their values, prints, the description.

use serde::{Deserialize, Serialize};

use crate::source::Position;
use crate::value::Data;

/// A rule that was evaluated. As JSON it has the names of the reference's traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RuleTrace {
    /// The name it is assigned to.
    pub ident: String,
    /// The comment directly above it; empty when there is none.
    #[serde(rename = "desc")]
    pub description: String,
    /// Where it is.
    pub position: Position,
    /// Its value; in JSON it is left out when it is undefined.
    #[serde(default = "undefined", skip_serializing_if = "is_undefined")]
    pub value: Data,
}

fn undefined() -> Data {
    Data::Undefined
}

fn is_undefined(value: &Data) -> bool {
    matches!(value, Data::Undefined)
}

/// The trace of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The comment at the top of the policy; empty when there is none.
    pub description: String,
    /// What the policy printed, each print a line.
    pub print: String,
    /// The named rules of the policy file that were evaluated, in the order in which they ended.
    pub rules: Vec<RuleTrace>,
}

impl Trace {
    /// The value of a rule, when it was evaluated.
    pub fn rule(&self, ident: &str) -> Option<&Data> {
        self.rules.iter().rev().find(|rule| rule.ident == ident).map(|rule| &rule.value)
    }
}
