//! `signalbox config check FILE`.

use std::path::Path;

use config::{Config, Diagnostics, Severity, SystemHost};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;
use super::paint;

/// Every mistake at once, with its place. Warnings are shown and are no mistakes.
pub(crate) fn run(file: &Path, output: Output) -> Result<Exit, Failure> {
    let loaded = Config::load(file, &SystemHost);
    let (findings, exit) = match &loaded {
        Ok(loaded) => (&loaded.warnings, Exit::Success),
        Err(mistakes) => (mistakes, Exit::Usage),
    };
    if output.json {
        let broken = loaded.as_ref().map(|loaded| broken_policy_sets(&loaded.config)).unwrap_or_default();
        let exit = if broken.is_empty() { exit } else { Exit::Usage };
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
    if let Ok(loaded) = &loaded {
        let broken = broken_policy_sets(&loaded.config);
        if !broken.is_empty() {
            for mistake in &broken {
                output.note(mistake);
            }
            let bad = output.notes.with(paint::BAD, "error:");
            output.note(&format!("{bad} {} can't be loaded", plural(broken.len(), "policy set")));
            return Ok(Exit::Usage);
        }
    }
    let rendered = findings.render(output.notes.colour());
    if !rendered.is_empty() {
        output.note(rendered.trim_end_matches('\n'));
        output.note("");
    }
    let counts = counts(findings);
    match &loaded {
        Ok(loaded) => {
            let config = &loaded.config;
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
        Err(_) => {
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

fn counts(findings: &Diagnostics) -> String {
    [(Severity::Error, "mistake"), (Severity::Warning, "warning")]
        .into_iter()
        .map(|(severity, name)| (findings.count(severity), name))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| plural(count, name))
        .collect::<Vec<_>>()
        .join(", ")
}

fn plural(count: usize, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}
