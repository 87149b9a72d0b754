//! Restarting actors: when, how fast, and when to give up.
//!
//! ractor restarts nothing by itself. [`Children`] is what every supervisor here has: which child is which actor, and
//! what its end means. Deciding is pure ([`Intensity::on_exit`]).

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::Hash;
use std::time::Duration;

use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, Message, SupervisionEvent};
use tokio::time::Instant;

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
    /// The child is given up: it is started once more, in its last resort, and restarted in that for ever.
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

/// A delayed restart. It is void once something else happened to the child.
#[derive(Debug)]
pub(crate) struct Restart<K> {
    key: K,
    generation: u64,
}

struct Child<M> {
    generation: u64,
    actor: Option<ActorRef<M>>,
    intensity: Intensity,
    /// Why it was given up, if it was: it is started in its last resort from then on.
    given_up: Option<String>,
}

impl<M> Default for Child<M> {
    fn default() -> Self {
        Self { generation: 0, actor: None, intensity: Intensity::default(), given_up: None }
    }
}

/// Makes a child's actor with its arguments. The text is there when the child is given up, and says why.
type Make<K, A> = Box<dyn Fn(&K, Option<&str>) -> (A, <A as Actor>::Arguments) + Send + Sync>;

/// The children of a supervisor, which are all of one kind: starts them, and restarts those that fail.
pub(crate) struct Children<K, A: Actor> {
    /// "run actor", for the log.
    name: &'static str,
    policy: Policy,
    make: Make<K, A>,
    by_key: HashMap<K, Child<A::Msg>>,
    by_actor: HashMap<ActorId, K>,
}

impl<K, A> Children<K, A>
where
    K: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static,
    A: Actor,
{
    pub(crate) fn new(
        name: &'static str,
        policy: Policy,
        make: impl Fn(&K, Option<&str>) -> (A, A::Arguments) + Send + Sync + 'static,
    ) -> Self {
        Self { name, policy, make: Box::new(make), by_key: HashMap::new(), by_actor: HashMap::new() }
    }

    /// Whether there is none, alive or about to be restarted.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_key.is_empty()
    }

    /// The child's actor, if it is alive.
    pub(crate) fn get(&self, key: &K) -> Option<&ActorRef<A::Msg>> {
        self.by_key.get(key)?.actor.as_ref()
    }

    /// The children that are alive.
    pub(crate) fn alive(&self) -> impl Iterator<Item = (&K, &ActorRef<A::Msg>)> {
        self.by_key.iter().filter_map(|(key, child)| Some((key, child.actor.as_ref()?)))
    }

    /// Sees that there is such a child. `None` while it waits to be restarted.
    ///
    /// # Errors
    /// When it can't be started, and the supervisor can't go on without it: [`Exhausted::Escalate`].
    pub(crate) async fn ensure<S: Message + From<Restart<K>>>(
        &mut self,
        supervisor: &ActorRef<S>,
        key: &K,
    ) -> Result<Option<&ActorRef<A::Msg>>, ActorProcessingErr> {
        if !self.by_key.contains_key(key) {
            self.start(supervisor, key).await?;
        }
        Ok(self.get(key))
    }

    /// Carries a delayed restart out, if it still stands.
    ///
    /// # Errors
    /// As for [`Children::ensure`].
    pub(crate) async fn restart<S: Message + From<Restart<K>>>(
        &mut self,
        supervisor: &ActorRef<S>,
        Restart { key, generation }: Restart<K>,
    ) -> Result<(), ActorProcessingErr> {
        let stands = |child: &Child<A::Msg>| child.actor.is_none() && child.generation == generation;
        if self.by_key.get(&key).is_some_and(stands) { self.start(supervisor, &key).await } else { Ok(()) }
    }

    async fn start<S: Message + From<Restart<K>>>(
        &mut self,
        supervisor: &ActorRef<S>,
        key: &K,
    ) -> Result<(), ActorProcessingErr> {
        let child = self.by_key.entry(key.clone()).or_default();
        child.generation += 1;
        let (actor, arguments) = (self.make)(key, child.given_up.as_deref());
        match A::spawn_linked(None, actor, arguments, supervisor.get_cell()).await {
            Ok((actor, _)) => {
                self.by_actor.insert(actor.get_id(), key.clone());
                child.actor = Some(actor);
                Ok(())
            }
            // ractor reports a failed `pre_start` to the spawner, not to the supervisor
            Err(error) => self.end(supervisor, key, Some(&error.to_string())),
        }
    }

    /// Takes an event of the supervisor's: restarts a child that failed, and names one that ended as it should.
    ///
    /// # Errors
    /// When a child failed so often that the supervisor can't go on: [`Exhausted::Escalate`].
    pub(crate) fn ended<S: Message + From<Restart<K>>>(
        &mut self,
        supervisor: &ActorRef<S>,
        event: &SupervisionEvent,
    ) -> Result<Option<K>, ActorProcessingErr> {
        let Some((actor, failed, reason)) = failed(event) else { return Ok(None) };
        let Some(key) = self.by_actor.remove(&actor) else { return Ok(None) };
        self.end(supervisor, &key, failed.then_some(reason.as_str()))?;
        Ok((!failed).then_some(key))
    }

    fn end<S: Message + From<Restart<K>>>(
        &mut self,
        supervisor: &ActorRef<S>,
        key: &K,
        failure: Option<&str>,
    ) -> Result<(), ActorProcessingErr> {
        let Some(child) = self.by_key.get_mut(key) else { return Ok(()) };
        child.actor = None;
        child.generation += 1;
        let mut policy = self.policy;
        if child.given_up.is_some() {
            // there is nothing beyond the last resort
            policy.exhausted = Exhausted::KeepTrying;
        }
        let reason = failure.unwrap_or_default();
        let mut decision = child.intensity.on_exit(policy, Instant::now(), failure.is_some(), jitter());
        if decision == Decision::GiveUp {
            tracing::error!(?key, %reason, "{} failed again and again, it is given up", self.name);
            child.given_up = Some(reason.to_owned());
            child.intensity = Intensity::default();
            decision = Decision::Restart { after: policy.first_pause };
        }
        match decision {
            Decision::Restart { after } => {
                tracing::error!(?key, %reason, ?after, "{} failed, it is restarted", self.name);
                crate::measure::restarted(self.name);
                let restart = (key.clone(), child.generation);
                supervisor.send_after(after, move || {
                    let (key, generation) = restart;
                    S::from(Restart { key, generation })
                });
                Ok(())
            }
            Decision::Forget | Decision::GiveUp => {
                self.by_key.remove(key);
                Ok(())
            }
            Decision::Escalate => Err(format!("{} failed again and again: {reason}", self.name).into()),
        }
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
