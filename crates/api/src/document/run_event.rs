//! The journal of a run as the API's run events, with comments.

use lifecycle::id::{self, RunEventId};
use lifecycle::{Rule, wire as status};
use store::{Actor, JournalEntry};
use wire::{
    CommentAttributes, CommentResource, Identifier, Relationship, RunAttributes, RunEvent,
    RunEventAttributes, RunEventRelationships, User,
};

use super::user;

/// A comment that came with an action; it shares the suffix of its journal entry.
pub(crate) enum Comment {}

impl id::Kind for Comment {
    const PREFIX: &'static str = "comment-";
    const NAME: &'static str = "comment";
}

/// An entry of the journal.
pub(crate) fn resource(entry: &JournalEntry) -> RunEvent {
    let attributes = RunEventAttributes {
        action: action(entry).into(),
        description: description(entry),
        created_at: entry.at,
    };
    let comment = comment_text(entry).map(|_| Identifier::of::<CommentAttributes>(comment_id(entry.id)));
    RunEvent::new(entry.id, attributes)
        .related(RunEventRelationships {
            run: Relationship::one::<RunAttributes>(entry.run),
            actor: Relationship::optional(entry.by.user().map(user::identifier)),
            comment: Relationship::optional(comment),
        })
        .link("self", format!("/api/v2/run-events/{}", entry.id))
}

/// Who did it, as a resource of its own.
pub(crate) fn actor(entry: &JournalEntry) -> Option<User> {
    entry.by.user().map(user::resource)
}

/// What they said.
pub(crate) fn comment(entry: &JournalEntry) -> Option<CommentResource> {
    let attributes = CommentAttributes { body: comment_text(entry)?.to_owned() };
    Some(CommentResource::new(comment_id(entry.id), attributes))
}

fn comment_id(entry: RunEventId) -> id::Id<Comment> {
    entry.sibling()
}

/// What a person wrote; the daemon's own reasons are descriptions.
fn comment_text(entry: &JournalEntry) -> Option<&str> {
    match entry.by {
        Actor::User(_) => entry.why.as_deref(),
        Actor::System => None,
    }
}

/// The status that was reached, or what was asked for where that changes no status.
fn action(entry: &JournalEntry) -> &'static str {
    match entry.rule {
        None => "queued",
        Some(Rule::CancelRequested) => "cancel_requested",
        Some(Rule::ForceCancelRequested) => "force_cancel_requested",
        Some(Rule::Fetched) => "fetched",
        Some(Rule::T13) => "overridden",
        Some(Rule::T9) => "confirmed",
        Some(Rule::T17) if entry.to == lifecycle::State::Applying(lifecycle::Work::Queued) => "confirmed",
        Some(_) => status::run_status(entry.to),
    }
}

fn description(entry: &JournalEntry) -> String {
    let by = &entry.by;
    let what = match (entry.rule, entry.from) {
        (Some(Rule::CancelRequested), _) => format!("Cancel requested by {by}"),
        (Some(Rule::ForceCancelRequested), _) => format!("Force-cancel requested by {by}"),
        (Some(_), Some(from)) if from.name() != entry.to.name() => {
            format!("{} to {} by {by}", from.name(), entry.to.name())
        }
        (Some(Rule::Fetched), _) => "Configuration fetched".to_owned(),
        (Some(Rule::Launched), _) => format!("{} started", entry.to.name()),
        _ => format!("Queued by {by}"),
    };
    match (&entry.by, &entry.why) {
        (Actor::System, Some(why)) => format!("{what}: {why}"),
        _ => what,
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::{Execution, State, Work};

    use super::super::fixture;
    use super::*;

    fn entry(
        by: Actor,
        from: Option<State>,
        to: State,
        rule: Option<Rule>,
        why: Option<&str>,
    ) -> JournalEntry {
        JournalEntry {
            id: RunEventId::from_entropy([5; 16]),
            run: fixture::run_id(),
            seq: 1,
            at: fixture::at(1),
            by,
            from,
            to,
            rule,
            why: why.map(str::to_owned),
        }
    }

    #[test]
    fn what_happened_is_told_in_words_with_who_did_it() {
        let user = || Actor::User("owner".into());
        let running = Execution::Running;
        let planning = |execution| State::Planning(Work::Executing(execution));
        let table = [
            (entry(user(), None, State::Pending, None, None), "queued", "Queued by owner"),
            (
                entry(
                    Actor::System,
                    Some(State::Pending),
                    State::Planning(Work::Queued),
                    Some(Rule::T1),
                    None,
                ),
                "plan_queued",
                "Pending to Planning by system",
            ),
            (
                entry(
                    Actor::System,
                    Some(State::Planning(Work::Queued)),
                    planning(running),
                    Some(Rule::Launched),
                    None,
                ),
                "planning",
                "Planning started",
            ),
            (
                entry(
                    Actor::System,
                    Some(planning(running)),
                    State::PlanErrored(lifecycle::Stage::Plan),
                    Some(Rule::T3),
                    Some("init exited 1"),
                ),
                "errored",
                "Planning to Plan Errored by system: init exited 1",
            ),
            (
                entry(
                    user(),
                    Some(planning(running)),
                    planning(Execution::Canceling),
                    Some(Rule::CancelRequested),
                    Some("wrong region"),
                ),
                "cancel_requested",
                "Cancel requested by owner",
            ),
            (
                entry(
                    user(),
                    Some(State::PolicyOverride),
                    State::PolicyChecked,
                    Some(Rule::T13),
                    Some("agreed"),
                ),
                "overridden",
                "Policy Override to Policy Checked by owner",
            ),
            (
                entry(
                    user(),
                    Some(State::PolicyChecked),
                    State::Applying(Work::Queued),
                    Some(Rule::T17),
                    None,
                ),
                "confirmed",
                "Policy Checked to Applying by owner",
            ),
            (
                entry(
                    user(),
                    Some(State::PolicyChecked),
                    State::Discarded(lifecycle::Stage::Plan),
                    Some(Rule::T17),
                    None,
                ),
                "discarded",
                "Policy Checked to Discarded by owner",
            ),
        ];
        for (entry, expected_action, expected_words) in table {
            assert_eq!((action(&entry), description(&entry).as_str()), (expected_action, expected_words));
        }
    }

    #[test]
    fn the_document_of_an_override_with_its_comment() {
        let by = Actor::User("owner".into());
        let entry =
            entry(by, Some(State::PolicyOverride), State::PolicyChecked, Some(Rule::T13), Some("agreed"));
        fixture::snapshot("run_event_overridden", &resource(&entry));
        fixture::snapshot("comment", &comment(&entry).unwrap());
    }

    #[test]
    fn the_daemons_own_reason_is_no_comment() {
        let entry = entry(Actor::System, None, State::Pending, None, Some("lost"));
        assert!(comment(&entry).is_none() && actor(&entry).is_none());
    }
}
