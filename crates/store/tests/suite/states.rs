use std::collections::HashMap;

use lifecycle::id::{RunId, StateVersionId, WorkspaceId};
use store::{
    AddStateError, Digest, Error, NewStateVersion, PageRequest, StateConflict, StateMeta, StateVersion,
    Store, Workspace,
};

use super::{at, queued, workspace};

fn state(workspace: &Workspace, serial: u64, lineage: &str, content: &str) -> NewStateVersion {
    NewStateVersion {
        id: StateVersionId::generate(),
        workspace: workspace.id,
        run: None,
        meta: StateMeta { serial, lineage: lineage.into(), terraform_version: "1.11.4".into() },
        digest: Digest::of(content.as_bytes()),
        size: content.len() as u64,
        created_at: at(0),
        created_by: "ada".into(),
        json: None,
    }
}

fn kept(new: NewStateVersion) -> StateVersion {
    let NewStateVersion { id, workspace, run, meta, digest, size, created_at, created_by, json } = new;
    StateVersion { id, workspace, run, meta, digest, size, created_at, created_by, json }
}

pub(crate) async fn a_state_only_goes_forward(store: Store) {
    let network = workspace(&store, "network").await;
    let run = queued(&store, &network).await;
    assert_eq!(store.current_state(network.id).await, Ok(None));
    let first = NewStateVersion { run: Some(run.id), ..state(&network, 3, "a", "three") };
    assert_eq!(store.add_state_version(first.clone()).await, Ok(kept(first.clone())));

    let older = StateConflict::OlderSerial { current: 3, given: 2 };
    let other = StateConflict::OtherLineage { current: "a".into(), given: "b".into() };
    let table = [
        (state(&network, 2, "a", "two"), older),
        (state(&network, 3, "a", "another three"), StateConflict::OtherContent { serial: 3 }),
        (state(&network, 4, "b", "four"), other),
    ];
    for (refused, conflict) in table {
        let id = refused.id;
        assert_eq!(store.add_state_version(refused).await, Err(AddStateError::Conflict(conflict)));
        assert_eq!(store.state_version(id).await, Err(Error::NotFound(id.to_string())));
    }
    let second = state(&network, 7, "a", "seven");
    store.add_state_version(second.clone()).await.unwrap();
    assert_eq!(store.current_state(network.id).await, Ok(Some(kept(second.clone()))));
    let page = store.state_versions(network.id, PageRequest::first(1)).await.unwrap();
    assert_eq!((page.items, page.total), (vec![kept(second)], 2));
    assert_eq!(store.state_version_ids(&[run.id]).await, Ok(HashMap::from([(run.id, vec![first.id])])));

    let refused = async |new: NewStateVersion| match store.add_state_version(new).await {
        Err(AddStateError::Store(error)) => error,
        other => panic!("{other:?}"),
    };
    let (nowhere, nobody) = (WorkspaceId::generate(), RunId::generate());
    let lost = NewStateVersion { workspace: nowhere, ..state(&network, 8, "a", "") };
    assert_eq!(refused(lost).await, Error::NotFound(nowhere.to_string()));
    let lost = NewStateVersion { run: Some(nobody), ..state(&network, 8, "a", "") };
    assert_eq!(refused(lost).await, Error::NotFound(nobody.to_string()));
    let stray =
        NewStateVersion { run: Some(run.id), ..state(&workspace(&store, "storage").await, 8, "a", "") };
    assert_eq!(refused(stray).await, Error::Refused(format!("{} belongs to another workspace", run.id)));
    // terraform's serial is an unsigned number of 64 bits
    for serial in [i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX] {
        let next = state(&network, serial, "a", &serial.to_string());
        assert_eq!(store.add_state_version(next).await.unwrap().meta.serial, serial);
        assert_eq!(store.current_state(network.id).await.unwrap().unwrap().meta.serial, serial);
    }
}

pub(crate) async fn a_state_taken_twice_is_one_version(store: Store) {
    let network = workspace(&store, "network").await;
    let first = store.add_state_version(state(&network, 1, "a", "one")).await.unwrap();
    let mut changes = store.changes();
    assert_eq!(store.add_state_version(state(&network, 1, "a", "one")).await.unwrap(), first);
    assert!(changes.try_recv().is_err());
    assert_eq!(store.state_versions(network.id, PageRequest::first(10)).await.unwrap().total, 1);
}

pub(crate) async fn states_of_workspaces_are_apart(store: Store) {
    let (network, storage) = (workspace(&store, "network").await, workspace(&store, "storage").await);
    store.add_state_version(state(&network, 9, "a", "nine")).await.unwrap();
    let other = store.add_state_version(state(&storage, 1, "b", "one")).await.unwrap();
    assert_eq!(store.current_state(storage.id).await, Ok(Some(other)));
}

pub(crate) async fn of_two_states_with_one_serial_one_is_taken(store: Store) {
    let network = workspace(&store, "network").await;
    let additions: Vec<_> = (0..10)
        .map(|n| {
            let (store, new) = (store.clone(), state(&network, 1, "a", &n.to_string()));
            tokio::spawn(async move { store.add_state_version(new).await })
        })
        .collect();
    let mut taken = Vec::new();
    for addition in additions {
        match addition.await.unwrap() {
            Ok(state) => taken.push(state),
            Err(error) => assert_eq!(error, StateConflict::OtherContent { serial: 1 }.into()),
        }
    }
    assert_eq!(taken, [store.current_state(network.id).await.unwrap().unwrap()]);
}

pub(crate) async fn a_workspace_shows_its_newest_state(store: Store) {
    let network = workspace(&store, "network").await;
    assert_eq!(network.current_state_version, None);
    for serial in [1, 2] {
        let new = state(&network, serial, "a", &serial.to_string());
        store.add_state_version(new.clone()).await.unwrap();
        assert_eq!(store.workspace(network.id).await.unwrap().current_state_version, Some(new.id));
    }
}
