//! How many executions run at once on this daemon, and in which order those that wait get their turn: applies, then plans,
//! then speculative plans, as Terraform Enterprise has it.
//!
//! What waits for strangers has slots of its own ([`Pool`]): however many git servers are silent, and however long policies
//! take, an apply waits for terraform alone.
//!
//! Level-triggered, like everything that acts here: a workspace says what its runs need now ([`demands`]), which replaces
//! what it said before ([`Slots::set`]). There is nothing to give back and nothing to forget.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::id::{RunId, WorkspaceId};
use crate::queue::{Entry, Fetch};
use crate::{Stage, State, Work};

/// What slots are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pool {
    /// Terraform: plans and applies.
    Terraform,
    /// Fetching a configuration.
    Fetch,
    /// Policy checks.
    PolicyCheck,
}

impl Pool {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Terraform, Self::Fetch, Self::PolicyCheck];
}

/// How many slots each pool has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotLimits {
    /// Of [`Pool::Terraform`].
    pub terraform: usize,
    /// Of [`Pool::Fetch`].
    pub fetch: usize,
    /// Of [`Pool::PolicyCheck`].
    pub policy_check: usize,
}

impl SlotLimits {
    /// As many for all.
    pub const fn all(limit: usize) -> Self {
        Self { terraform: limit, fetch: limit, policy_check: limit }
    }

    const fn of(self, pool: Pool) -> usize {
        match pool {
            Pool::Terraform => self.terraform,
            Pool::Fetch => self.fetch,
            Pool::PolicyCheck => self.policy_check,
        }
    }
}

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

/// A run that needs a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// Which.
    pub run: RunId,
    /// Of these.
    pub pool: Pool,
    /// How soon it should get one.
    pub urgency: Urgency,
    /// It may have processes already: it has a slot, whatever the limit says.
    pub executing: bool,
}

/// The slots that a workspace's runs need now. `startable` are those that may leave Pending
/// ([`queue::startable`](crate::queue::startable)).
pub fn demands(entries: &[Entry], startable: &[RunId]) -> Vec<Demand> {
    let demand = |entry: &Entry| {
        let (stage, executing) = match (entry.state, entry.state.execution()) {
            // whether these have begun is known by whoever launches them, who asks for the slot first
            (State::PolicyCheck(_), _) => (Stage::PolicyCheck, false),
            (State::Planning(Work::Executing(_)), _) if entry.fetch == Fetch::Done => (Stage::Plan, false),
            (_, Some((stage, _))) => (stage, true),
            (State::Planning(Work::Queued), _) => (Stage::Plan, false),
            (State::Applying(Work::Queued), _) => (Stage::Apply, false),
            (State::Pending, _) if startable.contains(&entry.run) => (Stage::Plan, false),
            _ => return None,
        };
        let urgency = match (stage, entry.plan_only) {
            (_, true) => Urgency::PlanOnly,
            (Stage::Apply, false) => Urgency::Apply,
            (_, false) => Urgency::Plan,
        };
        let pool = match (stage, entry.fetch) {
            (Stage::PolicyCheck, _) => Pool::PolicyCheck,
            (Stage::Plan, Fetch::Due) => Pool::Fetch,
            _ => Pool::Terraform,
        };
        Some(Demand { run: entry.run, pool, urgency, executing })
    };
    entries.iter().filter_map(demand).collect()
}

/// How the slots of a daemon look to one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotFacts {
    /// Those that it needs.
    pub pool: Pool,
    /// How many other runs have taken.
    pub held: usize,
    /// How many there are.
    pub limit: usize,
    /// It is in line for one.
    pub waits: bool,
}

/// The slots of a daemon. Memory only: after a restart what executes is told first.
#[derive(Debug, Clone)]
pub struct Slots(BTreeMap<Pool, Line>);

impl Slots {
    /// With these limits.
    pub fn new(limits: SlotLimits) -> Self {
        Self(Pool::ALL.into_iter().map(|pool| (pool, Line::new(limits.of(pool)))).collect())
    }

    /// Takes what a workspace needs now in place of what it needed before. Returns the workspaces whose runs got a slot:
    /// see [`Slots::granted`].
    ///
    /// A run keeps its slot, or its place in line, as long as it is among the demands with the same pool.
    pub fn set(&mut self, workspace: WorkspaceId, demands: &[Demand]) -> BTreeSet<WorkspaceId> {
        let mut granted = BTreeSet::new();
        for (pool, line) in &mut self.0 {
            let own: Vec<Demand> = demands.iter().filter(|demand| demand.pool == *pool).copied().collect();
            granted.extend(line.set(workspace, &own));
        }
        granted
    }

