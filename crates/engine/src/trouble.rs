//! What keeps a run from going on, and what follows from that: the one place that decides it.
//!
//! What can pass by itself is tried again, with pauses that grow, for an hour: the run waits, and its terraform works on.
//! What can't pass, or has not passed by then, ends the run ([`crate::drive::Mode::LastResort`]), in words. Somebody who
//! force-cancels the run has waited long enough.

use std::time::{Duration, Instant};

use store::RecordError;

use crate::run_files::StageError;

/// Why a turn of a driver could not be finished. Whatever executes goes on meanwhile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(transparent)]
    Store(#[from] store::Error),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Executor(#[from] executor::Error),
    #[error(transparent)]
    Stage(#[from] StageError),
}

/// What follows from trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It is tried again, after this pause at the latest.
    Again(Duration),
    /// The run ends.
    GiveUp,
}

/// How long what can pass is given to do so. Nobody repairs a disk in less, and nobody waits for a run for longer
/// without looking.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// The same once somebody wants the run to end at once.
const PATIENCE_OF_A_FORCE_CANCEL: Duration = Duration::from_secs(30);

impl Trouble {
    /// Whether it can pass by itself: each kind of error knows that of itself.
    fn can_pass(&self) -> bool {
        match self {
            Self::Store(error) => error.can_pass(),
            Self::Record(error) => error.can_pass(),
            Self::Executor(error) => error.can_pass(),
            Self::Stage(StageError::NotNow(_)) => true,
            Self::Stage(StageError::Impossible(_)) => false,
        }
    }
}

/// The pause before the next of several tries that failed. The driver is woken by everything that changes, and by the
/// reconciler every few seconds.
pub(crate) fn pause_after(failures: u32) -> Duration {
    Duration::from_millis(250).saturating_mul(1 << failures.min(7)).min(Duration::from_secs(30))
}

/// The trouble that a driver has had.
#[derive(Debug, Default)]
pub(crate) struct Past {
    failures: u32,
    /// The first and the last time.
    between: Option<(Instant, Instant)>,
}

/// Trouble that has not come again for so long has passed. What works in between proves nothing: a call may fail that comes
/// after another which does not.
const PASSED_AFTER: Duration = Duration::from_secs(2 * 60);

impl Past {
    /// Notes trouble. How often there was some before, and since when.
    pub(crate) fn failed(&mut self, now: Instant) -> (u32, Duration) {
        match &mut self.between {
            Some((first, last)) if now.duration_since(*last) <= PASSED_AFTER => {
                *last = now;
                self.failures = self.failures.saturating_add(1);
                (self.failures, now.duration_since(*first))
            }
            _ => {
                *self = Self { failures: 0, between: Some((now, now)) };
                (0, Duration::ZERO)
            }
        }
    }
}

/// What follows from trouble that has come `failures` times before, since `lasts`. `forced`: somebody wants the run to
/// end at once.
pub(crate) fn verdict(trouble: &Trouble, failures: u32, lasts: Duration, forced: bool) -> Verdict {
    let patience = if forced { PATIENCE_OF_A_FORCE_CANCEL } else { PATIENCE };
    if trouble.can_pass() && lasts < patience {
        Verdict::Again(pause_after(failures))
    } else {
        Verdict::GiveUp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_pass_is_tried_again_for_an_hour_and_what_can_not_ends_the_run_at_once() {
        let passing = || Trouble::from(StageError::NotNow("the disk is full".to_owned()));
        let final_ = || Trouble::from(StageError::Impossible("it is gone".to_owned()));
        let minute = Duration::from_secs(60);
        for (trouble, lasts, forced, verdict_) in [
            (passing(), Duration::ZERO, false, Verdict::Again(Duration::from_millis(250))),
            (passing(), minute * 59, false, Verdict::Again(Duration::from_millis(250))),
            (passing(), minute * 60, false, Verdict::GiveUp),
            (passing(), Duration::from_secs(29), true, Verdict::Again(Duration::from_millis(250))),
            (passing(), Duration::from_secs(30), true, Verdict::GiveUp),
            (final_(), Duration::ZERO, false, Verdict::GiveUp),
            (final_(), Duration::ZERO, true, Verdict::GiveUp),
        ] {
            assert_eq!(verdict(&trouble, 0, lasts, forced), verdict_, "{trouble} {lasts:?} {forced}");
        }
    }

    #[test]
    fn trouble_that_comes_again_within_two_minutes_is_the_same() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut past = Past::default();
        let told: Vec<_> = [0, 10, 130, 251, 252].map(|seconds| past.failed(at(seconds))).into();
        let seconds = Duration::from_secs;
        assert_eq!(
            told,
            [(0, seconds(0)), (1, seconds(10)), (2, seconds(130)), (0, seconds(0)), (1, seconds(1))]
        );
    }

    #[test]
    fn pauses_grow_to_half_a_minute_and_no_longer() {
        let pauses: Vec<u128> = (0..10).map(|failures| pause_after(failures).as_millis()).collect();
        assert_eq!(pauses, [250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000]);
        assert_eq!(pause_after(u32::MAX), Duration::from_secs(30));
    }
}
