//! Workspaces: list, read, lock (tfe-api.md 5.4). Their settings live in the config file.

use std::cmp::Reverse;
use std::collections::HashMap;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use lifecycle::id::WorkspaceId;
use lifecycle::wire as status;
use store::{Run, Workspace};
use wire::Included;

use super::Reader;
use crate::ApiState;
use crate::jsonapi::{ApiError, Document, Id, Include, Name, Names, Query, Reason, Result, User};

const INCLUDES: [&str; 15] = [
    "organization",
    "current_run",
    "current_run.plan",
    "current_run.apply",
    "current_run.created_by",
    "current_run.configuration_version",
    "current_run.configuration_version.ingress_attributes",
    "current_configuration_version",
    "current_configuration_version.ingress_attributes",
    "current_state_version",
    "outputs",
    "locked_by",
    "project",
    "readme",
    "effective_tag_bindings",
];

/// What no workspace has here, so that a list by it is empty.
const NEVER: [&str; 3] = ["search[tags]", "filter[project][id]", "filter[tagged][0][key]"];

pub(super) fn router() -> Router<ApiState> {
    let by_name = get(read_by_name).patch(change_by_name).delete(change_by_name);
    Router::new()
        .route("/api/v2/organizations/{organization}/workspaces", get(list).post(create))
        .route("/api/v2/organizations/{organization}/workspaces/{name}", by_name)
        .route("/api/v2/workspaces/{workspace}", get(read).patch(change).delete(change))
        .route("/api/v2/workspaces/{workspace}/actions/lock", post(lock))
        .route("/api/v2/workspaces/{workspace}/actions/unlock", post(unlock))
        .route("/api/v2/workspaces/{workspace}/actions/force-unlock", post(force_unlock))
}

async fn document(reader: &Reader, workspace: &Workspace, include: &Include) -> Result<Document> {
    let current = reader.api.store().current_run(workspace.id).await?;
    let mut included = Included::default();
    reader.include_workspace(workspace, current.as_ref(), include, &mut included).await?;
    Ok(Document::one(reader.workspace_resource(workspace, current.as_ref())).including(included))
}

async fn read(reader: Reader, Id(workspace): Id<WorkspaceId>, query: Query) -> Result<Document> {
    document(&reader, &reader.workspace(workspace).await?, &query.include(&INCLUDES)?).await
}

async fn read_by_name(
    reader: Reader,
    Names((organization, name)): Names<(String, String)>,
    query: Query,
) -> Result<Document> {
    reader.user.organization(&organization)?;
    document(&reader, &reader.workspace_by_name(&name).await?, &query.include(&INCLUDES)?).await
}

async fn list(reader: Reader, Name(organization): Name, query: Query) -> Result<Document> {
    reader.user.organization(&organization)?;
    let include = query.include(&INCLUDES)?;
    let page = query.page()?;
    let current = reader.api.store().current_runs().await?;
    let mut workspaces: Vec<_> = reader.visible().await?.into_values().collect();
    workspaces.retain(|workspace| {
        workspace.removed_at.is_none() && matches(workspace, current.get(&workspace.id), &query)
    });
    sort(&mut workspaces, &current, query.get("sort").unwrap_or("name"))?;
    let cut = Query::cut(page, workspaces);
    let mut included = Included::default();
    let mut resources = Vec::with_capacity(cut.items.len());
    for workspace in &cut.items {
        let run = current.get(&workspace.id);
        reader.include_workspace(workspace, run, &include, &mut included).await?;
        resources.push(reader.workspace_resource(workspace, run));
    }
    Ok(query.paged(page, cut.total, resources).including(included))
}

fn matches(workspace: &Workspace, current: Option<&Run>, query: &Query) -> bool {
    let name = workspace.name.to_lowercase();
    let contains = query.get("search[name]").is_none_or(|text| name.contains(&text.to_lowercase()));
    let wildcard = query.get("search[wildcard-name]").is_none_or(|pattern| {
        let pattern = pattern.to_lowercase();
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), Some(_)) => name.contains(end.trim_end_matches('*')),
            (Some(end), None) => name.ends_with(end),
            (None, Some(start)) => name.starts_with(start),
            (None, None) => name == pattern,
        }
    });
    let status = query
        .list("filter[current-run][status]")
        .is_none_or(|wanted| current.is_some_and(|run| wanted.contains(&status::run_status(run.state))));
    contains && wildcard && status && NEVER.iter().all(|parameter| query.get(parameter).is_none())
}

