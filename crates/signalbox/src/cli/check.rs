//! `signalbox config check FILE`.

use std::path::Path;

use config::{Checked, Config, Severity, Source, SystemHost};
use serde_json::json;

use super::failure::{Exit, Failure};
use super::output::Output;
use super::paint;

/// Every mistake at once, with its place: those of the file and those of the policy sets that it names. Warnings are
/// shown and are no mistakes.
pub(crate) fn run(file: &Path, output: Output) -> Result<Exit, Failure> {
    let Checked { findings, config } = Config::check(file, &SystemHost);
    let of_sets = config.as_ref().map(check_policy_sets).unwrap_or_default();
    let missing = config.as_ref().map(check_surroundings).unwrap_or_default();
    let mistakes = findings.count(Severity::Error) + of_sets.broken.len();
    let warnings = findings.count(Severity::Warning) + of_sets.warnings.len() + missing.len();
    let exit = if mistakes == 0 && config.is_some() { Exit::Success } else { Exit::Usage };
    if output.json {
        let document = json!({
            "file": file.display().to_string(),
            "valid": exit == Exit::Success,
            "policy_sets": of_sets.broken,
            "policy_set_warnings": of_sets.warnings,
            "missing": missing,
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
    for warning in of_sets.warnings.iter().chain(&missing) {
        output.note(&format!("{} {warning}\n", output.notes.with(paint::WAITS, "warning:")));
    }
    for mistake in &of_sets.broken {
        output.note(&format!("{} {mistake}\n", output.notes.with(paint::BAD, "error:")));
    }
    let counts = counts(mistakes, warnings);
    match config {
        Some(config) if exit == Exit::Success => {
            let has = [
                text::count(config.workspaces.len(), "workspace"),
                text::count(config.users.len(), "user"),
                text::count(config.teams.len(), "team"),
                text::count(config.policy_sets.len(), "policy set"),
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

/// What the file names and this machine does not have: runs would find that out.
pub(crate) fn check_surroundings(config: &Config) -> Vec<String> {
    let mut missing = Vec::new();
    let path = std::env::var("PATH").unwrap_or_default();
    for workspace in config.workspaces.values() {
        let mut is_missing = |what: String| missing.push(format!("workspace {:?}: {what}", workspace.name));
        match &workspace.source {
            Source::Directory { path } => {
                let root = path.join(&workspace.working_directory);
                if !path.is_dir() {
                    is_missing(format!("its source {} is no directory here", path.display()));
                } else if !root.is_dir() {
                    is_missing(format!("its working directory {} is not there", root.display()));
                }
            }
            Source::Git(git) => {
                let local = git.url.strip_prefix("file://").unwrap_or(&git.url);
                if local.starts_with('/') && !Path::new(local).exists() {
                    is_missing(format!("its repository {local} is not there"));
                }
            }
        }
        if let Some(terraform) =
            workspace.terraform.as_ref().filter(|it| engine::find_program(it, &path).is_none())
        {
            is_missing(format!("its terraform {} is not there", terraform.display()));
        }
    }
    if engine::find_program(&config.server.terraform, &path).is_none() {
        missing.push(format!(
            "the terraform of the server block, {}, is not there",
            config.server.terraform.display()
        ));
    }
    missing
}

/// The configuration; the mistakes of one that can't be used are shown.
pub(crate) fn loaded(file: &Path, output: Output) -> Option<Config> {
    let loaded = Config::load(file, &SystemHost);
    let shown = loaded.inspect_err(|mistakes| {
        output.note(mistakes.render(output.notes.colour()).trim_end_matches('\n'));
    });
    shown.ok().map(|loaded| loaded.config)
}

/// What is to be said of policy sets before a run meets them.
#[derive(Default)]
pub(crate) struct PolicySetFindings {
    /// The sets that would fail every run they apply to, each with all its mistakes and their places.
    pub(crate) broken: Vec<String>,
    /// What of the others has no effect.
    pub(crate) warnings: Vec<String>,
}

/// Loads the policy sets of a configuration. Fetches what they name of remote sources, so it may take seconds.
pub(crate) fn check_policy_sets(config: &Config) -> PolicySetFindings {
    let mut findings = PolicySetFindings::default();
    for set in config.policy_sets.values() {
        let of = |what: &dyn std::fmt::Display| {
            format!("policy set {:?} in {}: {what}", set.name, set.path.display())
        };
        match policy::PolicySet::load(set.name.as_str(), &set.path, &engine::set_settings(set)) {
            Ok(loaded) => findings.warnings.extend(loaded.warnings().iter().map(|warning| of(warning))),
            Err(error) => findings.broken.push(of(&error)),
        }
    }
    findings
}

fn counts(mistakes: usize, warnings: usize) -> String {
    [(mistakes, "mistake"), (warnings, "warning")]
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| text::count(number, name))
        .collect::<Vec<_>>()
        .join(", ")
}
