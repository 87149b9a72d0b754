//! The queue of a workspace: which of its runs may start.

use crate::State;
use crate::id::RunId;

/// A run of the workspace that is not over, as far as the queue cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Which run.
    pub run: RunId,
    /// Where it is.
    pub state: State,
    /// A speculative run: outside the queue.
    pub plan_only: bool,
    /// Whether its configuration is fetched from elsewhere, and was.
    pub fetch: Fetch,
}

/// How far a run is with fetching its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fetch {
    /// It lies on this machine.
    #[default]
    None,
    /// It still has to be fetched.
    Due,
    /// It was.
    Done,
}

/// The run that holds the workspace: the first that is neither final nor plan-only and has left Pending.
///
/// `entries` are in the order in which they were queued.
pub fn holder(entries: &[Entry]) -> Option<RunId> {
    entries.iter().find(|e| !e.plan_only && !e.state.is_final() && e.state != State::Pending).map(|e| e.run)
}

/// The runs that may leave Pending now, slots aside (T1): the first of the queue, if nothing holds the
/// workspace and nobody locked it, and every plan-only run.
///
/// `entries` are in the order in which they were queued; those that are final are passed over.
pub fn startable(entries: &[Entry], locked: bool) -> Vec<RunId> {
    let held = holder(entries).is_some();
    let first = entries.iter().find(|e| !e.plan_only && !e.state.is_final());
    entries
        .iter()
        .filter(|e| e.state == State::Pending)
        .filter(|e| e.plan_only || (!locked && !held && first.is_some_and(|first| first.run == e.run)))
        .map(|e| e.run)
        .collect()
}

/// How many runs are ahead of this one in its workspace; 0 for one that holds it, and for plan-only runs.
pub fn runs_ahead(entries: &[Entry], run: RunId) -> usize {
    let waits = |e: &&Entry| !e.plan_only && !e.state.is_final();
    match entries.iter().find(|e| e.run == run) {
        Some(entry) if !entry.plan_only => entries.iter().take_while(|e| e.run != run).filter(waits).count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Execution, Work};

    fn entry(n: u8, state: State, plan_only: bool) -> Entry {
        Entry { run: RunId::from_entropy([n; 16]), state, plan_only, fetch: Fetch::None }
    }

    #[test]
    fn runs_start_one_at_a_time_in_the_order_in_which_they_were_queued() {
        let queue = [1, 2, 3].map(|n| entry(n, State::Pending, false));
        assert_eq!(startable(&queue, false), [queue[0].run]);
        assert_eq!(runs_ahead(&queue, queue[2].run), 2);
    }

    #[test]
    fn a_run_that_waits_for_a_person_still_holds_the_workspace() {
        let queue = [entry(1, State::NeedsConfirmation, false), entry(2, State::Pending, false)];
        assert_eq!(startable(&queue, false), []);
        assert_eq!(holder(&queue), Some(queue[0].run));
    }

    #[test]
    fn a_final_run_lets_the_next_one_start_at_once() {
        for state in State::all().into_iter().filter(|s| s.is_final()) {
            let queue = [entry(1, state, false), entry(2, State::Pending, false)];
            assert_eq!(startable(&queue, false), [queue[1].run], "{state:?}");
        }
    }

    #[test]
    fn a_lock_stops_the_queue_but_no_plan_only_run() {
        let queue = [entry(1, State::Pending, false), entry(2, State::Pending, true)];
        assert_eq!(startable(&queue, true), [queue[1].run]);
    }

    #[test]
    fn plan_only_runs_never_hold_the_workspace_and_never_wait_behind_it() {
        let planning = State::Planning(Work::Executing(Execution::Running));
        let queue = [
            entry(1, planning, true),
            entry(2, planning, false),
            entry(3, State::Pending, true),
            entry(4, State::Pending, false),
        ];
        assert_eq!(startable(&queue, false), [queue[2].run]);
        assert_eq!(holder(&queue), Some(queue[1].run));
        assert_eq!(runs_ahead(&queue, queue[2].run), 0);
        assert_eq!(runs_ahead(&queue, queue[3].run), 1);
    }
}
