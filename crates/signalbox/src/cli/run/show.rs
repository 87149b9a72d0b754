use std::fmt::Write as _;

use client::{PolicyCheck, ResourceCounts, Run, RunEvent};
use jiff::Timestamp;
use review::Review;
use wire::PolicyResult;

use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::json_output::RunDetails;
use super::super::next_steps::{next_steps, waits_for_others};
use super::super::paint::{self, Paint};
use super::super::review as reviewing;
use super::super::{terminal, time};

/// So many characters of a commit's hash are shown.
const SHORT_SHA: usize = 10;

/// What there is to show of a run.
pub(crate) struct Shown {
    pub(crate) run: Run,
    checks: Vec<PolicyCheck>,
    events: Vec<RunEvent>,
    pub(crate) review: Option<Review>,
}

pub(super) async fn run(id: &str, context: &Context) -> Result<Exit, Failure> {
    let shown = Shown::fetch(id, context).await?;
    let output = context.output;
    if output.json {
        let Shown { run, checks, events, review } = &shown;
        output.document(&RunDetails::new(run, review.as_ref(), checks, events), false)?;
    } else {
        output.print(&shown.whole(Timestamp::now(), output.paint))?;
    }
    Ok(Exit::Success)
}

impl Shown {
    pub(crate) async fn fetch(id: &str, context: &Context) -> Result<Self, Failure> {
        let client = &context.client;
        let (run, checks, events, review) = tokio::try_join!(
            client.run(id),
            client.policy_checks(id),
            client.run_events(id),
            client.review(id)
        )?;
        Ok(Self { run, checks, events, review })
    }

    /// Everything, for who wants to know.
    fn whole(&self, now: Timestamp, paint: Paint) -> String {
        let Self { run, events, .. } = self;
        let mut text = self.for_decision(usize::MAX, now, paint);
        let heading = |text: &str| paint.with(paint::HEADING, text);
        if let Some(why) = run.error() {
            let heading = if run.is_errored() { paint.with(paint::BAD, "Error") } else { heading("Reason") };
            let _ = writeln!(text, "\n{heading}\n  {}", terminal::text(why).trim().replace('\n', "\n  "));
        }
        if !events.is_empty() {
            let _ = writeln!(text, "\n{}", heading("Timeline"));
            timeline(events, run.created_at, paint, &mut text);
        }
        let steps = next_steps(run);
        if !steps.is_empty() {
            let _ = writeln!(text, "\n{}", heading("Next"));
            let width = steps.iter().map(|step| step.command.len()).max().unwrap_or(0);
            for step in steps {
                let does = paint.with(paint::FAINT, step.does);
                let _ = writeln!(text, "  {:width$}  {does}", terminal::line(&step.command));
            }
        }
        if let Some(whom) = waits_for_others(run) {
            let _ = writeln!(text, "  {whom}");
        }
        text
    }

    /// What one has to know before saying yes. At most `most` changes are named.
    pub(crate) fn for_decision(&self, most: usize, now: Timestamp, paint: Paint) -> String {
        let Self { run, checks, review, .. } = self;
        let mut text = String::new();
        let canceling = if run.is_canceling() { ", canceling" } else { "" };
        let id = paint.with(paint::HEADING, &terminal::line(&run.id));
        // writing into a string can't fail
        let _ = writeln!(text, "{id}  {}{canceling}", paint.state(run));
        for (name, value) in fields(run, checks, now) {
            if !value.is_empty() {
                let _ = writeln!(text, "{} {value}", paint.with(paint::FAINT, &format!("{name:<11}")));
            }
        }
        let failed = failed_policies(checks);
        if !failed.is_empty() {
            let _ = writeln!(text, "\n{}", paint.with(paint::HEADING, "Failed policies"));
            let width = failed.iter().map(|(policy, ..)| policy.chars().count()).max().unwrap_or(0);
            for (policy, how, description) in failed {
                let line = format!("  {policy:width$}  {how}  {}", paint.with(paint::FAINT, &description));
                let _ = writeln!(text, "{}", line.trim_end());
            }
        }
        if let Some(review) = review {
            text += &reviewing::sections(review, most, &format!("signalbox run show {}", run.id), paint);
        }
        text
    }
}

