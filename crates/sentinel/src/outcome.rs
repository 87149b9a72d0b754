//! Results of a policy set: as text in the form of the policy check's log, and as JSON.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use crate::config::EnforcementLevel;
use crate::error::Error;
use crate::eval::{RuleTrace, Trace};
use crate::policy::{Evaluation, Outcome};
use crate::redact::Secrets;
use crate::value::{Data, show};

/// A policy of a set with its evaluation.
#[derive(Debug, Clone)]
pub struct PolicyOutcome {
    /// The name in the configuration.
    pub name: String,
    /// What a failure means.
    pub level: EnforcementLevel,
    /// The evaluation.
    pub evaluation: Evaluation,
}

/// The outcome of a policy set. Sensitive values are masked in it already.
#[derive(Debug, Clone, Default)]
pub struct SetOutcome {
    /// The policies, in the order of the configuration.
    pub policies: Vec<PolicyOutcome>,
}

/// How many policies ended how. Each counts once: as passed, or as failed at its level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed.
    pub passed: usize,
    /// Failed at any level.
    pub total_failed: usize,
    /// Failed, hard-mandatory.
    pub hard_failed: usize,
    /// Failed, soft-mandatory.
    pub soft_failed: usize,
    /// Failed, advisory.
    pub advisory_failed: usize,
    /// Of the failed ones, those that came to no result: an error, a limit, an undefined `main`.
    pub errored: usize,
}

impl SetOutcome {
    /// How many policies ended how.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for policy in &self.policies {
            if policy.evaluation.outcome.passed() {
                counts.passed += 1;
                continue;
            }
            counts.total_failed += 1;
            match policy.level {
                EnforcementLevel::HardMandatory => counts.hard_failed += 1,
                EnforcementLevel::SoftMandatory => counts.soft_failed += 1,
                EnforcementLevel::Advisory => counts.advisory_failed += 1,
            }
            if policy.evaluation.outcome.error().is_some() {
                counts.errored += 1;
            }
        }
        counts
    }

    /// Whether no mandatory policy failed.
    pub fn result(&self) -> bool {
        let counts = self.counts();
        counts.hard_failed == 0 && counts.soft_failed == 0
    }

    /// Whether everything that failed and is mandatory may be overridden.
    pub fn can_override(&self) -> bool {
        let counts = self.counts();
        counts.soft_failed > 0 && counts.hard_failed == 0
    }

    /// The log of the policy check.
    pub fn log(&self) -> String {
        let mut out = String::new();
        let result = self.result();
        let undecided = self.counts().errored > 0;
        let _ = writeln!(out, "Sentinel Result: {result}\n");
        out.push_str(match (result, undecided) {
            (true, _) => {
                "This result means that Sentinel policies returned true and the protected\n\
                 behavior is allowed by Sentinel policies.\n"
            }
            (false, false) => {
                "Sentinel evaluated to false because one or more Sentinel policies evaluated\n\
                 to false. This false was not due to an undefined value or runtime error.\n"
            }
            (false, true) => {
                "Sentinel evaluated to false because one or more Sentinel policies evaluated\n\
                 to false. At least one of them came to an undefined value or a runtime error.\n"
            }
        });
        let _ = writeln!(out, "\n{} policies evaluated.", self.policies.len());
        for (at, policy) in self.policies.iter().enumerate() {
            let _ = write!(out, "\n## Policy {}: {} ({})\n\n", at + 1, policy.name, policy.level);
            out.push_str(&policy.evaluation.text());
        }
        out
    }

    /// The outcome as JSON, in the form of `sentinel apply -json` since 0.25. Durations are in milliseconds.
    pub fn json(&self) -> Json {
        let policies: Vec<Json> = self
            .policies
            .iter()
            .map(|policy| {
                let mut json = policy.evaluation.json();
                json["policy"] = json!(policy.name);
                json["enforcement_level"] = json!(policy.level.name());
                json
            })
            .collect();
        let duration: Duration = self.policies.iter().map(|policy| policy.evaluation.duration).sum();
        json!({
            "result": self.result(),
            "error": Json::Null,
            "duration": duration.as_millis() as u64,
            "policies": policies,
        })
    }
}

