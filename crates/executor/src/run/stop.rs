//! Who wants the execution to stop, and what that means now. No clock, no process: decisions only.

use std::time::{Duration, Instant};

/// The wishes to stop that have been heard so far.
#[derive(Debug, Default)]
pub(crate) struct StopRequest {
    /// Somebody outside asked to stop, in whatever way.
    asked: bool,
    /// The step must end gracefully, or is killed at this moment.
    end_by: Option<Instant>,
    kill: bool,
    /// The SIGINT was sent: there is never another.
    interrupt_spent: bool,
}

impl StopRequest {
    /// Somebody asks for a graceful end. A repetition may bring the kill forward, and never puts it off.
    pub(crate) fn interrupt(&mut self, now: Instant, grace: Duration) {
        self.asked = true;
        self.end_within(now, grace);
    }

    /// Somebody asks for an end at once.
    pub(crate) fn kill(&mut self) {
        self.asked = true;
        self.kill = true;
    }

    /// The running step has exceeded its time limit.
    pub(crate) fn time_is_over(&mut self, now: Instant, grace: Duration) {
        self.end_within(now, grace);
    }

    fn end_within(&mut self, now: Instant, grace: Duration) {
        // a grace period beyond what the clock can express has no end
        if let Some(end) = now.checked_add(grace) {
            self.end_by = Some(self.end_by.map_or(end, |earlier| earlier.min(end)));
        } else if self.end_by.is_none() {
            self.end_by = now.checked_add(Duration::from_secs(u64::from(u32::MAX)));
        }
    }

    /// True once, when the step's process has to get its only SIGINT. Not if it is killed anyway.
    #[must_use]
    pub(crate) fn take_interrupt(&mut self, now: Instant) -> bool {
        let due = self.end_by.is_some() && !self.interrupt_spent && !self.kill_is_due(now);
        self.interrupt_spent |= due;
        due
    }

    /// Everything has to be killed.
    #[must_use]
    pub(crate) fn kill_is_due(&self, now: Instant) -> bool {
        self.kill || self.end_by.is_some_and(|end| end <= now)
    }

    /// When the answer of [`StopRequest::kill_is_due`] changes by itself.
    pub(crate) fn kill_at(&self) -> Option<Instant> {
        self.end_by
    }

    /// No further step may start.
    pub(crate) fn stopping(&self) -> bool {
        self.asked || self.end_by.is_some()
    }

    /// Somebody outside asked to stop.
    pub(crate) fn asked(&self) -> bool {
        self.asked
    }

    pub(crate) fn interrupt_sent(&self) -> bool {
        self.interrupt_spent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(10);

    #[test]
    fn one_interrupt_ever_however_often_it_is_asked_for() {
        let now = Instant::now();
        let mut wishes = StopRequest::default();
        assert!(!wishes.take_interrupt(now));
        wishes.interrupt(now, GRACE);
        wishes.interrupt(now, GRACE);
        assert!(wishes.take_interrupt(now));
        wishes.interrupt(now + GRACE / 2, GRACE);
        wishes.time_is_over(now + GRACE / 2, GRACE);
        assert!(!wishes.take_interrupt(now + GRACE / 2));
    }

    #[test]
    fn a_repeated_interrupt_shortens_the_grace_period_and_never_prolongs_it() {
        let now = Instant::now();
        let mut wishes = StopRequest::default();
        wishes.interrupt(now, GRACE);
        wishes.interrupt(now + GRACE / 2, GRACE);
        assert_eq!(wishes.kill_at(), Some(now + GRACE));
        wishes.interrupt(now + GRACE / 2, GRACE / 4);
        assert_eq!(wishes.kill_at(), Some(now + GRACE / 2 + GRACE / 4));
    }

    #[test]
    fn the_kill_is_due_after_the_grace_period_or_on_request() {
        let now = Instant::now();
        let mut wishes = StopRequest::default();
        wishes.interrupt(now, GRACE);
        assert!(!wishes.kill_is_due(now));
        assert!(wishes.kill_is_due(now + GRACE));
        let mut wishes = StopRequest::default();
        wishes.kill();
        assert!(wishes.kill_is_due(now));
        assert!(!wishes.take_interrupt(now));
    }

    #[test]
    fn an_endless_grace_period_is_no_overflow() {
        let now = Instant::now();
        let mut wishes = StopRequest::default();
        wishes.interrupt(now, Duration::MAX);
        assert!(wishes.take_interrupt(now));
        assert!(!wishes.kill_is_due(now));
    }

    #[test]
    fn a_time_limit_stops_the_rest_without_anybody_having_asked() {
        let now = Instant::now();
        let mut wishes = StopRequest::default();
        wishes.time_is_over(now, GRACE);
        assert!(wishes.stopping());
        assert!(!wishes.asked());
        assert!(wishes.take_interrupt(now));
    }
}
