//! Test reports as text and as JSON.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use super::{CaseReport, Mismatch, PolicyReport, Status, TestReport};
use crate::outcome::{rules_text, trace_json};
use crate::value::show::show_data;

impl TestReport {
    /// The report as people read it. The trace of a case that passed is shown when `verbose` is set.
    pub fn text(&self, verbose: bool) -> String {
        let mut out = String::new();
        for policy in &self.policies {
            write_policy(&mut out, policy, verbose);
        }
        if self.policies.is_empty() {
            out.push_str("no policies to test\n");
        }
        out
    }

    /// The report as other programs read it: the form of `sentinel test -json`.
    pub fn json(&self) -> Json {
        let policies: Map<String, Json> =
            self.policies.iter().map(|policy| (policy.path.clone(), policy_json(policy))).collect();
        json!({ "policies": policies, "duration": self.duration.as_millis() as u64 })
    }
}

fn line(out: &mut String, indent: usize, text: &str) {
    for line in text.lines() {
        if line.is_empty() {
            out.push('\n');
        } else {
            let _ = writeln!(out, "{:indent$}{line}", "");
        }
    }
}

fn write_policy(out: &mut String, policy: &PolicyReport, verbose: bool) {
    let status = policy.status();
    let files = if status == Status::None { " [no test files]" } else { "" };
    line(out, 0, &format!("{} - {}{files}", status.word(), policy.path));
    for error in &policy.errors {
        line(out, 2, &error.render());
    }
    for case in &policy.cases {
        line(out, 2, &format!("{} - {}", case.status.word(), case.path));
        write_case(out, case, verbose);
    }
}

fn write_case(out: &mut String, case: &CaseReport, verbose: bool) {
    for warning in &case.warnings {
        line(out, 4, &format!("warning: {warning}"));
    }
    if case.status == Status::Pass && !verbose {
        return;
    }
    for error in &case.errors {
        line(out, 4, &error.render());
    }
    for mismatch in &case.mismatches {
        line(out, 4, &describe(mismatch));
    }
    let Some(trace) = &case.trace else { return };
    if !trace.print.is_empty() {
        line(out, 4, "\nlogs:");
        line(out, 6, &trace.print);
    }
    if trace.rules.is_empty() {
        line(out, 4, "no rules were evaluated");
    } else {
        line(out, 4, "\ntrace:");
        line(out, 6, &rules_text(&trace.rules));
        out.push('\n');
    }
}

fn describe(mismatch: &Mismatch) -> String {
    let Mismatch { rule, expected, actual } = mismatch;
    match actual {
        Some(actual) => {
            format!("expected \"{rule}\" to be {}, got: {}", show_data(expected), show_data(actual))
        }
        None => format!("expected \"{rule}\" to be {}, but no such rule was evaluated", show_data(expected)),
    }
}

fn policy_json(policy: &PolicyReport) -> Json {
    let cases: Map<String, Json> =
        policy.cases.iter().map(|case| (case.path.clone(), case_json(case))).collect();
    json!({
        "path": policy.path,
        "status": policy.status().word(),
        "errors": errors_json(&policy.errors),
        "cases": cases,
    })
}

fn errors_json(errors: &[crate::error::Error]) -> Json {
    match errors {
        [] => Json::Null,
        errors => errors.iter().map(ToString::to_string).collect(),
    }
}

fn case_json(case: &CaseReport) -> Json {
    let detail: Map<String, Json> = case
        .mismatches
        .iter()
        .map(|mismatch| {
            let detail = json!({
                "expected": mismatch.expected,
                "actual": mismatch.actual,
                "message": describe(mismatch),
            });
            (mismatch.rule.clone(), detail)
        })
        .collect();
    let trace = case.trace.as_ref().map(|trace| trace_json(trace, case.result, case.errors.first()));
    json!({
        "path": case.path,
        "status": case.status.word(),
        "errors": errors_json(&case.errors),
        "trace": trace,
        "rule_detail": detail,
        "config_warnings": if case.warnings.is_empty() { Json::Null } else { json!(case.warnings) },
        "config_legacy": case.legacy,
        "duration": case.duration.as_millis() as u64,
    })
}
