//! `signalbox config check FILE`.

use std::path::Path;

use config::{Checked, Config, Severity, SystemHost};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;
use super::paint;

/// Every mistake at once, with its place: those of the file and those of the policy sets that it names. Warnings are
/// shown and are no mistakes.
pub(crate) fn run(file: &Path, output: Output) -> Result<Exit, Failure> {
    let Checked { findings, config } = Config::check(file, &SystemHost);
    let broken = config.as_ref().map(broken_policy_sets).unwrap_or_default();
    let mistakes = findings.count(Severity::Error) + broken.len();
    let exit = if mistakes == 0 && config.is_some() { Exit::Success } else { Exit::Usage };
    if output.json {
        let document = json!({
            "file": file.display().to_string(),
            "valid": exit == Exit::Success,
            "policy-sets": broken,
            "errors": findings.count(Severity::Error),
            "warnings": findings.count(Severity::Warning),
            "diagnostics": findings,
        });
        output.document(&document, false)?;
        return Ok(exit);
    }
    let rendered = findings.render(output.notes.colour());
    if !rendered.is_empty() {
        output.note(rendered.trim_end_matches('\n'));
        output.note("");
    }
    for mistake in &broken {
        output.note(&format!("{} {mistake}\n", output.notes.with(paint::BAD, "error:")));
    }
    let counts = counts(mistakes, findings.count(Severity::Warning));
    match config {
        Some(config) if exit == Exit::Success => {
            let has = [
                plural(config.workspaces.len(), "workspace"),
                plural(config.users.len(), "user"),
                plural(config.teams.len(), "team"),
                plural(config.policy_sets.len(), "policy set"),
            ];
            let good = output.paint.with(paint::GOOD, "ok");
            let counts = if counts.is_empty() { counts } else { format!("; {counts}") };
            output.print(&format!("{}: {good}: {}{counts}\n", file.display(), has.join(", ")))?;
        }
        _ => {
            let bad = output.notes.with(paint::BAD, "error:");
            output.note(&format!("{bad} {} can't be used: {counts}", file.display()));
        }
    }
    Ok(exit)
}

/// The policy sets that would fail every run they apply to, each with all its mistakes and their places.
pub(crate) fn broken_policy_sets(config: &Config) -> Vec<String> {
    let load = |set: &config::PolicySetConfig| policy::PolicySet::load(set.name.as_str(), &set.path).err();
    config
        .policy_sets
        .values()
        .filter_map(|set| {
            Some(format!("policy set {:?} in {}: {}", set.name, set.path.display(), load(set)?))
        })
        .collect()
}

fn counts(mistakes: usize, warnings: usize) -> String {
    [(mistakes, "mistake"), (warnings, "warning")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| plural(count, name))
        .collect::<Vec<_>>()
        .join(", ")
}

fn plural(count: usize, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}
