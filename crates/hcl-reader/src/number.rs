//! Numbers: exact or refused.
//!
//! Terraform computes with 512 bits. What goes to it goes as JSON, where a number is its digits; on the way it is kept
//! in 64 bits. So a number is taken if its 64 bits are written with the digits that it was given with, and refused
//! otherwise: `0.1` is, although no float is a tenth, since it reaches terraform as `0.1`.

/// A number as it is written: `-1.50e3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'t> {
    negative: bool,
    /// Without the sign.
    written: &'t str,
}

impl<'t> Number<'t> {
    pub(crate) const fn new(negative: bool, written: &'t str) -> Self {
        Self { negative, written }
    }

    /// The number, if it has the value that was written; as JSON it is written with the same digits. An integer is one
    /// however it is written: `1e3` is 1000.
    pub fn exact(&self) -> Option<serde_json::Number> {
        let decimal = Decimal::of(self.written)?;
        if decimal.digits.is_empty() {
            return Some(0.into());
        }
        if let Some(integer) = decimal.integer() {
            if self.negative {
                if let Ok(number) = format!("-{integer}").parse::<i64>() {
                    return Some(number.into());
                }
            } else if let Ok(number) = integer.parse::<u64>() {
                return Some(number.into());
            }
        }
        let float = self.written.parse::<f64>().ok()?;
        // the shortest digits that lead to this float: those that JSON has
        let is_exact = Decimal::of(&format!("{float:e}"))? == decimal;
        let float = if self.negative { -float } else { float };
        is_exact.then(|| serde_json::Number::from_f64(float)).flatten()
    }

    /// The text that terraform makes of the number: without an exponent. `None` if it isn't exact.
    pub fn to_text(&self) -> Option<String> {
        self.exact()?;
        let Decimal { digits, exponent } = Decimal::of(self.written)?;
        let sign = if self.negative && !digits.is_empty() { "-" } else { "" };
        let text = match usize::try_from(exponent) {
            _ if digits.is_empty() => "0".to_owned(),
            Ok(zeros) => digits + &"0".repeat(zeros),
            Err(_) => {
                let places = usize::try_from(exponent.unsigned_abs()).ok()?;
                let padded = format!("{digits:0>width$}", width = places + 1);
                let (whole, fraction) = padded.split_at(padded.len() - places);
                format!("{whole}.{fraction}")
            }
        };
        Some(format!("{sign}{text}"))
    }
}

/// Digits without zeros at either end, and the power of ten of the last one: the same for the same value.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// The longest integer that 64 bits may hold.
    const INTEGER_DIGITS: usize = 20;

    fn of(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()),
            None => (text, Some(0)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let trimmed = digits.trim_end_matches('0');
        let significant = trimmed.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self { digits: String::new(), exponent: 0 });
        }
        let dropped = i64::try_from(digits.len() - trimmed.len()).ok()?;
        let places = i64::try_from(fraction.len()).ok()?;
        Some(Self {
            digits: significant.to_owned(),
            exponent: exponent?.checked_sub(places)?.checked_add(dropped)?,
        })
    }

    /// The digits of the number, if it is an integer that may fit into 64 bits.
    fn integer(&self) -> Option<String> {
        let zeros = usize::try_from(self.exponent).ok()?;
        let length = self.digits.len().checked_add(zeros)?;
        (length <= Self::INTEGER_DIGITS).then(|| format!("{}{}", self.digits, "0".repeat(zeros)))
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use bigdecimal::BigDecimal;
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Number<'_> {
        match text.strip_prefix('-') {
            Some(written) => Number::new(true, written),
            None => Number::new(false, text),
        }
    }

    fn json(text: &str) -> Option<String> {
        read(text).exact().map(|number| number.to_string())
    }

    #[test]
    fn what_64_bits_hold_is_taken() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("00", "0"),
            ("0e999999999999999999999", "0"),
            ("007", "7"),
            ("1", "1"),
            ("1.0", "1"),
            ("1.50", "1.5"),
            ("0.1", "0.1"),
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("1.5e+3", "1500"),
            ("1500e-3", "1.5"),
            ("1.5E-3", "0.0015"),
            ("123456789.123", "123456789.123"),
            ("9007199254740993", "9007199254740993"),
            ("18446744073709551615", "18446744073709551615"),
            ("18446744073709551615.000", "18446744073709551615"),
            ("12345678901234567890.0", "12345678901234567890"),
            ("184467440737095516150e-1", "18446744073709551615"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("1e30", "1e+30"),
            ("-1e19", "-1e+19"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("5e-324", "5e-324"),
        ] {
            assert_eq!(json(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_64_bits_would_round_is_refused() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "12345678901234567890123",
            "123456789012345678901234567890",
            "9007199254740993.5",
            "0.1234567890123456789012345",
            "0.10000000000000000555",
            "1e-400",
            "1e400",
            "1.7976931348623159e308",
            "4e-324",
            "1e99999999999999999999999",
        ] {
            assert_eq!(json(text), None, "{text}");
            assert_eq!(read(text).to_text(), None, "{text}");
        }
    }

    #[test]
    fn as_text_a_number_has_no_exponent() {
        for (text, expected) in [
            ("0", "0"),
            ("-0", "0"),
            ("1.50", "1.5"),
            ("-1.50", "-1.5"),
            ("1e3", "1000"),
            ("1e30", "1000000000000000000000000000000"),
            ("1e-7", "0.0000001"),
            ("-12.5e-1", "-1.25"),
            ("0.05", "0.05"),
        ] {
            assert_eq!(read(text).to_text().as_deref(), Some(expected), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_number_that_is_taken_has_the_value_that_was_written(
            text in "-?[0-9]{1,25}(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?",
        ) {
            let written = BigDecimal::from_str(&text).unwrap();
            if let Some(taken) = json(&text) {
                prop_assert_eq!(BigDecimal::from_str(&taken).unwrap(), written.clone());
                let plain = read(&text).to_text().unwrap();
                prop_assert!(!plain.contains(['e', 'E']));
                prop_assert_eq!(BigDecimal::from_str(&plain).unwrap(), written);
            } else {
                prop_assert_eq!(read(&text).to_text(), None);
            }
        }

        #[test]
        fn every_float_and_every_integer_is_taken_as_it_is_written(bits: u64, integer: u64, signed: i64) {
            let float = f64::from_bits(bits);
            if float.is_finite() {
                prop_assert!(json(&format!("{float}")).is_some(), "{}", float);
                prop_assert!(json(&format!("{float:e}")).is_some(), "{}", float);
            }
            prop_assert_eq!(json(&integer.to_string()), Some(integer.to_string()));
            prop_assert_eq!(json(&signed.to_string()), Some(signed.to_string()));
        }
    }
}
