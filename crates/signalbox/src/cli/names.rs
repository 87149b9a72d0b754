//! What a person means by a name: runs by id, by the beginning of one, by workspace, or the latest.

use client::{ClientError, Run, RunFilter, Workspace};

use super::context::Context;
use super::failure::Failure;
use super::terminal;

/// The newest of all runs that the user may see.
const LATEST: &str = "latest";
/// `run-` and 16 characters.
const RUN_ID_LENGTH: usize = 20;
/// So many of the newest runs are looked at for the beginning of an id.
const SEARCHED: usize = 1000;
const PAGE_SIZE: u32 = 100;

/// Whether it can mean a run at all: an id of one, or the name of a workspace.
pub(crate) fn means_run(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty()
        && !text.starts_with('-')
        && text.chars().all(|char| char.is_ascii_alphanumeric() || char == '-' || char == '_');
    if is_name && text != "run-" {
        Ok(text.to_owned())
    } else {
        Err("a run is named by its id (run-CZcmD7eagjhyX1vN), the beginning of it, the name of its workspace, or `latest`"
            .to_owned())
    }
}

/// The id of the run that is meant. Of a workspace it is the run that holds it, or else its newest.
pub(crate) async fn run_id(meant: &str, context: &Context) -> Result<String, Failure> {
    let client = &context.client;
    if meant == LATEST {
        let page = client.runs(&RunFilter::default(), 1, 1).await?;
        let latest = page.items.into_iter().next().map(|run| run.resource.id);
        return latest.ok_or_else(|| Failure::Local("there are no runs yet".to_owned()));
    }
    if meant.starts_with("run-") && meant.len() >= RUN_ID_LENGTH {
        return Ok(meant.to_owned());
    }
    if meant.starts_with("run-") {
        return beginning_with(meant, context).await;
    }
    let workspace = workspace(meant, context).await?;
    match workspace.current_run_id() {
        Some(id) => Ok(id.to_owned()),
        None => newest_of(&workspace, context).await,
    }
}

async fn newest_of(workspace: &Workspace, context: &Context) -> Result<String, Failure> {
    let filter = RunFilter { workspace_id: Some(workspace.id.clone()), ..RunFilter::default() };
    let page = context.client.runs(&filter, 1, 1).await?;
    let none = || {
        let name = terminal::line(&workspace.name);
        Failure::refused(format!("{name} has no runs yet"), format!("signalbox run start {name} queues one"))
    };
    page.items.into_iter().next().map(|run| run.resource.id).ok_or_else(none)
}

async fn beginning_with(prefix: &str, context: &Context) -> Result<String, Failure> {
    let mut found: Vec<Run> = Vec::new();
    let mut next = Some(1);
    let mut seen = 0;
    while let Some(number) = next.filter(|_| seen < SEARCHED) {
        let page = context.client.runs(&RunFilter::default(), number, PAGE_SIZE).await?;
        next = page.next_page().filter(|next| *next > number);
        seen += page.items.len();
        found.extend(page.items.into_iter().filter(|run| run.id.starts_with(prefix)));
    }
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => Err(Failure::refused(
            format!("no run's id begins with {prefix}"),
            format!("the newest {SEARCHED} were looked at; `signalbox run list` shows ids"),
        )),
        several => {
            let ids: Vec<_> = several.iter().take(5).map(|run| terminal::line(&run.id)).collect();
            Err(Failure::refused(
                format!("{} begin with {prefix}", text::count(several.len(), "run")),
                format!("write more of it: {}", ids.join(", ")),
            ))
        }
    }
}

/// The workspace of that name; where there is none, with the name that was probably meant.
pub(crate) async fn workspace(name: &str, context: &Context) -> Result<Workspace, Failure> {
    let error = match context.client.workspace(name).await {
        Err(error @ ClientError::NotFound(_)) => error,
        found => return Ok(found?),
    };
    let all = context.client.all_workspaces().await.unwrap_or_default();
    let names = || all.iter().map(|workspace| workspace.name.as_str());
    let help = match text::nearest(name, names()) {
        Some(near) => format!("did you mean {}?", terminal::line(near)),
        None if all.is_empty() => "there is no workspace that you may see".to_owned(),
        None => "`signalbox workspace list` shows the workspaces that you may see".to_owned(),
    };
    Err(Failure::refused(error.to_string(), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_mean_a_run_is_told_from_what_can_not() {
        for text in ["run-CZcmD7eagjhyX1vN", "run-CZ", "latest", "network-prod", "a_b"] {
            assert_eq!(means_run(text).as_deref(), Ok(text));
        }
        for text in ["", "run-", "run-../../x", "a b", "-x", "a/b", "ä"] {
            assert!(means_run(text).is_err(), "{text}");
        }
    }
}
