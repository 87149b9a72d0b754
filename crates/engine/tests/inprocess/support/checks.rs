//! What has to hold of every history.

use std::collections::HashMap;

use lifecycle::id::{RunId, WorkspaceId};
use lifecycle::{Event, Facts, State, step};
use store::{JournalEntry, Run};

/// The journal of a run is a walk through the table, from the beginning to a state that is final.
pub fn assert_legal(run: &Run, journal: &[JournalEntry]) {
    let [created, changes @ ..] = journal else { panic!("{} has no journal", run.id) };
    assert_eq!((created.from, created.to, created.rule), (None, State::Pending, None));
    let mut state = State::Pending;
    for entry in changes {
        assert_eq!(entry.from, Some(state), "{journal:#?}");
        let allows = |facts: Facts, event| {
            step(state, facts, event).is_ok_and(|t| (t.to, Some(t.rule)) == (entry.to, entry.rule))
        };
        // whoever queued it may have lost the right to apply by then
        let facts = [run.facts, Facts { queued_with_apply_right: false, ..run.facts }];
        let legal = facts.into_iter().any(|facts| Event::all().into_iter().any(|event| allows(facts, event)));
        assert!(legal, "{entry:#?} of {journal:#?}");
        state = entry.to;
    }
    assert_eq!(state, run.state);
    assert!(state.is_final(), "{state:?}");
}

/// At no time did two runs hold a workspace.
pub fn assert_one_holder(runs: &[Run], journal: &[JournalEntry]) {
    let runs: HashMap<RunId, &Run> = runs.iter().map(|run| (run.id, run)).collect();
    let mut holders: HashMap<WorkspaceId, RunId> = HashMap::new();
    for entry in journal {
        let run = runs[&entry.run];
        if run.facts.plan_only {
            continue;
        }
        if entry.to.is_final() {
            if holders.get(&run.workspace) == Some(&run.id) {
                holders.remove(&run.workspace);
            }
        } else if entry.to != State::Pending {
            let holder = *holders.entry(run.workspace).or_insert(run.id);
            assert_eq!(holder, run.id, "two runs hold a workspace: {journal:#?}");
        }
    }
}