impl Evaluation {
    /// The evaluation as JSON: its result, the error, and the trace in the form of the reference.
    pub fn json(&self) -> Json {
        let error = self.outcome.error();
        json!({
            "result": self.outcome.passed(),
            "error": error.as_ref().map(ToString::to_string),
            "duration": self.duration.as_millis() as u64,
            "trace": trace_json(&self.trace, Some(self.outcome.passed()), error.as_ref()),
        })
    }

    /// The evaluation as people read it: the result, the error, the prints, the trace of the rules.
    pub fn text(&self) -> String {
        let mut out = format!("Result: {}\n", self.outcome.passed());
        if !self.trace.description.is_empty() {
            let _ = writeln!(out, "\nDescription:\n{}", indented(&self.trace.description, 2));
        }
        if let Some(error) = self.outcome.error() {
            let _ = writeln!(out, "\n{}", error.render());
        }
        if !self.trace.print.is_empty() {
            let _ = write!(out, "\nPrint messages:\n\n{}", self.trace.print);
        }
        if !self.trace.rules.is_empty() {
            out.push('\n');
            out.push_str(&rules_text(&self.trace.rules));
        }
        out
    }

    /// The same with sensitive values masked.
    #[must_use]
    pub fn masked(mut self, secrets: &Secrets) -> Evaluation {
        if secrets.is_empty() {
            return self;
        }
        self.trace.print = secrets.mask(&self.trace.print);
        for rule in &mut self.trace.rules {
            rule.value = secrets.mask_data(&rule.value);
        }
        self.outcome = match self.outcome {
            Outcome::Passed(value) => Outcome::Passed(secrets.mask_data(&value)),
            Outcome::Failed(value) => Outcome::Failed(secrets.mask_data(&value)),
            Outcome::Errored(error) => Outcome::Errored(error.masked(secrets)),
            undefined @ Outcome::Undefined(_) => undefined,
        };
        self
    }
}

fn indented(text: &str, indent: usize) -> String {
    let lines = text
        .lines()
        .map(|line| if line.is_empty() { String::new() } else { format!("{:indent$}{line}", "") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The rules with their values as the log of a policy check shows them, `main` first.
pub fn rules_text(rules: &[RuleTrace]) -> String {
    let mut out = String::new();
    let (main, others): (Vec<_>, Vec<_>) = rules.iter().partition(|rule| rule.ident == "main");
    for (at, rule) in main.into_iter().chain(others).enumerate() {
        if at > 0 {
            out.push('\n');
        }
        let truth = match &rule.value {
            Data::Bool(true) => "TRUE - ",
            Data::Bool(false) => "FALSE - ",
            Data::Undefined => "UNDEFINED - ",
            _ => "",
        };
        let _ = writeln!(out, "{truth}{} - Rule \"{}\"", rule.position, rule.ident);
        if !rule.description.is_empty() {
            let _ = writeln!(out, "  Description:\n{}\n", indented(&rule.description, 4));
        }
        let _ = writeln!(out, "  Value:\n{}", indented(&pretty(&rule.value, 0), 4));
    }
    out
}

/// Data over several lines, as far as it is nested.
fn pretty(data: &Data, depth: usize) -> String {
    let pad = "  ".repeat(depth + 1);
    let end = "  ".repeat(depth);
    let (open, close, lines): (_, _, Vec<String>) = match data {
        Data::List(items) if !items.is_empty() && depth < 16 => {
            ("[", "]", items.iter().map(|item| format!("{pad}{}", pretty(item, depth + 1))).collect())
        }
        Data::Map(map) if !map.is_empty() && depth < 16 => {
            let line = |(key, item): &(crate::value::Key, Data)| {
                let key = show::show(&crate::value::Value::list(vec![crate::value::Value::from_key(key)]));
                format!("{pad}{}: {}", &key[1..key.len() - 1], pretty(item, depth + 1))
            };
            ("{", "}", map.entries().iter().map(line).collect())
        }
        other => return show::show_data(other),
    };
    format!("{open}\n{},\n{end}{close}", lines.join(",\n"))
}

pub(crate) fn trace_json(trace: &Trace, result: Option<bool>, error: Option<&Error>) -> Json {
    let rules: Map<String, Json> = trace.rules.iter().map(|rule| (rule.ident.clone(), json!(rule))).collect();
    json!({
        "description": trace.description,
        "error": error.map(ToString::to_string),
        "print": trace.print,
        "result": result,
        "rules": rules,
    })
}
