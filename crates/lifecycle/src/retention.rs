//! How long what is over is kept.

use jiff::{SignedDuration, Timestamp};

/// The newest of each workspace are kept whatever their age: what happened last is always there to be looked at.
pub const ALWAYS: usize = 20;

/// What is kept of one kind of thing in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// No more than so many.
    pub newest: usize,
    /// None that is older, but for the newest [`ALWAYS`]. `None`: whatever its age.
    pub days: Option<u32>,
}

/// What is kept in a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Of its runs that are over, with their logs, plans and configurations.
    pub runs: Keep,
    /// Of its state versions.
    pub states: Keep,
}

impl Default for Retention {
    /// A thousand runs and two hundred states, each for a year.
    fn default() -> Self {
        let days = Some(365);
        Self { runs: Keep { newest: 1000, days }, states: Keep { newest: 200, days } }
    }
}

/// One of the things of a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// When it came to its end.
    pub at: Timestamp,
    /// Something that goes on depends on it: it stays.
    pub needed: bool,
}

/// Which of these may go, by their places. The newest is first.
pub fn expired(keep: Keep, newest_first: &[Kept], now: Timestamp) -> Vec<usize> {
    let too_old = |at: Timestamp| {
        let age = now.duration_since(at);
        keep.days.is_some_and(|days| age > SignedDuration::from_hours(24 * i64::from(days)))
    };
    let goes = |(place, kept): (usize, &Kept)| {
        let goes = place >= keep.newest || (place >= ALWAYS && too_old(kept.at));
        (goes && !kept.needed).then_some(place)
    };
    newest_first.iter().enumerate().filter_map(goes).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(day: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_hours(24 * day)
    }

    fn kept(days: impl IntoIterator<Item = i64>) -> Vec<Kept> {
        days.into_iter().map(|day| Kept { at: at(day), needed: false }).collect()
    }

    #[test]
    fn what_is_too_many_or_too_old_goes_and_the_newest_stay() {
        let of = |newest, days| Keep { newest, days };
        let daily = kept((0..40).rev());
        let now = at(40);
        let table = [
            (of(1000, Some(365)), 0),
            (of(1000, Some(30)), 10),
            // the newest twenty stay, however old they are
            (of(1000, Some(1)), 20),
            (of(1000, None), 0),
            (of(25, Some(365)), 15),
            (of(5, None), 35),
        ];
        for (keep, gone) in table {
            assert_eq!(expired(keep, &daily, now), (40 - gone..40).collect::<Vec<_>>(), "{keep:?}");
        }
    }

    #[test]
    fn what_is_needed_stays_and_counts() {
        let mut all = kept((0..5).rev());
        all[4].needed = true;
        assert_eq!(expired(Keep { newest: 2, days: None }, &all, at(9)), [2, 3]);
    }

    proptest! {
        #[test]
        fn keeping_more_never_loses_what_was_kept(
            days in proptest::collection::vec(0..1000_i64, 0..60),
            newest in 0..60_usize, more in 0..10_usize, age in proptest::option::of(0..900_u32), older in 0..99_u32,
        ) {
            let mut days = days;
            days.sort_unstable_by(|a, b| b.cmp(a));
            let all = kept(days);
            let less = expired(Keep { newest, days: age }, &all, at(1000));
            let keep = Keep { newest: newest + more, days: age.map(|age| age + older) };
            let fewer = expired(keep, &all, at(1000));
            prop_assert!(fewer.iter().all(|place| less.contains(place)));
            prop_assert!(all.len() - fewer.len() <= keep.newest);
        }
    }
}