fn fields(run: &Run, checks: &[PolicyCheck], now: Timestamp) -> Vec<(&'static str, String)> {
    let queued = match &run.created_by {
        Some(name) => format!("{} by {}", time::exact_and_ago(run.created_at, now), terminal::line(name)),
        None => time::exact_and_ago(run.created_at, now),
    };
    let plan = run.plan.as_ref().map(|plan| {
        let words = ["to import", "to add", "to change", "to destroy"];
        with_counts(&plan.status, words, plan.resources)
    });
    let apply = run.apply.as_ref().map(|apply| {
        let words = ["imported", "added", "changed", "destroyed"];
        with_counts(&apply.status, words, apply.resources)
    });
    let wait = match run.force_cancel_available_at {
        Some(at) if run.is_canceling() && at > now => {
            format!("can be killed in {}", time::took(time::between(now, at)))
        }
        _ => String::new(),
    };
    vec![
        ("Waits for", terminal::line(run.waits_for().unwrap_or_default())),
        ("Workspace", terminal::line(run.workspace_name.as_deref().unwrap_or_default())),
        ("Message", terminal::line(&run.message)),
        ("Queued", queued),
        ("Commit", commit(run)),
        ("Kind", kind(run)),
        ("Variables", variables(run)),
        ("Targets", terminal::line(&run.options.target_addrs.join(", "))),
        ("Replaces", terminal::line(&run.options.replace_addrs.join(", "))),
        ("Terraform", terminal::line(run.terraform_version.as_deref().unwrap_or_default())),
        ("Plan", plan.unwrap_or_default()),
        ("Policies", checks.iter().map(policy_check).collect::<Vec<_>>().join("; ")),
        ("Apply", apply.unwrap_or_default()),
        ("Cancel", wait),
    ]
}

/// As `1a2b3c4 Widen the quay, by Ada (main of https://git.example/infra.git)`.
fn commit(run: &Run) -> String {
    let Some(commit) = &run.commit else { return String::new() };
    let sha: String = commit.commit_sha.chars().take(SHORT_SHA).collect();
    let subject = commit.commit_message.as_deref().and_then(|message| message.lines().next());
    let subject = subject.map(|subject| format!(" {subject}")).unwrap_or_default();
    let author = commit.sender_username.as_ref().map(|author| format!(", by {author}")).unwrap_or_default();
    terminal::line(&format!("{sha}{subject}{author} ({} of {})", commit.branch, commit.clone_url))
}

/// Those of this run alone.
fn variables(run: &Run) -> String {
    let shown = run
        .variables
        .iter()
        .map(|variable| format!("{} = {}", variable.key, variable.value.as_deref().unwrap_or("(sensitive)")));
    terminal::line(&shown.collect::<Vec<_>>().join(", "))
}

/// The status of a plan or an apply with what it is about, once that is known. Imports are rare, and are left out
/// where there are none.
fn with_counts(status: &str, words: [&str; 4], resources: ResourceCounts) -> String {
    let status = terminal::line(status);
    let ResourceCounts { additions, changes, destructions, imports } = resources;
    let counts = [additions, changes, destructions];
    if counts.contains(&None) {
        return status;
    }
    let all = std::iter::once(imports.filter(|imports| *imports > 0)).chain(counts).zip(words);
    let counted: Vec<_> = all.filter_map(|(count, word)| Some(format!("{} {word}", count?))).collect();
    format!("{status}: {}", counted.join(", "))
}

fn kind(run: &Run) -> String {
    let facts = [(run.plan_only, "plan-only"), (run.is_destroy, "destroy")];
    let facts = facts.into_iter().filter(|(is, _)| *is).map(|(_, name)| name);
    let auto_apply = run.auto_apply.then_some("auto-apply");
    facts.chain(run.options.modes()).chain(auto_apply).collect::<Vec<_>>().join(", ")
}