    /// Changes the limits. Returns the workspaces whose runs got a slot.
    pub fn set_limits(&mut self, limits: SlotLimits) -> BTreeSet<WorkspaceId> {
        self.0.iter_mut().flat_map(|(pool, line)| line.set_limit(limits.of(*pool))).collect()
    }

    /// The runs of the workspace that have a slot and may not execute yet.
    pub fn granted(&self, workspace: WorkspaceId) -> Vec<RunId> {
        self.0.values().flat_map(|line| line.granted(workspace)).collect()
    }

    /// Whether the run has a slot of this pool.
    pub fn has(&self, run: RunId, pool: Pool) -> bool {
        self.0.get(&pool).is_some_and(|line| line.held.contains_key(&run))
    }

    /// How the slots look to this run: those that it needs, or would need for terraform.
    pub fn beside(&self, run: RunId) -> SlotFacts {
        let needed = self.0.iter().find(|(_, line)| line.runs.contains_key(&run));
        match needed.or_else(|| self.0.get_key_value(&Pool::Terraform)) {
            Some((pool, line)) => line.beside(run, *pool),
            None => SlotFacts { pool: Pool::Terraform, held: 0, limit: 0, waits: false },
        }
    }

    /// How many slots are taken.
    pub fn held(&self) -> usize {
        self.0.values().map(Line::held).sum()
    }

    /// How many runs wait for one.
    pub fn waiting(&self) -> usize {
        self.0.values().map(Line::waiting).sum()
    }
}

/// The slots of one pool, and who waits for one.
#[derive(Debug, Clone)]
struct Line {
    limit: usize,
    /// Who has one; true: it executes.
    held: HashMap<RunId, bool>,
    line: BTreeMap<Place, RunId>,
    runs: HashMap<RunId, (WorkspaceId, Place)>,
    workspaces: HashMap<WorkspaceId, Vec<RunId>>,
    arrivals: u64,
}

/// A place in line: by urgency, then by arrival.
type Place = (Urgency, u64);

