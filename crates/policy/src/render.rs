//! The policy log: a report as text, in the form of Terraform Enterprise's policy checks.

use std::fmt::Write;

use text::escaped;

use crate::{EngineKind, PolicyOutcome, PolicyReport, PolicyResult, SetReport, Verdict};

/// The report as the text that people read in the run's policy log. Ends with a newline. Text from policies and
/// plans is shown without the control characters that could drive a terminal.
pub fn render_text(report: &PolicyReport) -> String {
    let mut log = Log { text: String::new() };
    log.report(report);
    log.text
}

fn sentence(report: &PolicyReport) -> &'static str {
    match report.outcome {
        PolicyOutcome::Passed if report.counts.total_failed == 0 => "Every policy passed: the run may go on.",
        PolicyOutcome::Passed => "Only advisory policies failed: they stop nothing, and the run may go on.",
        PolicyOutcome::SoftFailed => {
            "A soft-mandatory policy failed: the run waits until a member of the owners team overrides it, or it is \
             discarded."
        }
        PolicyOutcome::HardFailed => {
            "A hard-mandatory policy failed: the run ends here, and nobody can override it."
        }
    }
}

/// What the log is of: scripts look for the reference's own words where there is nothing but Sentinel.
fn subject(report: &PolicyReport) -> &'static str {
    let mut engines = report.sets.iter().filter_map(|set| set.engine).peekable();
    match engines.peek().is_some() && engines.all(|engine| engine == EngineKind::Sentinel) {
        true => "Sentinel",
        false => "Policy",
    }
}

struct Log {
    text: String,
}

impl Log {
    fn report(&mut self, report: &PolicyReport) {
        let counts = report.counts;
        self.line(0, &format!("{} Result: {}", subject(report), report.outcome == PolicyOutcome::Passed));
        self.blank();
        self.line(0, sentence(report));
        self.blank();
        let evaluated: usize = report.sets.iter().map(|set| set.policies.len()).sum();
        let noun = if evaluated == 1 { "policy" } else { "policies" };
        self.line(0, &format!("{evaluated} {noun} evaluated."));
        if counts.total_failed > 0 {
            let failures = [
                ("hard-mandatory", counts.hard_failed),
                ("soft-mandatory", counts.soft_failed),
                ("advisory", counts.advisory_failed),
            ];
            let failed: Vec<_> =
                failures.iter().filter(|(_, n)| *n > 0).map(|(level, n)| format!("{n} {level}")).collect();
            self.line(0, &format!("{} passed, failed: {}.", counts.passed, failed.join(", ")));
        }
        for set in &report.sets {
            self.set(set);
        }
    }

    fn set(&mut self, set: &SetReport) {
        self.blank();
        let engine = set.engine.map(|engine| format!(" ({})", engine.title())).unwrap_or_default();
        self.line(0, &format!("# Policy Set: {}{engine}", set.name));
        if !set.warnings.is_empty() {
            self.blank();
            set.warnings.iter().for_each(|warning| self.line(0, &format!("Warning: {warning}")));
        }
        if let Some(error) = &set.error {
            self.blank();
            self.line(0, "Result: error");
            self.blank();
            self.line(0, "The set cannot be loaded, which counts as a hard-mandatory failure:");
            for mistake in error.mistakes() {
                self.line(2, &mistake.to_string());
            }
        }
        for (index, policy) in set.policies.iter().enumerate() {
            self.policy(index + 1, policy);
        }
    }

    fn policy(&mut self, number: usize, policy: &PolicyResult) {
        self.blank();
        self.line(0, &format!("## Policy {number}: {} ({})", escaped(&policy.name), policy.level));
        self.blank();
        self.line(0, &format!("Result: {}", policy.verdict.word()));
        if let Some(description) = &policy.description {
            self.blank();
            self.line(0, "Description:");
            self.line(2, description.trim());
        }
        match &policy.verdict {
            Verdict::Passed => {}
            Verdict::Failed { messages } => self.items("Messages:", messages),
            Verdict::Errored { error } => {
                self.blank();
                self.line(0, "Error:");
                self.line(2, error);
            }
        }
        if !policy.prints.is_empty() {
            self.blank();
            self.line(0, "Print output:");
            for print in &policy.prints {
                self.line(2, print);
            }
        }
        if !policy.trace.is_empty() {
            self.blank();
            self.line(0, "Trace:");
            self.line(2, &policy.trace);
        }
        if !policy.rules.is_empty() {
            self.blank();
            self.line(0, ::sentinel::rules_text(&policy.rules).trim_end());
        }
    }

    fn items(&mut self, title: &str, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.blank();
        self.line(0, title);
        for item in items {
            let mut lines = item.lines();
            self.line(2, &format!("- {}", lines.next().unwrap_or_default()));
            lines.for_each(|line| self.line(4, line));
        }
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes text, each of its lines indented.
    fn line(&mut self, indent: usize, text: &str) {
        for line in text.lines() {
            let start = self.text.len();
            let _ = write!(self.text, "{:indent$}", "");
            let columns: Vec<_> = line.split('\t').map(escaped).collect();
            self.text.push_str(&columns.join("\t"));
            let shown = self.text[start..].trim_end().len();
            self.text.truncate(start + shown);
            self.text.push('\n');
        }
    }
}
