use std::collections::{BTreeMap, HashMap};

use lifecycle::id::ConfigurationVersionId;
use lifecycle::{AccessLevel, Event, Facts, PlanOptions, Stage, State, Work};
use store::{
    Commit, ConfigurationResult, Digest, Lock, NamePattern, NewConfigurationVersion, NewRun, NewWorkspace,
    Operation, PageRequest, Run, RunFilter, RunOptions, Store, Visibility, Workspace, WorkspaceFilter,
    WorkspaceOrder,
};

use super::{TO_CONFIRMATION, at, finished, new_run, queued, queued_plan_only, record, through, workspace};

pub(crate) async fn runs_queued_at_once_get_one_order(store: Store) {
    let workspaces = [workspace(&store, "a").await, workspace(&store, "b").await];
    let creations: Vec<_> = (0..60)
        .map(|n| {
            let (store, new) = (store.clone(), new_run(&workspaces[n % 2], Facts::default()));
            tokio::spawn(async move { store.create_run(new).await.unwrap() })
        })
        .collect();
    let mut runs = Vec::new();
    for creation in creations {
        runs.push(creation.await.unwrap());
    }
    runs.sort_by_key(|run| run.seq);
    assert!(runs.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(store.non_final_runs().await.unwrap(), runs);
    for workspace in &workspaces {
        let expected: Vec<_> =
            runs.iter().filter(|run| run.workspace == workspace.id).map(Run::entry).collect();
        assert_eq!(store.queue(workspace.id).await.unwrap(), expected);
        assert_eq!(expected.len(), 30);
    }
    let journal: Vec<_> = store.journal_after(0, 100).await.unwrap().iter().map(|entry| entry.run).collect();
    assert_eq!(journal, runs.iter().map(|run| run.id).collect::<Vec<_>>());
}

pub(crate) async fn runs_that_are_over_leave_the_queue(store: Store) {
    let network = workspace(&store, "network").await;
    let [first, second, third] = [
        queued(&store, &network).await,
        queued_plan_only(&store, &network).await,
        queued(&store, &network).await,
    ];
    record(&store, &second, Event::Cancel).await.unwrap();
    let first = record(&store, &first, Event::Start).await.unwrap();
    assert_eq!(store.queue(network.id).await.unwrap(), [first.entry(), third.entry()]);
    assert_eq!(store.non_final_runs().await.unwrap(), [first, third]);
    let counts = HashMap::from([
        (State::Canceled(Stage::Pending), 1),
        (State::Planning(Work::Queued), 1),
        (State::Pending, 1),
    ]);
    assert_eq!(store.counts().await.unwrap(), counts);
}

pub(crate) async fn the_current_run_holds_the_workspace_or_is_the_newest_final(store: Store) {
    let network = workspace(&store, "network").await;
    let current =
        async || store.current_runs(&[network.id]).await.unwrap().get(&network.id).map(|run| run.id);
    assert_eq!(current().await, None);
    let speculative = queued_plan_only(&store, &network).await;
    assert_eq!(current().await, None);

    let first = queued(&store, &network).await;
    queued(&store, &network).await;
    assert_eq!(current().await, Some(first.id), "the first that waits, when there is nothing else");
    let first = through(&store, &first, &TO_CONFIRMATION).await;
    assert_eq!(current().await, Some(first.id));
    record(&store, &first, Event::Discard).await.unwrap();
    assert_eq!(current().await, Some(first.id), "nobody holds it");

    let third = queued(&store, &network).await;
    record(&store, &third, Event::Discard).await.unwrap();
    record(&store, &speculative, Event::Discard).await.unwrap();
    assert_eq!(current().await, Some(third.id), "newest, and never plan-only");

    workspace(&store, "empty").await;
    let other = finished(&store, &workspace(&store, "other").await).await;
    let all = store.current_runs(&[network.id, other.workspace]).await.unwrap();
    let all: HashMap<_, _> = all.into_iter().map(|(workspace, run)| (workspace, run.id)).collect();
    assert_eq!(all, HashMap::from([(network.id, third.id), (other.workspace, other.id)]));
}

async fn configuration(store: &Store, workspace: &Workspace, sha: &str) -> ConfigurationVersionId {
    let id = ConfigurationVersionId::generate();
    let (source, created_at) = ("git".into(), at(0));
    let new = NewConfigurationVersion { id, workspace: workspace.id, source, speculative: false, created_at };
    store.create_configuration_version(new).await.unwrap();
    let commit = Commit {
        sha: sha.into(),
        reference: "main".into(),
        url: "https://git.example/infra.git".into(),
        message: Some("why\n\nbecause".into()),
        author: Some("Ada".into()),
    };
    let result =
        ConfigurationResult::Uploaded { digest: Digest::of(sha.as_bytes()), size: 1, commit: Some(commit) };
    store.finish_configuration_version(id, result, at(1)).await.unwrap();
    id
}

pub(crate) async fn runs_are_found_by_each_filter_alone_and_together(store: Store) {
    let (network, storage) = (workspace(&store, "network").await, workspace(&store, "storage").await);
    let commit = configuration(&store, &storage, "c0ffee12").await;
    let facts = Facts::default();
    let with_message = |message: &str, refresh_only| RunOptions {
        message: message.into(),
        plan: PlanOptions { refresh_only, ..PlanOptions::default() },
        ..RunOptions::default()
    };
    let news = [
        NewRun { options: with_message("Raise the limits", false), ..new_run(&network, facts) },
        NewRun {
            created_by: "linus".into(),
            ..new_run(&network, Facts { plan_only: true, destroy: true, ..facts })
        },
        NewRun { source: "terraform+cloud".into(), ..new_run(&network, Facts { destroy: true, ..facts }) },
        NewRun { options: with_message("", true), created_at: at(100), ..new_run(&storage, facts) },
        NewRun { created_at: at(200), ..new_run(&storage, Facts { allow_empty_apply: true, ..facts }) },
        NewRun { configuration_version: Some(commit), created_at: at(300), ..new_run(&storage, facts) },
    ];
    let mut ids = Vec::new();
    for new in news {
        ids.push(store.create_run(new).await.unwrap().id);
    }
    record(&store, &store.run(ids[0]).await.unwrap(), Event::Discard).await.unwrap();

    let all = RunFilter::default();
    let some = |operation| RunFilter { operations: Some(vec![operation]), ..RunFilter::default() };
    let search = |text: &str| RunFilter { search: Some(text.into()), ..RunFilter::default() };
    let table: Vec<(RunFilter, &[usize])> = vec![
        (all.clone(), &[5, 4, 3, 2, 1, 0]),
        (RunFilter { workspace: Some(network.id), ..all.clone() }, &[2, 1, 0]),
        (RunFilter { workspace_names: Some(vec!["storage".into()]), ..all.clone() }, &[5, 4, 3]),
        (RunFilter { workspace_names: Some(vec![]), ..all.clone() }, &[]),
        (RunFilter { states: Some(vec![State::Discarded(Stage::Pending)]), ..all.clone() }, &[0]),
        (RunFilter { states: Some(vec![]), ..all.clone() }, &[]),
        (some(Operation::PlanOnly), &[1]),
        (some(Operation::Destroy), &[2]),
        (some(Operation::RefreshOnly), &[3]),
        (some(Operation::EmptyApply), &[4]),
        (some(Operation::PlanAndApply), &[5, 0]),
        (
            RunFilter { operations: Some(vec![Operation::Destroy, Operation::PlanOnly]), ..all.clone() },
            &[2, 1],
        ),
        (RunFilter { sources: Some(vec!["terraform+cloud".into()]), ..all.clone() }, &[2]),
        (RunFilter { created_by: Some("linus".into()), ..all.clone() }, &[1]),
        (RunFilter { created_by: Some("linu".into()), ..all.clone() }, &[]),
        (RunFilter { commit: Some("c0ff".into()), ..all.clone() }, &[5]),
        (RunFilter { commit: Some("0ffee".into()), ..all.clone() }, &[]),
        (search("the LIMITS"), &[0]),
        (search("inus"), &[1]),
        (search("ffee"), &[5]),
        (search(&ids[4].to_string()), &[4]),
        (RunFilter { created_from: Some(at(100)), ..all.clone() }, &[5, 4, 3]),
        (RunFilter { created_before: Some(at(100)), ..all.clone() }, &[2, 1, 0]),
        (
            RunFilter {
                created_from: Some(at(100)),
                created_before: Some(at(300)),
                ..some(Operation::EmptyApply)
            },
            &[4],
        ),
        (RunFilter { commit: Some("c0".into()), ..search("ada") }, &[5]),
    ];
    for (filter, expected) in table {
        let page = store.runs(&filter, PageRequest::first(100)).await.unwrap();
        let found: Vec<_> =
            page.items.iter().map(|run| ids.iter().position(|id| *id == run.id).unwrap()).collect();
        assert_eq!(found, expected, "{filter:?}");
        assert_eq!(page.total, expected.len() as u64, "{filter:?}");
    }
}

pub(crate) async fn a_reader_finds_what_lies_in_the_workspaces_of_their_teams(store: Store) {
    let level = |team: &str| [(team.to_owned(), AccessLevel::Read)].into();
    for (name, access) in [("a", level("ops")), ("b", level("dev")), ("c", BTreeMap::new())] {
        let new = NewWorkspace { access, ..NewWorkspace::named(name, at(0)) };
        let workspace = store.create_workspace(new).await.unwrap();
        queued(&store, &workspace).await;
    }
    let teams = |teams: &[&str]| Visibility::Teams(teams.iter().map(|team| (*team).to_owned()).collect());
    let table = [
        (Visibility::All, "abc"),
        (teams(&["ops"]), "a"),
        (teams(&["dev", "ops"]), "ab"),
        (teams(&["nobody"]), ""),
        (teams(&[]), ""),
    ];
    for (visible, expected) in table {
        let filter = WorkspaceFilter { visible: visible.clone(), ..WorkspaceFilter::default() };
        assert_eq!(names(&store, &filter, WorkspaceOrder::Name, false).await, expected, "{visible:?}");
        let filter = RunFilter { visible: visible.clone(), ..RunFilter::default() };
        let runs = store.runs(&filter, PageRequest::first(10)).await.unwrap();
        assert_eq!((runs.items.len(), runs.total), (expected.len(), expected.len() as u64), "{visible:?}");
    }
}

/// The names of the workspaces that pass, one after the other.
async fn names(store: &Store, filter: &WorkspaceFilter, order: WorkspaceOrder, descending: bool) -> String {
    let page = store.list_workspaces(filter, order, descending, PageRequest::first(100)).await.unwrap();
    assert_eq!(page.total, page.items.len() as u64);
    page.items.into_iter().map(|workspace| workspace.name).collect()
}

pub(crate) async fn workspaces_are_found_by_name_and_by_the_state_of_their_run(store: Store) {
    for name in ["Network-prod", "network_test", "storage"] {
        workspace(&store, name).await;
    }
    let storage = store.workspace_by_name("storage").await.unwrap().unwrap();
    finished(&store, &storage).await;
    let by = |pattern| WorkspaceFilter { names: vec![pattern], ..WorkspaceFilter::default() };
    let contains = |text: &str| by(NamePattern::Contains(text.into()));
    let in_state = |state| WorkspaceFilter { states: Some(vec![state]), ..WorkspaceFilter::default() };
    let table = [
        (WorkspaceFilter::default(), "Network-prodnetwork_teststorage"),
        (contains("WORK"), "Network-prodnetwork_test"),
        (contains("_"), "network_test"),
        (contains("%"), ""),
        (by(NamePattern::StartsWith("network".into())), "Network-prodnetwork_test"),
        (by(NamePattern::EndsWith("PROD".into())), "Network-prod"),
        (by(NamePattern::Is("Storage".into())), "storage"),
        (by(NamePattern::Is("stor".into())), ""),
        (in_state(State::NoChanges), "storage"),
        (in_state(State::Applied), ""),
        (WorkspaceFilter { states: Some(vec![]), ..WorkspaceFilter::default() }, ""),
    ];
    for (filter, expected) in table {
        assert_eq!(names(&store, &filter, WorkspaceOrder::Name, false).await, expected, "{filter:?}");
    }
    let removed = store.sync_workspaces(BTreeMap::from([("file".to_owned(), BTreeMap::new())]), at(1)).await;
    assert_eq!(removed.unwrap(), store::Synced::default());
    store.sync_workspaces(BTreeMap::new(), at(2)).await.unwrap();
    let all = names(&store, &WorkspaceFilter::default(), WorkspaceOrder::Name, false).await;
    assert!(!all.contains("file"), "a removed workspace is in no list");
}

pub(crate) async fn workspaces_are_in_the_order_that_was_asked_for(store: Store) {
    let [a, b, c] = ["a", "b", "c"].map(|name| NewWorkspace::named(name, at(0)));
    let (b, c) = (store.create_workspace(b).await.unwrap(), store.create_workspace(c).await.unwrap());
    store.create_workspace(a).await.unwrap();
    finished(&store, &c).await;
    finished(&store, &b).await;
    let in_order =
        async |order, descending| names(&store, &WorkspaceFilter::default(), order, descending).await;
    assert_eq!(in_order(WorkspaceOrder::Name, false).await, "abc");
    assert_eq!(in_order(WorkspaceOrder::Name, true).await, "cba");
    assert_eq!(in_order(WorkspaceOrder::CurrentRunCreatedAt, false).await, "acb");
    assert_eq!(in_order(WorkspaceOrder::CurrentRunCreatedAt, true).await, "bca");
    assert_eq!(in_order(WorkspaceOrder::LatestChange, false).await, "abc");
    store.lock_workspace(c.id, Lock { by: "ada".into(), reason: String::new(), at: at(100) }).await.unwrap();
    assert_eq!(in_order(WorkspaceOrder::LatestChange, true).await, "cba");
    let page = PageRequest { number: 2, size: 2 };
    let filter = WorkspaceFilter::default();
    let second = store.list_workspaces(&filter, WorkspaceOrder::Name, false, page).await.unwrap();
    assert_eq!((second.items.len(), second.total), (1, 3));
}

pub(crate) async fn a_search_takes_signs_of_patterns_literally(store: Store) {
    let network = workspace(&store, "network").await;
    for message in ["100%", "1000", r"a\b", "a_b", "axb", "it's"] {
        let options = RunOptions { message: message.into(), ..RunOptions::default() };
        store.create_run(NewRun { options, ..new_run(&network, Facts::default()) }).await.unwrap();
    }
    for text in ["100%", r"a\b", "a_b", "it's"] {
        let filter = RunFilter { search: Some(text.into()), ..RunFilter::default() };
        let page = store.runs(&filter, PageRequest::first(10)).await.unwrap();
        let found: Vec<_> = page.items.iter().map(|run| run.options.message.as_str()).collect();
        assert_eq!(found, [text]);
    }
}

pub(crate) async fn pages_are_newest_first_and_know_the_total(store: Store) {
    let network = workspace(&store, "network").await;
    let mut seqs = Vec::new();
    for _ in 0..5 {
        seqs.insert(0, queued(&store, &network).await.seq);
    }
    let page = async |number, size| {
        let page = store.runs(&RunFilter::default(), PageRequest { number, size }).await.unwrap();
        assert_eq!(page.total, 5);
        page.items.iter().map(|run| run.seq).collect::<Vec<_>>()
    };
    assert_eq!(page(1, 2).await, seqs[..2]);
    assert_eq!(page(2, 2).await, seqs[2..4]);
    assert_eq!(page(3, 2).await, seqs[4..]);
    assert!(page(4, 2).await.is_empty());
    assert!(page(u32::MAX, u32::MAX).await.is_empty());
    assert_eq!(page(0, 0).await, seqs[..1], "out of range is as near as can be");
}

/// What is found one way among few is found another way among many.
pub(crate) async fn a_long_history_is_listed_as_a_short_one_is(store: Store) {
    let (busy, quiet) = (workspace(&store, "busy").await, workspace(&store, "quiet").await);
    let creations: Vec<_> = (0..1_010)
        .map(|n| {
            let facts = Facts { plan_only: n % 5 == 0, ..Facts::default() };
            let of = if n % 100 == 7 { &quiet } else { &busy };
            let (store, new) = (store.clone(), new_run(of, facts));
            tokio::spawn(async move { store.create_run(new).await.unwrap() })
        })
        .collect();
    let mut all = Vec::new();
    for creation in creations {
        all.push(creation.await.unwrap());
    }
    all.sort_by_key(|run| std::cmp::Reverse(run.seq));
    let pending = Some(vec![State::Pending]);
    let filters = [
        RunFilter::default(),
        RunFilter { states: pending, created_from: Some(at(-1)), ..RunFilter::default() },
        RunFilter { operations: Some(vec![Operation::PlanOnly]), ..RunFilter::default() },
        RunFilter { workspace: Some(quiet.id), ..RunFilter::default() },
        RunFilter { workspace_names: Some(vec!["busy".into()]), ..RunFilter::default() },
        RunFilter { states: Some(vec![]), ..RunFilter::default() },
    ];
    let passes = |filter: &RunFilter, run: &Run| {
        filter.workspace.is_none_or(|workspace| run.workspace == workspace)
            && (filter.workspace_names.is_none() || run.workspace == busy.id)
            && filter.states.as_ref().is_none_or(|states| states.contains(&run.state))
            && filter.operations.as_ref().is_none_or(|operations| operations.contains(&run.operation()))
    };
    for filter in filters {
        let expected: Vec<_> = all.iter().filter(|run| passes(&filter, run)).map(|run| run.id).collect();
        for number in [1, 2, 100] {
            let page = PageRequest { number, size: 7 };
            let part: Vec<_> = expected.iter().skip((number as usize - 1) * 7).take(7).copied().collect();
            let ids = |runs: Vec<Run>| runs.into_iter().map(|run| run.id).collect::<Vec<_>>();
            let counted = store.runs(&filter, page).await.unwrap();
            assert_eq!(
                (ids(counted.items), counted.total),
                (part.clone(), expected.len() as u64),
                "{filter:?}"
            );
            let uncounted = store.newest_runs(&filter, page).await.unwrap();
            let more = number as usize * 7 < expected.len();
            assert_eq!((ids(uncounted.items), uncounted.more), (part, more), "{filter:?}");
        }
    }
}
