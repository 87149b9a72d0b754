//! Lists of runs and their filters.

use std::collections::HashMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use lifecycle::{State, wire as status};
use store::{Operation, RunFilter};
use wire::RunAttributes;

use crate::jsonapi::{ApiError, Parameter, Query, Result};
use crate::operation::{Ask, InOrganization, OnWorkspace, Page};

/// The statuses of `filter[status_group]=discardable`.
const DISCARDABLE: [&str; 3] = ["planned", "policy_checked", "policy_override"];

/// What lists of runs are filtered by.
pub(super) const PARAMETERS: [Parameter; 9] = [
    Parameter::new("filter[status]", "Statuses, with commas between them."),
    Parameter::new("filter[status_group]", "final, non_final or discardable."),
    Parameter::new(
        "filter[operation]",
        "Kinds of runs, with commas between them; by default all but plan_only.",
    ),
    Parameter::new("filter[source]", "Where runs came from, with commas between them."),
    Parameter::new("filter[timeframe]", "The year in which runs were queued, or year for the last one."),
    Parameter::new("filter[agent_pool_names]", "No run is carried out by an agent, so nothing is found."),
    Parameter::new("search[user]", "Who queued the run."),
    Parameter::new("search[commit]", "The beginning of the commit that the run's configuration is of."),
    Parameter::new("search[basic]", "A part of the id, the message, the user or the commit."),
];

/// What the list over all workspaces is filtered by as well.
pub(super) const OF_ORGANIZATION: [Parameter; 1] =
    [Parameter::new("filter[workspace_names]", "Names of workspaces, with commas between them.")];

/// The runs of one workspace.
pub(super) async fn of_workspace(
    OnWorkspace { reader, workspace, .. }: OnWorkspace,
    ask: Ask,
) -> Result<Page<RunAttributes>> {
    let filter = filter(&ask.query, Timestamp::now(), None)?;
    let filter = RunFilter { workspace: Some(workspace.id), ..filter };
    let found = reader.api.store().runs(&filter, ask.page).await?;
    let workspaces = HashMap::from([(workspace.id, workspace)]);
    let (resources, included) = reader.run_documents(&found.items, &workspaces, &ask.include).await?;
    Ok(ask.paged(found.total, resources).including(included))
}

/// The runs of all workspaces that the user may see; by default those of the last year.
pub(super) async fn of_organization(
    InOrganization { reader, .. }: InOrganization,
    ask: Ask,
) -> Result<Page<RunAttributes>> {
    let filter = filter(&ask.query, Timestamp::now(), Some("year"))?;
    let names = ask.query.list("filter[workspace_names]");
    let workspace_names = names.map(|names| names.into_iter().map(str::to_owned).collect());
    let filter = RunFilter { visible: reader.user.visible(), workspace_names, ..filter };
    let found = reader.api.store().newest_runs(&filter, ask.page).await?;
    let workspaces = reader.visible_of(found.items.iter().map(|run| run.workspace)).await?;
    let (resources, included) = reader.run_documents(&found.items, &workspaces, &ask.include).await?;
    Ok(ask.sliced(found.more, resources).including(included))
}

/// The filter that a query asks for. What no run can match (a status that is never given, an agent pool)
/// finds nothing.
fn filter(query: &Query, now: Timestamp, timeframe: Option<&str>) -> Result<RunFilter> {
    let (created_from, created_before) = match query.get("filter[timeframe]").or(timeframe) {
        Some(text) => period(text, now)?,
        None => (None, None),
    };
    let owned = |text: &str| text.to_owned();
    let mut filter = RunFilter {
        states: states(query)?,
        operations: Some(operations(query)),
        sources: query.list("filter[source]").map(|sources| sources.into_iter().map(owned).collect()),
        created_by: query.get("search[user]").map(owned),
        commit: query.get("search[commit]").map(owned),
        search: query.get("search[basic]").map(owned),
        created_from,
        created_before,
        ..RunFilter::default()
    };
    if query.get("filter[agent_pool_names]").is_some() {
        filter.states = Some(vec![]);
    }
    Ok(filter)
}

/// Without a filter all but plan-only runs.
fn operations(query: &Query) -> Vec<Operation> {
    match query.list("filter[operation]") {
        None => Operation::ALL.into_iter().filter(|operation| *operation != Operation::PlanOnly).collect(),
        Some(words) => {
            Operation::ALL.into_iter().filter(|operation| words.contains(&operation.as_str())).collect()
        }
    }
}

