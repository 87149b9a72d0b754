//! Histories of runs, made from the table: what tests need in order to have a run in a certain state.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::{Event, Facts, State, step};

/// The shortest sequence of events that takes a new run to a state for which `wanted` holds; `None` if there is none.
pub fn events_to(facts: Facts, wanted: impl Fn(State) -> bool) -> Option<Vec<Event>> {
    let mut ways: HashMap<State, Vec<Event>> = HashMap::from([(State::Pending, Vec::new())]);
    let mut next = VecDeque::from([State::Pending]);
    while let Some(state) = next.pop_front() {
        let way = ways.get(&state)?.clone();
        if wanted(state) {
            return Some(way);
        }
        for event in Event::all() {
            let Ok(transition) = step(state, facts, event) else { continue };
            if let Entry::Vacant(new) = ways.entry(transition.to) {
                new.insert(way.iter().copied().chain([event]).collect());
                next.push_back(transition.to);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_way_to_each_state() {
        let plan_only = Facts { plan_only: true, ..Facts::default() };
        for state in State::all() {
            let way =
                [Facts::default(), plan_only].iter().find_map(|facts| events_to(*facts, |to| to == state));
            assert!(way.is_some(), "{state:?}");
        }
    }
}
