//! Restarting actors: when, how fast, and when to give up.
//!
//! ractor restarts nothing by itself. This is the bookkeeping of a supervisor: which child is which
//! actor, and what its end means. Deciding is pure ([`Intensity::on_exit`]); spawning is the
//! supervisor's own.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::time::{Duration, Instant};

use ractor::{ActorCell, ActorId, SupervisionEvent};

/// How often a child may fail, and what happens then.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Policy {
    /// Failures within [`Policy::window`] that are answered by a restart.
    pub(crate) most: usize,
    /// How far back failures count.
    pub(crate) window: Duration,
    /// The pause before the first restart; it doubles with each failure in the window.
    pub(crate) first_pause: Duration,
    /// No pause is longer.
    pub(crate) longest_pause: Duration,
    /// What one failure more means.
    pub(crate) exhausted: Exhausted,
}

/// What a child that keeps failing means for its supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// The supervisor fails as well: something larger is broken.
    Escalate,
    /// The child is given up, and the supervisor goes on without it.
    GiveUp,
    /// It is restarted for ever, with the longest pause.
    KeepTrying,
}

/// What to do about a child that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Spawn it again after the pause.
    Restart {
        /// The pause.
        after: Duration,
    },
    /// It ended as it should.
    Forget,
    /// It failed too often: see [`Exhausted::GiveUp`].
    GiveUp,
    /// It failed too often: see [`Exhausted::Escalate`].
    Escalate,
}

/// The failures of one child.
#[derive(Debug, Default)]
pub(crate) struct Intensity {
    failures: VecDeque<Instant>,
}

impl Intensity {
    /// `jitter` in 0..=1 shortens the pause to as little as half of it, so that children that failed
    /// together don't come back together.
    pub(crate) fn on_exit(&mut self, policy: Policy, now: Instant, failed: bool, jitter: f64) -> Decision {
        if !failed {
            self.failures.clear();
            return Decision::Forget;
        }
        while self.failures.front().is_some_and(|at| now.duration_since(*at) > policy.window) {
            self.failures.pop_front();
        }
        self.failures.push_back(now);
        if self.failures.len() > policy.most {
            match policy.exhausted {
                Exhausted::Escalate => return Decision::Escalate,
                Exhausted::GiveUp => return Decision::GiveUp,
                Exhausted::KeepTrying => return Decision::Restart { after: policy.longest_pause },
            }
        }
        let doublings = u32::try_from(self.failures.len() - 1).unwrap_or(u32::MAX).min(16);
        let pause = policy.first_pause.saturating_mul(1 << doublings).min(policy.longest_pause);
        Decision::Restart { after: pause.mul_f64(1.0 - jitter.clamp(0.0, 1.0) / 2.0) }
    }
}

/// What an actor's end says: whether it failed.
///
/// `"killed"` and `"actor_task_cancelled"` are ractor's own words for an end that nobody asked the actor
/// for; a test pins them.
fn failed(event: &SupervisionEvent) -> Option<(ActorId, bool, String)> {
    match event {
        SupervisionEvent::ActorFailed(cell, error) => Some((cell.get_id(), true, error.to_string())),
        SupervisionEvent::ActorTerminated(cell, _, reason) => {
            let reason = reason.clone().unwrap_or_default();
            Some((cell.get_id(), matches!(reason.as_str(), "killed" | "actor_task_cancelled"), reason))
        }
        _ => None,
    }
}

/// A child that ended, and what to do about it.
#[derive(Debug)]
pub(crate) struct Ended<K> {
    /// Which one.
    pub(crate) key: K,
    /// What to do.
    pub(crate) decision: Decision,
    /// Goes with the delayed restart, which is void once the child has another one.
    pub(crate) generation: u64,
    /// Why it ended, in words; empty for a plain stop.
    pub(crate) reason: String,
}

struct Child {
    generation: u64,
    cell: Option<ActorCell>,
    intensity: Intensity,
}

/// The children of a supervisor.
pub(crate) struct Children<K> {
    policy: Policy,
    by_key: HashMap<K, Child>,
    by_actor: HashMap<ActorId, K>,
}

