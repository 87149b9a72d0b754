use std::sync::LazyLock;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use client::{Run, RunFilter};
use jiff::Timestamp;
use lifecycle::State;
use lifecycle::wire::run_status;
use serde_json::json;

use super::super::args::ListArgs;
use super::super::context::Context;
use super::super::failure::{Exit, Failure};
use super::super::json_output::RunShape;
use super::super::paint::{self, Paint};
use super::super::table::{Cell, Table};
use super::super::{names, terminal, time};

/// The most that the API gives at once.
const PAGE_SIZE: usize = 100;

/// A state by the name that people see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StateFilter(&'static str);

/// All of them by what they are called on the command line, `needs-confirmation`, in the order in which a run goes
/// through them.
static STATES: LazyLock<Vec<(String, StateFilter)>> = LazyLock::new(|| {
    let mut names: Vec<_> = State::all().into_iter().map(State::name).collect();
    names.dedup();
    names.into_iter().map(|name| (name.to_lowercase().replace(' ', "-"), StateFilter(name))).collect()
});

impl StateFilter {
    pub(crate) fn parser() -> impl TypedValueParser<Value = Self> {
        PossibleValuesParser::new(STATES.iter().map(|(slug, _)| slug.as_str())).try_map(|given| {
            let found = STATES.iter().find(|(slug, _)| slug.eq_ignore_ascii_case(&given));
            found.map(|(_, state)| *state).ok_or("there is no such state")
        })
    }

    /// The wire statuses of runs that may be in that state.
    fn statuses(self) -> impl Iterator<Item = &'static str> {
        State::all().into_iter().filter(move |state| state.name() == self.0).map(run_status)
    }

    /// Two states may share a wire status: the name decides.
    fn matches(self, run: &Run) -> bool {
        self.0 == run.state_name()
    }
}

pub(super) async fn run(args: &ListArgs, context: &Context) -> Result<Exit, Failure> {
    let (runs, more) = find(args, context).await?;
    let output = context.output;
    if output.json {
        let shapes: Vec<_> = runs.iter().map(RunShape::new).collect();
        output.document(&json!({ "runs": shapes, "has_more": more }), false)?;
    } else if runs.is_empty() {
        output.note(if args.state.is_empty() { "there are no runs yet" } else { "there is no such run" });
    } else {
        output.print(&text(&runs, Timestamp::now(), output.width, output.paint))?;
        if more {
            let twice = args.limit.get().saturating_mul(2);
            output.note(&format!("there are more: -n {twice} shows some of them"));
        }
    }
    Ok(Exit::Success)
}

/// The runs, and whether there are more.
async fn find(args: &ListArgs, context: &Context) -> Result<(Vec<Run>, bool), Failure> {
    let workspace_id = match args.workspace() {
        // a name that does not exist is a mistake, and not an empty list
        Some(name) => Some(names::workspace(name, context).await?.resource.id),
        None => None,
    };
    let mut statuses: Vec<String> =
        args.state.iter().flat_map(|state| state.statuses()).map(str::to_owned).collect();
    statuses.sort_unstable();
    statuses.dedup();
    let filter = RunFilter { workspace_id, statuses };
    // one size for all pages: their numbers count in it
    let limit = args.limit.get();
    let size = limit.min(PAGE_SIZE);
    let mut runs = Vec::new();
    let mut next = Some(1);
    while let Some(number) = next.filter(|_| runs.len() < limit) {
        let page = context.client.runs(&filter, number, u32::try_from(size).unwrap_or(u32::MAX)).await?;
        next = page.next_page().filter(|next| *next > number);
        let wanted = |run: &Run| args.state.is_empty() || args.state.iter().any(|state| state.matches(run));
        runs.extend(page.items.into_iter().filter(wanted));
    }
    let more = runs.len() > limit || next.is_some();
    runs.truncate(limit);
    Ok((runs, more))
}

fn text(runs: &[Run], now: Timestamp, width: Option<usize>, paint: Paint) -> String {
    let mut table = Table::new(["RUN", "WORKSPACE", "STATE", "QUEUED", "BY", "MESSAGE"]);
    let mut waiting = String::new();
    for run in runs {
        if let Some(what) = run.waits_for() {
            waiting += &format!("{} waits for {}\n", terminal::line(&run.id), terminal::line(what));
        }
        table.row([
            terminal::line(&run.id).into(),
            terminal::line(run.workspace_name.as_deref().unwrap_or_default()).into(),
            Cell::styled(terminal::line(run.state_name()), paint::state(run)),
            time::ago(run.created_at, now).into(),
            terminal::line(run.created_by.as_deref().unwrap_or_default()).into(),
            terminal::line(&run.message).into(),
        ]);
    }
    let table = table.render(width, paint);
    if waiting.is_empty() { table } else { format!("{table}\n{waiting}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::sample;

    #[test]
    fn every_state_can_be_asked_for_by_the_name_that_people_see() {
        let parser = StateFilter::parser();
        let command = clap::Command::new("list");
        for state in State::all() {
            let slug = state.name().to_lowercase().replace(' ', "-");
            let filter = parser.parse_ref(&command, None, slug.as_ref()).unwrap();
            assert_eq!(filter, StateFilter(state.name()));
            assert!(filter.statuses().any(|status| status == run_status(state)), "{slug}");
        }
        assert!(parser.parse_ref(&command, None, "assessing".as_ref()).is_err());
        assert_eq!(STATES.len(), 15);
    }

    #[test]
    fn states_that_share_a_status_are_told_apart() {
        let run = sample::run(State::ApplyErrored, |_| {});
        assert!(StateFilter("Apply Errored").matches(&run) && !StateFilter("Plan Errored").matches(&run));
    }

    #[test]
    fn what_queued_runs_wait_for_stands_below_the_list() {
        let run = sample::run(State::Pending, |run| run.signalbox.waits_for = Some("run-2 to end".into()));
        let listed = text(&[run], "2026-01-01T00:03:00Z".parse().unwrap(), None, Paint::new(false));
        assert!(listed.ends_with("why\n\nrun-1 waits for run-2 to end\n"), "{listed}");
    }

    #[test]
    fn a_list_has_a_line_for_each_run() {
        let run = sample::run(State::Pending, |run| run.message = format!("{}\nmore", "x".repeat(75)));
        let now = "2026-01-01T00:03:00Z".parse().unwrap();
        let shown = |width| text(std::slice::from_ref(&run), now, width, Paint::new(false));
        // in a pipe it is whole, on a terminal it fits
        for (width, message) in
            [(None, format!("{} more", "x".repeat(75))), (Some(60), format!("{}…", "x".repeat(11)))]
        {
            let expected = format!(
                "RUN    WORKSPACE     STATE    QUEUED  BY        MESSAGE\n\
                 run-1  network-prod  Pending  3m ago  operator  {message}\n"
            );
            assert_eq!(shown(width), expected);
        }
    }
}
