//! The list of workspaces, its filters and its orders.

use lifecycle::access::Action;
use lifecycle::wire as status;
use store::{NamePattern, WorkspaceFilter, WorkspaceOrder};
use wire::WorkspaceAttributes;

use crate::jsonapi::{ApiError, Parameter, Query, Result};
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

/// A list that a query asks for.
#[derive(Debug, PartialEq)]
struct List {
    filter: WorkspaceFilter,
    order: WorkspaceOrder,
    descending: bool,
    /// By what no workspace has.
    never: bool,
}

impl List {
    fn parse(query: &Query) -> Result<Self> {
        let by = query.get("sort").unwrap_or("name");
        let (key, descending) = by.strip_prefix('-').map_or((by, false), |key| (key, true));
        let order = match key {
            "name" => WorkspaceOrder::Name,
            "current-run.created-at" => WorkspaceOrder::CurrentRunCreatedAt,
            "latest-change-at" => WorkspaceOrder::LatestChange,
            _ => {
                let detail =
                    format!("{by:?} is not an order: name, current-run.created-at and latest-change-at are");
                return Err(ApiError::bad_parameter("sort", detail));
            }
        };
        let contains = query.get("search[name]").map(|text| NamePattern::Contains(text.to_owned()));
        let names = contains.into_iter().chain(query.get("search[wildcard-name]").map(pattern)).collect();
        let statuses = query.list("filter[current-run][status]");
        let states = statuses.map(|words| words.into_iter().flat_map(status::states_with_status).collect());
        Ok(Self {
            filter: WorkspaceFilter { names, states, ..WorkspaceFilter::default() },
            order,
            descending,
            never: NEVER.iter().any(|parameter| query.get(parameter).is_some()),
        })
    }
}

/// A name with a `*` at its beginning, its end or both.
fn pattern(text: &str) -> NamePattern {
    match (text.strip_prefix('*'), text.strip_suffix('*')) {
        (Some(end), Some(_)) => NamePattern::Contains(end.trim_end_matches('*').to_owned()),
        (Some(end), None) => NamePattern::EndsWith(end.to_owned()),
        (None, Some(start)) => NamePattern::StartsWith(start.to_owned()),
        (None, None) => NamePattern::Is(text.to_owned()),
    }
}

pub(super) async fn list(
    InOrganization { reader, .. }: InOrganization,
    ask: Ask,
) -> Result<Page<WorkspaceAttributes>> {
    let List { filter, order, descending, never } = List::parse(&ask.query)?;
    if never {
        return Ok(ask.paged(0, vec![]));
    }
    let filter = WorkspaceFilter { visible: reader.user.visible(), ..filter };
    let mut found = reader.api.store().list_workspaces(&filter, order, descending, ask.page).await?;
    // the configuration may have changed since its workspaces were brought in line with it
    found.items.retain(|workspace| reader.user.access(workspace).allows(Action::Read));
    let (resources, included) = reader.workspace_documents(&found.items, &ask.include).await?;
    Ok(ask.paged(found.total, resources).including(included))
}

#[cfg(test)]
mod tests {
    use lifecycle::State;

    use super::*;

    fn parse(query: &str) -> Result<List> {
        List::parse(&Query::parse("/", query))
    }

    #[test]
    fn workspaces_are_searched_by_name_and_by_the_status_of_their_run() {
        let names = |query: &str| parse(query).unwrap().filter.names;
        assert_eq!(names("search[name]="), []);
        assert_eq!(names("search[name]=WORK-pr"), [NamePattern::Contains("WORK-pr".into())]);
        assert_eq!(names("search[wildcard-name]=network*"), [NamePattern::StartsWith("network".into())]);
        assert_eq!(names("search[wildcard-name]=*prod"), [NamePattern::EndsWith("prod".into())]);
        assert_eq!(names("search[wildcard-name]=*work*"), [NamePattern::Contains("work".into())]);
        assert_eq!(names("search[wildcard-name]=network"), [NamePattern::Is("network".into())]);
        assert_eq!(names("search[wildcard-name]=*"), [NamePattern::Contains(String::new())]);
        let states = |query: &str| parse(query).unwrap().filter.states;
        assert_eq!(states(""), None);
        assert_eq!(states("filter[current-run][status]=applied"), Some(vec![State::Applied]));
        assert_eq!(states("filter[current-run][status]=nonsense"), Some(vec![]));
    }

    #[test]
    fn a_list_by_tags_or_projects_is_empty_since_there_are_none() {
        let table = [
            ("", false),
            ("search[tags]=a", true),
            ("search[exclude-tags]=a", false),
            ("filter[project][id]=prj-1", true),
            ("TagBindings=%7B%7D", false),
        ];
        for (query, never) in table {
            assert_eq!(parse(query).unwrap().never, never, "{query}");
        }
    }

    #[test]
    fn workspaces_are_sorted_either_way_and_by_known_orders_only() {
        let sorted = |by: &str| parse(&format!("sort={by}")).map(|list| (list.order, list.descending)).ok();
        assert_eq!(parse("").map(|list| (list.order, list.descending)).ok(), sorted("name"));
        assert_eq!(sorted("name"), Some((WorkspaceOrder::Name, false)));
        assert_eq!(sorted("-name"), Some((WorkspaceOrder::Name, true)));
        assert_eq!(sorted("-latest-change-at"), Some((WorkspaceOrder::LatestChange, true)));
        assert_eq!(sorted("current-run.created-at"), Some((WorkspaceOrder::CurrentRunCreatedAt, false)));
        assert_eq!(parse("sort=size").unwrap_err().status(), 400);
    }
}