impl<K: Clone + Eq + Hash> Children<K> {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, by_key: HashMap::new(), by_actor: HashMap::new() }
    }

    /// Whether there is such a child, alive or about to be restarted.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.by_key.contains_key(key)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// The child's actor, if it is alive.
    pub(crate) fn cell(&self, key: &K) -> Option<&ActorCell> {
        self.by_key.get(key)?.cell.as_ref()
    }

    /// The children that are alive.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (&K, &ActorCell)> {
        self.by_key.iter().filter_map(|(key, child)| Some((key, child.cell.as_ref()?)))
    }

    /// A child was spawned.
    pub(crate) fn started(&mut self, key: K, cell: ActorCell) {
        self.by_actor.insert(cell.get_id(), key.clone());
        let child = self.by_key.entry(key).or_insert_with(|| Child {
            generation: 0,
            cell: None,
            intensity: Intensity::default(),
        });
        child.generation += 1;
        child.cell = Some(cell);
    }

    /// A child could not be spawned: ractor reports a failed `pre_start` to the spawner, not to the supervisor.
    pub(crate) fn spawn_failed(&mut self, key: K, now: Instant, jitter: f64, reason: String) -> Ended<K> {
        self.by_key.entry(key.clone()).or_insert_with(|| Child {
            generation: 0,
            cell: None,
            intensity: Intensity::default(),
        });
        self.end(key, now, true, jitter, reason)
    }

    /// An event reached the supervisor. `None` for one that is not the end of a child of ours.
    pub(crate) fn ended(&mut self, event: &SupervisionEvent, now: Instant, jitter: f64) -> Option<Ended<K>> {
        let (actor, failed, reason) = failed(event)?;
        let key = self.by_actor.remove(&actor)?;
        Some(self.end(key, now, failed, jitter, reason))
    }

    fn end(&mut self, key: K, now: Instant, failed: bool, jitter: f64, reason: String) -> Ended<K> {
        let (decision, generation) = match self.by_key.get_mut(&key) {
            Some(child) => {
                child.cell = None;
                child.generation += 1;
                (child.intensity.on_exit(self.policy, now, failed, jitter), child.generation)
            }
            None => (Decision::Forget, 0),
        };
        if !matches!(decision, Decision::Restart { .. }) {
            self.by_key.remove(&key);
        }
        Ended { key, decision, generation, reason }
    }

    /// Whether a delayed restart still stands: nothing happened to the child since it was decided.
    pub(crate) fn restart_stands(&self, key: &K, generation: u64) -> bool {
        self.by_key.get(key).is_some_and(|child| child.cell.is_none() && child.generation == generation)
    }
}

/// A number in 0..=1 that differs between children.
pub(crate) fn jitter() -> f64 {
    let mut byte = [0_u8];
    // without randomness the pauses are full, which is harmless
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy(exhausted: Exhausted) -> Policy {
        Policy {
            most: 3,
            window: Duration::from_secs(60),
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_secs(30),
            exhausted,
        }
    }

    #[test]
    fn a_child_that_ended_as_it_should_is_forgotten() {
        let mut intensity = Intensity::default();
        assert_eq!(
            intensity.on_exit(policy(Exhausted::GiveUp), Instant::now(), false, 0.0),
            Decision::Forget
        );
    }

    #[test]
    fn pauses_grow_and_then_the_child_is_given_up() {
        let now = Instant::now();
        for (exhausted, last) in [
            (Exhausted::GiveUp, Decision::GiveUp),
            (Exhausted::Escalate, Decision::Escalate),
            (Exhausted::KeepTrying, Decision::Restart { after: Duration::from_secs(30) }),
        ] {
            let mut intensity = Intensity::default();
            for millis in [100, 200, 400] {
                let decision = intensity.on_exit(policy(exhausted), now, true, 0.0);
                assert_eq!(decision, Decision::Restart { after: Duration::from_millis(millis) });
            }
            assert_eq!(intensity.on_exit(policy(exhausted), now, true, 0.0), last);
        }
    }

    #[test]
    fn failures_long_ago_are_forgiven() {
        let start = Instant::now();
        let mut intensity = Intensity::default();
        for hour in 0..10 {
            let now = start + Duration::from_secs(3600 * hour);
            let decision = intensity.on_exit(policy(Exhausted::GiveUp), now, true, 0.0);
            assert_eq!(decision, Decision::Restart { after: Duration::from_millis(100) });
        }
    }

    proptest! {
        #[test]
        fn a_pause_is_never_longer_than_the_longest(
            gaps in prop::collection::vec((0_u64..100, 0.0..1.0_f64), 0..100),
        ) {
            let mut now = Instant::now();
            let mut intensity = Intensity::default();
            for (gap, jitter) in gaps {
                now += Duration::from_secs(gap);
                let decision = intensity.on_exit(policy(Exhausted::KeepTrying), now, true, jitter);
                match decision {
                    Decision::Restart { after } => {
                        prop_assert!(after <= Duration::from_secs(30) && after >= Duration::from_millis(50));
                    }
                    other => prop_assert!(false, "{other:?}"),
                }
            }
        }
    }
}
