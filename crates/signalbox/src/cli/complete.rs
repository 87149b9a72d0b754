//! Completion of names that only the daemon knows: workspaces, and runs by id.

use std::ffi::OsStr;
use std::time::Duration;

use clap_complete::engine::CompletionCandidate;
use client::{Client, RunFilter};

use super::args::DEFAULT_ADDRESS;
use super::credentials::Credentials;

/// Nobody waits longer for a suggestion.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many of the newest runs are offered.
const RUNS: u32 = 20;

/// The daemon and the user that the environment names, or the last login. What stands on the line that is being typed is not known.
fn client() -> Option<Client> {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let kept = Credentials::read().unwrap_or_default();
    let address = set("SIGNALBOX_ADDRESS").or_else(|| kept.address.clone());
    let address = address.unwrap_or_else(|| DEFAULT_ADDRESS.to_owned());
    let token = set("SIGNALBOX_TOKEN").or_else(|| kept.token(&address).map(str::to_owned))?;
    Client::new(&address, &token).ok()
}

/// What the daemon says in time; nothing for any other reason, since nobody asked for words.
fn asked<T>(question: impl AsyncFnOnce(Client) -> Option<T>) -> Option<T> {
    let client = client()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE, question(client)).await.ok()? })
}

fn beginning(names: impl IntoIterator<Item = (String, String)>, current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let fitting = names.into_iter().filter(|(name, _)| name.starts_with(&*current));
    fitting.map(|(name, about)| CompletionCandidate::new(name).help(Some(about.into()))).collect()
}

/// Names of workspaces, with the state of each.
pub(crate) fn workspaces(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = asked(async |client| client.all_workspaces().await.ok()).unwrap_or_default();
    let named = all.into_iter().map(|workspace| {
        let state =
            workspace.current_run.as_deref().map_or_else(String::new, |run| run.state_name().to_owned());
        (workspace.name.clone(), state)
    });
    beginning(named, current)
}

/// Ids of the newest runs, with what they are; names of workspaces as well, which mean a run of theirs.
pub(crate) fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    let newest = asked(async |client| Some(client.runs(&RunFilter::default(), 1, RUNS).await.ok()?.items));
    let named = newest.unwrap_or_default().into_iter().map(|run| {
        let workspace = run.workspace_name.clone().unwrap_or_default();
        (run.id.clone(), format!("{workspace}: {}", run.state_name()))
    });
    let mut found = beginning(named, current);
    found.extend(workspaces(current));
    found
}
