//! Whether a number survives being read.

use hcl_edit::Number;

/// Whether the parsed number has the value that was written. The parser keeps 64 bits: longer integers and fractions
/// are rounded.
pub(crate) fn is_exact(written: &str, parsed: Number) -> bool {
    let parsed = parsed.to_string();
    let magnitude = |text: &str| decimal(text.trim_start_matches('-').trim_start());
    magnitude(written) == magnitude(&parsed)
}

/// The digits without zeros at either end, and the power of ten of the last one: equal for equal values.
fn decimal(text: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let trimmed = digits.trim_end_matches('0');
    let significant = trimmed.trim_start_matches('0');
    if significant.is_empty() {
        return Some((String::new(), 0));
    }
    let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
    let shift = i64::try_from(fraction.len()).ok()?;
    Some((significant.to_owned(), exponent.checked_sub(shift)?.checked_add(dropped)?))
}

#[cfg(test)]
mod tests {
    use hcl_edit::expr::Expression;

    use super::*;

    fn survives(text: &str) -> bool {
        match hcl_edit::parser::parse_expr(text).unwrap() {
            Expression::Number(number) => is_exact(text, *number.value()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn numbers_within_64_bits_survive() {
        for text in [
            "0",
            "00",
            "1",
            "1.0",
            "0.1",
            "1.50",
            "1e3",
            "1.5E-3",
            "123456789.123",
            "18446744073709551615",
            "1e30",
            "-5",
            "- 5",
            "-9223372036854775808",
        ] {
            assert!(survives(text), "{text}");
        }
    }

    #[test]
    fn numbers_that_are_rounded_do_not() {
        for text in [
            "18446744073709551616",
            "123456789012345678901234567890",
            "0.12345678901234567891",
            "12345678901234567890.0",
            "1e-400",
            "-9223372036854775809",
        ] {
            assert!(!survives(text), "{text}");
        }
    }
}
