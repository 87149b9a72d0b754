//! Durations as Go programs take them: `30s`, `1m30s`, `1.5h`.

use std::time::Duration;

/// The units and their nanoseconds.
const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("μs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// Reads a duration that is longer than nothing.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "it is written as 30s, 5m or 1m30s, and is longer than nothing".to_owned();
    let (mut rest, mut sum) = (text, 0.0);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        let after = &rest[digits..];
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit = UNITS.iter().find(|(unit, _)| *unit == &after[..end]).ok_or_else(wrong)?;
        sum += number * unit.1;
        rest = &after[end..];
    }
    // as long as Go's longest, so that a moment that far away can be reckoned with
    if sum < 1.0 || sum > i64::MAX as f64 {
        return Err(wrong());
    }
    Ok(Duration::from_nanos(sum as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_those_of_go() {
        for (text, millis) in
            [("30s", 30_000), ("5m", 300_000), ("1m30s", 90_000), ("1.5h", 5_400_000), (".5s", 500)]
        {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "5", "0s", "-5s", "5x", "s", "5 m", "1e9s", "99999999h", "1..5s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
