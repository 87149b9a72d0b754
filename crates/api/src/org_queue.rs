//! The organization's queue: who waits for an execution, and who is ahead of them (docs/api.md, "The queue of the
//! organization").

use std::collections::{HashMap, HashSet};

use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::queue::{Entry, startable};
use lifecycle::{State, Work};
use store::Waiting;

/// The runs that are not over, first those that work, then those that wait, in the order in which they
/// would get their turn. A run's position is how many are ahead of it, those that work included: clients
/// subtract them.
#[derive(Debug, Default)]
pub(crate) struct OrgQueue {
    by_workspace: HashMap<WorkspaceId, Vec<Entry>>,
    order: Vec<(RunId, WorkspaceId)>,
    positions: HashMap<RunId, usize>,
    working: usize,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Working,
    Apply,
    Plan,
    PlanOnly,
    /// Rests, and is ahead of nobody who waits for an execution.
    AtRest,
    /// Behind another run of its workspace, or a lock.
    Behind,
}

impl OrgQueue {
    /// `runs` are all that are not over, in the order in which they were queued; `locked` the workspaces
    /// that somebody locked.
    pub(crate) fn of(runs: &[Waiting], locked: &HashSet<WorkspaceId>) -> Self {
        let mut by_workspace: HashMap<WorkspaceId, Vec<Entry>> = HashMap::new();
        for run in runs {
            by_workspace.entry(run.workspace).or_default().push(run.entry);
        }
        let next: HashSet<RunId> = by_workspace
            .iter()
            .flat_map(|(workspace, entries)| startable(entries, locked.contains(workspace)))
            .collect();
        let mut ranked: Vec<_> = runs
            .iter()
            .map(|run| (rank(run.entry, &next), run.seq, (run.entry.run, run.workspace)))
            .collect();
        ranked.sort_unstable();
        let working = ranked.iter().take_while(|(rank, ..)| *rank == Rank::Working).count();
        let order: Vec<_> =
            ranked.iter().filter(|(rank, ..)| *rank != Rank::AtRest).map(|(.., run)| *run).collect();
        let positions = order.iter().enumerate().map(|(position, (run, _))| (*run, position)).collect();
        Self { by_workspace, order, positions, working }
    }

    /// The runs of a workspace that are not over, in the order in which they were queued.
    pub(crate) fn of_workspace(&self, workspace: WorkspaceId) -> &[Entry] {
        self.by_workspace.get(&workspace).map_or(&[], Vec::as_slice)
    }

    /// Every run in it with its workspace, first those that work.
    pub(crate) fn order(&self) -> &[(RunId, WorkspaceId)] {
        &self.order
    }

    /// The workspaces of its runs.
    pub(crate) fn workspaces(&self) -> impl Iterator<Item = WorkspaceId> {
        self.by_workspace.keys().copied()
    }

    /// 0 for one that is not in it.
    pub(crate) fn position(&self, run: RunId) -> usize {
        self.positions.get(&run).copied().unwrap_or_default()
    }

    /// How many work.
    pub(crate) fn working(&self) -> usize {
        self.working
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.order.len() - self.working
    }
}

fn rank(run: Entry, next: &HashSet<RunId>) -> Rank {
    match run.state {
        state if state.execution().is_some() => Rank::Working,
        State::Applying(Work::Queued) => Rank::Apply,
        State::Planning(Work::Queued) | State::Pending if run.plan_only => Rank::PlanOnly,
        State::Planning(Work::Queued) => Rank::Plan,
        State::Pending if next.contains(&run.run) => Rank::Plan,
        State::Pending => Rank::Behind,
        _ => Rank::AtRest,
    }
}

#[cfg(test)]
mod tests {
    use lifecycle::Execution;

    use lifecycle::queue::Fetch;

    use super::*;

    fn run(n: u8, workspace: u8, state: State) -> Waiting {
        Waiting {
            seq: i64::from(n),
            workspace: WorkspaceId::from_entropy([workspace; 16]),
            entry: Entry { run: RunId::from_entropy([n; 16]), state, plan_only: false, fetch: Fetch::None },
        }
    }

    fn ids(queue: &OrgQueue) -> Vec<RunId> {
        queue.order().iter().map(|(run, _)| *run).collect()
    }

    fn plan_only(mut run: Waiting) -> Waiting {
        run.entry.plan_only = true;
        run
    }

    #[test]
    fn those_that_work_come_first_then_applies_plans_and_speculative_plans() {
        let working = State::Planning(Work::Executing(Execution::Running));
        let runs = [
            plan_only(run(1, 1, State::Pending)),
            run(2, 2, State::Pending),
            run(3, 3, working),
            run(4, 4, State::Applying(Work::Queued)),
            run(5, 5, State::NeedsConfirmation),
            run(6, 3, State::Pending),
            run(7, 6, State::Planning(Work::Queued)),
        ];
        let queue = OrgQueue::of(&runs, &HashSet::new());
        let expected = [3, 4, 2, 7, 1, 6].map(|n| RunId::from_entropy([n; 16]));
        assert_eq!(ids(&queue), expected);
        assert_eq!((queue.working(), queue.waiting()), (1, 5));
        assert_eq!(queue.position(expected[0]), 0);
        assert_eq!(queue.position(expected[2]), 2);
        // a run at rest is in nobody's way
        assert_eq!(queue.position(RunId::from_entropy([5; 16])), 0);
    }

    #[test]
    fn a_run_behind_a_lock_is_ahead_of_nobody() {
        let runs = [run(1, 1, State::Pending), run(2, 2, State::Pending)];
        let locked = HashSet::from([runs[0].workspace]);
        assert_eq!(ids(&OrgQueue::of(&runs, &locked)), [runs[1].entry.run, runs[0].entry.run]);
        assert_eq!(ids(&OrgQueue::of(&runs, &HashSet::new())), [runs[0].entry.run, runs[1].entry.run]);
    }
}
