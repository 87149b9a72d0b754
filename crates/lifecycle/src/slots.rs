//! How many executions run at once on this daemon (`max_concurrent_runs`), and in which order those
//! that wait get their turn: applies, then plans, then speculative plans (tfe-api.md 2.7).

use std::collections::{BTreeMap, HashMap};

use crate::id::RunId;

/// How urgent an execution is; lower goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Urgency {
    /// Somebody approved it, and it holds its workspace.
    Apply,
    /// It holds its workspace.
    Plan,
    /// Nobody waits behind it.
    PlanOnly,
}

/// How the slots of a daemon look to one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotFacts {
    /// How many other runs have taken.
    pub held: usize,
    /// How many there are.
    pub limit: usize,
}

/// The slots of a daemon. Memory only: after a restart it is filled again by the runs that executed.
#[derive(Debug)]
pub struct Slots {
    limit: usize,
    held: HashMap<RunId, Urgency>,
    waiting: BTreeMap<(Urgency, u64), RunId>,
    arrivals: u64,
}

impl Slots {
    /// As many slots as `limit`.
    pub fn new(limit: usize) -> Self {
        Self { limit, held: HashMap::new(), waiting: BTreeMap::new(), arrivals: 0 }
    }

    /// Asks for a slot. True: the run has one now, or had it before. False: it is in line, and
    /// [`Slots::release`] will name it when its turn has come.
    pub fn request(&mut self, run: RunId, urgency: Urgency) -> bool {
        if self.held.contains_key(&run) {
            return true;
        }
        let place = match self.waiting.iter().find(|(_, waiter)| **waiter == run) {
            Some((place, _)) => *place,
            None => {
                self.arrivals += 1;
                (urgency, self.arrivals)
            }
        };
        let ahead = self.waiting.range(..place).count();
        if self.held.len() + ahead < self.limit {
            self.waiting.remove(&place);
            self.held.insert(run, urgency);
            true
        } else {
            self.waiting.insert(place, run);
            false
        }
    }

    /// Takes a slot for an execution that is running already, whatever the limit says: a daemon that
    /// restarts with a lower limit can't stop what runs.
    pub fn occupy(&mut self, run: RunId, urgency: Urgency) {
        self.waiting.retain(|_, waiter| *waiter != run);
        self.held.insert(run, urgency);
    }

    /// Gives the run's slot or its place in line back. Returns the runs that should ask again now.
    pub fn release(&mut self, run: RunId) -> Vec<RunId> {
        let before = (self.held.len(), self.waiting.len());
        self.held.remove(&run);
        self.waiting.retain(|_, waiter| *waiter != run);
        // who gives nothing back has nobody to wake: two that did would wake each other for ever
        if before == (self.held.len(), self.waiting.len()) { Vec::new() } else { self.turn() }
    }

    /// Changes the limit. Returns the runs that should ask again now.
    pub fn set_limit(&mut self, limit: usize) -> Vec<RunId> {
        self.limit = limit;
        self.turn()
    }

    /// How the slots look to this run.
    pub fn beside(&self, run: RunId) -> SlotFacts {
        let own = usize::from(self.held.contains_key(&run));
        SlotFacts { held: self.held.len() - own, limit: self.limit }
    }

    /// How many slots are taken.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// How many runs wait for one.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn turn(&self) -> Vec<RunId> {
        let free = self.limit.saturating_sub(self.held.len());
        self.waiting.values().take(free).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u8) -> RunId {
        RunId::from_entropy([n; 16])
    }

    #[test]
    fn no_more_executions_than_slots() {
        let mut slots = Slots::new(2);
        assert!(slots.request(run(1), Urgency::Plan));
        assert!(slots.request(run(2), Urgency::Plan));
        assert!(!slots.request(run(3), Urgency::Plan));
        assert!(slots.request(run(1), Urgency::Plan), "asking twice takes no second slot");
        assert_eq!((slots.held(), slots.waiting()), (2, 1));
        assert_eq!(slots.beside(run(3)), SlotFacts { held: 2, limit: 2 });
        assert_eq!(slots.beside(run(1)), SlotFacts { held: 1, limit: 2 }, "its own is in nobody's way");
    }

    #[test]
    fn applies_go_before_plans_and_plans_before_speculative_ones() {
        let mut slots = Slots::new(1);
        assert!(slots.request(run(1), Urgency::Plan));
        assert!(!slots.request(run(2), Urgency::PlanOnly));
        assert!(!slots.request(run(3), Urgency::Plan));
        assert!(!slots.request(run(4), Urgency::Apply));
        assert_eq!(slots.release(run(1)), [run(4)]);
        assert!(!slots.request(run(3), Urgency::Plan), "a free slot is for who is first in line");
        assert!(slots.request(run(4), Urgency::Apply));
        assert_eq!(slots.release(run(4)), [run(3)]);
    }

    #[test]
    fn equal_ones_go_in_the_order_in_which_they_asked() {
        let mut slots = Slots::new(1);
        assert!(slots.request(run(1), Urgency::Plan));
        for n in 2..5 {
            assert!(!slots.request(run(n), Urgency::Plan));
        }
        assert!(!slots.request(run(2), Urgency::Plan), "asking again keeps the place");
        assert_eq!(slots.release(run(1)), [run(2)]);
    }

    #[test]
    fn one_that_gave_up_stands_in_nobodys_way() {
        let mut slots = Slots::new(1);
        assert!(slots.request(run(1), Urgency::Plan));
        assert!(!slots.request(run(2), Urgency::Plan));
        assert!(!slots.request(run(3), Urgency::Plan));
        assert_eq!(slots.release(run(2)), []);
        assert_eq!(slots.release(run(1)), [run(3)]);
    }

    #[test]
    fn giving_back_nothing_wakes_nobody() {
        let mut slots = Slots::new(1);
        assert!(slots.request(run(1), Urgency::Plan));
        assert!(!slots.request(run(2), Urgency::Plan));
        assert_eq!(slots.release(run(1)), [run(2)]);
        assert_eq!(slots.release(run(1)), []);
    }

    #[test]
    fn what_runs_already_counts_even_beyond_the_limit() {
        let mut slots = Slots::new(1);
        slots.occupy(run(1), Urgency::Apply);
        slots.occupy(run(2), Urgency::Apply);
        assert!(!slots.request(run(3), Urgency::Plan));
        assert_eq!(slots.release(run(1)), [], "still one too many");
        assert_eq!(slots.release(run(2)), [run(3)]);
    }
}
