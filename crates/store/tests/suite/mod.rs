//! What every store has to do, whatever database is below it. Each test gets an empty store.

pub(crate) mod configurations;
pub(crate) mod lists;
pub(crate) mod property;
pub(crate) mod retention;
pub(crate) mod runs;
pub(crate) mod states;
pub(crate) mod workspaces;

use jiff::{SignedDuration, Timestamp};
use lifecycle::id::RunId;
use lifecycle::{Event, Facts, PlanOutcome, State, WorkspaceRights};
use store::{
    Actor, NewRun, NewWorkspace, RecordError, Run, RunEvent, RunOptions, RunUpdate, Store, Workspace,
};

/// Makes a test of each rule for the database that `$open` opens: an async function that returns a store
/// and whatever has to outlive it. A rule that is missing here is reported as never used.
macro_rules! conformance {
    ($open:ident; $($group:ident: $($rule:ident)*;)*) => {$(
        mod $group {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $rule() {
                    let (store, _bed) = crate::$open().await;
                    crate::suite::$group::$rule(store).await;
                }
            )*
        }
    )*};
}

macro_rules! conformance_of {
    ($open:ident) => {
        crate::suite::conformance! { $open;
            workspaces:
                a_name_keeps_its_id_and_a_workspace_that_comes_back_is_the_old_one
                the_config_file_touches_only_its_own_workspaces
                a_removed_workspace_takes_no_new_runs_and_its_runs_go_on
                a_removed_workspace_keeps_its_access_while_a_run_is_under_way_and_a_day_longer
                of_two_who_lock_at_once_one_does
                only_the_holder_unlocks_and_who_forces_it
                a_workspace_that_a_run_holds_cannot_be_locked;
            runs:
                a_run_is_kept_with_everything_that_was_asked_for
                a_run_needs_a_workspace_and_an_id_of_its_own
                of_many_decisions_at_once_one_wins
                a_force_cancel_is_held_against_the_time_of_the_cancel
                a_final_run_never_changes
                a_refused_event_leaves_no_trace
                every_change_of_state_is_in_the_journal
                what_is_learnt_on_the_way_is_kept
                who_confirmed_is_kept_and_an_auto_apply_is_nobodys
                a_run_starts_only_when_its_turn_has_come
                a_lock_keeps_runs_from_starting_but_no_plan_only_run
                a_write_goes_to_its_end_when_nobody_waits_for_it
                changes_are_told_after_they_can_be_read
                who_fell_behind_catches_up_from_the_journal;
            lists:
                runs_queued_at_once_get_one_order
                a_long_history_is_listed_as_a_short_one_is
                runs_that_are_over_leave_the_queue
                the_current_run_holds_the_workspace_or_is_the_newest_final
                runs_are_found_by_each_filter_alone_and_together
                a_reader_finds_what_lies_in_the_workspaces_of_their_teams
                workspaces_are_found_by_name_and_by_the_state_of_their_run
                workspaces_are_in_the_order_that_was_asked_for
                a_search_takes_signs_of_patterns_literally
                pages_are_newest_first_and_know_the_total;
            configurations:
                a_configuration_is_announced_and_then_finished_once
                the_current_configuration_is_the_newest_uploaded_one_that_is_not_speculative
                a_run_takes_no_configuration_of_another_workspace;
            states:
                a_state_only_goes_forward
                a_state_taken_twice_is_one_version
                states_of_workspaces_are_apart
                of_two_states_with_one_serial_one_is_taken
                a_workspace_shows_its_newest_state;
            retention:
                what_is_not_kept_goes_and_its_space_comes_back
                what_goes_on_or_is_needed_stays_however_old_it_is
                a_blob_that_only_an_error_names_stays
                nothing_that_is_put_fails_for_a_sweep;
            property:
                random_runs_are_as_the_table_says;
        }
    };
}
pub(crate) use {conformance, conformance_of};

/// A moment, this many seconds after an arbitrary one, with digits down to the last nanosecond.
pub(crate) fn at(seconds: i64) -> Timestamp {
    let base: Timestamp = "2026-03-01T12:00:00.123456789Z".parse().unwrap();
    base + SignedDuration::from_secs(seconds)
}

pub(crate) async fn workspace(store: &Store, name: &str) -> Workspace {
    store.create_workspace(NewWorkspace::named(name, at(0))).await.unwrap()
}

pub(crate) fn new_run(workspace: &Workspace, facts: Facts) -> NewRun {
    NewRun {
        id: RunId::generate(),
        workspace: workspace.id,
        facts,
        options: RunOptions::default(),
        source: "tfe-api".into(),
        created_by: "ada".into(),
        created_at: at(1),
        configuration_version: None,
    }
}

pub(crate) async fn queued(store: &Store, workspace: &Workspace) -> Run {
    store.create_run(new_run(workspace, Facts::default())).await.unwrap()
}

pub(crate) async fn queued_plan_only(store: &Store, workspace: &Workspace) -> Run {
    store.create_run(new_run(workspace, Facts { plan_only: true, ..Facts::default() })).await.unwrap()
}

/// The event, a second after the run's last one.
pub(crate) fn event(run: &Run, event: Event) -> RunEvent {
    RunEvent {
        run: run.id,
        event,
        creator: WorkspaceRights::OWNER,
        by: if event.is_action() { Actor::User("grace".into()) } else { Actor::System },
        why: None,
        at: run.updated_at + SignedDuration::from_secs(1),
        update: RunUpdate::default(),
    }
}

pub(crate) async fn record(store: &Store, run: &Run, happened: Event) -> Result<Run, RecordError> {
    store.record(event(run, happened)).await
}

/// Takes the run through these events, all of which have to be legal.
pub(crate) async fn through(store: &Store, run: &Run, events: &[Event]) -> Run {
    let mut run = run.clone();
    for event in events {
        run = record(store, &run, *event).await.unwrap();
    }
    run
}

pub(crate) const PLANNED: Event = Event::PlanEnded { outcome: PlanOutcome::Changes, policies: false };
pub(crate) const UNCHANGED: Event = Event::PlanEnded { outcome: PlanOutcome::NoChanges, policies: false };
pub(crate) const TO_CONFIRMATION: [Event; 3] = [Event::Start, Event::Launch, PLANNED];
pub(crate) const TO_NO_CHANGES: [Event; 3] = [Event::Start, Event::Launch, UNCHANGED];

/// The run in a final state, as the newest of its workspace.
pub(crate) async fn finished(store: &Store, workspace: &Workspace) -> Run {
    let run = through(store, &queued(store, workspace).await, &TO_NO_CHANGES).await;
    assert_eq!(run.state, State::NoChanges);
    run
}
