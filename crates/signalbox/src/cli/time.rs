//! Times and durations as people read them.

use std::time::Duration;

use jiff::Timestamp;

/// How long something takes: `7s`, `1m05s`, `2h03m`, `3d04h`.
pub(crate) fn took(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m{:02}s", seconds % 60),
        3600..86_400 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{days}d{:02}h", hours % 24),
    }
}

/// How long ago something was: `just now`, `42s ago`, `3m ago`, `5h ago`, `12d ago`. A clock that is a little ahead
/// of ours has no effect.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = between(then, now).as_secs();
    match seconds {
        0..5 => "just now".to_owned(),
        5..60 => format!("{seconds}s ago"),
        60..3600 => format!("{}m ago", seconds / 60),
        3600..172_800 => format!("{}h ago", seconds / 3600),
        _ => format!("{}d ago", seconds / 86_400),
    }
}

/// The time from one moment to another; nothing if it would be negative.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}

/// The moment itself, in UTC and to the second: `2026-01-02 03:04:05 UTC`.
pub(crate) fn exact(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The moment itself, and how long ago it was.
pub(crate) fn exact_and_ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", exact(at), ago(at, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        let table = [
            (0, "0s"),
            (59, "59s"),
            (60, "1m00s"),
            (65, "1m05s"),
            (3599, "59m59s"),
            (3600, "1h00m"),
            (7_380, "2h03m"),
            (86_399, "23h59m"),
            (86_400, "1d00h"),
            (273_600, "3d04h"),
        ];
        for (seconds, shown) in table {
            assert_eq!(took(Duration::from_millis(seconds * 1000 + 999)), shown);
        }
    }

    #[test]
    fn times_are_told_by_how_long_ago_they_were() {
        let now = Timestamp::from_second(10_000_000).unwrap();
        let table = [
            (-30, "just now"),
            (4, "just now"),
            (5, "5s ago"),
            (59, "59s ago"),
            (60, "1m ago"),
            (3599, "59m ago"),
            (3600, "1h ago"),
            (172_799, "47h ago"),
            (172_800, "2d ago"),
            (1_036_800, "12d ago"),
        ];
        for (seconds, shown) in table {
            let then = Timestamp::from_second(10_000_000 - seconds).unwrap();
            assert_eq!(ago(then, now), shown, "{seconds}");
        }
    }

    #[test]
    fn a_moment_is_told_in_utc() {
        let at: Timestamp = "2026-01-02T05:04:05.6+02:00".parse().unwrap();
        assert_eq!(exact(at), "2026-01-02 03:04:05 UTC");
    }
}
