use std::collections::BTreeMap;

use jiff::Timestamp;
use lifecycle::id::WorkspaceId;
use lifecycle::{AccessLevel, Event};
use store::{
    Change, Error, Lock, LockError, NewWorkspace, PageRequest, RunEvent, RunFilter, Settings, Store, Synced,
    Visibility, Workspace,
};

use super::{TO_CONFIRMATION, at, event, new_run, queued, queued_plan_only, through, workspace};

fn lock(by: &str) -> Lock {
    Lock { by: by.into(), reason: "maintenance".into(), at: at(5) }
}

/// Has the config file say that these are its workspaces, with this access of a team in each.
async fn configure(
    store: &Store,
    names: &[&str],
    access: &BTreeMap<String, AccessLevel>,
    now: Timestamp,
) -> Synced {
    let configured = names.iter().map(|name| ((*name).to_owned(), access.clone())).collect();
    store.sync_workspaces(configured, now).await.unwrap()
}

async fn named(store: &Store, name: &str) -> Workspace {
    store.workspace_by_name(name).await.unwrap().unwrap()
}

pub(crate) async fn a_name_keeps_its_id_and_a_workspace_that_comes_back_is_the_old_one(store: Store) {
    let mut changes = store.changes();
    let nobody = BTreeMap::new();
    configure(&store, &["network", "Network"], &nobody, at(0)).await;
    let first = named(&store, "network").await;
    assert_ne!(named(&store, "Network").await.id, first.id);
    assert_eq!(configure(&store, &["network", "Network"], &nobody, at(1)).await, Synced::default());
    assert_eq!(named(&store, "network").await, first);

    let synced = configure(&store, &["Network"], &nobody, at(2)).await;
    assert_eq!(synced, Synced { removed: vec!["network".into()], ..Synced::default() });
    let removed = named(&store, "network").await;
    assert_eq!((removed.removed_at, removed.updated_at), (Some(at(2)), at(2)));
    assert_eq!(configure(&store, &["Network"], &nobody, at(3)).await, Synced::default());
    assert_eq!(store.workspaces().await.unwrap().len(), 2);

    configure(&store, &["network", "Network"], &nobody, at(4)).await;
    let back = named(&store, "network").await;
    assert_eq!((back.id, back.created_at, back.removed_at), (first.id, at(0), None));
    assert_eq!(store.workspace(first.id).await.unwrap(), back);

    assert_eq!(store.workspace_by_name("other").await.unwrap(), None);
    let unknown = WorkspaceId::generate();
    assert_eq!(store.workspace(unknown).await, Err(Error::NotFound(unknown.to_string())));

    // two made, one removed, one back; what changed nothing was not told
    let told: Vec<_> = std::iter::from_fn(|| changes.try_recv().ok()).collect();
    assert_eq!(told.iter().filter(|change| **change == Change::Workspace { id: first.id }).count(), 3);
    assert_eq!(told.len(), 4);
}

pub(crate) async fn the_config_file_touches_only_its_own_workspaces(store: Store) {
    let settings = Settings { auto_apply: true, ..Settings::default() };
    let made = NewWorkspace { settings: settings.clone(), ..NewWorkspace::named("made", at(0)) };
    let made = store.create_workspace(made).await.unwrap();
    assert_eq!(store.workspace_settings(made.id).await.unwrap(), Some(settings));
    let taken = store.create_workspace(NewWorkspace::named("made", at(1))).await;
    assert_eq!(taken, Err(Error::Exists("workspace made".into())));

    let nobody = BTreeMap::new();
    configure(&store, &["network"], &nobody, at(2)).await;
    assert_eq!(store.workspace_settings(named(&store, "network").await.id).await.unwrap(), None);
    let synced = configure(&store, &["made"], &nobody, at(3)).await;
    assert_eq!(synced, Synced { removed: vec!["network".into()], foreign: vec!["made".into()] });
    assert_eq!(store.workspace(made.id).await.unwrap(), made);
}

pub(crate) async fn a_removed_workspace_takes_no_new_runs_and_its_runs_go_on(store: Store) {
    configure(&store, &["network"], &BTreeMap::new(), at(0)).await;
    let network = named(&store, "network").await;
    let run = queued(&store, &network).await;
    configure(&store, &[], &BTreeMap::new(), at(2)).await;
    let refused = store.create_run(new_run(&network, run.facts)).await;
    assert_eq!(refused, Err(Error::WorkspaceRemoved("network".into())));
    let run = through(&store, &run, &TO_CONFIRMATION).await;
    through(&store, &run, &[Event::Discard]).await;
}

