use std::time::Duration;

use jiff::SignedDuration;
use lifecycle::id::{RunEventId, RunId, WorkspaceId};
use lifecycle::{
    Event, Execution, Facts, Illegal, PlanOptions, PlanOutcome, PolicyOutcome, Rule, RunVariable, Stage,
    State, Work,
};
use store::{
    Actor, Cancel, Change, Digest, Error, Lock, NewConfigurationVersion, NewRun, PlanSummary,
    PolicyCheckRecord, PolicyCounts, RecordError, RunEvent, RunOptions, RunUpdate, Store,
};

use super::{
    TO_CONFIRMATION, TO_NO_CHANGES, at, event, finished, new_run, queued, queued_plan_only, record, through,
    workspace,
};

pub(crate) async fn a_run_is_kept_with_everything_that_was_asked_for(store: Store) {
    let network = workspace(&store, "network").await;
    let new = NewRun {
        facts: Facts { destroy: true, auto_apply: true, queued_with_apply_right: true, ..Facts::default() },
        options: RunOptions {
            allow_new_state: false,
            message: "größer; -- 'quoted' \u{0} \n".into(),
            plan: PlanOptions {
                refresh: false,
                refresh_only: true,
                target_addrs: vec!["module.a[\"x\"].terraform_data.b".into()],
                replace_addrs: vec!["terraform_data.c".into(), "terraform_data.d".into()],
            },
            variables: vec![RunVariable { key: "password".into(), value: "\"hunter2\"".into() }],
        },
        source: "terraform+cloud".into(),
        ..new_run(&network, Facts::default())
    };
    let run = store.create_run(new.clone()).await.unwrap();
    assert_eq!(store.run(run.id).await.unwrap(), run);
    assert_eq!(
        (run.id, run.workspace, run.facts, &run.options),
        (new.id, new.workspace, new.facts, &new.options)
    );
    assert_eq!((run.source.as_str(), run.created_by.as_str()), ("terraform+cloud", "ada"));
    assert_eq!((run.state, run.version), (State::Pending, 1));
    assert_eq!((run.created_at, run.updated_at, run.state_changed_at), (at(1), at(1), at(1)));
    assert!(!format!("{run:?}").contains("hunter2"));

    let journal = store.journal(run.id).await.unwrap();
    let [first] = journal.as_slice() else { panic!("{journal:?}") };
    assert_eq!((first.from, first.to, first.rule), (None, State::Pending, None));
    assert_eq!((&first.by, first.at), (&Actor::User("ada".into()), at(1)));
}

pub(crate) async fn a_run_needs_a_workspace_and_an_id_of_its_own(store: Store) {
    let network = workspace(&store, "network").await;
    let run = queued(&store, &network).await;
    let again = NewRun { id: run.id, ..new_run(&network, Facts::default()) };
    assert_eq!(store.create_run(again).await, Err(Error::Exists(run.id.to_string())));

    let nowhere = WorkspaceId::generate();
    let lost = NewRun { workspace: nowhere, ..new_run(&network, Facts::default()) };
    assert_eq!(store.create_run(lost.clone()).await, Err(Error::NotFound(nowhere.to_string())));
    assert_eq!(store.run(lost.id).await, Err(Error::NotFound(lost.id.to_string())));
    assert_eq!(store.queue(network.id).await.unwrap(), [run.entry()]);
}

