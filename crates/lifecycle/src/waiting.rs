//! What a queued run waits for, in words: the same rules as [`queue`](crate::queue) and [`slots`](crate::slots),
//! told to the person who wonders why nothing happens.

use std::fmt;

use jiff::Timestamp;

use crate::id::RunId;
use crate::queue::{Entry, holder, startable};
use crate::slots::{Pool, SlotFacts};
use crate::{State, Work};

/// A workspace's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockFacts<'a> {
    /// Who took it.
    pub by: &'a str,
    /// When.
    pub since: Timestamp,
    /// Why, in their words; may be empty.
    pub reason: &'a str,
}

/// Less space than new runs need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LowSpace {
    /// Bytes that are free.
    pub free: u64,
    /// Bytes that have to be free.
    pub least: u64,
}

/// What stands in a run's way. `Display` completes "it waits for …".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitsFor<'a> {
    /// The workspace is locked, and no run is under way in it.
    Lock(LockFacts<'a>),
    /// Another run comes first: the one that holds the workspace, or else the first of its queue.
    Run {
        /// Which.
        run: RunId,
        /// Where it is.
        state: State,
    },
    /// It is its turn, and too little space is free.
    Space(LowSpace),
    /// It is its turn, and as many executions as there may be are running.
    Slot(SlotFacts),
}

/// What the run waits for; `None` for one that is not queued, or goes on at once.
///
/// `entries` are the workspace's runs in the order in which they were queued.
pub fn waits_for<'a>(
    entries: &[Entry],
    run: RunId,
    lock: Option<LockFacts<'a>>,
    slots: SlotFacts,
    space: Option<LowSpace>,
) -> Option<WaitsFor<'a>> {
    let entry = entries.iter().find(|entry| entry.run == run)?;
    let slot = || (slots.held >= slots.limit).then_some(WaitsFor::Slot(slots));
    match entry.state {
        // its last slot was for something else
        State::Planning(Work::Executing(_)) | State::PolicyCheck(_) if slots.waits => slot(),
        State::Planning(Work::Queued) | State::Applying(Work::Queued) => slot(),
        State::Pending if startable(entries, lock.is_some()).contains(&run) => {
            space.map(WaitsFor::Space).or_else(slot)
        }
        State::Pending => {
            // the lock is what keeps all of them, unless a run was let go before it was taken
            let holds = holder(entries);
            if let (None, Some(lock)) = (holds, lock) {
                return Some(WaitsFor::Lock(lock));
            }
            let first = |e: &&Entry| {
                holds.map_or(!e.plan_only && !e.state.is_final() && e.run != run, |holds| e.run == holds)
            };
            entries.iter().find(first).map(|first| WaitsFor::Run { run: first.run, state: first.state })
        }
        _ => None,
    }
}

impl fmt::Display for WaitsFor<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Lock(LockFacts { by, since, reason }) => {
                let since = since.strftime("%Y-%m-%d %H:%M:%S UTC");
                write!(f, "the workspace to be unlocked: locked by {by} since {since}")?;
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            Self::Run { run, state: State::NeedsConfirmation | State::PolicyChecked } => {
                write!(f, "confirmation of {run}")
            }
            Self::Run { run, state: State::PolicyOverride } => {
                write!(f, "an override of the failed policies of {run}")
            }
            Self::Run { run, state } => write!(f, "{run} to end ({})", state.name()),
            Self::Space(LowSpace { free, least }) => {
                let mib = |bytes: u64| bytes >> 20;
                write!(
                    f,
                    "free space: {} MiB are left, and {} MiB have to be (min_free_space)",
                    mib(free),
                    mib(least)
                )
            }
            Self::Slot(SlotFacts { pool, held, limit, .. }) => {
                let what = match pool {
                    Pool::Terraform => "a free execution slot",
                    Pool::Fetch => "a free slot to fetch its configuration",
                    Pool::PolicyCheck => "a free slot for its policy check",
                };
                write!(f, "{what}: {held} of {limit} are taken")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Execution;
    use crate::queue::Fetch;

    const FREE: SlotFacts = SlotFacts { pool: Pool::Terraform, held: 1, limit: 2, waits: false };
    const FULL: SlotFacts = SlotFacts { held: 2, ..FREE };
    const PLANNING: State = State::Planning(Work::Executing(Execution::Running));

    fn id(n: u8) -> RunId {
        RunId::from_entropy([n; 16])
    }

    fn lock() -> LockFacts<'static> {
        LockFacts { by: "ada", since: Timestamp::UNIX_EPOCH, reason: "maintenance" }
    }