fn sort(workspaces: &mut [Workspace], current: &HashMap<WorkspaceId, Run>, by: &str) -> Result<()> {
    let (key, descending) = by.strip_prefix('-').map_or((by, false), |key| (key, true));
    let run = |workspace: &Workspace| current.get(&workspace.id);
    workspaces.sort_by(|a, b| a.name.cmp(&b.name));
    match key {
        "name" if descending => workspaces.reverse(),
        "name" => {}
        "current-run.created-at" => {
            let at = |workspace: &Workspace| run(workspace).map(|run| run.created_at);
            if descending { workspaces.sort_by_key(|w| Reverse(at(w))) } else { workspaces.sort_by_key(at) }
        }
        "latest-change-at" => {
            let at = |workspace: &Workspace| {
                run(workspace)
                    .map_or(workspace.updated_at, |run| run.state_changed_at.max(workspace.updated_at))
            };
            if descending { workspaces.sort_by_key(|w| Reverse(at(w))) } else { workspaces.sort_by_key(at) }
        }
        _ => {
            let detail = format!("{by:?} is no order: name, current-run.created-at and latest-change-at are");
            return Err(ApiError::bad_parameter("sort", detail));
        }
    }
    Ok(())
}

async fn lock(reader: Reader, Id(id): Id<WorkspaceId>, Reason(reason): Reason) -> Result<Document> {
    let workspace = reader.api.engine().lock_workspace(&reader.user.name, id, reason).await?;
    document(&reader, &workspace, &Include::default()).await
}

async fn unlock(reader: Reader, Id(id): Id<WorkspaceId>) -> Result<Document> {
    let workspace = reader.api.engine().unlock_workspace(&reader.user.name, id).await?;
    document(&reader, &workspace, &Include::default()).await
}

async fn force_unlock(reader: Reader, Id(id): Id<WorkspaceId>) -> Result<Document> {
    let workspace = reader.api.engine().force_unlock_workspace(&reader.user.name, id).await?;
    document(&reader, &workspace, &Include::default()).await
}

fn in_the_config_file() -> ApiError {
    ApiError::not_supported("workspaces are kept in the daemon's config file: change them there")
}

async fn create(user: User, Name(organization): Name) -> Result<StatusCode> {
    user.organization(&organization)?;
    Err(in_the_config_file())
}

async fn change(reader: Reader, Id(workspace): Id<WorkspaceId>) -> Result<StatusCode> {
    reader.workspace(workspace).await?;
    Err(in_the_config_file())
}

async fn change_by_name(
    reader: Reader,
    Names((organization, name)): Names<(String, String)>,
) -> Result<StatusCode> {
    reader.user.organization(&organization)?;
    reader.workspace_by_name(&name).await?;
    Err(in_the_config_file())
}

#[cfg(test)]
mod tests {
    use lifecycle::State as RunState;

    use super::*;
    use crate::document::fixture;

    fn found(name: &str, query: &str) -> bool {
        let workspace = Workspace { name: name.into(), ..fixture::workspace() };
        let run = fixture::run_in(RunState::Applied, None);
        matches(&workspace, Some(&run), &Query::parse("/", query))
    }

    #[test]
    fn workspaces_are_searched_by_name_and_by_the_status_of_their_run() {
        let table = [
            ("", true),
            ("search[name]=", true),
            ("search[name]=WORK-pr", true),
            ("search[name]=dns", false),
            ("search[wildcard-name]=network*", true),
            ("search[wildcard-name]=*prod", true),
            ("search[wildcard-name]=*work*", true),
            ("search[wildcard-name]=network", false),
            ("search[wildcard-name]=*network", false),
            ("filter[current-run][status]=applied,errored", true),
            ("filter[current-run][status]=errored", false),
            // there are no tags and no projects
            ("search[tags]=a", false),
            ("search[exclude-tags]=a", true),
            ("filter[project][id]=prj-1", false),
            ("TagBindings=%7B%7D", true),
        ];
        for (query, expected) in table {
            assert_eq!(found("network-prod", query), expected, "{query}");
        }
    }

    #[test]
    fn workspaces_are_sorted_either_way_and_by_known_orders_only() {
        let named = |name: &str, n: u8, at: i64| Workspace {
            id: WorkspaceId::from_entropy([n; 16]),
            name: name.into(),
            updated_at: fixture::at(at),
            ..fixture::workspace()
        };
        let sorted = |by: &str| {
            let mut workspaces = [named("b", 1, 5), named("c", 2, 1), named("a", 3, 9)];
            sort(&mut workspaces, &HashMap::new(), by)
                .map(|()| workspaces.map(|workspace| workspace.name).join(""))
        };
        assert_eq!(sorted("name").unwrap(), "abc");
        assert_eq!(sorted("-name").unwrap(), "cba");
        assert_eq!(sorted("latest-change-at").unwrap(), "cba");
        assert_eq!(sorted("-latest-change-at").unwrap(), "abc");
        assert_eq!(sorted("current-run.created-at").unwrap(), "abc");
        assert_eq!(sorted("size").unwrap_err().status(), 400);
    }
}
