use lifecycle::retention::{Keep, Retention};

use crate::context::Context;
use crate::fields::Fields;
use crate::text::Days;

/// The most that can be asked for.
const MOST: u64 = 10_000_000;

/// What is kept, where that is said; the rest is as by default.
pub(crate) fn retention(fields: &Fields<'_>, default: Retention, context: &mut Context<'_>) -> Retention {
    let mut keep = |number: &str, age: &str, default: Keep| Keep {
        newest: fields
            .whole(number, 1..=MOST, context)
            .and_then(|newest| usize::try_from(newest).ok())
            .unwrap_or(default.newest),
        days: fields.optional(age, context).map_or(default.days, |Days(days)| days),
    };
    Retention {
        runs: keep("keep_runs", "keep_runs_for", default.runs),
        states: keep("keep_states", "keep_states_for", default.states),
    }
}