pub(crate) async fn of_many_decisions_at_once_one_wins(store: Store) {
    let network = workspace(&store, "network").await;
    let run = through(&store, &queued(&store, &network).await, &TO_CONFIRMATION).await;
    let racers = (0..20).map(|n| {
        let decision = if n % 2 == 0 { Event::Confirm } else { Event::Discard };
        let (store, event) = (store.clone(), event(&run, decision));
        tokio::spawn(async move { store.record(event).await })
    });
    let mut won = Vec::new();
    for racer in racers.collect::<Vec<_>>() {
        match racer.await.unwrap() {
            Ok(run) => won.push(run),
            // refused by what the first has made of it
            Err(RecordError::Illegal(illegal)) => assert_ne!(illegal.state, run.state),
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, [store.run(run.id).await.unwrap()]);
    assert_eq!(store.journal(run.id).await.unwrap().len(), 5);
}

pub(crate) async fn a_force_cancel_is_held_against_the_time_of_the_cancel(store: Store) {
    let network = workspace(&store, "network").await;
    let run = through(&store, &queued(&store, &network).await, &TO_CONFIRMATION[..2]).await;
    let update = RunUpdate { force_cancel_from: Some(at(30)), ..RunUpdate::default() };
    let run = store.record(RunEvent { update, ..event(&run, Event::Cancel) }).await.unwrap();
    // whatever the caller says of it
    for (claimed, time, accepted) in [(true, at(29), false), (false, at(30), true)] {
        let force = Event::ForceCancel { cool_off_over: claimed };
        let recorded = store.record(RunEvent { at: time, ..event(&run, force) }).await;
        assert_eq!(recorded.is_ok(), accepted, "{recorded:?}");
    }
    let cancel = store.run(run.id).await.unwrap().cancel.unwrap();
    assert_eq!((cancel.by.as_str(), cancel.forced_at), ("grace", Some(at(30))));
}

pub(crate) async fn a_final_run_never_changes(store: Store) {
    let network = workspace(&store, "network").await;
    let run = finished(&store, &network).await;
    for happened in Event::all() {
        let refused = RecordError::Illegal(Illegal { state: run.state, event: happened });
        let recorded = record(&store, &run, happened).await;
        // a force-cancel is told as it was found: too early
        assert!(recorded == Err(refused) || matches!(happened, Event::ForceCancel { .. }), "{recorded:?}");
        assert!(recorded.is_err());
    }
    assert_eq!(store.run(run.id).await.unwrap(), run);
}

pub(crate) async fn a_refused_event_leaves_no_trace(store: Store) {
    let network = workspace(&store, "network").await;
    let run = queued(&store, &network).await;
    let mut changes = store.changes();
    let update = RunUpdate { error: Some("nothing".into()), ..RunUpdate::default() };
    let illegal = RunEvent { update, ..event(&run, Event::Confirm) };
    let refused = RecordError::Illegal(Illegal { state: State::Pending, event: Event::Confirm });
    assert_eq!(store.record(illegal.clone()).await, Err(refused));
    let unknown = RunId::generate();
    let missing = RecordError::Store(Error::NotFound(unknown.to_string()));
    assert_eq!(store.record(RunEvent { run: unknown, ..illegal }).await, Err(missing));

    assert_eq!(store.run(run.id).await.unwrap(), run);
    assert_eq!(store.journal(run.id).await.unwrap().len(), 1);
    assert!(changes.try_recv().is_err());
}

pub(crate) async fn every_change_of_state_is_in_the_journal(store: Store) {
    let network = workspace(&store, "network").await;
    let run = through(&store, &queued(&store, &network).await, &TO_CONFIRMATION).await;
    let confirm = RunEvent { why: Some("looks right".into()), ..event(&run, Event::Confirm) };
    let run = store.record(confirm).await.unwrap();

    let journal = store.journal(run.id).await.unwrap();
    let executing = State::Planning(Work::Executing(Execution::Running));
    let (system, grace) = (Actor::System, Actor::User("grace".into()));
    let expected = [
        (None, State::Pending, None, &Actor::User("ada".into()), at(1)),
        (Some(State::Pending), State::Planning(Work::Queued), Some(Rule::T1), &system, at(2)),
        (Some(State::Planning(Work::Queued)), executing, Some(Rule::Launched), &system, at(3)),
        (Some(executing), State::NeedsConfirmation, Some(Rule::T8), &system, at(4)),
        (Some(State::NeedsConfirmation), State::Applying(Work::Queued), Some(Rule::T9), &grace, at(5)),
    ];
    let seen: Vec<_> = journal.iter().map(|e| (e.from, e.to, e.rule, &e.by, e.at)).collect();
    assert_eq!(seen, expected);
    assert_eq!(journal[4].why.as_deref(), Some("looks right"));
    assert!(journal.iter().all(|entry| entry.run == run.id));

    assert_eq!(store.journal_entry(journal[3].id).await.unwrap(), journal[3]);
    let unknown = RunEventId::generate();
    assert_eq!(store.journal_entry(unknown).await, Err(Error::NotFound(unknown.to_string())));
}

pub(crate) async fn what_is_learnt_on_the_way_is_kept(store: Store) {
    let network = workspace(&store, "network").await;
    let configuration = NewConfigurationVersion {
        id: lifecycle::id::ConfigurationVersionId::generate(),
        workspace: network.id,
        source: "git".into(),
        speculative: false,
        created_at: at(0),
    };
    store.create_configuration_version(configuration.clone()).await.unwrap();
    let run = queued(&store, &network).await;

    let run = through(&store, &run, &TO_CONFIRMATION[..2]).await;
    assert_eq!((run.version, run.updated_at, run.state_changed_at), (3, at(3), at(3)));
    let plan = PlanSummary {
        has_changes: true,
        additions: 3,
        changes: 1,
        destructions: 0,
        imports: 1,
        plan_digest: Digest::of(b"plan"),
        plan_json: Some(Digest::of(b"json")),
        masked_plan_json: None,
        terraform_version: "1.11.4".into(),
    };
    let planned = Event::PlanEnded { outcome: PlanOutcome::Changes, policies: true };
    let update = RunUpdate {
        plan: Some(plan.clone()),
        configuration_version: Some(configuration.id),
        log: Some((Stage::Plan, Digest::of(b"plan log"))),
        ..RunUpdate::default()
    };
    let run = store.record(RunEvent { update, ..event(&run, planned) }).await.unwrap();

    let cancel = Cancel { by: "grace".into(), at: at(5), force_available_at: at(30), forced_at: None };
    let update = RunUpdate { force_cancel_from: Some(at(30)), ..RunUpdate::default() };
    let run = store.record(RunEvent { update, ..event(&run, Event::Cancel) }).await.unwrap();
    assert_eq!(run.state, State::PolicyCheck(Execution::Canceling));

    let policy = PolicyCheckRecord {
        outcome: PolicyOutcome::SoftFailed,
        report: Digest::of(b"report"),
        counts: PolicyCounts { passed: 1, hard_failed: 0, soft_failed: 2, advisory_failed: 3 },
    };
    let update = RunUpdate {
        policy: Some(policy.clone()),
        error: Some("why not".into()),
        log: Some((Stage::PolicyCheck, Digest::of(b"check log"))),
        ..RunUpdate::default()
    };
    let ended = Event::PolicyCheckEnded(PolicyOutcome::SoftFailed);
    let run = store.record(RunEvent { update, ..event(&run, ended) }).await.unwrap();

    assert_eq!(store.run(run.id).await.unwrap(), run);
    assert_eq!((run.plan, run.cancel, run.policy), (Some(plan), Some(cancel), Some(policy)));
    assert_eq!(run.configuration_version, Some(configuration.id));
    assert_eq!(run.error.as_deref(), Some("why not"));
    let logs = [(Stage::Plan, Digest::of(b"plan log")), (Stage::PolicyCheck, Digest::of(b"check log"))];
    assert_eq!(run.logs, logs.into());
    let keys: Vec<_> = run.timestamps.keys().map(String::as_str).collect();
    assert_eq!(keys, ["canceled-at", "plan-queued-at", "planned-at", "planning-at"]);
    assert_eq!(run.timestamps["plan-queued-at"], at(2));
}

pub(crate) async fn who_confirmed_is_kept_and_an_auto_apply_is_nobodys(store: Store) {
    let network = workspace(&store, "network").await;
    let run = through(&store, &queued(&store, &network).await, &TO_CONFIRMATION).await;
    let run = record(&store, &run, Event::Confirm).await.unwrap();
    assert_eq!(run.confirmed_by.as_deref(), Some("grace"));

    let auto = Facts { auto_apply: true, queued_with_apply_right: true, ..Facts::default() };
    let storage = workspace(&store, "storage").await;
    let run = store.create_run(new_run(&storage, auto)).await.unwrap();
    let run = through(&store, &run, &TO_CONFIRMATION).await;
    assert_eq!((run.state, run.confirmed_by), (State::Applying(Work::Queued), None));
}

pub(crate) async fn a_run_starts_only_when_its_turn_has_come(store: Store) {
    let network = workspace(&store, "network").await;
    let (first, second) = (queued(&store, &network).await, queued(&store, &network).await);
    let wait = Err(RecordError::NotItsTurn(second.id));
    assert_eq!(record(&store, &second, Event::Start).await, wait);
    let first = through(&store, &first, &TO_CONFIRMATION).await;
    assert_eq!(record(&store, &second, Event::Start).await, wait);
    through(&store, &first, &[Event::Discard]).await;
    through(&store, &second, &TO_CONFIRMATION).await;
}

pub(crate) async fn a_lock_keeps_runs_from_starting_but_no_plan_only_run(store: Store) {
    let network = workspace(&store, "network").await;
    let (run, speculative) = (queued(&store, &network).await, queued_plan_only(&store, &network).await);
    let lock = Lock { by: "ada".into(), reason: String::new(), at: at(2) };
    store.lock_workspace(network.id, lock).await.unwrap();
    assert_eq!(record(&store, &run, Event::Start).await, Err(RecordError::NotItsTurn(run.id)));
    record(&store, &speculative, Event::Start).await.unwrap();
    store.unlock_workspace(network.id, "ada", at(3)).await.unwrap();
    record(&store, &run, Event::Start).await.unwrap();
}

pub(crate) async fn a_write_goes_to_its_end_when_nobody_waits_for_it(store: Store) {
    let network = workspace(&store, "network").await;
    let mut changes = store.changes();
    let new = new_run(&network, Facts::default());
    let id = new.id;
    {
        let mut create = std::pin::pin!(store.create_run(new));
        // asked for once, and then given up
        let asked = std::future::poll_fn(|cx| std::task::Poll::Ready(create.as_mut().poll(cx).is_ready()));
        assert!(!asked.await);
    }
    let told = tokio::time::timeout(Duration::from_secs(20), changes.recv()).await.unwrap();
    assert_eq!(told, Ok(Change::Run { workspace: network.id, run: id }));
    assert_eq!(store.run(id).await.unwrap().id, id);
}

pub(crate) async fn changes_are_told_after_they_can_be_read(store: Store) {
    let network = workspace(&store, "network").await;
    let mut changes = store.changes();
    let writer = tokio::spawn({
        let store = store.clone();
        async move { through(&store, &queued(&store, &network).await, &TO_NO_CHANGES).await }
    });
    for seen in 1..=4 {
        let Change::Run { run, .. } = changes.recv().await.unwrap() else { panic!("no run") };
        assert!(store.run(run).await.unwrap().version >= seen);
    }
    writer.await.unwrap();
}

pub(crate) async fn who_fell_behind_catches_up_from_the_journal(store: Store) {
    let network = workspace(&store, "network").await;
    let first = finished(&store, &network).await;
    let seen = store.journal(first.id).await.unwrap().last().unwrap().seq;
    let second = finished(&store, &network).await;
    assert_eq!(store.journal_after(seen, 100).await.unwrap(), store.journal(second.id).await.unwrap());
    let all = store.journal_after(0, 100).await.unwrap();
    assert_eq!(all.len(), 8);
    assert!(all.is_sorted_by_key(|entry| entry.seq));
    assert_eq!(store.journal_after(all[1].seq, 2).await.unwrap(), all[2..4]);
    assert!(all.iter().all(|entry| entry.at < at(1) + SignedDuration::from_mins(1)));
}