fn policy_check(check: &PolicyCheck) -> String {
    let status = terminal::line(&check.status.replace('_', " "));
    let Some(result) = &check.result else { return status };
    let counts = [
        (result.passed, "passed"),
        (result.hard_failed, "hard-mandatory failed"),
        (result.soft_failed, "soft-mandatory failed"),
        (result.advisory_failed, "advisory failed"),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if counts.is_empty() { status } else { format!("{status}: {}", counts.join(", ")) }
}

/// The policies that did not pass: set and name, how they failed, and the first line of what they are for. A set that
/// could not be loaded is one of them.
fn failed_policies(checks: &[PolicyCheck]) -> Vec<(String, String, String)> {
    let mut failed = Vec::new();
    let sets = checks.iter().filter_map(|check| check.result.as_ref()).flat_map(PolicyResult::sets);
    for set in sets {
        if set.error.is_some() {
            failed.push((terminal::line(&set.name), "can't be loaded".to_owned(), String::new()));
        }
        for policy in set.policies.iter().filter(|policy| policy.result != "passed") {
            let description = policy.description.as_deref().and_then(|text| text.trim().lines().next());
            failed.push((
                terminal::line(&format!("{}/{}", set.name, policy.name)),
                terminal::line(&format!("{} ({})", policy.result, policy.level)),
                terminal::line(description.unwrap_or_default()),
            ));
        }
    }
    failed
}

/// Each with the time since the run was queued, which is what one wants to compare.
fn timeline(events: &[RunEvent], start: Timestamp, paint: Paint, text: &mut String) {
    for event in events {
        let since = format!("+{}", time::took(time::between(start, event.created_at)));
        let what: &str = if event.description.is_empty() { &event.action } else { &event.description };
        let when = paint.with(paint::FAINT, &format!("{}  {since:<8}", time::exact(event.created_at)));
        let _ = writeln!(text, "  {when} {}", terminal::line(what));
        if let Some(comment) = &event.comment {
            let _ = writeln!(text, "  {:33} “{}”", "", terminal::line(comment));
        }
    }
}

#[cfg(test)]
mod tests {
    use client::{CheckedPolicy, CheckedSet, PlanOptions};
    use lifecycle::State;
    use serde_json::json;
    use wire::{NullIfEmpty, RunEventAttributes, ShownVariable};

    use super::*;
    use crate::cli::sample;

    #[test]
    fn a_plan_and_an_apply_are_shown_with_what_they_are_about_once_that_is_known() {
        let words = ["imported", "added", "changed", "destroyed"];
        let shown = |imports, rest| {
            let counts = ResourceCounts { imports, additions: rest, changes: rest, destructions: rest };
            with_counts("finished", words, counts)
        };
        assert_eq!(shown(Some(0), Some(2)), "finished: 2 added, 2 changed, 2 destroyed");
        assert_eq!(shown(Some(3), Some(0)), "finished: 3 imported, 0 added, 0 changed, 0 destroyed");
        assert_eq!(shown(None, Some(0)), "finished: 0 added, 0 changed, 0 destroyed");
        assert_eq!(shown(None, None), "finished");
    }

    #[test]
    fn a_run_is_shown_with_its_history_and_what_can_be_done() {
        let run = sample::run(State::PolicyOverride, |run| {
            run.message = "more berths\u{1b}[2J".into();
            run.is_destroy = true;
            run.options = NullIfEmpty(PlanOptions {
                target_addrs: vec!["a.b".into(), "c.d".into()],
                ..PlanOptions::default()
            });
            run.terraform_version = Some("1.11.4".into());
            run.variables = vec![
                ShownVariable { key: "size".into(), value: Some("\"large\"".into()) },
                ShownVariable { key: "password".into(), value: None },
            ];
            run.permissions.can_override_policy_check = true;
            run.permissions.can_discard = true;
        });
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let event = |action: &'static str, description: &str, created_at, comment: Option<&str>| {
            let description = description.to_owned();
            let attributes = RunEventAttributes { action: action.into(), description, created_at };
            let resource = wire::RunEvent::new("re-1", attributes);
            RunEvent { resource, actor: None, comment: comment.map(str::to_owned) }
        };
        let events = [
            event("queued", "Queued by operator", at("2026-01-01T00:00:00Z"), None),
            event("overridden", "", at("2026-01-01T00:01:05Z"), Some("known")),
        ];
        let policy = |name: &str, result: &str, description: &str| CheckedPolicy {
            name: name.into(),
            level: "soft-mandatory".into(),
            result: result.into(),
            description: (!description.is_empty()).then(|| description.to_owned()),
            ..CheckedPolicy::default()
        };
        let policies = vec![
            policy("berths", "failed", "Four berths at most.\nMore cost too much."),
            policy("names", "passed", ""),
            policy("tags-of-everything", "errored", ""),
        ];
        let sets = [
            CheckedSet { name: "harbour".into(), policies, ..CheckedSet::default() },
            CheckedSet { name: "broken".into(), error: Some(json!([])), ..CheckedSet::default() },
        ];
        let attributes = json!({
            "status": "soft_failed", "status-timestamps": {}, "scope": "organization",
            "actions": { "is-overridable": true }, "permissions": { "can-override": true },
            "result": {
                "result": false, "passed": 0, "total-failed": 0, "hard-failed": 0, "soft-failed": 0,
                "advisory-failed": 0, "duration": 1, "duration-ms": 1, "sentinel": { "sets": sets },
            },
        });
        let check = PolicyCheck::new("polchk-1", serde_json::from_value(attributes).unwrap());
        let json = r#"{"terraform_version":"1.11.4","resource_changes":[
            {"address":"a.b","change":{"actions":["delete"]}},{"address":"c.d","change":{"actions":["create"]}}]}"#;
        let review = Review::read(json.as_bytes()).ok();
        let shown = Shown { run, checks: vec![check], events: events.into(), review };
        insta::assert_snapshot!("show", shown.whole(at("2026-01-01T00:03:00Z"), Paint::new(false)));
    }
}
