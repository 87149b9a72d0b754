use lifecycle::Facts;
use lifecycle::id::{ConfigurationVersionId, WorkspaceId};
use store::{
    Commit, ConfigurationResult, ConfigurationStatus, ConfigurationVersion, Digest, Error,
    NewConfigurationVersion, NewRun, PageRequest, Store, Workspace,
};

use super::{at, new_run, workspace};

fn new(workspace: &Workspace, speculative: bool) -> NewConfigurationVersion {
    NewConfigurationVersion {
        id: ConfigurationVersionId::generate(),
        workspace: workspace.id,
        source: "tfe-api".into(),
        speculative,
        created_at: at(0),
    }
}

async fn announced(store: &Store, workspace: &Workspace, speculative: bool) -> ConfigurationVersion {
    store.create_configuration_version(new(workspace, speculative)).await.unwrap()
}

fn uploaded(commit: Option<Commit>) -> ConfigurationResult {
    ConfigurationResult::Uploaded { digest: Digest::of(b"tar"), size: 3, commit }
}

pub(crate) async fn a_configuration_is_announced_and_then_finished_once(store: Store) {
    let network = workspace(&store, "network").await;
    let pending = announced(&store, &network, true).await;
    assert_eq!(
        (&pending.status, pending.speculative, pending.finished_at),
        (&ConfigurationStatus::Pending, true, None)
    );
    assert_eq!(pending.digest(), None);

    let commit = Commit {
        sha: "c0ffee".into(),
        reference: "main".into(),
        url: "https://git.example".into(),
        message: Some("why\n\nbecause".into()),
        author: Some("Ada".into()),
    };
    let finish = async |result, now| store.finish_configuration_version(pending.id, result, now).await;
    let done = finish(uploaded(Some(commit.clone())), at(1)).await.unwrap();
    assert_eq!(done.status, ConfigurationStatus::Uploaded { digest: Digest::of(b"tar"), size: 3 });
    assert_eq!((done.commit.as_ref(), done.finished_at), (Some(&commit), Some(at(1))));
    assert_eq!(finish(uploaded(Some(commit)), at(2)).await.unwrap(), done, "saying it twice does no harm");
    let refused = Err(Error::Refused(format!("{} is uploaded already", done.id)));
    assert_eq!(finish(uploaded(None), at(3)).await, refused);
    assert_eq!(finish(ConfigurationResult::Errored { message: "no".into() }, at(3)).await, refused);
    assert_eq!(store.configuration_version(done.id).await.unwrap(), done);

    let broken = announced(&store, &network, false).await;
    let result = ConfigurationResult::Errored { message: "a device: dev/null".into() };
    let broken = store.finish_configuration_version(broken.id, result, at(4)).await.unwrap();
    assert_eq!(broken.status, ConfigurationStatus::Errored { message: "a device: dev/null".into() });

    let page = store.configuration_versions(network.id, PageRequest::first(10)).await.unwrap();
    assert_eq!((page.items, page.total), (vec![broken, done.clone()], 2));

    let unknown = ConfigurationVersionId::generate();
    assert_eq!(store.configuration_version(unknown).await, Err(Error::NotFound(unknown.to_string())));
    let nowhere = WorkspaceId::generate();
    let lost = NewConfigurationVersion { workspace: nowhere, ..new(&network, false) };
    assert_eq!(store.create_configuration_version(lost).await, Err(Error::NotFound(nowhere.to_string())));
    let again = NewConfigurationVersion { id: done.id, ..new(&network, false) };
    assert_eq!(store.create_configuration_version(again).await, Err(Error::Exists(done.id.to_string())));
}

pub(crate) async fn the_current_configuration_is_the_newest_uploaded_one_that_is_not_speculative(
    store: Store,
) {
    let network = workspace(&store, "network").await;
    let current = async || store.current_configuration_version(network.id).await.unwrap().map(|cv| cv.id);
    let ids = [
        announced(&store, &network, false).await.id,
        announced(&store, &network, false).await.id,
        announced(&store, &network, true).await.id,
        announced(&store, &network, false).await.id,
    ];
    assert_eq!(current().await, None);
    for id in &ids[..3] {
        store.finish_configuration_version(*id, uploaded(None), at(1)).await.unwrap();
    }
    let errored = ConfigurationResult::Errored { message: "cut off".into() };
    store.finish_configuration_version(ids[3], errored, at(1)).await.unwrap();
    assert_eq!(current().await, Some(ids[1]));
    assert_eq!(store.current_configuration_version(workspace(&store, "other").await.id).await, Ok(None));
}

pub(crate) async fn a_run_takes_no_configuration_of_another_workspace(store: Store) {
    let (network, storage) = (workspace(&store, "network").await, workspace(&store, "storage").await);
    let configuration = announced(&store, &network, false).await.id;
    let with =
        |workspace, id| NewRun { configuration_version: Some(id), ..new_run(workspace, Facts::default()) };
    let refused = Error::Refused(format!("{configuration} belongs to another workspace"));
    assert_eq!(store.create_run(with(&storage, configuration)).await, Err(refused));
    let unknown = ConfigurationVersionId::generate();
    assert_eq!(store.create_run(with(&network, unknown)).await, Err(Error::NotFound(unknown.to_string())));
    let run = store.create_run(with(&network, configuration)).await.unwrap();
    assert_eq!(run.configuration_version, Some(configuration));
}