pub(crate) async fn a_removed_workspace_keeps_its_access_while_a_run_is_under_way_and_a_day_longer(
    store: Store,
) {
    let access: BTreeMap<_, _> = [("operators".to_owned(), AccessLevel::Write)].into();
    configure(&store, &["now", "long ago", "idle"], &access, at(0)).await;
    let [ended_now, ended_long_ago, idle] = ["now", "long ago", "idle"].map(|name| named(&store, name));
    let (ended_now, ended_long_ago, idle) = (ended_now.await, ended_long_ago.await, idle.await);
    assert_eq!([&ended_now.access, &ended_long_ago.access, &idle.access], [&access; 3]);
    // what a list shows is what a single one says
    let operators = Visibility::Teams(vec!["operators".into()]);
    let now_of = async |id| {
        let access = store.workspace(id).await.unwrap().access;
        let listed = RunFilter { visible: operators.clone(), workspace: Some(id), ..RunFilter::default() };
        let runs = store.runs(&listed, PageRequest::first(1)).await.unwrap();
        assert_eq!(runs.total > 0, !access.is_empty());
        access
    };
    let runs = [queued(&store, &ended_now).await, queued(&store, &ended_long_ago).await];
    // one that ended before the removal is none that its people have to follow
    let before = queued(&store, &idle).await;
    store.record(RunEvent { at: Timestamp::now(), ..event(&before, Event::Discard) }).await.unwrap();
    configure(&store, &["idle"], &access, at(2)).await;
    for id in [ended_now.id, ended_long_ago.id] {
        assert_eq!(now_of(id).await, access, "a run is under way");
    }
    configure(&store, &[], &access, Timestamp::now()).await;
    assert_eq!(now_of(idle.id).await, BTreeMap::new());
    let [now, long_ago] = runs;
    store.record(RunEvent { at: Timestamp::now(), ..event(&now, Event::Discard) }).await.unwrap();
    store.record(RunEvent { at: at(3), ..event(&long_ago, Event::Discard) }).await.unwrap();
    assert_eq!(now_of(ended_now.id).await, access, "people see how it ended");
    assert_eq!(now_of(ended_long_ago.id).await, BTreeMap::new());
}

pub(crate) async fn of_two_who_lock_at_once_one_does(store: Store) {
    let network = workspace(&store, "network").await;
    let (ada, grace) = tokio::join!(
        store.lock_workspace(network.id, lock("ada")),
        store.lock_workspace(network.id, lock("grace"))
    );
    let (won, lost) = if ada.is_ok() { (ada, grace) } else { (grace, ada) };
    let held = won.unwrap().lock.unwrap();
    assert_eq!(lost, Err(LockError::Locked(held.clone())));
    assert_eq!(store.workspace(network.id).await.unwrap().lock, Some(held));
}

pub(crate) async fn only_the_holder_unlocks_and_who_forces_it(store: Store) {
    let network = workspace(&store, "network").await;
    assert_eq!(store.unlock_workspace(network.id, "ada", at(6)).await, Err(LockError::NotLocked));
    assert_eq!(store.force_unlock_workspace(network.id, at(6)).await, Err(LockError::NotLocked));

    store.lock_workspace(network.id, lock("ada")).await.unwrap();
    let refused = store.unlock_workspace(network.id, "grace", at(7)).await.unwrap_err();
    assert_eq!(refused, LockError::LockedByAnother(lock("ada")));
    assert_eq!(refused.to_string(), "the workspace is locked by User ada");
    let unlocked = store.unlock_workspace(network.id, "ada", at(8)).await.unwrap();
    assert_eq!((unlocked.lock, unlocked.updated_at), (None, at(8)));

    store.lock_workspace(network.id, lock("ada")).await.unwrap();
    assert_eq!(store.force_unlock_workspace(network.id, at(9)).await.unwrap().lock, None);
    let unknown = WorkspaceId::generate();
    let missing = LockError::Store(Error::NotFound(unknown.to_string()));
    assert_eq!(store.lock_workspace(unknown, lock("ada")).await, Err(missing));
}

pub(crate) async fn a_workspace_that_a_run_holds_cannot_be_locked(store: Store) {
    let network = workspace(&store, "network").await;
    // neither holds it: the one waits, the other never does
    let run = queued(&store, &network).await;
    let speculative = queued_plan_only(&store, &network).await;
    through(&store, &speculative, &TO_CONFIRMATION[..2]).await;
    store.lock_workspace(network.id, lock("ada")).await.unwrap();
    store.unlock_workspace(network.id, "ada", at(6)).await.unwrap();

    let run = through(&store, &run, &TO_CONFIRMATION).await;
    assert_eq!(store.lock_workspace(network.id, lock("ada")).await, Err(LockError::HeldByRun(run.id)));
    assert_eq!(store.unlock_workspace(network.id, "ada", at(7)).await, Err(LockError::HeldByRun(run.id)));
    assert_eq!(store.force_unlock_workspace(network.id, at(7)).await, Err(LockError::HeldByRun(run.id)));

    through(&store, &run, &[Event::Discard]).await;
    store.lock_workspace(network.id, lock("ada")).await.unwrap();
}