    /// What the last of these runs waits for.
    fn words(states: &[State], lock: Option<LockFacts<'_>>, slots: SlotFacts) -> Option<String> {
        let entry = |(n, state): (u8, &State)| Entry {
            run: id(n),
            state: *state,
            plan_only: false,
            fetch: Fetch::None,
        };
        let entries: Vec<_> = (1..).zip(states).map(entry).collect();
        waits_for(&entries, entries.last().unwrap().run, lock, slots, None).map(|waits| waits.to_string())
    }

    #[test]
    fn a_queued_run_says_what_stands_in_its_way() {
        let pending = State::Pending;
        let by_run = |words: &str| Some(words.replace("{}", &id(1).to_string()));
        let locked = "the workspace to be unlocked: locked by ada since 1970-01-01 00:00:00 UTC: maintenance";
        let full = "a free execution slot: 2 of 2 are taken";
        let table = [
            (&[State::NeedsConfirmation, pending][..], None, by_run("confirmation of {}")),
            (&[State::PolicyChecked, pending], None, by_run("confirmation of {}")),
            (&[State::PolicyOverride, pending], None, by_run("an override of the failed policies of {}")),
            (&[PLANNING, pending, pending], None, by_run("{} to end (Planning)")),
            (&[pending, pending], None, by_run("{} to end (Pending)")),
            (&[pending, pending], Some(lock()), Some(locked.to_owned())),
            // the lock came after the run was let go, and is not what is waited for first
            (&[PLANNING, pending], Some(lock()), by_run("{} to end (Planning)")),
            (&[State::Applied, pending], None, Some(full.to_owned())),
            (&[State::Applying(Work::Queued)], None, Some(full.to_owned())),
            (&[PLANNING], Some(lock()), None),
            (&[State::NeedsConfirmation], None, None),
            (&[State::Applied], None, None),
        ];
        for (states, lock, expected) in table {
            assert_eq!(words(states, lock, FULL), expected, "{states:?} {lock:?}");
        }
    }

    #[test]
    fn a_run_that_goes_on_at_once_waits_for_nothing() {
        assert_eq!(words(&[State::Pending], None, FREE), None);
        assert_eq!(words(&[State::Planning(Work::Queued)], None, FREE), None);
    }

    #[test]
    fn a_run_that_needs_another_slot_than_it_had_says_which() {
        let line = |pool| SlotFacts { pool, waits: true, ..FULL };
        let checking = State::PolicyCheck(Execution::Running);
        let table = [
            (PLANNING, Pool::Terraform, "a free execution slot: 2 of 2 are taken"),
            (
                State::Planning(Work::Queued),
                Pool::Fetch,
                "a free slot to fetch its configuration: 2 of 2 are taken",
            ),
            (checking, Pool::PolicyCheck, "a free slot for its policy check: 2 of 2 are taken"),
        ];
        for (state, pool, expected) in table {
            assert_eq!(words(&[state], None, line(pool)).as_deref(), Some(expected));
        }
        assert_eq!(words(&[checking], None, FULL), None, "it has one");
    }

    #[test]
    fn a_plan_only_run_waits_for_a_slot_alone() {
        let entries = [
            Entry { run: id(1), state: State::NeedsConfirmation, plan_only: false, fetch: Fetch::None },
            Entry { run: id(2), state: State::Pending, plan_only: true, fetch: Fetch::None },
        ];
        assert_eq!(waits_for(&entries, id(2), Some(lock()), FREE, None), None);
        assert_eq!(waits_for(&entries, id(2), Some(lock()), FULL, None), Some(WaitsFor::Slot(FULL)));
    }

    /// The words follow from the rules by which runs start: who may start waits for a slot at most, and who may
    /// not is told of something else.
    #[test]
    fn whoever_may_not_start_waits_for_a_lock_or_a_run() {
        for first in State::all() {
            for locked in [None, Some(lock())] {
                let entries = [
                    Entry { run: id(1), state: first, plan_only: false, fetch: Fetch::None },
                    Entry { run: id(2), state: State::Pending, plan_only: false, fetch: Fetch::None },
                ];
                let may = startable(&entries, locked.is_some()).contains(&id(2));
                let waits = waits_for(&entries, id(2), locked, FREE, None);
                assert_eq!(waits.is_none(), may, "{first:?} {locked:?}: {waits:?}");
            }
        }
    }
}