impl Line {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            held: HashMap::new(),
            line: BTreeMap::new(),
            runs: HashMap::new(),
            workspaces: HashMap::new(),
            arrivals: 0,
        }
    }

    fn set(&mut self, workspace: WorkspaceId, demands: &[Demand]) -> BTreeSet<WorkspaceId> {
        for gone in self.workspaces.remove(&workspace).unwrap_or_default() {
            if demands.iter().all(|demand| demand.run != gone) {
                self.held.remove(&gone);
                if let Some((_, place)) = self.runs.remove(&gone) {
                    self.line.remove(&place);
                }
            }
        }
        for demand in demands {
            self.take(workspace, demand);
        }
        if !demands.is_empty() {
            self.workspaces.insert(workspace, demands.iter().map(|demand| demand.run).collect());
        }
        self.grant()
    }

    fn take(&mut self, workspace: WorkspaceId, demand: &Demand) {
        let place = match self.runs.get(&demand.run) {
            Some((_, place)) if place.0 == demand.urgency => *place,
            other => {
                if let Some((_, old)) = other {
                    self.line.remove(old);
                }
                self.arrivals += 1;
                (demand.urgency, self.arrivals)
            }
        };
        self.runs.insert(demand.run, (workspace, place));
        if demand.executing {
            // a daemon that restarts with a lower limit can't stop what runs
            self.line.remove(&place);
            self.held.insert(demand.run, true);
        } else if let Some(executing) = self.held.get_mut(&demand.run) {
            *executing = false;
        } else {
            self.line.insert(place, demand.run);
        }
    }

    fn set_limit(&mut self, limit: usize) -> BTreeSet<WorkspaceId> {
        self.limit = limit;
        self.grant()
    }

    /// Gives the free slots to those who are first in line.
    fn grant(&mut self) -> BTreeSet<WorkspaceId> {
        let mut granted = BTreeSet::new();
        while self.held.len() < self.limit {
            let Some((_, run)) = self.line.pop_first() else { break };
            self.held.insert(run, false);
            granted.extend(self.runs.get(&run).map(|(workspace, _)| *workspace));
        }
        granted
    }

    fn granted(&self, workspace: WorkspaceId) -> Vec<RunId> {
        let runs = self.workspaces.get(&workspace).map_or(&[][..], Vec::as_slice);
        runs.iter().filter(|run| self.held.get(run) == Some(&false)).copied().collect()
    }

    fn beside(&self, run: RunId, pool: Pool) -> SlotFacts {
        let own = self.held.contains_key(&run);
        let waits = !own && self.runs.contains_key(&run);
        SlotFacts { pool, held: self.held.len() - usize::from(own), limit: self.limit, waits }
    }

    fn held(&self) -> usize {
        self.held.len()
    }

    fn waiting(&self) -> usize {
        self.line.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Execution;

    fn run(n: u8) -> RunId {
        RunId::from_entropy([n; 16])
    }

    /// Each run of these tests has a workspace of its own.
    fn home(n: u8) -> WorkspaceId {
        WorkspaceId::from_entropy([n; 16])
    }

    fn wants(slots: &mut Line, n: u8, urgency: Urgency) -> bool {
        slots.set(home(n), &[Demand { run: run(n), pool: Pool::Terraform, urgency, executing: false }]);
        slots.granted(home(n)) == [run(n)]
    }

    fn executes(slots: &mut Line, n: u8, urgency: Urgency) {
        slots.set(home(n), &[Demand { run: run(n), pool: Pool::Terraform, urgency, executing: true }]);
    }

    /// Says that it needs none any more, and who got its slot.
    fn ends(slots: &mut Line, n: u8) -> Vec<WorkspaceId> {
        slots.set(home(n), &[]).into_iter().collect()
    }

    #[test]
    fn no_more_executions_than_slots() {
        let mut slots = Line::new(2);
        assert!(wants(&mut slots, 1, Urgency::Plan));
        assert!(wants(&mut slots, 2, Urgency::Plan));
        assert!(!wants(&mut slots, 3, Urgency::Plan));
        assert!(wants(&mut slots, 1, Urgency::Plan), "asking twice takes no second slot");
        assert_eq!((slots.held(), slots.waiting()), (2, 1));
        let beside = |n| slots.beside(run(n), Pool::Terraform);
        assert_eq!(beside(3), SlotFacts { pool: Pool::Terraform, held: 2, limit: 2, waits: true });
        let own = SlotFacts { pool: Pool::Terraform, held: 1, limit: 2, waits: false };
        assert_eq!(beside(1), own, "its own is in nobody's way");
    }

    #[test]
    fn applies_go_before_plans_and_plans_before_speculative_ones() {
        let mut slots = Line::new(1);
        assert!(wants(&mut slots, 1, Urgency::Plan));
        assert!(!wants(&mut slots, 2, Urgency::PlanOnly));
        assert!(!wants(&mut slots, 3, Urgency::Plan));
        assert!(!wants(&mut slots, 4, Urgency::Apply));
        assert_eq!(ends(&mut slots, 1), [home(4)]);
        assert_eq!(ends(&mut slots, 4), [home(3)]);
        assert_eq!(ends(&mut slots, 3), [home(2)]);
    }

    #[test]
    fn equal_ones_go_in_the_order_in_which_they_asked() {
        let mut slots = Line::new(1);
        assert!(wants(&mut slots, 1, Urgency::Plan));
        for n in 2..5 {
            assert!(!wants(&mut slots, n, Urgency::Plan));
        }
        assert!(!wants(&mut slots, 2, Urgency::Plan), "asking again keeps the place");
        assert_eq!(ends(&mut slots, 1), [home(2)]);
    }

    #[test]
    fn one_that_gave_up_stands_in_nobodys_way() {
        let mut slots = Line::new(1);
        for n in 1..4 {
            wants(&mut slots, n, Urgency::Plan);
        }
        assert_eq!(ends(&mut slots, 2), []);
        assert_eq!(ends(&mut slots, 1), [home(3)]);
        assert_eq!(slots.waiting(), 0);
    }

    #[test]
    fn what_runs_already_counts_even_beyond_the_limit() {
        let mut slots = Line::new(1);
        executes(&mut slots, 1, Urgency::Apply);
        executes(&mut slots, 2, Urgency::Apply);
        assert!(!wants(&mut slots, 3, Urgency::Plan));
        assert_eq!(ends(&mut slots, 1), [], "still one too many");
        assert_eq!(ends(&mut slots, 2), [home(3)]);
    }

    #[test]
    fn a_run_that_goes_from_its_plan_to_its_apply_keeps_its_slot() {
        let mut slots = Line::new(1);
        executes(&mut slots, 1, Urgency::Plan);
        assert!(!wants(&mut slots, 2, Urgency::Apply));
        assert!(wants(&mut slots, 1, Urgency::Apply), "it had one, and was never out of it");
        assert_eq!(slots.waiting(), 1);
    }

    #[test]
    fn a_higher_limit_lets_those_in_line_go() {
        let mut slots = Line::new(1);
        for n in 1..4 {
            wants(&mut slots, n, Urgency::Plan);
        }
        assert_eq!(Vec::from_iter(slots.set_limit(3)), [home(2), home(3)]);
        assert_eq!(Vec::from_iter(slots.set_limit(0)), [], "what has one keeps it");
        assert_eq!(slots.held(), 3);
    }

    #[test]
    fn a_workspace_needs_slots_for_what_executes_and_for_what_may_start() {
        use Urgency::{Apply, Plan, PlanOnly};
        let running = Work::Executing(Execution::Canceling);
        let terraform = |urgency, executing| Some((Pool::Terraform, urgency, executing));
        let fetch = |urgency, executing| Some((Pool::Fetch, urgency, executing));
        let table = [
            (State::Pending, false, Fetch::None, None),
            (State::Planning(Work::Queued), false, Fetch::None, terraform(Plan, false)),
            (State::Planning(Work::Queued), false, Fetch::Due, fetch(Plan, false)),
            (State::Planning(running), false, Fetch::None, terraform(Plan, true)),
            (State::Planning(running), false, Fetch::Due, fetch(Plan, true)),
            (State::Planning(running), true, Fetch::Due, fetch(PlanOnly, true)),
            (State::Planning(running), false, Fetch::Done, terraform(Plan, false)),
            (State::Planning(running), true, Fetch::None, terraform(PlanOnly, true)),
            (State::NeedsConfirmation, false, Fetch::Done, None),
            (
                State::PolicyCheck(Execution::Running),
                false,
                Fetch::Done,
                Some((Pool::PolicyCheck, Plan, false)),
            ),
            (State::PolicyOverride, false, Fetch::None, None),
            (State::PolicyChecked, false, Fetch::None, None),
            (State::Applying(Work::Queued), false, Fetch::Done, terraform(Apply, false)),
            (State::Applying(running), false, Fetch::None, terraform(Apply, true)),
            (State::Applied, false, Fetch::None, None),
        ];
        for (state, plan_only, fetch, expected) in table {
            let entry = Entry { run: run(1), state, plan_only, fetch };
            let needed = demands(&[entry], &[]).first().map(|d| (d.pool, d.urgency, d.executing));
            assert_eq!(needed, expected, "{state:?} {fetch:?}");
        }
        let pending = Entry { run: run(1), state: State::Pending, plan_only: false, fetch: Fetch::None };
        let demand = Demand { run: run(1), pool: Pool::Terraform, urgency: Plan, executing: false };
        assert_eq!(demands(&[pending], &[run(1)]), [demand]);
    }

    #[test]
    fn what_waits_for_strangers_keeps_no_terraform_waiting() {
        let mut slots = Slots::new(SlotLimits::all(1));
        let demand = |n, pool| Demand { run: run(n), pool, urgency: Urgency::Plan, executing: false };
        for pool in Pool::ALL {
            let n = pool as u8;
            slots.set(home(n), &[demand(n, pool)]);
            assert!(slots.has(run(n), pool), "{pool:?}");
        }
        slots.set(home(9), &[demand(9, Pool::Fetch)]);
        assert!(slots.beside(run(9)).waits);
        // a run that goes on to another pool leaves its slot to the next
        let fetching = Pool::Fetch as u8;
        assert_eq!(
            Vec::from_iter(slots.set(home(fetching), &[demand(fetching, Pool::Terraform)])),
            [home(9)]
        );
        assert!(slots.has(run(9), Pool::Fetch) && slots.beside(run(fetching)).waits);
        assert_eq!(slots.beside(run(fetching)).pool, Pool::Terraform);
    }

    proptest! {
        /// Whatever workspaces say in whatever order: nobody who does not execute gets a slot beyond the limit, nobody
        /// waits beside a free one, and nothing is left of who needs none.
        #[test]
        fn slots_are_never_given_twice_and_never_left_free(
            limit in 0_usize..4,
            said in prop::collection::vec((0_u8..6, prop::option::of((0_u8..3, any::<bool>()))), 0..60),
        ) {
            let mut slots = Line::new(limit);
            let mut now: BTreeMap<u8, Demand> = BTreeMap::new();
            for (n, demand) in said {
                let before = slots.held() + usize::from(demand.is_some_and(|(_, executing)| executing));
                match demand {
                    None => { now.remove(&n); slots.set(home(n), &[]); }
                    Some((urgency, executing)) => {
                        let urgency = [Urgency::Apply, Urgency::Plan, Urgency::PlanOnly][usize::from(urgency)];
                        let demand = Demand { run: run(n), pool: Pool::Terraform, urgency, executing };
                        now.insert(n, demand);
                        slots.set(home(n), &[demand]);
                    }
                }
                let executing = now.values().filter(|demand| demand.executing).count();
                let granted: usize = now.keys().map(|n| slots.granted(home(*n)).len()).sum();
                prop_assert_eq!(slots.held(), executing + granted);
                prop_assert!(slots.held() <= limit || slots.held() <= before, "given beyond the limit");
                prop_assert_eq!(slots.held() + slots.waiting(), now.len());
                prop_assert!(slots.waiting() == 0 || slots.held() >= limit);
                prop_assert_eq!(slots.runs.len(), now.len());
            }
        }
    }
}
