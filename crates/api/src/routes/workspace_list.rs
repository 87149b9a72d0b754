//! The list of workspaces, its filters and its orders.

use std::collections::HashMap;

use lifecycle::id::WorkspaceId;
use lifecycle::wire as status;
use store::{Run, Workspace};
use wire::{Included, WorkspaceAttributes};

use crate::jsonapi::{ApiError, Parameter, Query, Result, cut};
use crate::operation::{Ask, InOrganization, Page};

/// What no workspace has here, so that a list by it is empty.
const NEVER: [&str; 3] = ["search[tags]", "filter[project][id]", "filter[tagged][0][key]"];

pub(super) const PARAMETERS: [Parameter; 7] = [
    Parameter::new("search[name]", "A part of the name."),
    Parameter::new("search[wildcard-name]", "The name, with a * at its beginning, its end or both."),
    Parameter::new(
        "filter[current-run][status]",
        "Statuses of the run that holds the workspace, with commas between them.",
    ),
    Parameter::new("sort", "name, current-run.created-at or latest-change-at; with - before it backwards."),
    Parameter::new(NEVER[0], "There are no tags, so nothing is found."),
    Parameter::new(NEVER[1], "There are no projects, so nothing is found."),
    Parameter::new(NEVER[2], "There are no tags, so nothing is found."),
];

/// Which workspaces, in which order.
struct WorkspaceFilter {
    /// In lower case.
    name_contains: Option<String>,
    name: Option<Wildcard>,
    /// Of the run that holds the workspace.
    statuses: Option<Vec<String>>,
    /// By what no workspace has.
    never: bool,
    order: Order,
    descending: bool,
}

/// A name with a `*` at its beginning, its end or both; in lower case.
enum Wildcard {
    Is(String),
    StartsWith(String),
    EndsWith(String),
    Contains(String),
}

#[derive(Clone, Copy)]
enum Order {
    Name,
    CurrentRunCreated,
    LatestChange,
}

impl WorkspaceFilter {
    /// The filter that a query asks for.
    fn parse(query: &Query) -> Result<Self> {
        let by = query.get("sort").unwrap_or("name");
        let (key, descending) = by.strip_prefix('-').map_or((by, false), |key| (key, true));
        let order = match key {
            "name" => Order::Name,
            "current-run.created-at" => Order::CurrentRunCreated,
            "latest-change-at" => Order::LatestChange,
            _ => {
                let detail =
                    format!("{by:?} is no order: name, current-run.created-at and latest-change-at are");
                return Err(ApiError::bad_parameter("sort", detail));
            }
        };
        let statuses = query.list("filter[current-run][status]");
        Ok(Self {
            name_contains: query.get("search[name]").map(str::to_lowercase),
            name: query.get("search[wildcard-name]").map(Wildcard::parse),
            statuses: statuses.map(|words| words.into_iter().map(str::to_owned).collect()),
            never: NEVER.iter().any(|parameter| query.get(parameter).is_some()),
            order,
            descending,
        })
    }

    fn matches(&self, workspace: &Workspace, current: Option<&Run>) -> bool {
        let name = workspace.name.to_lowercase();
        let has_status = |wanted: &Vec<String>| {
            current.is_some_and(|run| wanted.iter().any(|word| word == status::run_status(run.state)))
        };
        !self.never
            && self.name_contains.as_ref().is_none_or(|part| name.contains(part))
            && self.name.as_ref().is_none_or(|wildcard| wildcard.matches(&name))
            && self.statuses.as_ref().is_none_or(has_status)
    }

    /// Those that have the same place are in the order of their names.
    fn sort(&self, workspaces: &mut [Workspace], current: &HashMap<WorkspaceId, Run>) {
        workspaces.sort_by(|a, b| a.name.cmp(&b.name));
        let at = |workspace: &Workspace| {
            let run = current.get(&workspace.id);
            match self.order {
                Order::Name => None,
                Order::CurrentRunCreated => run.map(|run| run.created_at),
                Order::LatestChange => {
                    let changed = workspace.updated_at;
                    Some(run.map_or(changed, |run| run.state_changed_at.max(changed)))
                }
            }
        };
        match (self.order, self.descending) {
            (Order::Name, false) => {}
            (Order::Name, true) => workspaces.reverse(),
            (_, false) => workspaces.sort_by_key(at),
            (_, true) => workspaces.sort_by_key(|workspace| std::cmp::Reverse(at(workspace))),
        }
    }
}

impl Wildcard {
    fn parse(pattern: &str) -> Self {
        let pattern = pattern.to_lowercase();
        match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
            (Some(end), Some(_)) => Self::Contains(end.trim_end_matches('*').to_owned()),
            (Some(end), None) => Self::EndsWith(end.to_owned()),
            (None, Some(start)) => Self::StartsWith(start.to_owned()),
            (None, None) => Self::Is(pattern),
        }
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Self::Is(all) => name == all,
            Self::StartsWith(start) => name.starts_with(start),
            Self::EndsWith(end) => name.ends_with(end),
            Self::Contains(part) => name.contains(part),
        }
    }
}

pub(super) async fn list(
    InOrganization { reader, workspaces, .. }: InOrganization,
    ask: Ask,
) -> Result<Page<WorkspaceAttributes>> {
    let filter = WorkspaceFilter::parse(&ask.query)?;
    let current = reader.api.store().current_runs().await?;
    let mut workspaces: Vec<_> = workspaces.into_values().collect();
    workspaces.retain(|workspace| {
        workspace.removed_at.is_none() && filter.matches(workspace, current.get(&workspace.id))
    });
    filter.sort(&mut workspaces, &current);
    let cut = cut(ask.page, workspaces);
    let mut included = Included::default();
    let mut resources = Vec::with_capacity(cut.items.len());
    for workspace in &cut.items {
        let run = current.get(&workspace.id);
        reader.include_workspace(workspace, run, &ask.include, &mut included).await?;
        resources.push(reader.workspace_resource(workspace, run));
    }
    Ok(ask.paged(cut.total, resources).including(included))
}

#[cfg(test)]
mod tests {
    use lifecycle::State as RunState;

    use super::*;
    use crate::document::fixture;

    fn found(name: &str, query: &str) -> bool {
        let workspace = Workspace { name: name.into(), ..fixture::workspace() };
        let run = fixture::run_in(RunState::Applied, None);
        WorkspaceFilter::parse(&Query::parse("/", query)).unwrap().matches(&workspace, Some(&run))
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
            WorkspaceFilter::parse(&Query::parse("/", &format!("sort={by}"))).map(|filter| {
                filter.sort(&mut workspaces, &HashMap::new());
                workspaces.map(|workspace| workspace.name).join("")
            })
        };
        assert_eq!(sorted("name").unwrap(), "abc");
        assert_eq!(sorted("-name").unwrap(), "cba");
        assert_eq!(sorted("latest-change-at").unwrap(), "cba");
        assert_eq!(sorted("-latest-change-at").unwrap(), "abc");
        assert_eq!(sorted("current-run.created-at").unwrap(), "abc");
        assert_eq!(sorted("size").unwrap_err().status(), 400);
    }
}