fn states(query: &Query) -> Result<Option<Vec<State>>> {
    let by_status = query
        .list("filter[status]")
        .map(|words| words.into_iter().flat_map(status::states_with_status).collect::<Vec<_>>());
    let by_group = match query.get("filter[status_group]") {
        None => None,
        Some("final") => Some(all_states(State::is_final)),
        Some("non_final") => Some(all_states(|state| !state.is_final())),
        Some("discardable") => Some(all_states(|state| DISCARDABLE.contains(&status::run_status(state)))),
        Some(other) => {
            let detail = format!("{other:?} is not a group: final, non_final and discardable are");
            return Err(ApiError::bad_parameter("filter[status_group]", detail));
        }
    };
    Ok(match (by_status, by_group) {
        (Some(states), Some(group)) => {
            Some(states.into_iter().filter(|state| group.contains(state)).collect())
        }
        (states, group) => states.or(group),
    })
}

fn all_states(keep: impl Fn(State) -> bool) -> Vec<State> {
    State::all().into_iter().filter(|state| keep(*state)).collect()
}

/// A year by its number, or the last one by the word `year`.
fn period(text: &str, now: Timestamp) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
    if text == "year" {
        return Ok((now.checked_sub(jiff::SignedDuration::from_hours(365 * 24)).ok(), None));
    }
    let start = |year: i16| {
        let date = Date::new(year, 1, 1).ok()?;
        date.to_zoned(TimeZone::UTC).ok().map(|start| start.timestamp())
    };
    let year = text.parse::<i16>().ok().and_then(|year| Some((start(year)?, start(year.checked_add(1)?)?)));
    let (from, before) = year.ok_or_else(|| {
        ApiError::bad_parameter(
            "filter[timeframe]",
            format!("{text:?} is not a year: a number, or the word year"),
        )
    })?;
    Ok((Some(from), Some(before)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RunFilter> {
        let now = "2026-07-01T00:00:00Z".parse().unwrap();
        filter(&Query::parse("/", text), now, None)
    }

    fn found(text: &str) -> RunFilter {
        parse(text).unwrap()
    }

    #[test]
    fn plan_only_runs_are_left_out_unless_asked_for() {
        let without = found("filter[operation]=").operations.unwrap();
        assert!(!without.contains(&Operation::PlanOnly) && without.len() == 4);
        assert_eq!(found("filter[operation]=plan_only").operations, Some(vec![Operation::PlanOnly]));
        let both = found("filter[operation]=destroy,plan_only").operations.unwrap();
        assert_eq!(both, [Operation::PlanOnly, Operation::Destroy]);
        // never made here, so nothing is found
        assert_eq!(found("filter[operation]=save_plan").operations, Some(vec![]));
    }

    #[test]
    fn statuses_and_groups_become_states() {
        assert_eq!(found("").states, None);
        assert_eq!(
            found("filter[status]=pending,planned").states,
            Some(vec![State::Pending, State::NeedsConfirmation])
        );
        assert_eq!(found("filter[status]=cost_estimated").states, Some(vec![]));
        assert_eq!(found("filter[status]=force_canceled").states, found("filter[status]=canceled").states);
        let discardable = [State::NeedsConfirmation, State::PolicyOverride, State::PolicyChecked];
        assert_eq!(found("filter[status_group]=discardable").states.unwrap(), discardable);
        let all = found("filter[status_group]=final").states.unwrap().len()
            + found("filter[status_group]=non_final").states.unwrap().len();
        assert_eq!(all, State::all().len());
        assert_eq!(
            found("filter[status]=applied,pending&filter[status_group]=final").states,
            Some(vec![State::Applied])
        );
        assert_eq!(parse("filter[status_group]=some").unwrap_err().status(), 400);
    }

    #[test]
    fn a_timeframe_is_a_year_or_the_last_one() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let year = found("filter[timeframe]=2025");
        assert_eq!(year.created_from, at("2025-01-01T00:00:00Z"));
        assert_eq!(year.created_before, at("2026-01-01T00:00:00Z"));
        assert_eq!(found("filter[timeframe]=year").created_from, at("2025-07-01T00:00:00Z"));
        assert_eq!(found("").created_from, None);
        for text in ["soon", "99999", "32767", "-"] {
            assert_eq!(parse(&format!("filter[timeframe]={text}")).unwrap_err().status(), 400, "{text}");
        }
    }

    #[test]
    fn the_other_filters_are_taken_as_they_are() {
        let filter =
            found("filter[source]=tfe-api,terraform&search[user]=op&search[commit]=0a1b&search[basic]=net");
        assert_eq!(filter.sources, Some(vec!["tfe-api".to_owned(), "terraform".to_owned()]));
        assert_eq!(filter.created_by.as_deref(), Some("op"));
        assert_eq!(filter.commit.as_deref(), Some("0a1b"));
        assert_eq!(filter.search.as_deref(), Some("net"));
        // no run is carried out by an agent
        assert_eq!(found("filter[agent_pool_names]=a").states, Some(vec![]));
    }
}
