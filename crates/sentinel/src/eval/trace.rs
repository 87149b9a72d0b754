//! What an evaluation leaves behind for people: rules with their values, prints, the description.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::compile::ir::Rule;
use crate::source::{Position, Source};
use crate::value::{Data, show};

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

/// How much the values of all rules together have, as [`show::size`] counts it: the log and the JSON
/// repeat a value wherever it stands, so that a small one can have more text than there is memory.
const MAX_TRACE: usize = 1_000_000;

/// The rules that were evaluated so far.
#[derive(Default)]
pub(super) struct Rules {
    traces: Vec<RuleTrace>,
    /// By the offset of a rule, which tells it from others: its place in the trace, and the size of its
    /// value there.
    known: HashMap<u32, (usize, usize)>,
    size: usize,
}

impl Rules {
    /// Notes the value of a rule. A rule that is evaluated again, in a function or a loop, is shown with
    /// its last value: there is no end to the others.
    pub(super) fn note(&mut self, rule: &Rule, ident: &str, source: &Source, value: Data) {
        let offset = rule.span.start;
        let known = self.known.get(&offset).copied();
        self.size -= known.map_or(0, |(_, size)| size);
        let room = MAX_TRACE - self.size;
        let (value, size) = match show::size(&value, room.min(show::SHOWABLE)) {
            Some(size) => (value, size),
            None => (Data::from(show::TOO_LARGE), 0),
        };
        self.size += size;
        let at = known.map_or(self.traces.len(), |(at, _)| at);
        self.known.insert(offset, (at, size));
        match self.traces.get_mut(at) {
            Some(trace) => trace.value = value,
            None => self.traces.push(RuleTrace {
                ident: ident.to_owned(),
                description: rule.doc.clone().unwrap_or_default(),
                position: source.position(offset),
                value,
            }),
        }
    }

    pub(super) fn into_traces(self) -> Vec<RuleTrace> {
        self.traces
    }
}

/// The trace of one evaluation.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// The comment at the top of the policy; empty when there is none.
    pub description: String,
    /// What the policy printed, each print a line.
    pub print: String,
    /// The named rules of the policy file that were evaluated, in the order in which they ended first,
    /// each with its last value.
    pub rules: Vec<RuleTrace>,
}

impl Trace {
    /// The value of a rule, when it was evaluated.
    pub fn rule(&self, ident: &str) -> Option<&Data> {
        self.rules.iter().rev().find(|rule| rule.ident == ident).map(|rule| &rule.value)
    }
}
